// Scalar losses φ(r) of r = s z - a, their slope t = φ'(r) and curvature, as coordinate methods need them:
//
//     clipped quadratic   t = clip(r/κ, low, high),   φ = t (r - κt/2)      squared, squared and smooth
//     hinge, Huber logistic      t = 1/(1 + e^-r),           φ = log(1 + e^r)
//
// `linearize` is one pass over the examples, a plain function for each loss, so that it is made for each
// instruction set.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "exponential.hpp"
#include "lanes.hpp"
#include "logarithm.hpp"

namespace minorant {

struct ClippedQuadratic {
    double kappa, low, high;

    bool quadratic() const { return std::isinf(low) && std::isinf(high); }
    double steepest() const { return 1 / kappa; }
};

struct LogisticLoss {
    bool quadratic() const { return false; }
    double steepest() const { return 0.25; }
};

// The examples: r_i = s_i (z_i + b) - a_i counts c_i times.
struct Examples {
    std::span<const double> s, a, c;

    std::size_t size() const { return s.size(); }
};

// Σ c φ; Σ c t (r - κt), by which the slopes are clipped (what shrinking the dual point by a factor 1 - ε
// costs is ε times that, and about ε² times the loss); Σ e; Σ c φ''.
struct Level {
    double loss = 0, clipped = 0, balance = 0, mass = 0;
};

// e = c s t, and h = c φ'', at least c·least
MINORANT_WIDE_CLONES inline std::array<double, 4> linearize_block(const LogisticLoss&, const double* s,
                                                                  const double* a, const double* c,
                                                                  const double* z, double b, double least,
                                                                  double* e, double* h, std::size_t n) {
    return lane_sums<4>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double r = s[i] * (z[i] + b) - a[i], q = exp_negative(r < 0 ? r : -r), inverse = 1 / (1 + q);
        const double t = (r < 0 ? q : 1.0) * inverse, curvature = q * inverse * inverse;
        e[i] = c[i] * s[i] * t;
        h[i] = c[i] * (curvature < least ? least : curvature);
        return std::array{c[i] * ((r < 0 ? 0.0 : r) + log1p_unit(q)), 0.0, e[i], c[i] * curvature};
    });
}
MINORANT_CLONES inline std::array<double, 4> linearize_block(const ClippedQuadratic& loss, const double* s,
                                                             const double* a, const double* c,
                                                             const double* z, double b, double least,
                                                             double* e, double* h, std::size_t n) {
    const double kappa = loss.kappa, low = loss.low, high = loss.high, steep = 1 / kappa;
    return lane_sums<4>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double r = s[i] * (z[i] + b) - a[i], free = r * steep;
        const double above = free < low ? low : free, t = above > high ? high : above;
        const double curvature = t == free ? steep : 0.0;
        e[i] = c[i] * s[i] * t;
        h[i] = c[i] * (curvature < least ? least : curvature);
        return std::array{c[i] * (t * (r - 0.5 * kappa * t)), t == free ? 0.0 : c[i] * (t * (r - kappa * t)),
                          e[i], c[i] * curvature};
    });
}

template <class Loss>
Level linearize(const Loss& loss, const Examples& on, const double* z, double b, double least, double* e,
                double* h) {
    const auto [value, clipped, balance, mass] =
        linearize_block(loss, on.s.data(), on.a.data(), on.c.data(), z, b, least, e, h, on.size());
    return {value, clipped, balance, mass};
}

// Σ c φ at z + t v and the bias b
MINORANT_WIDE_CLONES inline double value_block(const LogisticLoss&, const double* s, const double* a,
                                               const double* c, const double* z, const double* v, double t,
                                               double b, std::size_t n) {
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double r = s[i] * (z[i] + t * v[i] + b) - a[i], q = exp_negative(r < 0 ? r : -r);
        return std::array{c[i] * ((r < 0 ? 0.0 : r) + log1p_unit(q))};
    })[0];
}
MINORANT_CLONES inline double value_block(const ClippedQuadratic& loss, const double* s, const double* a,
                                          const double* c, const double* z, const double* v, double t,
                                          double b, std::size_t n) {
    const double kappa = loss.kappa, low = loss.low, high = loss.high, steep = 1 / kappa;
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double r = s[i] * (z[i] + t * v[i] + b) - a[i], free = r * steep;
        const double above = free < low ? low : free, slope = above > high ? high : above;
        return std::array{c[i] * (slope * (r - 0.5 * kappa * slope))};
    })[0];
}

template <class Loss>
double value(const Loss& loss, const Examples& on, const double* z, const double* v, double t, double b) {
    return value_block(loss, on.s.data(), on.a.data(), on.c.data(), z, v, t, b, on.size());
}

}  // namespace minorant
