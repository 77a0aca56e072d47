// The worst labeling for a loss Δ(b, c) of the contingency table:
//
//     max over labelings of  Δ(b, c) + Σ_{i flipped} gain_i,        gain_i = -2 c_i y_i s_i.
//
// With b positives flipped these are the b of largest gain, and so for the negatives: S₊(b) + S₋(c), concave
// in each. Gains come sorted, ascending, and what is left is a walk: Fβ: concave in c, so the best c(b) is
// where the next gain stops paying, close to c(b - 1). G-mean: -√(ad) = max over t of -(at + d/t)/2, for each
// t separable, and as t grows positives are only ever flipped, negatives only ever flipped back: the best
// labeling is on that path of n₊ + n₋ steps. A fixed number of predicted positives: c - b is fixed and Δ
// linear in b, so the sum is concave in b.
#pragma once

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "error.hpp"
#include "lanes.hpp"
#include "sum.hpp"

namespace minorant {

struct Worst {
    double value;
    std::size_t b, c;
};

// The sum of the k largest gains, for a k that moves. Sums of a few steps are collected before they are added
// with care: rounding does not grow with n.
class TopSum {
  public:
    explicit TopSum(std::span<const double> ascending) : gains_(ascending) {}

    std::size_t size() const { return gains_.size(); }
    double gain(std::size_t k) const { return gains_[gains_.size() - 1 - k]; }
    double value() const { return total_.value() + recent_; }
    void move_to(std::size_t count) {
        while (count_ < count) step(gain(count_++));
        while (count_ > count) step(-gain(--count_));
    }

  private:
    void step(double change) {
        recent_ += change;
        if (++steps_ < 128) return;
        total_.add(recent_);
        recent_ = 0;
        steps_ = 0;
    }

    std::span<const double> gains_;
    std::size_t count_ = 0;
    Sum total_;
    double recent_ = 0;
    int steps_ = 0;
};

inline Worst f_scan(std::span<const double> pos, std::span<const double> neg, double beta2) {
    TopSum up(pos), down(neg);
    const std::size_t n_pos = up.size(), n_neg = down.size();
    const double weight = 1 + beta2, all = weight * static_cast<double>(n_pos);
    Worst best{0, 0, 0};
    std::size_t c = 0;
    for (std::size_t b = 0; b <= n_pos; ++b) {
        const double left = weight * static_cast<double>(n_pos - b), base = all - static_cast<double>(b);
        // Whether the c-th negative is worth its flip: Δ(b, c+1) - Δ(b, c) = left/(D(D+1)), D = base + c.
        const auto pays = [&](std::size_t k) {
            const double d = base + static_cast<double>(k);
            return left + down.gain(k) * d * (d + 1) > 0;
        };
        std::size_t low = c, high = c, step = 1;  // those below low pay, those from high on do not
        if (c < n_neg && pays(c))
            for (high = ++low; high < n_neg && pays(high); step *= 2) {
                low = high + 1;
                high = std::min(n_neg, low + step);
            }
        else
            for (; low > 0 && !pays(low - 1); step *= 2) {
                high = low - 1;
                low = high - std::min(step, high);
            }
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (pays(middle))
                low = middle + 1;
            else
                high = middle;
        }
        c = low;
        up.move_to(b);
        down.move_to(c);
        const double loss =
            (beta2 * static_cast<double>(b) + static_cast<double>(c)) / (base + static_cast<double>(c));
        const double value = loss + (up.value() + down.value());
        if (value > best.value) best = {value, b, c};
    }
    return best;
}

inline Worst gmean_scan(std::span<const double> pos, std::span<const double> neg) {
    TopSum up(pos), down(neg);
    const std::size_t n_pos = up.size(), n_neg = down.size();
    const double m = static_cast<double>(n_pos), l = static_cast<double>(n_neg), square = 1 / (m * l);
    std::size_t b = 0, c = n_neg;
    while (b < n_pos && up.gain(b) >= 0) ++b;
    Worst best{0, 0, 0};
    for (;;) {
        up.move_to(b);
        down.move_to(c);
        const double kept = static_cast<double>(n_pos - b) / m * (static_cast<double>(n_neg - c) / l);
        const double value = (1 - std::sqrt(kept)) + (up.value() + down.value());
        if (value > best.value) best = {value, b, c};
        const bool more = b < n_pos, fewer = c > 0 && down.gain(c - 1) < 0;
        if (!more && !fewer) return best;
        // The next positive flips at t = -2p/κ, the last negative flips back at t = -κ/(2v), κ² = `square`.
        if (more && (!fewer || 4 * up.gain(b) * down.gain(c - 1) <= square))
            ++b;
        else
            --c;
    }
}

// Δ = 1 - rate (n₊ - b) for the labelings with `count` predicted positives; the true one has Δ = 0.
inline Worst count_scan(std::span<const double> pos, std::span<const double> neg, std::size_t count,
                        double rate) {
    TopSum up(pos), down(neg);
    const std::size_t n_pos = up.size(), n_neg = down.size();
    if (count > n_pos + n_neg) throw InputError("count must be at most the number of examples");
    std::size_t b = n_pos > count ? n_pos - count : 0, c = b + count - n_pos;
    while (b < n_pos && c < n_neg && rate + up.gain(b) + down.gain(c) > 0) ++b, ++c;
    up.move_to(b);
    down.move_to(c);
    const double value = (1 - rate * static_cast<double>(n_pos - b)) + (up.value() + down.value());
    return value > 0 ? Worst{value, b, c} : Worst{0, 0, 0};
}

// The examples, as flips: gain and class of each.
struct Flips {
    std::span<const double> scores, y, weights;  // no weights: 1/n each

    // f(gain), where gain(i) is that of example i: in loops without a branch for the weights.
    template <class F>
    auto with_gains(F&& f) const {
        const double *s = scores.data(), *signs = y.data(), *c = weights.data();
        const double scale = 2.0 / static_cast<double>(scores.size());
        if (weights.empty()) return f([=](std::size_t i) { return scale * (-signs[i] * s[i]); });
        return f([=](std::size_t i) { return 2.0 * c[i] * (-signs[i] * s[i]); });
    }
};

// How many labels are positive, and how many examples have a finite score and a label ±1.
MINORANT_CLONES inline std::array<double, 2> label_counts(const double* s, const double* y, std::size_t n) {
    return lane_sums<2>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double finite = std::abs(s[i]) <= DBL_MAX ? 1.0 : 0.0;
        return std::array<double, 2>{y[i] > 0 ? 1.0 : 0.0, std::abs(y[i]) == 1 ? finite : 0.0};
    });
}

// The number of positives; refuses scores that are not finite and labels other than ±1.
inline std::size_t count_positives(std::span<const double> scores, std::span<const double> y) {
    const auto [positives, good] = label_counts(scores.data(), y.data(), scores.size());
    if (good == static_cast<double>(scores.size())) return static_cast<std::size_t>(positives);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (!std::isfinite(scores[i]))
            throw InputError("scores must be finite; score " + std::to_string(i) + " is " +
                             number(scores[i]));
        if (std::abs(y[i]) != 1)
            throw InputError("labels must be +1 or -1; label " + std::to_string(i) + " is " + number(y[i]));
    }
    return static_cast<std::size_t>(positives);
}

// The gains of the positives, in order, and behind them those of the negatives, the last first.
inline void flip_gains(const Flips& flips, std::span<double> out) {
    const std::size_t n = flips.scores.size();
    std::size_t low = 0, high = n;
    flips.with_gains([&](auto gain) {
        for (std::size_t i = 0; i < n; ++i) {
            const bool positive = flips.y[i] > 0;
            out[low] = out[high - 1] = gain(i);  // the place of the other class is still free
            low += positive;
            high -= !positive;
        }
    });
}

// Where flips end: those of at least this gain are flipped, less the last `extra` of exactly this gain.
struct Cut {
    double gain = HUGE_VAL;
    std::size_t extra = 0;
};

// The cut that leaves the k largest.
inline Cut cut(std::span<const double> ascending, std::size_t k) {
    if (k == 0) return {};
    const auto last = ascending.end() - static_cast<std::ptrdiff_t>(k);
    return {*last, static_cast<std::size_t>(last - std::lower_bound(ascending.begin(), last, *last))};
}

// 1 for what is flipped, else 0.
inline void flip_from(const Flips& flips, Cut pos, Cut neg, std::span<double> out) {
    const double* y = flips.y.data();
    double* flipped = out.data();
    flips.with_gains([&](auto gain) {
        const double of_pos = pos.gain, of_neg = neg.gain;
        for (std::size_t i = 0, n = out.size(); i < n; ++i) {
            const double least = y[i] > 0 ? of_pos : of_neg;
            flipped[i] = gain(i) >= least ? 1.0 : 0.0;
        }
        for (std::size_t i = out.size(); i-- > 0 && pos.extra + neg.extra > 0;) {
            Cut& its = y[i] > 0 ? pos : neg;
            if (its.extra == 0 || gain(i) != its.gain) continue;
            flipped[i] = 0;
            --its.extra;
        }
    });
}

}  // namespace minorant
