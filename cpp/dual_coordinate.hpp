// Dual coordinate ascent for  λ/2 ‖w‖² + Σ c_i φ(r_i),   r_i = s_i (⟨x_i, w⟩ + b) - a_i,   s_i = ±1.
//
// The dual variables are the slopes t_i, and w = -Σ s_i (c_i/λ) t_i x_i throughout. Each step is the proximal
// one of `dual_step.hpp` with Q_i = (c_i/λ) ‖x_i‖². A free bias is found by the augmented Lagrangian of Σ s_i
// c_i t_i = 0, which is a column of √rho more, with b in the place of its weight: b = b₀ - rho Σ s_i (c_i/λ)
// t_i, and b₀ ← b after each sweep.
//
// Rows are visited chunk by chunk, the chunks and the rows of each in random order: as good as a whole
// permutation, and the rows of a chunk are neighbors in memory. Slopes held at a bound by more than any step
// of the last sweep moved are left out until those left are solved; the last sweep is one over all rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "csr.hpp"
#include "dense.hpp"
#include "dual_step.hpp"

namespace minorant {

template <class V, class I, class P>
struct CsrRows {
    const Csr<V, I, P>& X;

    std::size_t size() const { return X.rows(); }
    std::size_t volume() const { return X.data.size(); }
    MINORANT_INLINE double dot(std::size_t i, const double* w) const {
        const V* data = X.data.data();
        const I* indices = X.indices.data();
        std::size_t k = X.begin(i);
        const std::size_t end = X.end(i);
        double a = 0, b = 0;
        for (; k + 2 <= end; k += 2) {
            a += data[k] * w[indices[k]];
            b += data[k + 1] * w[indices[k + 1]];
        }
        if (k < end) a += data[k] * w[indices[k]];
        return a + b;
    }
    MINORANT_INLINE void add(std::size_t i, double scale, double* w) const {
        const V* data = X.data.data();
        const I* indices = X.indices.data();
        for (std::size_t k = X.begin(i), end = X.end(i); k < end; ++k) w[indices[k]] += scale * data[k];
    }
};

MINORANT_CLONES inline void add_row(const float* x, double scale, double* w, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) w[j] += scale * static_cast<double>(x[j]);
}
MINORANT_CLONES inline void add_row(const double* x, double scale, double* w, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) w[j] += scale * x[j];
}

template <class V>
struct DenseRows {
    const Dense<V>& X;

    std::size_t size() const { return X.rows; }
    std::size_t volume() const { return X.data.size(); }
    double dot(std::size_t i, const double* w) const { return row_dot(X.row(i), w, X.columns); }
    void add(std::size_t i, double scale, double* w) const { add_row(X.row(i), scale, w, X.columns); }
};

// xoshiro-like quality is not needed, but every platform must shuffle alike.
struct Shuffler {
    std::uint64_t state;
    std::uint64_t next() {
        state += 0x9e3779b97f4a7c15ull;
        std::uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(((next() >> 32) * n) >> 32); }
    template <class T>
    void operator()(T* values, std::size_t n) {
        for (std::size_t k = n; k > 1; --k) std::swap(values[k - 1], values[below(k)]);
    }
};

struct CoordinateProblem {
    std::span<const double> scale;   // c_i/λ
    std::span<const double> offset;  // a
    std::span<const double> sign;    // s
    std::span<const double> norm2;   // ‖x_i‖²
    double rho;                      // 0 without a free bias
};

struct Sweeps {
    double excess;  // of the last sweep: Σ (c_i/λ) excess(r_i, t_i), each before its step
    int count;
};

// Up to `most` sweeps over t, w and b, fewer once the excess of a sweep over all rows is at most `enough`.
template <class Rows, class Loss>
Sweeps coordinate_sweeps(const Rows& X, const Loss& loss, const CoordinateProblem& p, int most, double enough,
                         std::uint64_t seed, std::span<double> t, std::span<double> w, double& bias) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::size_t kChunkValues = 2048;
    const std::size_t n = X.size();
    const std::size_t height = std::max<std::size_t>(16, n * kChunkValues / (X.volume() + n));
    std::vector<std::uint32_t> active(n), order;
    std::iota(active.begin(), active.end(), 0u);
    std::vector<double> q(n);
    for (std::size_t i = 0; i < n; ++i) q[i] = std::max(p.scale[i] * (p.norm2[i] + p.rho), 1e-300);
    auto steps = dual_steps(loss, std::move(q), t);
    Shuffler shuffle{seed};
    double* weights = w.data();
    double limit = kInfinity, balance = 0, whole = kInfinity;
    for (std::size_t i = 0; i < n; ++i) balance += p.sign[i] * p.scale[i] * t[i];
    Sweeps done{kInfinity, 0};
    const auto see_all = [&] {
        active.resize(n);
        std::iota(active.begin(), active.end(), 0u);
        limit = kInfinity;
    };
    while (done.count < most) {
        if (done.count + 1 == most && active.size() < n) see_all();
        const std::size_t size = active.size(), chunks = (size + height - 1) / height;
        order.resize(chunks);
        for (std::size_t k = 0; k < chunks; ++k) order[k] = static_cast<std::uint32_t>(k);
        shuffle(order.data(), chunks);
        double excess = 0, largest = 0;
        for (const std::uint32_t chunk : order) {
            const std::size_t begin = chunk * height, end = std::min(size, begin + height);
            shuffle(active.data() + begin, end - begin);
            for (std::size_t k = begin; k < end; ++k) {
                const std::size_t i = active[k];
                const double old = t[i];
                const double r = p.sign[i] * (X.dot(i, weights) + bias) - p.offset[i];
                if (steps.held(r, old) > limit) {
                    active[k] |= 0x80000000u;
                    continue;
                }
                excess += p.scale[i] * steps.excess(i, r, old);
                largest = std::max(largest, steps.drive(r, old));
                const double now = steps(i, r, old), step = now - old;
                if (step == 0) continue;
                t[i] = now;
                const double move = -p.sign[i] * p.scale[i] * step;
                X.add(i, move, weights);
                bias += p.rho * move;
                balance -= move;
            }
        }
        bias -= p.rho * balance;
        std::erase_if(active, [](std::uint32_t i) { return (i & 0x80000000u) != 0; });
        limit = largest > 0 ? largest : kInfinity;
        done = {excess, done.count + 1};
        if (size == n) {
            whole = excess;
            if (excess <= enough) break;
        } else if (excess <= std::max(0.05 * whole, enough)) {  // solved among those left
            see_all();
        }
    }
    return done;
}

}  // namespace minorant
