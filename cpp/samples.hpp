// One pass over the samples of a hinge loss: c_i = weight_i / Σ weight, u = -y·scores, y_i = ±1, bias b,
//
//     v_i = 1 + u_i - y_i b,    t_i = clip(v_i / mu, 0, 1),    α_i = c_i t_i
//
// Passes are blocks of plain functions, so that the compiler can make one version for each instruction set.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "lanes.hpp"
#include "parallel.hpp"

namespace minorant {

struct Samples {
    std::span<const double> u, y, c;

    std::size_t size() const { return u.size(); }
    double kink(std::size_t i) const { return y[i] * (1 + u[i]); }
};

// b = base + rest. Near the root v_i is a small difference of numbers that may be large beside mu; once base
// has been subtracted, `rest` still resolves it.
struct Bias {
    double base = 0, rest = 0;
};

MINORANT_INLINE double violation(double u, double y, const Bias& bias) {
    return ((1 + u) - y * bias.base) - y * bias.rest;
}

MINORANT_INLINE double clip_unit(double t) {
    t = t < 0 ? 0.0 : t;
    return t > 1 ? 1.0 : t;
}

// ⟨y, α⟩, the weight of the samples with 0 < t_i < 1 (-mu times the slope in b), and Σ α
MINORANT_CLONES inline std::array<double, 3> balance_block(const double* u, const double* y, const double* c,
                                                           double mu, Bias bias, std::size_t begin,
                                                           std::size_t end) {
    return lane_sums<3>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double weight = c[i], t = clip_unit(violation(u[i], y[i], bias) / mu), alpha = weight * t;
        const double below_one = t < 1 ? weight : 0.0;
        return std::array<double, 3>{y[i] * alpha, t > 0 ? below_one : 0.0, alpha};
    });
}

// Σ c_i t_i (v_i - mu t_i / 2), the smoothed hinge; writes α.
MINORANT_CLONES inline std::array<double, 1> smoothed_block(const double* u, const double* y, const double* c,
                                                            double mu, Bias bias, double* alpha,
                                                            std::size_t begin, std::size_t end) {
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double v = violation(u[i], y[i], bias), t = clip_unit(v / mu);
        alpha[i] = c[i] * t;
        return std::array<double, 1>{c[i] * (t * (v - 0.5 * mu * t))};
    });
}

// Σ c_i [v_i]_+, the exact hinge.
MINORANT_CLONES inline std::array<double, 1> hinge_block(const double* u, const double* y, const double* c,
                                                         Bias bias, std::size_t begin, std::size_t end) {
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double v = violation(u[i], y[i], bias);
        return std::array<double, 1>{c[i] * (v > 0 ? v : 0.0)};
    });
}

// The weight of the positive class and that of all.
inline std::array<double, 2> weight_block(const double* y, const double* c, std::size_t begin,
                                          std::size_t end) {
    return lane_sums<2>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 2>{y[i] > 0 ? c[i] : 0.0, c[i]};
    });
}

// The weight of the kinks below that bias.
MINORANT_CLONES inline std::array<double, 1> weight_before(const double* u, const double* y, const double* c,
                                                           double bias, std::size_t begin, std::size_t end) {
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 1>{y[i] * (1 + u[i]) < bias ? c[i] : 0.0};
    });
}

// Σ sums(begin, end) over the blocks of the entries 0..n-1, in their order; each entry costs `cost`
// operations.
template <std::size_t K, class F>
std::array<double, K> block_sums(std::size_t n, int threads, double cost, F&& sums) {
    std::vector<std::array<double, K>> parts(block_count(n));
    parallel_ranges(n, threads, cost * static_cast<double>(n),
                    [&](std::size_t begin, std::size_t end) { parts[begin / kBlock] = sums(begin, end); });
    std::array<double, K> total{};
    for (const auto& part : parts)
        for (std::size_t k = 0; k < K; ++k) total[k] += part[k];
    return total;
}

}  // namespace minorant
