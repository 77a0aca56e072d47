// The hinge loss of scores, c_i = weight_i / Σ weight, u = -y·scores, y_i = ±1, v_i(b) = 1 + u_i - y_i b:
//
//     hinge(b) = Σ c_i [v_i]_+        smoothed at mu:  Σ c_i t_i (v_i - mu t_i / 2),  t_i = clip(v_i / mu, 0,
//     1)
//
// with maximizer α_i = c_i t_i. A free bias b minimizes either one. For the smoothed hinge this is the root
// of B(b) = ⟨y, α⟩, which falls in b along ramps: Newton's method in a bracket, and the linear-time search
// where it takes too long. For the exact hinge it is a weighted quantile of the kinks y_i (1 + u_i).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "box_plane.hpp"
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

    double violation(const Samples& s, std::size_t i) const {
        return ((1 + s.u[i]) - s.y[i] * base) - s.y[i] * rest;
    }
};

inline double clip_unit(double t) { return t < 0 ? 0 : t > 1 ? 1 : t; }

// Σ term(i) over all entries, K sums at once: eight lanes in each block, then the blocks in order.
template <std::size_t K, class F>
std::array<double, K> block_sums(std::size_t n, int threads, double work, F&& term) {
    using Terms = std::array<double, K>;
    std::vector<Terms> sums(block_count(n));
    parallel_ranges(n, threads, work, [&](std::size_t begin, std::size_t end) {
        constexpr std::size_t kLanes = 8;
        std::array<std::array<double, kLanes>, K> lanes{};
        const auto add = [&](std::size_t i, std::size_t lane) {
            const Terms terms = term(i);
            for (std::size_t k = 0; k < K; ++k) lanes[k][lane] += terms[k];
        };
        std::size_t i = begin;
        for (; i + kLanes <= end; i += kLanes)
            for (std::size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
        for (std::size_t lane = 0; i + lane < end; ++lane) add(i + lane, lane);
        Terms& sum = sums[begin / kBlock];
        for (std::size_t k = 0; k < K; ++k)
            for (const double lane : lanes[k]) sum[k] += lane;
    });
    Terms total{};
    for (const Terms& sum : sums)
        for (std::size_t k = 0; k < K; ++k) total[k] += sum[k];
    return total;
}

// The step from `bias` to the root of B, by the linear-time search.
inline double bias_step(const Samples& s, double mu, const Bias& bias) {
    std::vector<Ramp> ramps;
    ramps.reserve(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) {
        if (!(s.c[i] > 0)) continue;
        // y_i α_i as a function of the multiplier -b, which it does not decrease in
        const double v = bias.violation(s, i), rate = s.c[i] / mu;
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
    const double work = 12.0 * static_cast<double>(s.size());
    Bias bias{std::isfinite(guess) ? guess : 0.0, 0}, best = bias;
    double lo = -infinity, hi = infinity;  // B(base + lo) > 0 > B(base + hi)
    double least = infinity;
    for (int pass = 0; pass < kPasses; ++pass) {
        const auto [value, free, mass] = block_sums<3>(s.size(), threads, work, [&](std::size_t i) {
            const double t = clip_unit(bias.violation(s, i) / mu), alpha = s.c[i] * t;
            return std::array{s.y[i] * alpha, (0 < t) & (t < 1) ? s.c[i] : 0.0, alpha};
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
            next = bias_step(s, mu, bias) + bias.rest;
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

inline SmoothedHinge smoothed_hinge(const Samples& s, double mu, bool free_bias, double guess, int threads,
                                    std::span<double> alpha) {
    const Bias bias = free_bias ? smoothed_bias(s, mu, guess, threads) : Bias{};
    const auto [value] =
        block_sums<1>(s.size(), threads, 12.0 * static_cast<double>(s.size()), [&](std::size_t i) {
            const double v = bias.violation(s, i), t = clip_unit(v / mu);
            alpha[i] = s.c[i] * t;
            return std::array{s.c[i] * (t * (v - 0.5 * mu * t))};
        });
    return {value, bias.base + bias.rest};
}

struct Kink {
    double at, weight;
};

// Reorders `kinks`; returns how many of the least ones it takes for their weight to reach `target` (to pass
// it, if `beyond`), all of them where no number does. The last one of that many comes last among them.
inline std::size_t weighted_rank(std::span<Kink> kinks, double target, bool beyond, double& weight) {
    std::size_t begin = 0, end = kinks.size();
    weight = 0;
    while (end - begin > 1) {
        const std::size_t middle = begin + (end - begin - 1) / 2;
        const auto first = kinks.begin() + static_cast<std::ptrdiff_t>(begin);
        std::nth_element(first, kinks.begin() + static_cast<std::ptrdiff_t>(middle),
                         kinks.begin() + static_cast<std::ptrdiff_t>(end),
                         [](const Kink& a, const Kink& b) { return a.at < b.at; });
        const auto [part] = block_sums<1>(middle + 1 - begin, 1, 0,
                                          [&](std::size_t i) { return std::array{kinks[begin + i].weight}; });
        if (beyond ? weight + part > target : weight + part >= target) {
            end = middle + 1;
        } else {
            weight += part;
            begin = middle + 1;
        }
    }
    if (end > begin) weight += kinks[begin].weight;
    return end;
}

// The middle of the interval of biases that minimize the exact hinge.
inline double hinge_bias(const Samples& s, int threads) {
    const auto [positive, total] =
        block_sums<2>(s.size(), threads, 2.0 * static_cast<double>(s.size()),
                      [&](std::size_t i) { return std::array{s.y[i] > 0 ? s.c[i] : 0.0, s.c[i]}; });
    std::vector<Kink> kinks;
    kinks.reserve(s.size());
    for (std::size_t i = 0; i < s.size(); ++i)
        if (s.c[i] > 0) kinks.push_back({s.kink(i), s.c[i]});
    if (kinks.empty()) return 0;
    const double slack = 1e-12 * total;
    double reached;
    const std::size_t count = weighted_rank(kinks, positive - slack, false, reached);
    const double low = kinks[count - 1].at;
    if (reached > positive + slack || count == kinks.size()) return low;
    const auto rest = std::span(kinks).subspan(count);
    double more;
    const std::size_t further = weighted_rank(rest, positive + slack - reached, true, more);
    return 0.5 * (low + rest[further - 1].at);
}

struct Hinge {
    double value, bias;
};

inline Hinge hinge(const Samples& s, bool free_bias, int threads) {
    const Bias bias{free_bias ? hinge_bias(s, threads) : 0.0, 0};
    const auto [value] = block_sums<1>(
        s.size(), threads, 6.0 * static_cast<double>(s.size()),
        [&](std::size_t i) { return std::array{s.c[i] * std::max(0.0, bias.violation(s, i))}; });
    return {value, bias.base};
}

}  // namespace minorant
