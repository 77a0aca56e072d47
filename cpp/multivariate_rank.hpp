// How many of many sorted numbers are below another: a table of equal steps leads to a short range, and the
// search ends there, so that numbers in any order cost about as much as sorted ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "sum.hpp"

namespace minorant {

class Ranks {
  public:
    explicit Ranks(std::span<const double> ascending)
        : x_(ascending), last_(static_cast<double>(ascending.size())), starts_(ascending.size() + 2) {
        const std::size_t m = x_.size();
        low_ = m == 0 ? 0 : x_.front();
        const double width = m == 0 ? 0 : x_.back() - low_;
        scale_ = width > 0 && std::isfinite(last_ / width) ? last_ / width : 0;
        std::size_t next = 0;
        for (std::size_t k = 0; k < m; ++k)
            for (const std::size_t its = step(x_[k]); next <= its; ++next) starts_[next] = k;
        for (; next < starts_.size(); ++next) starts_[next] = m;
    }

    // The number of x < q.
    std::size_t below(double q) const {
        const std::size_t its = step(q);
        return search(starts_[its], starts_[its + 1], [&](double x) { return x < q; });
    }
    // The number of x ≤ q.
    std::size_t not_above(double q) const {
        const std::size_t its = step(q);
        return search(starts_[its], starts_[its + 1], [&](double x) { return x <= q; });
    }

  private:
    // Rounding is monotone: what is in a lower step is less.
    std::size_t step(double v) const {
        return static_cast<std::size_t>(std::clamp((v - low_) * scale_, 0.0, last_));
    }
    template <class F>
    std::size_t search(std::size_t begin, std::size_t end, F&& counts) const {
        while (end - begin > 8) {
            const std::size_t middle = begin + (end - begin) / 2;
            (counts(x_[middle]) ? begin : end) = middle;
        }
        while (begin < end && counts(x_[begin])) ++begin;
        return begin;
    }

    std::span<const double> x_;
    double low_, scale_, last_;
    std::vector<std::size_t> starts_;
};

// out[i] = the number of x < q_i, or x ≤ q_i where `equal`.
inline void ranks(std::span<const double> x, std::span<const double> q, bool equal, std::span<double> out) {
    const Ranks known(x);
    for (std::size_t i = 0; i < q.size(); ++i)
        out[i] = static_cast<double>(equal ? known.not_above(q[i]) : known.below(q[i]));
}

struct Swapped {
    double value, loss;
};

// The mean of [1 - (s_i - s_j)]₊ over pairs of a positive i and a negative j, the share of pairs where it is
// not 0, and the same share of the pairs of each example. For the sorted scores of both classes.
inline Swapped swapped_pairs(std::span<const double> scores, std::span<const double> y,
                             std::span<const double> pos, std::span<const double> neg,
                             std::span<double> out) {
    const Ranks of_pos(pos), of_neg(neg);
    const double m = static_cast<double>(pos.size()), l = static_cast<double>(neg.size());
    const double center = pos[pos.size() / 2];  // what all scores have in common cancels
    Sum share, up, down;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const double s = scores[i];
        if (y[i] > 0) {
            out[i] = static_cast<double>(neg.size() - of_neg.not_above(s - 1)) / l;
            share.add(out[i]);
            up.add(out[i] * (s - center));
        } else {
            out[i] = static_cast<double>(of_pos.below(s + 1)) / m;
            down.add(out[i] * (s - center));
        }
    }
    return {share.value() / m + (down.value() / l - up.value() / m), share.value() / m};
}

}  // namespace minorant
