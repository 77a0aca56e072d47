// The proximal step of one example in dual coordinate ascent: with all other slopes held, the best t_i is the
// slope at r_i + Q_i t_i of φ smoothed at Q_i > 0. Each class keeps what makes the next step of an example
// cheap, in vectors that its owner holds. The slopes that are held at a bound are known by the sign of
// `force`.
//
// For conjugate steps: slope and curvature of φ* at t are `bent` and `bend`; a t that moves goes `way` times
// its pace until it comes to a `stop`; `near` is t but for rounding beyond a bound; `moved` tells of a new t.
// The logistic φ* is nearly quadratic halfway to a bound, so slopes stop there.
//
// Piecewise: clip(soft(r + Q t)/(kappa + Q)), which is t + (r - kappa t)/(kappa + Q) but for tube and bounds.
// The quotients are computed once. It has no branch that depends on r: many of those would be mispredicted.
//
// Logistic: t = σ(z) for the root z of  z + Q σ(z) = r + Q t_old.  The z are kept. At the old one the
// left-hand side minus the right-hand one is z - r, so that the first of Newton's steps needs no exponential;
// near the solution it is all that is needed, and the others, kept within a bracket, stop once they are small
// beside the whole way, or beside z. An inexact step is one to another feasible t. Where t is 0 or 1 they
// start at z = 0, where σ bends the other way, or as near to it as the bracket allows: from there they cannot
// overshoot.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "logistic_sums.hpp"
#include "room.hpp"
#include "scalar.hpp"

namespace minorant {

struct CoordinateProblem {
    std::span<const double> scale;   // c_i/λ
    std::span<const double> offset;  // a
    std::span<const double> sign;    // s
    std::span<const double> norm2;   // ‖x_i‖²
    double rho;                      // 0 without a free bias
};

template <class Loss>
class DualSteps;

template <>
class DualSteps<Piecewise> {
  public:
    DualSteps(const Piecewise& loss, std::span<double> q, std::span<const double>, RoomVector<double>&)
        : loss_(loss), sharp_(loss.kappa > 0 ? 1 / loss.kappa : 1e300), inverse_(q) {
        for (double& value : q) value = 1 / (loss.kappa + value);
    }
    // How far r is from where t would stay. What does not wait for the score comes first.
    MINORANT_INLINE double force(double score, double offset, double t) const {
        const double off = score - (offset + loss_.kappa * t);
        if (loss_.tube == 0) return off;
        return t > 0 ? off - loss_.tube : t < 0 ? off + loss_.tube : loss_.soft(off);
    }
    MINORANT_INLINE bool held(double force, double t) const {
        return t == (force < 0 ? loss_.low : loss_.high);
    }
    MINORANT_INLINE double operator()(std::size_t i, double r, double t, double force) const {
        if (loss_.tube == 0) return loss_.clip(t + force * inverse_[i]);
        const Piecewise narrow{0, loss_.tube * inverse_[i], loss_.low, loss_.high};
        return narrow.clip(narrow.soft(t + (r - loss_.kappa * t) * inverse_[i]));
    }
    MINORANT_INLINE double excess(std::size_t, double r, double t) const {
        const double steep = loss_.clip((loss_.tube == 0 ? r : loss_.soft(r)) * sharp_);
        const double smooth = (steep - t) * (r - 0.5 * loss_.kappa * (steep + t));
        return loss_.tube == 0 ? smooth : smooth + loss_.tube * (std::abs(t) - std::abs(steep));
    }
    double bent(std::size_t, double t) const {
        return loss_.kappa * t + (t > 0 ? loss_.tube : t < 0 ? -loss_.tube : 0.0);
    }
    double bend(double) const { return loss_.kappa; }
    double stop(double t, double pace) const {
        if (loss_.tube > 0 && t * pace <= 0) return 0.0;
        return pace > 0 ? loss_.high : loss_.low;
    }
    double way(double t, double pace) const { return (stop(t, pace) - t) / pace; }
    double near(double t, double) const { return loss_.clip(t); }
    void moved(std::size_t, double) {}

  private:
    Piecewise loss_;
    double sharp_;
    std::span<const double> inverse_;
};

template <>
class DualSteps<Logistic> {
  public:
    DualSteps(const Logistic&, std::span<const double> q, std::span<const double> t, RoomVector<double>& z)
        : q_(q) {
        z.resize(t.size());
        logits(t.data(), z.data(), t.size());
        z_ = z;
    }
    MINORANT_INLINE double force(double, double, double) const { return 1; }
    MINORANT_INLINE bool held(double, double) const { return false; }
    double operator()(std::size_t i, double r, double t, double) const {
        const double q = q_[i], whole = r + q * t;
        const bool known = std::isfinite(z_[i]);
        double below = whole - q, above = whole;
        const double start = known ? z_[i] : std::clamp(0.0, below, above);
        double z = start, slope = known ? t : sigmoid(start);
        for (int k = 0; k < 50; ++k) {
            const double each =
                1 / (1 + q * slope * (1 - slope));  // by itself: at first it need not wait for r
            const double left = whole - z - q * slope, step = left * each;
            if (k > 0 && (std::abs(step) <= 0.05 * std::abs(z - start) || z + step == z)) break;
            (left > 0 ? below : above) = z;
            const double newton = z + step;
            z = newton >= below && newton <= above ? newton : 0.5 * (below + above);
            slope = sigmoid(z);
        }
        z_[i] = z;
        return slope;
    }
    double bent(std::size_t i, double) const { return std::isfinite(z_[i]) ? z_[i] : 0.0; }
    double bend(double t) const { return t > 0 && t < 1 ? 1 / (t * (1 - t)) : 0.0; }
    double stop(double t, double pace) const { return t + std::copysign(0.5 * std::min(t, 1 - t), pace); }
    double way(double t, double pace) const { return 0.5 * std::min(t, 1 - t) / std::abs(pace); }
    double near(double t, double now) const { return t > 0 && t < 1 ? t : now; }
    void moved(std::size_t i, double t) { z_[i] = std::log(t / (1 - t)); }
    // To second order in r - z, and exactly where t is 0 or 1; it tells when to look, and proves nothing.
    double excess(std::size_t i, double r, double t) const {
        const double off = r - z_[i], above = t > 0 ? -r : r;
        if (std::isfinite(off)) return std::min(0.5 * t * (1 - t) * off * off, std::abs(off));
        return std::max(above, 0.0) + std::log1p(std::exp(-std::abs(above)));
    }

  private:
    static double sigmoid(double z) {
        const double e = std::exp(-std::abs(z));
        return (z < 0 ? e : 1.0) / (1 + e);
    }
    std::span<const double> q_;
    std::span<double> z_;
};

}  // namespace minorant
