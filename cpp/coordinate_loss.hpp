// Scalar losses φ(r) of r = s z - a, their slope t = φ'(r) and curvature, as coordinate methods need them.
//
//     clipped quadratic   t = clip(r/κ, low, high),   φ = t (r - κt/2)        squared, squared and smooth
//     hinge, Huber logistic            t = 1/(1 + e^-r),           φ = log(1 + e^r)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace minorant {

struct ClippedQuadratic {
    double kappa, low, high;

    bool quadratic() const { return std::isinf(low) && std::isinf(high); }
    double steepest() const { return 1 / kappa; }
    double value(double r) const {
        const double t = slope(r);
        return t * (r - 0.5 * kappa * t);
    }
    double slope(double r) const { return std::clamp(r / kappa, low, high); }
    double clipped(double r) const { return quadratic() ? 0.0 : r - kappa * slope(r); }
    double curvature(double r) const { return r > kappa * low && r < kappa * high ? 1 / kappa : 0.0; }
};

struct LogisticLoss {
    bool quadratic() const { return false; }
    double steepest() const { return 0.25; }
    double value(double r) const { return std::max(r, 0.0) + std::log1p(std::exp(-std::abs(r))); }
    double slope(double r) const { return r > 0 ? 1 / (1 + std::exp(-r)) : std::exp(r) / (1 + std::exp(r)); }
    double clipped(double) const { return 0; }
    double curvature(double r) const {
        const double q = std::exp(-std::abs(r));
        return q / ((1 + q) * (1 + q));
    }
};

// The examples: r_i = s_i z_i - a_i counts c_i times.
struct Examples {
    std::span<const double> s, a, c;

    double at(std::size_t i, double z) const { return s[i] * z - a[i]; }
    std::size_t size() const { return s.size(); }
};

}  // namespace minorant
