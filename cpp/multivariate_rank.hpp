// How many of many sorted numbers are below another: a table of equal steps leads to a short range, and the
// search ends there, so that numbers in any order cost about as much as sorted ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sum.hpp"

namespace minorant {

class Ranks {
  public:
    explicit Ranks(std::span<const double> ascending)
        : x_(ascending), last_(static_cast<double>(2 * ascending.size())), starts_(2 * ascending.size() + 2) {
        const std::size_t m = x_.size();
        low_ = m == 0 ? 0 : x_.front();
        const double width = m == 0 ? 0 : x_.back() - low_;
        scale_ = width > 0 && std::isfinite(last_ / width) ? last_ / width : 0;
        std::size_t next = 0;
        for (std::size_t k = 0; k < m; ++k)
            for (const std::size_t its = step(x_[k]); next <= its; ++next)
                starts_[next] = static_cast<std::uint32_t>(k);
        for (; next < starts_.size(); ++next) starts_[next] = static_cast<std::uint32_t>(m);
    }

    // counts[k] = the number of x < q_k, or x ≤ q_k where `equal`, for up to kTogether of them: the steps
    // first, so that the memory of all is on its way before the first is searched.
    static constexpr std::size_t kTogether = 64;
    void count(std::span<const double> q, bool equal, std::size_t* counts) const {
        std::size_t ends[kTogether];
        for (std::size_t k = 0; k < q.size(); ++k) {
            const std::size_t its = step(q[k]);
            counts[k] = starts_[its];
            ends[k] = starts_[its + 1];
            prefetch(x_.data() + counts[k]);
        }
        for (std::size_t k = 0; k < q.size(); ++k) {
            const double at = q[k];
            counts[k] = equal ? search(counts[k], ends[k], [&](double x) { return x <= at; })
                              : search(counts[k], ends[k], [&](double x) { return x < at; });
        }
    }

  private:
    // Rounding is monotone: what is in a lower step is less.
    std::size_t step(double v) const {
        return static_cast<std::size_t>(std::clamp((v - low_) * scale_, 0.0, last_));
    }
    static void prefetch([[maybe_unused]] const double* x) {
#if defined(__GNUC__)
        __builtin_prefetch(x);
#endif
    }
    template <class F>
    std::size_t search(std::size_t begin, std::size_t end, F&& counts) const {
        while (end - begin > 8) {
            const std::size_t middle = begin + (end - begin) / 2;
            (counts(x_[middle]) ? begin : end) = middle;
        }
        std::size_t more = 0;  // without a branch: which it is cannot be foretold
        for (std::size_t k = begin; k < end; ++k) more += counts(x_[k]);
        return begin + more;
    }

    std::span<const double> x_;
    double low_, scale_, last_;
    std::vector<std::uint32_t> starts_;
};

// out[i] = the number of x < q_i, or x ≤ q_i where `equal`.
inline void ranks(std::span<const double> x, std::span<const double> q, bool equal, std::span<double> out) {
    const Ranks known(x);
    std::size_t counts[Ranks::kTogether];
    for (std::size_t i = 0; i < q.size(); i += Ranks::kTogether) {
        const std::size_t size = std::min(Ranks::kTogether, q.size() - i);
        known.count(q.subspan(i, size), equal, counts);
        for (std::size_t k = 0; k < size; ++k) out[i + k] = static_cast<double>(counts[k]);
    }
}

struct Swapped {
    double value, loss;
};

// The mean of [1 - (s_i - s_j)]₊ over pairs of a positive i and a negative j, the share of pairs where it is
// not 0, and the same share of the pairs of each example. For the sorted scores of both classes.
inline Swapped swapped_pairs(std::span<const double> scores, std::span<const double> y,
                             std::span<const double> pos, std::span<const double> neg,
                             std::span<double> out) {
    // Both sides of a pair ask one question, s_i - 1 < s_j, as it is rounded: else a pair at its kink could
    // be swapped for one of them and not for the other.
    std::vector<double> shifted(pos.begin(), pos.end());
    for (double& s : shifted) s -= 1;
    const Ranks of_pos(shifted), of_neg(neg);
    const double m = static_cast<double>(pos.size()), l = static_cast<double>(neg.size());
    const double center = pos[pos.size() / 2];  // what all scores have in common cancels
    Sum share, up, down;
    double cuts[2][Ranks::kTogether];
    std::size_t who[2][Ranks::kTogether], counts[Ranks::kTogether], size[2] = {0, 0};
    const auto flush = [&](bool positive) {
        const std::span<const double> q(cuts[positive], size[positive]);
        (positive ? of_neg : of_pos).count(q, positive, counts);
        double some = 0, gain = 0;
        for (std::size_t k = 0; k < q.size(); ++k) {
            const std::size_t i = who[positive][k];
            out[i] = positive ? static_cast<double>(neg.size() - counts[k]) / l
                              : static_cast<double>(counts[k]) / m;
            some += out[i];
            gain += out[i] * (scores[i] - center);
        }
        if (positive) share.add(some);
        (positive ? up : down).add(gain);
        size[positive] = 0;
    };
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const bool positive = y[i] > 0;
        std::size_t& at = size[positive];
        cuts[positive][at] = positive ? scores[i] - 1 : scores[i];
        who[positive][at] = i;
        if (++at == Ranks::kTogether) flush(positive);
    }
    flush(false);
    flush(true);
    return {share.value() / m + (down.value() / l - up.value() / m), share.value() / m};
}

}  // namespace minorant
