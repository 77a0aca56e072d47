// Faster than coordinate descent once the support S and its signs are nearly right: two directions on S, each
// followed by an exact search of the model (`Model::search`), which drops weights that reach 0.
//
//     Newton      (X_SᵀHX_S + l2 I) d = -(gradient on S), by Cholesky; products of columns are kept while h
//     is
//                 the same
//     Anderson    the combination Σ c_k w_k, Σ c_k = 1, of the last sweeps with the least residual
//                 Σ c_k (w_k - w_{k-1})
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "cholesky.hpp"
#include "coordinate_model.hpp"

namespace minorant {

template <class B>
class SupportNewton {
  public:
    explicit SupportNewton(std::size_t columns) : place_(columns, -1) {}

    // The products are of another h: forget them.
    void forget() {
        std::fill(place_.begin(), place_.end(), -1);
        known_.clear();
        rows_.clear();
    }

    double cost(const Model<B>& m, std::span<const std::size_t> set) const {
        double values = 0, fresh = 0;
        for (const std::size_t j : known_) values += static_cast<double>(m.X.count(j));
        for (const std::size_t j : set) {
            if (place_[j] >= 0) continue;
            values += static_cast<double>(m.X.count(j));
            fresh += 1;
        }
        const double size = static_cast<double>(set.size());
        return B::kCost * values * fresh + size * size * size / 6 + 4 * B::kCost * values;
    }

    void run(Model<B>& m) {
        for (int round = 0; round < 20; ++round) {
            const std::vector<std::size_t> set = m.support();
            if (set.empty()) return;
            for (const std::size_t j : set)
                if (place_[j] < 0) learn(m, j);
            std::vector<double> d = direction(m, set);
            const std::vector<double> before = values(m, set);
            const double t = m.search(set, d);
            bool same_signs = t > 0.99;
            for (std::size_t s = 0; s < set.size(); ++s) same_signs &= before[s] * m.w[set[s]] > 0;
            if (same_signs || t == 0) return;
        }
    }

  private:
    static std::vector<double> values(const Model<B>& m, std::span<const std::size_t> set) {
        std::vector<double> w(set.size());
        for (std::size_t s = 0; s < set.size(); ++s) w[s] = m.w[set[s]];
        return w;
    }

    void learn(Model<B>& m, std::size_t j) {
        scratch_.resize(m.X.rows(), 0.0);
        m.X.add(j, 1.0, m.h.data(), scratch_.data());
        std::vector<double> row(known_.size() + 1);
        for (std::size_t k = 0; k < known_.size(); ++k) {
            row[k] = m.X.dot(known_[k], scratch_.data()) - m.mass * m.mean[j] * m.mean[known_[k]];
            m.work += B::kCost * static_cast<double>(m.X.count(known_[k]));
        }
        row.back() = m.curvature[j];
        m.X.clear(j, scratch_.data());
        place_[j] = static_cast<std::int64_t>(known_.size());
        known_.push_back(j);
        rows_.push_back(std::move(row));
    }

    std::vector<double> direction(Model<B>& m, std::span<const std::size_t> set) {
        const std::size_t size = set.size();
        std::vector<double> A(size * size), d(size);
        for (std::size_t s = 0; s < size; ++s) {
            const std::size_t j = set[s];
            const auto p = static_cast<std::size_t>(place_[j]);
            for (std::size_t r = 0; r < s; ++r) {
                const auto q = static_cast<std::size_t>(place_[set[r]]);
                A[s * size + r] = p > q ? rows_[p][q] : rows_[q][p];
            }
            A[s * size + s] = rows_[p][p] * (1 + 1e-10) + m.l2;
            d[s] = -(m.slope(j) + m.l2 * m.w[j] + (m.w[j] > 0 ? m.l1 : -m.l1));
        }
        factorize(A.data(), size);
        substitute(A.data(), d.data(), size);
        m.work += static_cast<double>(size * size) * static_cast<double>(size) / 6;
        return d;
    }

    std::vector<std::int64_t> place_;        // of a column among the known ones, or -1
    std::vector<std::size_t> known_;         // columns whose products are known
    std::vector<std::vector<double>> rows_;  // Σ h x_j x_k (centered) for k up to j
    std::vector<double> scratch_;
};

// The direction of Newton on the support by conjugate gradients with a diagonal preconditioner, to a tenth of
// the gradient: for supports too large to factor. Returns what was left of the step, as a change of scores.
template <class B>
std::vector<double> conjugate_gradient(Model<B>& m, std::span<const std::size_t> set) {
    constexpr int kSteps = 30;
    const std::size_t size = set.size(), n = m.X.rows();
    std::vector<double> d(size, 0.0), g(size), p(size), u(n);
    const auto diagonal = [&](std::size_t s) { return m.curvature[set[s]] + m.l2; };
    double now = 0;
    for (std::size_t s = 0; s < size; ++s) {
        const std::size_t j = set[s];
        g[s] = -(m.slope(j) + m.l2 * m.w[j] + (m.w[j] > 0 ? m.l1 : -m.l1));
        p[s] = g[s] / diagonal(s);
        now += g[s] * p[s];
    }
    const double enough = 0.01 * now;
    for (int step = 0; step < kSteps && now > enough; ++step) {
        u = m.image(set, p);
        double hu = 0;
        for (std::size_t i = 0; i < n; ++i) hu += m.h[i] * u[i];
        const double center = m.bias && m.mass > 0 ? hu / m.mass : 0.0;
        double bend = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double v = u[i] - center;
            u[i] = m.h[i] * v;
            bend += u[i] * v;
        }
        for (std::size_t s = 0; s < size; ++s) bend += m.l2 * p[s] * p[s];
        if (!(bend > 0)) break;
        const double t = now / bend;
        double next = 0;
        for (std::size_t s = 0; s < size; ++s) {
            d[s] += t * p[s];
            g[s] -= t * (m.X.dot(set[s], u.data()) + m.l2 * p[s]);
            m.work += B::kCost * static_cast<double>(m.X.count(set[s]));
            next += g[s] * g[s] / diagonal(s);
        }
        for (std::size_t s = 0; s < size; ++s) p[s] = g[s] / diagonal(s) + next / now * p[s];
        now = next;
    }
    u = m.image(set, d);
    const double left = 1 - m.search(set, d, u);
    for (double& x : u) x *= left;
    return u;
}

// A few sweeps over the support, and from there along the extrapolation of their ends.
template <class B>
void anderson(Model<B>& m, std::span<const std::size_t> set) {
    constexpr std::size_t kSweeps = 5;
    const std::size_t size = set.size();
    std::vector<double> ends((kSweeps + 1) * size);
    const auto keep = [&](std::size_t k) {
        for (std::size_t s = 0; s < size; ++s) ends[k * size + s] = m.w[set[s]];
    };
    keep(0);
    for (std::size_t k = 1; k <= kSweeps; ++k) {
        for (const std::size_t j : set) m.step(j);
        keep(k);
    }
    std::vector<double> moves(kSweeps * size), A(kSweeps * kSweeps), c(kSweeps, 1.0);
    for (std::size_t s = 0; s < kSweeps * size; ++s) moves[s] = ends[size + s] - ends[s];
    double trace = 0;
    for (std::size_t k = 0; k < kSweeps; ++k)
        for (std::size_t l = 0; l <= k; ++l) {
            A[k * kSweeps + l] = row_dot(moves.data() + k * size, moves.data() + l * size, size);
            if (l == k) trace += A[k * kSweeps + k];
        }
    if (!(trace > 0)) return;
    for (std::size_t k = 0; k < kSweeps; ++k) A[k * kSweeps + k] += 1e-12 * trace;
    factorize(A.data(), kSweeps);
    substitute(A.data(), c.data(), kSweeps);
    double total = 0;
    for (const double x : c) total += x;
    if (!std::isfinite(total) || total == 0) return;
    std::vector<double> d(size, 0.0);
    for (std::size_t k = 0; k < kSweeps; ++k)
        for (std::size_t s = 0; s < size; ++s) d[s] += c[k] / total * ends[(k + 1) * size + s];
    for (std::size_t s = 0; s < size; ++s) d[s] -= ends[kSweeps * size + s];
    m.search(set, d);
}

}  // namespace minorant
