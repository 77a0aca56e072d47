// The hinge smoothed at mu, minimized over a free bias b: the root of B(b) = ⟨y, α(b)⟩, which falls in b
// along ramps. Newton's method in a bracket finishes on the last linear piece exactly; where it takes too
// long (mu far below the distance of the kinks, and a poor guess) the linear-time search of box_plane.hpp
// takes over.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "box_plane.hpp"
#include "samples.hpp"

namespace minorant {

// The step from bias.base to the root, by the linear-time search.
inline double searched_step(const Samples& s, double mu, const Bias& bias) {
    std::vector<Ramp> ramps;
    ramps.reserve(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (!(s.c[i] > 0)) continue;
        // y_i α_i as a ramp in the multiplier -b of the plane ⟨y, α⟩ = 0
        const double v = violation(s.u[i], s.y[i], {bias.base, 0}), rate = s.c[i] / mu;
        if (s.y[i] > 0) {
            ramps.push_back({-v, mu - v, 0, s.c[i], rate * v, rate});
        } else {
            ramps.push_back({v - mu, v, -s.c[i], 0, -rate * v, rate});
        }
    }
    std::size_t work = 0;
    return -balance(ramps, 0, work);
}

inline Bias smoothed_bias(const Samples& s, double mu, double guess, int threads) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    constexpr int kPatience = 20, kPasses = 32;
    Bias bias{std::isfinite(guess) ? guess : 0.0, 0}, best = bias;
    double lo = -infinity, hi = infinity;  // B(base + lo) > 0 > B(base + hi)
    double least = infinity;
    for (int pass = 0; pass < kPasses; ++pass) {
        const auto [value, free, mass] =
            block_sums<3>(s.size(), threads, 12, [&](std::size_t begin, std::size_t end) {
                return balance_block(s.u.data(), s.y.data(), s.c.data(), mu, bias, begin, end);
            });
        const double error = std::abs(value);
        const double noise = 4 * epsilon * mass + 1e-20 * free;
        const bool stuck = error <= 16 * noise && error >= 0.5 * least;
        if (error < least) least = error, best = bias;
        if (!(error > noise) || stuck) break;

        (value > 0 ? lo : hi) = bias.rest;
        double next = bias.rest + value * (mu / free);
        const bool bracketed = lo < next && next < hi;
        if (pass == kPatience || (pass > kPatience && !bracketed)) {
            next = searched_step(s, mu, bias);
            lo = -infinity, hi = infinity;
        } else if (!bracketed) {
            if (std::isinf(lo) || std::isinf(hi)) {
                double first = infinity, last = -infinity;
                for (std::size_t i = 0; i < s.size(); ++i) {
                    first = std::min(first, s.kink(i));
                    last = std::max(last, s.kink(i));
                }
                lo = std::max(lo, first - mu - bias.base);
                hi = std::min(hi, last + mu - bias.base);
            }
            next = lo + 0.5 * (hi - lo);
        }
        // A new base rounds every v_i anew: it stays where it is once the steps are small beside mu.
        const bool fine = std::abs(next) <= std::min(mu, 0.5 * std::abs(bias.base));
        const double base = fine ? bias.base : bias.base + next;
        const double moved = base - bias.base;
        const double blur = moved == 0 ? 0 : 4 * epsilon * (std::abs(base) + std::abs(bias.base));
        lo -= moved + blur;
        hi -= moved - blur;
        bias = {base, next - moved};
    }
    return best;
}

struct SmoothedHinge {
    double value, bias;
};

// Writes the maximizer to alpha.
inline SmoothedHinge smoothed_hinge(const Samples& s, double mu, bool free_bias, double guess, int threads,
                                    std::span<double> alpha) {
    const Bias bias = free_bias ? smoothed_bias(s, mu, guess, threads) : Bias{};
    const auto [value] = block_sums<1>(s.size(), threads, 12, [&](std::size_t begin, std::size_t end) {
        return smoothed_block(s.u.data(), s.y.data(), s.c.data(), mu, bias, alpha.data(), begin, end);
    });
    return {value, bias.base + bias.rest};
}

}  // namespace minorant
