// The proximal step of one example in dual coordinate ascent: with all other slopes held, the best t_i is the
// slope at r_i + Q_i t_i of φ smoothed at Q_i > 0. Each class keeps what makes the next step of an example
// cheap. `allowed` is t, or what comes next to it within the bounds; `moved` tells of a t from elsewhere.
//
// PiecewiseSteps: clip(soft(r + Q t)/(kappa + Q)), with the quotients computed once.
//
// LogisticSteps: t = σ(z) for the root z of  z + Q σ(z) = r + Q t_old.  The z are kept. At the old one the
// left-hand side minus the right-hand one is z - r, so that the first of Newton's steps needs no exponential;
// near the solution it is all that is needed, and the others, kept within a bracket, stop once they are small
// beside the whole way. An inexact step is one to another feasible t.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "scalar.hpp"

namespace minorant {

class PiecewiseSteps {
  public:
    PiecewiseSteps(const Piecewise& loss, std::vector<double> q, std::span<const double>)
        : loss_(loss), q_(std::move(q)), inverse_(q_.size()) {
        for (std::size_t i = 0; i < q_.size(); ++i) inverse_[i] = 1 / (loss.kappa + q_[i]);
    }
    MINORANT_INLINE double operator()(std::size_t i, double r, double t) const {
        return loss_.clip(loss_.soft(r + q_[i] * t) * inverse_[i]);
    }
    double allowed(double t, double) const { return loss_.clip(t); }
    double conjugate(double t) const { return loss_.conjugate(t); }
    void moved(std::size_t, double) {}
    double excess(std::size_t, double r, double t) const { return loss_.excess(r, t); }
    double drive(double r, double t) const { return loss_.drive(r, t); }
    double held(double r, double t) const { return loss_.held(r, t); }

  private:
    Piecewise loss_;
    std::vector<double> q_, inverse_;
};

class LogisticSteps {
  public:
    LogisticSteps(const Logistic&, std::vector<double> q, std::span<const double> t)
        : q_(std::move(q)), z_(t.size()) {
        for (std::size_t i = 0; i < t.size(); ++i) z_[i] = std::log(t[i] / (1 - t[i]));
    }
    double operator()(std::size_t i, double r, double t) {
        const double q = q_[i], whole = r + q * t, start = std::isfinite(z_[i]) ? z_[i] : r;
        double below = whole - q, above = whole, z = start, slope = std::isfinite(z_[i]) ? t : sigmoid(r);
        for (int k = 0; k < 50; ++k) {
            const double left = whole - z - q * slope, step = left / (1 + q * slope * (1 - slope));
            if (k > 0 && std::abs(step) <= 0.05 * std::abs(z - start)) break;
            (left > 0 ? below : above) = z;
            const double newton = z + step;
            z = newton >= below && newton <= above ? newton : 0.5 * (below + above);
            slope = sigmoid(z);
        }
        z_[i] = z;
        return slope;
    }
    double allowed(double t, double now) const { return t > 0 && t < 1 ? t : now; }
    double conjugate(double t) const { return Logistic{}.conjugate(t); }
    void moved(std::size_t i, double t) { z_[i] = std::log(t / (1 - t)); }
    // To second order in r - z, and exactly where t is 0 or 1; it tells when to look, and proves nothing.
    double excess(std::size_t i, double r, double t) const {
        const double off = r - z_[i], above = t > 0 ? -r : r;
        if (std::isfinite(off)) return std::min(0.5 * t * (1 - t) * off * off, std::abs(off));
        return std::max(above, 0.0) + std::log1p(std::exp(-std::abs(above)));
    }
    double drive(double, double) const { return 1.0; }
    double held(double, double) const { return 0.0; }

  private:
    static double sigmoid(double z) {
        const double e = std::exp(-std::abs(z));
        return (z < 0 ? e : 1.0) / (1 + e);
    }
    std::vector<double> q_, z_;
};

inline PiecewiseSteps dual_steps(const Piecewise& loss, std::vector<double> q, std::span<const double> t) {
    return {loss, std::move(q), t};
}
inline LogisticSteps dual_steps(const Logistic& loss, std::vector<double> q, std::span<const double> t) {
    return {loss, std::move(q), t};
}

}  // namespace minorant
