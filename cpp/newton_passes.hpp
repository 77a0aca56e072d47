// What Newton's method does with the examples between two products, each in one pass over vectors of length n
// that threads share:
//
//     advance: r moves on by τ d; α, h and s α there      turn: d = s (X d + lift), from X d
//
// The sums come with them, since what is read from memory is the cost.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "curvature.hpp"
#include "dual_coordinate.hpp"
#include "lanes.hpp"
#include "samples.hpp"
#include "scalar.hpp"

namespace minorant {

struct NewtonVectors {
    const double *c, *sign, *center;
    double *exact, *r;  // without and with what the moved center adds; the same where mu = 0
    double *alpha, *h;  // c_i t_i and c_i φ_mu''(r_i)
    double* direction;  // d, and then s α
};

// Σ s_i α_i, Σ h_i and Σ c_i (φ(r_i) + φ*(t_i) - r_i t_i), the last 0 where mu = 0
using NewtonSums = std::array<double, 3>;

MINORANT_CLONES inline NewtonSums advance_plain(const Piecewise& loss, double tau, NewtonVectors v,
                                                std::size_t begin, std::size_t end) {
    const Smoothed f(loss, 0.0);
    return lane_sums<3>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double r = v.exact[i] + tau * v.direction[i], c = v.c[i];
        const double alpha = c * f.slope(r), h = c * f.bend(r), image = v.sign[i] * alpha;
        v.exact[i] = r, v.alpha[i] = alpha, v.h[i] = h, v.direction[i] = image;
        return NewtonSums{image, h, 0.0};
    });
}
MINORANT_CLONES inline NewtonSums advance_smoothed(const Piecewise& loss, double mu, double tau,
                                                   NewtonVectors v, std::size_t begin, std::size_t end) {
    const Smoothed f(loss, mu), exact(loss, 0.0);
    return lane_sums<3>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double x = v.exact[i] + tau * v.direction[i], r = x + mu * v.center[i], c = v.c[i];
        const double t = f.slope(r), h = c * f.bend(r), image = v.sign[i] * (c * t);
        v.exact[i] = x, v.r[i] = r, v.alpha[i] = c * t, v.h[i] = h, v.direction[i] = image;
        return NewtonSums{image, h, c * exact.excess(x, t)};
    });
}
inline NewtonSums advance(const Piecewise& loss, double mu, double tau, bool, const NewtonVectors& v,
                          std::size_t begin, std::size_t end) {
    return mu == 0 ? advance_plain(loss, tau, v, begin, end) : advance_smoothed(loss, mu, tau, v, begin, end);
}

MINORANT_WIDE_CLONES inline NewtonSums advance_logistic(double tau, NewtonVectors v, std::size_t begin,
                                                        std::size_t end) {
    return lane_sums<3>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double r = v.exact[i] + tau * v.direction[i], t = Logistic::sigmoid(r), alpha = v.c[i] * t;
        const double h = v.c[i] * (t * (1 - t)), image = v.sign[i] * alpha;
        v.exact[i] = r, v.alpha[i] = alpha, v.h[i] = h, v.direction[i] = image;
        return NewtonSums{image, h, 0.0};
    });
}
// α and h are known already, by the search along the line.
MINORANT_CLONES inline NewtonSums follow(double tau, NewtonVectors v, std::size_t begin, std::size_t end) {
    return lane_sums<3>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double image = v.sign[i] * v.alpha[i];
        v.exact[i] += tau * v.direction[i];
        v.direction[i] = image;
        return NewtonSums{image, v.h[i], 0.0};
    });
}
inline NewtonSums advance(const Logistic& loss, double mu, double tau, bool known, const NewtonVectors& v,
                          std::size_t begin, std::size_t end) {
    if (known) return follow(tau, v, begin, end);
    if (mu == 0) return advance_logistic(tau, v, begin, end);
    NewtonSums sums{};
    for (std::size_t i = begin; i < end; ++i) {
        v.exact[i] += tau * v.direction[i];
        v.r[i] = v.exact[i] + mu * v.center[i];
        const double t = loss.slope(v.r[i], mu), b = t * (1 - t);
        v.alpha[i] = v.c[i] * t, v.h[i] = v.c[i] * (b / (1 + mu * b));
        v.direction[i] = v.sign[i] * v.alpha[i];
        sums[0] += v.direction[i], sums[1] += v.h[i], sums[2] += v.c[i] * loss.excess(v.exact[i], t);
    }
    return sums;
}

template <class Loss>
NewtonSums advance(const Loss& loss, double mu, double tau, bool known, const NewtonVectors& v, std::size_t n,
                   int threads) {
    return block_sums<3>(n, threads, 20, [&](std::size_t begin, std::size_t end) {
        return advance(loss, mu, tau, known, v, begin, end);
    });
}

// Returns Σ h_i s_i d_i and Σ d_i².
MINORANT_CLONES inline std::array<double, 2> turn_block(const double* sign, const double* h, double lift,
                                                        double* d, std::size_t begin, std::size_t end) {
    return lane_sums<2>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double along = d[i] + lift;
        d[i] = sign[i] * along;
        return std::array<double, 2>{h[i] * along, along * along};
    });
}
inline std::array<double, 2> turn(const double* sign, const double* h, double lift, double* d, std::size_t n,
                                  int threads) {
    return block_sums<2>(n, threads, 6, [=](std::size_t begin, std::size_t end) {
        return turn_block(sign, h, lift, d, begin, end);
    });
}

// α once the bias has moved by -tilt, to first order; with Σ s_i α_i and how many are beyond their bounds
template <class Loss>
std::array<double, 2> lean(const Loss& loss, double tilt, std::span<const double> sign,
                           std::span<const double> c, std::span<const double> alpha,
                           std::span<const double> h, std::span<double> out, int threads) {
    return block_sums<2>(h.size(), threads, 8, [&](std::size_t begin, std::size_t end) {
        return lane_sums<2>(begin, end, [&](std::size_t i) {
            const double a = alpha[i] - tilt * h[i] * sign[i];
            const bool outside = a < loss.low * c[i] || a > loss.high * c[i];
            out[i] = a;
            return std::array<double, 2>{sign[i] * a, outside ? 1.0 : 0.0};
        });
    });
}

// Σ c_i φ(r_i)
template <class Loss>
double mean_loss(const Loss& loss, std::span<const double> r, std::span<const double> c, int threads) {
    return block_sums<1>(r.size(), threads, 8, [&](std::size_t begin, std::size_t end) {
        const std::size_t size = end - begin;
        return std::array{mean_loss(loss, r.subspan(begin, size), c.subspan(begin, size))};
    })[0];
}

// out = x y, entry by entry; it may be the one or the other.
inline void multiply(std::span<const double> x, std::span<const double> y, std::span<double> out,
                     int threads) {
    parallel_ranges(out.size(), threads, 4.0 * static_cast<double>(out.size()),
                    [=](std::size_t begin, std::size_t end) {
                        for (std::size_t i = begin; i < end; ++i) out[i] = x[i] * y[i];
                    });
}

// out += scale x
inline void add_scaled(const double* x, double scale, double* out, std::size_t n, int threads) {
    parallel_ranges(n, threads, 4.0 * static_cast<double>(n), [=](std::size_t begin, std::size_t end) {
        add_row(x + begin, scale, out + begin, end - begin);
    });
}

}  // namespace minorant
