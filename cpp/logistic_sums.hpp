// Sums over the examples of the logistic loss φ(r) = log(1 + e^r) and of φ*(t) = t log t + (1-t) log(1-t), t
// = α/c in [0, 1]: what a certificate asks for. Examples with c = 0 have none of either.
#pragma once

#include <array>
#include <cstddef>
#include <limits>

#include "exponential.hpp"
#include "lanes.hpp"
#include "logarithm.hpp"

namespace minorant {

// log(1 - t) for 0 ≤ t < 1, and something finite for t = 1
MINORANT_INLINE double log_one_minus(double t) {
    const double rest = 1 - t, lost = 1 - rest;  // what is left of t after rounding
    return lost == 0 ? -t : log_positive(rest) * (t / lost);
}

MINORANT_INLINE double logistic_value(double r) {
    return (r < 0 ? 0.0 : r) + log1p_unit(exp_negative(r < 0 ? r : -r));
}

// Σ c φ(r)
MINORANT_WIDE_CLONES inline double logistic_loss(const double* r, const double* c, std::size_t n) {
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array{c[i] * logistic_value(r[i])};
    })[0];
}

// φ*(t) for 0 ≤ t ≤ 1
MINORANT_INLINE double logistic_entropy(double t) {
    return (t > 1e-300 ? t * log_positive(t) : 0.0) + (1 - t) * log_one_minus(t);
}

// Σ c φ*(t)
MINORANT_WIDE_CLONES inline double logistic_conjugate(const double* alpha, const double* c, std::size_t n) {
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double raw = c[i] > 0 ? alpha[i] / c[i] : 0.0, up = raw < 0 ? 0.0 : raw, t = up > 1 ? 1.0 : up;
        return std::array{c[i] * logistic_entropy(t)};
    })[0];
}

// log(t/(1 - t)), infinite where t is 0 or 1
MINORANT_WIDE_CLONES inline void logits(const double* t, double* z, std::size_t n) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
        const double inside = t[i] > 1e-300 && t[i] < 1 ? t[i] : 0.5;
        const double finite = log_positive(inside) - log_one_minus(inside),
                     above = t[i] < 1 ? finite : infinity;
        z[i] = t[i] > 1e-300 ? above : -infinity;
    }
}

// Σ α (log(s t) - log(1 - s t)): the slope in s of Σ c φ*(s t), for s t < 1
MINORANT_WIDE_CLONES inline double logistic_conjugate_slope(const double* alpha, const double* c, double s,
                                                            std::size_t n) {
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double raw = c[i] > 0 ? s * (alpha[i] / c[i]) : 0.0, t = raw > 1e-300 ? raw : 0.5;
        return std::array{raw > 1e-300 ? alpha[i] * (log_positive(t) - log_one_minus(t)) : 0.0};
    })[0];
}

}  // namespace minorant
