// What a call of Newton's method is given, where it is, and what it returns.
#pragma once

#include <span>

namespace minorant {

struct NewtonProblem {
    std::span<const double> c, offset, sign;
    double lam;
    bool bias;
    int threads;
    bool part = false;  // of a larger problem, whose other examples are held at their slopes:
    double pull = 0;    // their Σ s_i α_i
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

}  // namespace minorant
