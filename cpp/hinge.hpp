// The exact hinge, minimized over a free bias b. Its slope in b is the weight of the kinks y_i (1 + u_i)
// below b less the weight of the positive class, so b is that weighted quantile of the kinks, by selection in
// linear time; where a whole interval is optimal, its middle.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "samples.hpp"

namespace minorant {

struct Kink {
    double at, weight;

    friend bool operator<(const Kink& a, const Kink& b) { return a.at < b.at; }
};

struct Interval {
    double first, last;
};

inline double total_weight(std::span<const Kink> kinks) {
    return block_sums<1>(kinks.size(), 1, 0, [&](std::size_t begin, std::size_t end) {
        return lane_sums<1>(begin, end,
                            [&](std::size_t i) { return std::array<double, 1>{kinks[i].weight}; });
    })[0];
}

// Reorders `kinks`; returns how many of the least it takes until their weight reaches `target` (passes it, if
// `beyond`), all of them where it never does, and that weight. The greatest of that many stands last among
// them.
inline std::size_t weighted_rank(std::span<Kink> kinks, double target, bool beyond, double& weight) {
    std::size_t begin = 0, end = kinks.size();
    weight = 0;
    while (end - begin > 1) {
        const std::size_t middle = begin + (end - begin - 1) / 2;
        std::nth_element(kinks.data() + begin, kinks.data() + middle, kinks.data() + end);
        const double part = total_weight(kinks.subspan(begin, middle + 1 - begin));
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

// Where a sample says that the quantile `share` of the kinks lies; all reals where there are few of them.
inline Interval likely_interval(const Samples& s, double share) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::size_t kFew = 16384, kSample = 4096;
    if (s.size() < kFew) return {-infinity, infinity};
    std::vector<Kink> sample;
    sample.reserve(kSample);
    double total = 0;
    for (std::size_t k = 0; k < kSample; ++k) {
        const std::size_t i = s.size() / kSample * k;
        sample.push_back({s.kink(i), s.c[i]});
        total += s.c[i];
    }
    std::sort(sample.begin(), sample.end());
    const double spread = 4 * std::sqrt(share * (1 - share) / kSample) + 4.0 / kSample;
    Interval likely{-infinity, infinity};
    double weight = 0;
    for (const Kink& kink : sample) {
        weight += kink.weight;
        if (weight < (share - spread) * total) likely.first = kink.at;
        if (weight > (share + spread) * total) {
            likely.last = kink.at;
            break;
        }
    }
    return likely;
}

// The kinks inside the interval; returns the weight of those before it.
inline double collect_kinks(const Samples& s, const Interval& interval, std::vector<Kink>& kinks) {
    kinks.clear();
    for (std::size_t i = 0; i < s.size(); ++i) {
        const double at = s.kink(i);
        if (interval.first <= at && at <= interval.last && s.c[i] > 0) kinks.push_back({at, s.c[i]});
    }
    return block_sums<1>(s.size(), 1, 0, [&](std::size_t begin, std::size_t end) {
        return weight_before(s.u.data(), s.y.data(), s.c.data(), interval.first, begin, end);
    })[0];
}

// A guess of it, where there is one, spares looking at the kinks that are not near.
inline double hinge_bias(const Samples& s, double guess, int threads) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto [positive, total] = block_sums<2>(
        s.size(), threads, 2,
        [&](std::size_t begin, std::size_t end) { return weight_block(s.y.data(), s.c.data(), begin, end); });
    if (!(total > 0)) return 0;
    const double slack = 1e-12 * total;
    const double enough = positive - slack, beyond = positive + slack;
    std::vector<Kink> kinks;
    double before = 0;
    const auto held = [&](const Interval& interval) {
        before = collect_kinks(s, interval, kinks);
        return before < enough && before + total_weight(kinks) > beyond;
    };
    constexpr double kNear = 0.05;  // margins are of size 1
    if (!(std::isfinite(guess) && held({guess - kNear, guess + kNear})) &&
        !held(likely_interval(s, positive / total)))
        before = collect_kinks(s, {-infinity, infinity}, kinks);

    if (kinks.empty()) return std::numeric_limits<double>::quiet_NaN();  // no score is a number

    double reached, further;
    const std::size_t count = weighted_rank(kinks, enough - before, false, reached);
    const double low = kinks[count - 1].at;
    const auto rest = std::span(kinks).subspan(count);
    if (before + reached > beyond || rest.empty()) return low;
    const std::size_t more = weighted_rank(rest, beyond - before - reached, true, further);
    return 0.5 * (low + rest[more - 1].at);
}

struct Hinge {
    double value, bias;
};

inline Hinge hinge(const Samples& s, bool free_bias, double guess, int threads) {
    const Bias bias{free_bias ? hinge_bias(s, guess, threads) : 0.0, 0};
    const auto [value] = block_sums<1>(s.size(), threads, 6, [&](std::size_t begin, std::size_t end) {
        return hinge_block(s.u.data(), s.y.data(), s.c.data(), bias, begin, end);
    });
    return {value, bias.base};
}

}  // namespace minorant
