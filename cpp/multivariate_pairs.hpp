// The hinge over all pairs of a positive i and a negative j: a pair is swapped where s_i - 1 < s_j.
//
// One order of t = s_i - 1 and s_j answers it for every example: of a positive, the pairs with the negatives
// behind it are swapped, of a negative those with the positives before it. What is sorted are whole numbers
// of 64 bits, the leading bits of t, then the index and the class; where the leading bits agree, the order of
// t is restored.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "error.hpp"
#include "sum.hpp"

namespace minorant {

class PairKeys {
  public:
    PairKeys(std::span<const double> scores, std::span<const double> y)
        : scores_(scores),
          y_(y),
          bits_(std::bit_width(scores.size())),
          low_((std::int64_t{2} << bits_) - 1) {}

    void fill(std::span<std::int64_t> keys) const {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const bool positive = y_[i] > 0;
            const auto raw = std::bit_cast<std::int64_t>(place(i, positive) + 0.0);  // + 0: there is one zero
            const auto ordered = raw ^ static_cast<std::int64_t>(static_cast<std::uint64_t>(raw >> 63) >> 1);
            keys[i] = (ordered & ~low_) | static_cast<std::int64_t>(2 * i + positive);
        }
    }
    std::size_t index(std::int64_t key) const { return static_cast<std::size_t>((key & low_) >> 1); }
    static bool positive(std::int64_t key) { return key & 1; }
    bool alike(std::int64_t a, std::int64_t b) const { return (a ^ b) <= low_ && (a ^ b) >= 0; }
    // Both sides of a pair ask the same question, as it is rounded: else a pair at its kink could be swapped
    // for one of them and not for the other.
    double place(std::int64_t key) const { return place(index(key), positive(key)); }

  private:
    double place(std::size_t i, bool positive) const { return positive ? scores_[i] - 1 : scores_[i]; }

    std::span<const double> scores_, y_;
    int bits_;
    std::int64_t low_;
};

struct Swapped {
    double value, loss;
};

// The mean of [1 - (s_i - s_j)]₊ over pairs, the share of pairs where it is not 0, and the same share of the
// pairs of each example. For sorted keys.
inline Swapped swapped_pairs(std::span<const double> scores, std::span<const double> y,
                             std::span<std::int64_t> keys) {
    const PairKeys all(scores, y);
    const std::size_t n = keys.size();
    if (n > UINT32_MAX) throw InputError("pairs of more than 4 billion examples are too many");
    std::size_t n_pos = 0;
    for (const std::int64_t key : keys) n_pos += PairKeys::positive(key);
    const double m = static_cast<double>(n_pos), l = static_cast<double>(n - n_pos);
    std::size_t before = 0, behind = n - n_pos;  // positives before, negatives behind
    std::uint64_t swapped = 0;
    const auto swaps = std::make_unique_for_overwrite<std::uint32_t[]>(n);
    const auto settle = [&](std::int64_t key) {
        const bool positive = PairKeys::positive(key);
        const std::size_t count = positive ? behind : before;  // a choice, no branch: classes come at random
        swaps[all.index(key)] = static_cast<std::uint32_t>(count);
        swapped += positive ? count : 0;
    };
    const auto pass = [&](std::int64_t key) {
        before += PairKeys::positive(key);
        behind -= !PairKeys::positive(key);
    };
    for (std::size_t k = 0; k < n;) {
        std::size_t end = k + 1;
        while (end < n && all.alike(keys[k], keys[end])) ++end;
        if (end == k + 1) {
            settle(keys[k]);
            pass(keys[k++]);
            continue;
        }
        const auto run = keys.subspan(k, end - k);
        std::sort(run.begin(), run.end(),
                  [&](std::int64_t a, std::int64_t b) { return all.place(a) < all.place(b); });
        for (std::size_t first = 0; first < run.size();) {  // those at the same place
            const double place = all.place(run[first]);
            std::size_t last = first, earlier = before;
            for (; last < run.size() && all.place(run[last]) == place; ++last) pass(run[last]);
            std::swap(before, earlier);
            for (std::size_t r = first; r < last; ++r) settle(run[r]);
            before = earlier;
            first = last;
        }
        k = end;
    }
    const double center = scores[all.index(keys[n / 2])];  // what all scores have in common cancels
    Sum up, down;
    for (std::size_t i = 0; i < n;) {
        double of_pos = 0, of_neg = 0;
        for (const std::size_t end = std::min(n, i + 64); i < end; ++i) {
            const bool positive = y[i] > 0;
            const double share = static_cast<double>(swaps[i]) / (positive ? l : m);
            const double gain = share * (scores[i] - center);
            keys[i] = std::bit_cast<std::int64_t>(share);
            of_pos += positive ? gain : 0.0;
            of_neg += positive ? 0.0 : gain;
        }
        up.add(of_pos);
        down.add(of_neg);
    }
    const double loss = static_cast<double>(swapped) / (m * l);
    return {loss + (down.value() / l - up.value() / m), loss};
}

}  // namespace minorant
