// Newton's method for  λ/2 ‖w‖² + Σ c_i φ_mu(r_i)  around a center that moves: the loop of
// `solvers/newton.py`, which explains it, in one call for as many steps as a budget of operations pays for.
//
// The caller owns all arrays, and a call goes on where the last one ended. The gap of (w, b) and α, as
//
//     J(w, b) - D(α) = λ/2 ‖w - w(α)‖²  +  Σ c_i (φ(r_i) + φ*(t_i) - r_i t_i),
//
// says when to return; it proves nothing, since the caller computes J and D anew.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "csr.hpp"
#include "curvature.hpp"
#include "dense.hpp"
#include "newton_passes.hpp"
#include "newton_system.hpp"
#include "room.hpp"

namespace minorant {

struct NewtonProblem {
    std::span<const double> c, offset, sign;
    double lam;
    bool bias;
    int threads;
};

struct NewtonRules {
    double shrink;   // of mu, when the center moves
    double settled;  // the center moves once the first part of the gap is at most this much of the second
    double short_step, growth, unit;  // after so many steps shorter than this, mu grows, from 0 to this unit
    int patience;
    int most;  // steps of a call: more are not made where there is any hope
};

struct NewtonPoint {
    std::span<double> w, image;           // w and A w, A = diag(sign) X
    std::span<double> alpha, dual_image;  // α and Aᵀ α
    std::span<double> h, center;          // h_i = c_i φ_mu''(r_i); the slopes at the center, or nothing
    double mu, bias, iterations;          // the last: what conjugate gradients took lately
};

struct NewtonSteps {
    double gap;
    int steps, products;
};

template <class V, class I, class P>
void product(const CsrRows<V, I, P>& rows, std::span<const double> w, std::span<double> out, int threads) {
    csr_dot(rows.X, w, out, threads);
}
template <class V, class I, class P>
void adjoint(const CsrRows<V, I, P>& rows, std::span<const double> a, std::span<double> out, int threads) {
    csr_tdot(rows.X, a, out, threads);
}
template <class V>
void product(const DenseRows<V>& rows, std::span<const double> w, std::span<double> out, int threads) {
    dense_dot(rows.X, w, out, threads);
}
template <class V>
void adjoint(const DenseRows<V>& rows, std::span<const double> a, std::span<double> out, int threads) {
    dense_tdot(rows.X, a, out, threads);
}

template <class V, class I, class P>
void add_squares(const CsrRows<V, I, P>& rows, std::size_t i, double h, double* out) {
    const auto& X = rows.X;
    for (std::size_t k = X.begin(i); k < X.end(i); ++k) {
        const double x = X.data[k];
        out[X.indices[k]] += h * (x * x);
    }
}
template <class V>
void add_squares(const DenseRows<V>& rows, std::size_t i, double h, double* out) {
    add_squared(rows.X.row(i), h, out, rows.X.columns);
}

// What an operation of a Cholesky step costs, in tiles or not, to one of conjugate gradients.
template <class V, class I, class P>
constexpr double product_cost(const CsrRows<V, I, P>&) {
    return 1.0;
}
template <class V>
constexpr double product_cost(const DenseRows<V>&) {
    return 0.3;
}

// A Cholesky step for that many examples in operations; infinite where the matrix would be too large.
template <class Rows>
double direct_cost(const Rows& X, double band, double row, double columns) {
    const double size = std::min(columns, band);
    if (size > 4000) return std::numeric_limits<double>::infinity();
    return product_cost(X) * (band * row * std::min(row + 1, size) + size * size * size / 6);
}

template <class Rows, class Loss>
class Newton {
  public:
    Newton(const Rows& X, const Loss& loss, const NewtonProblem& p, const NewtonRules& rules, NewtonPoint& at,
           Room& room)
        : X_(X),
          loss_(loss),
          p_(p),
          rules_(rules),
          at_(at),
          n_(at.image.size()),
          size_(at.w.size() + (p.bias ? 1 : 0)),
          r_(room),
          direction_(n_, room),
          gradient_(size_),
          rows_(n_, room) {}

    // Steps until the gap is at most `tol` of J, of which a bound is known, or the budget is spent, one at
    // least.
    NewtonSteps run(double tol, double primal, double budget) {
        const int last = steps_ + rules_.most;
        add_scaled(p_.offset.data(), -1, exact().data(), n_, p_.threads);
        shift(at_.bias);
        look(0);
        double gap = excess_gap();
        do {
            if (at_.mu > 0 && first_ <= rules_.settled * second_) recenter();
            const double tau = step();
            short_ = tau < rules_.short_step ? short_ + 1 : 0;
            if (!at_.center.empty() && short_ == rules_.patience) soften();
            look(tau);
            gap = excess_gap();
            // J may have fallen by much since the bound was found
            if (gap <= tol * primal && gap > kSurely * tol * primal) primal = std::min(primal, value());
        } while (gap > tol * primal && spent_ < budget && steps_ < last);
        into_the_plane();
        refresh();
        return {gap, steps_, products_};
    }

  private:
    static constexpr double kSurely = 0.02;

    // A w anew: on the way its place is that of r, to which many small changes have left their rounding.
    void refresh() {
        product(X_, at_.w, at_.image, p_.threads);
        multiply(p_.sign, at_.image, at_.image, p_.threads);
        ++products_;
    }

    // r as it is, and with what the moved center adds to it.
    std::span<double> exact() { return at_.image; }
    std::span<double> shifted() {
        if (at_.mu == 0) return at_.image;
        r_.resize(n_);
        return r_;
    }

    void shift(double bias) {
        if (bias == 0) return;
        add_scaled(p_.sign.data(), bias, exact().data(), n_, p_.threads);
        if (at_.mu > 0) add_scaled(p_.sign.data(), bias, shifted().data(), n_, p_.threads);
    }

    // r, α and h further on by τ, and Aᵀ α as it is once the bias has taken its Newton step: the step of all
    // unknowns then is that of w from there. A bias too far for that is brought nearer first.
    void look(double tau) {
        slopes(tau);
        const double near = near_balance(loss_, at_.mu);
        if (p_.bias && !(std::abs(tilt_) <= near)) {
            const double most = reach(loss_, at_.mu);
            balanced_look(at_.bias - std::clamp(tilt_, -most, most), 0.5 * near);
        }
        project_back();
        spent_ += 2.0 * static_cast<double>(X_.volume()) + 30.0 * static_cast<double>(n_);
    }

    // With how far the bias is from the best one, to first order.
    void slopes(double tau) {
        const NewtonVectors v{p_.c.data(),      p_.sign.data(),   at_.center.data(), exact().data(),
                              shifted().data(), at_.alpha.data(), at_.h.data(),      direction_.data()};
        const auto [off, total, excess] = advance(loss_, at_.mu, tau, known_, v, n_, p_.threads);
        known_ = false;
        second_ = excess;
        if (!p_.bias) return;
        off_ = off, total_ = total;
        tilt_ = off_ == 0 ? 0.0 : off_ / total_;
    }

    // The same at the best bias, or one so near that the last Newton step was at most this long.
    void balanced_look(double guess, double last) {
        shift(-at_.bias);
        at_.bias = balance(loss_, at_.mu, shifted(), p_.sign, p_.c, guess, last, p_.threads);
        shift(at_.bias);
        slopes(0);
        if (!std::isfinite(tilt_)) tilt_ = 0;
    }

    void project_back() {
        if (tilt_ != 0) add_scaled(at_.h.data(), -tilt_, direction_.data(), n_, p_.threads);
        adjoint(X_, direction_, at_.dual_image, p_.threads);
        ++products_;
    }

    // α as it is once the bias has taken its step, if no slope leaves its bounds; else that of the best bias.
    void into_the_plane() {
        if (!p_.bias || tilt_ == 0) return;
        auto [off, outside] = lean();
        if (outside == 0) {
            at_.bias -= tilt_;
        } else {
            balanced_look(at_.bias - tilt_, 0);
            project_back();
            off = lean()[0];
        }
        const double rounding = total_ > 0 ? off / total_ : 0.0;
        parallel_ranges(n_, p_.threads, 4.0 * static_cast<double>(n_), [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) at_.alpha[i] = direction_[i] - rounding * at_.h[i] * p_.sign[i];
        });
        tilt_ = off_ = 0;
    }

    // That α in the place of the direction, with Σ s_i α_i and how many are beyond their bounds.
    std::array<double, 2> lean() {
        return block_sums<2>(n_, p_.threads, 8, [&](std::size_t begin, std::size_t end) {
            return lane_sums<2>(begin, end, [&](std::size_t i) {
                const double a = at_.alpha[i] - tilt_ * at_.h[i] * p_.sign[i], c = p_.c[i];
                const bool outside = a < loss_.low * c || a > loss_.high * c;
                direction_[i] = a;
                return std::array<double, 2>{p_.sign[i] * a, outside ? 1.0 : 0.0};
            });
        });
    }

    double value() {
        const double square = row_dot(at_.w.data(), at_.w.data(), at_.w.size());
        return 0.5 * p_.lam * square + mean_loss(loss_, exact(), p_.c);
    }

    double excess_gap() {
        first_ = 0;
        for (std::size_t j = 0; j < at_.w.size(); ++j) {
            gradient_[j] = p_.lam * at_.w[j] + at_.dual_image[j];
            first_ += gradient_[j] * gradient_[j];
        }
        first_ = first_ / (2 * p_.lam) + 0.5 * off_ * tilt_;
        return first_ + second_;
    }

    void to_center() {
        parallel_ranges(n_, p_.threads, 8.0 * static_cast<double>(n_), [&](std::size_t i, std::size_t end) {
            slopes_of(at_.alpha.data() + i, p_.c.data() + i, loss_.low, loss_.high, at_.center.data() + i,
                      end - i);
        });
    }

    void recenter() {
        to_center();
        at_.mu *= rules_.shrink;
        look(0);
        excess_gap();
    }

    // Short steps, one after another: the corners are too sharp. A loss without any is smoothed too then.
    void soften() {
        if (at_.mu == 0) to_center();
        at_.mu = at_.mu > 0 ? rules_.growth * at_.mu : rules_.unit;
        short_ = 0;
    }

    // Returns how far it went along the direction; `look` will go there.
    double step() {
        const std::size_t columns = at_.w.size();
        std::vector<double> d(size_);
        for (std::size_t j = 0; j < columns; ++j) d[j] = -gradient_[j];
        solve(d);
        const double lift = p_.bias ? d.back() - tilt_ : 0.0;
        const std::span<const double> move(d.data(), columns);
        product(X_, move, direction_, p_.threads);
        const double leaning = turn(p_.sign.data(), at_.h.data(), lift, direction_.data(), n_, p_.threads);
        double slope = 0, bend = 0, start = tilt_ * leaning;  // the last of all of J
        for (std::size_t j = 0; j < columns; ++j) {
            slope += at_.w[j] * d[j], bend += d[j] * d[j];
            start += gradient_[j] * d[j];
        }
        Line line(loss_, at_.mu, shifted(), direction_, p_.c, p_.lam * slope, p_.lam * bend, p_.threads,
                  {at_.alpha, at_.h});
        const double tau = along(line, start, 0.05);
        known_ = line.keeps(tau);
        for (std::size_t j = 0; j < columns; ++j) at_.w[j] += tau * d[j];
        at_.bias += tau * lift;
        spent_ += 2.0 * static_cast<double>(X_.volume()) + 30.0 * static_cast<double>(n_);
        ++products_, ++steps_;
        return tau;
    }

    // Overwrites -∇ with the step.
    void solve(std::vector<double>& d) {
        const auto rows = support(at_.h, rows_, p_.threads);
        const double band = static_cast<double>(rows.size());
        const double n = static_cast<double>(std::max<std::size_t>(n_, 1)),
                     volume = static_cast<double>(X_.volume()), columns = static_cast<double>(size_);
        const double direct = direct_cost(X_, band, volume / n, columns);
        const double iteration = 4 * band / n * volume + 10 * columns;
        if (direct <= at_.iterations * iteration) {
            spent_ += products_of_rows_.empty() ? direct : 4 * band * volume / n + band * band * band / 6;
            if (rows.size() >= size_)
                return solve_by_columns(X_, at_.h, rows, p_.bias, p_.lam, d, p_.threads);
            if (products_of_rows_.empty() && n_ < size_ && n_ <= 1000) {
                std::vector<std::uint32_t> all(n_);
                std::iota(all.begin(), all.end(), 0u);
                products_of_rows_ = row_products(X_, all, at_.w.size());
            }
            return solve_by_examples(X_, at_.h, rows, p_.bias, p_.lam, d, products_of_rows_);
        }
        std::vector<double> inverse(size_), g = d;
        double total = 0;
        for (const std::uint32_t i : rows) {
            add_squares(X_, i, at_.h[i], inverse.data());
            total += at_.h[i];
        }
        for (double& value : inverse) value += p_.lam;
        if (p_.bias) inverse.back() = total;
        for (double& value : inverse) value = value > 0 ? 1 / value : 0.0;
        const Iterated solved =
            conjugate_gradients(X_, at_.h, rows, p_.bias, p_.lam, g, inverse, 0.1, 250, d, p_.threads);
        at_.iterations = 0.5 * (at_.iterations + solved.iterations);
        products_ += 2 * solved.iterations;
        spent_ += solved.iterations * iteration;
    }

    const Rows& X_;
    const Loss& loss_;
    const NewtonProblem& p_;
    const NewtonRules rules_;
    NewtonPoint& at_;
    const std::size_t n_, size_;
    RoomVector<double> r_, direction_;
    std::vector<double> gradient_;
    RoomVector<std::uint32_t> rows_;        // with h_i > 0
    std::vector<double> products_of_rows_;  // where there are few rows
    double first_ = 0, second_ = 0, spent_ = 0;
    double off_ = 0, total_ = 0, tilt_ = 0;  // Σ s_i α_i, Σ h_i, and how far the bias is too high for them
    bool known_ = false;                     // α and h, by the search along the line
    int steps_ = 0, products_ = 0, short_ = 0;
};

}  // namespace minorant
