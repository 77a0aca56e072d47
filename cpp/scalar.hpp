// The loss φ of one example, by its conjugate φ*, and smoothed at mu ≥ 0:
//
//     φ_mu(r) = max over t of  r t - φ*(t) - (mu/2) t² ,     slope: the maximizer t = φ_mu'(r),   bend:
//     φ_mu''(r)
//
//     Piecewise:  φ*(t) = tube |t| + (kappa/2) t²  on [low, high]        Logistic:  t log t + (1-t) log(1-t)
//
// `excess` is φ(r) + φ*(t) - r t ≥ 0 (Fenchel and Young): what the pair (r, t) adds to the duality gap.
#pragma once

#include <algorithm>
#include <cmath>

#include "exponential.hpp"
#include "lanes.hpp"

namespace minorant {

struct Piecewise {
    double kappa, tube, low, high;

    MINORANT_INLINE double soft(double r) const {  // one choice after another: compilers vectorize these
        const double above = r - tube, below = r + tube;
        return (above > 0 ? above : 0.0) + (below < 0 ? below : 0.0);
    }
    MINORANT_INLINE double clip(double t) const {
        t = t < low ? low : t;
        return t > high ? high : t;
    }
    MINORANT_INLINE double excess(double r, double t) const {
        const double v = soft(r), up = v > 0 ? high : 0.0, corner = v < 0 ? low : up;
        const double steep = kappa > 0 ? clip(v / kappa) : corner;
        const double value = steep == 0 ? 0.0 : steep * v - 0.5 * kappa * steep * steep;
        return value + tube * std::abs(t) + 0.5 * kappa * t * t - r * t;
    }
    double conjugate(double t) const { return tube * std::abs(t) + 0.5 * kappa * t * t; }
    // The r nearest to this one at which t would stay.
    double staying(double r, double t) const {
        const double bend = kappa * t + (t > 0 ? tube : t < 0 ? -tube : 0.0), flat = t == 0 ? tube : 0.0;
        if (t > low) r = std::max(r, bend - flat);
        return t < high ? std::min(r, bend + flat) : r;
    }
};

// The same smoothed at one mu, for many r; at a corner, one of its slopes.
struct Smoothed {
    Piecewise loss;
    double inverse, at_rest;  // 0 where a tube is flat

    MINORANT_INLINE Smoothed(const Piecewise& f, double mu)
        : loss(f),
          inverse(1 / (f.kappa + mu > 1e-300 ? f.kappa + mu : 1e-300)),
          at_rest(f.tube > 0 ? 0 : 1) {}
    MINORANT_INLINE double slope(double r) const { return loss.clip(loss.soft(r) * inverse); }
    MINORANT_INLINE double bend(double r) const {
        const double v = loss.soft(r), t = v * inverse, above = t > loss.low ? inverse : 0.0,
                     inside = t < loss.high ? above : 0.0;
        return v == 0 ? inside * at_rest : inside;
    }
    // For mu = 0: that of the loss, without a choice by its shape, which would keep it out of vector units.
    MINORANT_INLINE double excess(double r, double t) const {
        const double v = loss.soft(r), steep = loss.clip(v * inverse);
        const double value = steep * v - 0.5 * loss.kappa * (steep * steep);
        return value + loss.tube * std::abs(t) + 0.5 * loss.kappa * (t * t) - r * t;
    }
};

struct Logistic {
    static constexpr double low = 0, high = 1;

    MINORANT_INLINE static double sigmoid(double z) {
        const double e = exp_negative(z < 0 ? z : -z);
        return (z < 0 ? e : 1.0) / (1 + e);
    }
    double slope(double r, double mu) const { return mu == 0 ? sigmoid(r) : slope_near(r, mu, r - 0.5 * mu); }
    // The root z of z + mu σ(z) = r by Newton's method from a guess of z, kept within [r - mu, r].
    double slope_near(double r, double mu, double guess) const {
        double below = r - mu, above = r, z = std::clamp(guess, below, above);
        for (int k = 0; k < 50; ++k) {
            const double t = sigmoid(z), excess = z + mu * t - r;
            if (std::abs(excess) <= 1e-14 * (std::abs(z) + mu)) return t;
            (excess < 0 ? below : above) = z;
            const double newton = z - excess / (1 + mu * t * (1 - t));
            z = newton >= below && newton <= above ? newton : 0.5 * (below + above);
        }
        return sigmoid(z);
    }
    double bend(double r, double mu) const {
        const double t = slope(r, mu), b = t * (1 - t);
        return b / (1 + mu * b);
    }
    double excess(double r, double t) const {
        const double value = std::max(r, 0.0) + std::log1p(exp_negative(-std::abs(r)));
        return value + conjugate(t) - r * t;
    }
    double conjugate(double t) const {
        return (t > 0 ? t * std::log(t) : 0.0) + (t < 1 ? (1 - t) * std::log1p(-t) : 0.0);
    }
};

}  // namespace minorant
