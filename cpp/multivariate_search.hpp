// The worst labelings on a segment of scores, s + t d for 0 ≤ t ≤ 1, until the minimum of
//
//     J(t) = λ/2 ‖w + t dw‖² + max over labelings of Δ(b, c) + Σ_{i flipped} gain_i(t)
//
// is known well enough: every labeling is a line below the maximum, and the lowest point of λ/2‖·‖² with the
// highest of the lines is where to look next. Examples are kept with the positives first, and as -y s, so
// that a class is one range and a gain one product. src/minorant/solvers/line_search.py has the same steps.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "error.hpp"
#include "lanes.hpp"
#include "multivariate_scan.hpp"
#include "multivariate_select.hpp"

namespace minorant {

// λ/2‖w + t dw‖² = q₀ + q₁ t + q₂ t², plus the highest of some lines in t.
class LineModel {
  public:
    explicit LineModel(const std::array<double, 3>& q) : q_(q) {}

    double regularizer(double t) const { return q_[0] + t * (q_[1] + t * q_[2]); }

    // A line by its value and slope at t; whether the sum rises there.
    bool add(double t, double value, double slope) {
        lines_.push_back({value - slope * t, slope});
        const bool rising = q_[1] + 2 * q_[2] * t + slope > 0;
        if (rising) end_ = std::min(end_, t);
        return rising;
    }

    // Where the sum is lowest, which is where a parabola is or where two lines meet, and its value there.
    std::pair<double, double> lowest() const {
        std::pair<double, double> best{0.0, HUGE_VAL};
        const auto consider = [&](double t) {
            if (!std::isfinite(t)) return;
            t = std::clamp(t, 0.0, end_);
            double most = -HUGE_VAL;
            for (const Line& line : lines_) most = std::max(most, line.height + line.slope * t);
            if (const double value = regularizer(t) + most; value < best.second) best = {t, value};
        };
        for (const Line& line : lines_) {
            for (const Line& other : lines_)
                if (other.slope > line.slope)
                    consider((line.height - other.height) / (other.slope - line.slope));
            consider(-(q_[1] + line.slope) / (2 * q_[2]));
        }
        consider(0.0);
        consider(end_);
        return best;
    }

  private:
    struct Line {
        double height, slope;
    };
    std::array<double, 3> q_;
    std::vector<Line> lines_;
    double end_ = 1;
};

MINORANT_CLONES inline void gains_along(const double* a, const double* e, double t, double scale, double* out,
                                        std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = scale * (a[i] + t * e[i]);
}

// Whether each gain is at least `least`.
MINORANT_CLONES inline void mark_from(const double* gain, double least, std::uint8_t* flags, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) flags[i] = gain[i] >= least ? 1 : 0;
}

// Σ of the entries that are marked.
MINORANT_CLONES inline double marked_sum(const double* e, const std::uint8_t* flags, std::size_t n) {
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 1>{e[i] * static_cast<double>(flags[i])};
    })[0];
}

// Eight flags a bit each, the first of them the highest of a byte.
inline void pack(std::span<const std::uint8_t> flags, std::span<std::uint8_t> bits) {
    const std::size_t whole = flags.size() / 8;
    for (std::size_t k = 0; k < whole; ++k) {
        const std::uint8_t* f = flags.data() + 8 * k;
        bits[k] = static_cast<std::uint8_t>(f[0] << 7 | f[1] << 6 | f[2] << 5 | f[3] << 4 | f[4] << 3 |
                                            f[5] << 2 | f[6] << 1 | f[7]);
    }
    for (std::size_t i = 8 * whole; i < flags.size(); ++i)
        bits[whole] = static_cast<std::uint8_t>(bits[whole] | flags[i] << (7 - i % 8));
}

// total += weight where a bit is set, the first of a byte being its highest, and where there is a value
// between, += its share.
inline void flip_shares(std::span<const std::uint8_t> ones, std::span<const std::int32_t> where,
                        std::span<const double> values, double weight, std::span<double> total) {
    for (std::size_t k = 0; k < where.size(); ++k)
        if (const auto i = static_cast<std::size_t>(where[k]); i < total.size())
            total[i] += weight * values[k];
    for (std::size_t k = 0; k < ones.size(); ++k)
        for (unsigned left = ones[k]; left != 0;) {
            const int place = std::countl_zero(static_cast<std::uint8_t>(left));
            if (const std::size_t i = 8 * k + static_cast<std::size_t>(place); i < total.size())
                total[i] += weight;
            left &= ~(0x80U >> place);
        }
}

// Σ clip(p_i + shift, 0, 1), and how many are between.
MINORANT_CLONES inline std::array<double, 2> clipped_sum(const double* p, double shift, std::size_t n) {
    return lane_sums<2>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double x = p[i] + shift, low = x > 0 ? x : 0.0, below = x < 1 ? 1.0 : 0.0;
        return std::array<double, 2>{low < 1 ? low : 1.0, x > 0 ? below : 0.0};
    });
}

// x becomes the nearest point with 0 ≤ x ≤ 1 and Σ x = total: clip(x + shift, 0, 1), by Newton's method
// between two bounds of the shift.
inline void cap_to(std::span<double> x, double total) {
    const std::size_t n = x.size();
    const auto [least, largest] = lowest_highest(x.data(), n);
    double low = -largest, high = 1 - least, shift = std::clamp(0.0, low, high);
    for (int round = 0; round < 200; ++round) {
        const auto [sum, between] = clipped_sum(x.data(), shift, n);
        if (sum == total) break;
        (sum < total ? low : high) = shift;
        double next = shift + (total - sum) / between;
        if (!(low < next && next < high)) next = low + (high - low) / 2;
        if (next == shift) break;
        shift = next;
    }
    for (double& value : x) value = std::clamp(value + shift, 0.0, 1.0);
    const auto [sum, between] = clipped_sum(x.data(), 0.0, n);  // what rounding of a large shift left out
    if (between == 0) return;
    for (double& value : x)
        if (value > 0 && value < 1) value = std::clamp(value + (total - sum) / between, 0.0, 1.0);
}

struct Trial {
    double t, value, loss;
    std::size_t b, c;
    std::vector<std::uint8_t> bits;  // what is flipped, in the order of the search
    std::vector<std::int32_t> rows;  // what changed since the labeling before, or all that is flipped if less
    std::vector<double> values;      // the slopes of these in the scores, negative where a flip went
    bool whole, rising;
};

template <class Loss>
class LabelingSearch {
  public:
    using Flags = std::vector<std::uint8_t>;

    // `order` lists the examples, the n_pos positives first.
    LabelingSearch(const Loss& loss, std::span<const std::int32_t> order, std::size_t n_pos)
        : loss_(loss),
          order_(order.begin(), order.end()),
          n_pos_(n_pos),
          scale_(2.0 / static_cast<double>(order.size())),
          a_(order.size()),
          e_(order.size()),
          gains_(order.size()),
          flags_(order.size()),
          last_(order.size()),
          here_(order.size()),
          best_(order.size()) {}

    std::size_t size() const { return order_.size(); }
    // Stand at these scores; the maximum of labelings there.
    double stand(std::span<const double> scores) {
        for (std::size_t i = 0; i < size(); ++i) a_[i] = against(i, scores[row(i)]);
        std::fill(e_.begin(), e_.end(), 0.0);
        here_found_ = worst(0.0);
        here_ = flags_;
        return here_found_.value;
    }
    // The labeling where it stands.
    Trial here() {
        flags_ = here_;
        return describe(0.0, here_found_, false);
    }

    // The worst table where all scores are equal.
    Worst flat(double score) {
        std::fill_n(gains_.begin(), n_pos_, -scale_ * score);
        std::fill(gains_.begin() + static_cast<std::ptrdiff_t>(n_pos_), gains_.end(), scale_ * score);
        const std::span<const double> all(gains_);
        return loss_.scan(all.first(n_pos_), all.subspan(n_pos_));
    }
    double loss(const Worst& found) const {
        return loss_(static_cast<double>(found.b), static_cast<double>(found.c));
    }

    // Trials on the way to `target` + bias, and which of them is best, if one is below `lowest`.
    std::pair<std::vector<Trial>, std::size_t> along(std::span<const double> target, double bias,
                                                     const std::array<double, 3>& q, double t, double lowest,
                                                     double goal, std::size_t most) {
        aim(target, bias);
        LineModel line(q);
        line.add(0.0, here_found_.value, scale_ * marked_sum(e_.data(), here_.data(), size()));
        std::vector<Trial> trials;
        std::size_t best = most;
        while (trials.size() < most) {
            const Worst found = worst(t);
            const bool rising =
                line.add(t, found.value, scale_ * marked_sum(e_.data(), flags_.data(), size()));
            trials.push_back(describe(t, found, rising));
            if (const double value = line.regularizer(t) + found.value; value < lowest) {
                lowest = value;
                best = trials.size() - 1;
                best_ = flags_;
                best_found_ = found;
                best_t_ = t;
            }
            if (!rising && t == 1.0) break;  // J falls all the way
            const double before = t;
            const auto [next, least] = line.lowest();
            t = next;
            if (lowest - least <= goal || t == before) break;
        }
        return {std::move(trials), best};
    }

    // Of what flips b positives and c negatives in all, the z nearest to shares - pull · y s.
    void nearest(double pull, double b, double c, std::span<double> shares) const {
        for (std::size_t i = 0; i < size(); ++i) shares[i] += pull * a_[i];
        cap_to(shares.first(n_pos_), b);
        if (n_pos_ < size()) cap_to(shares.subspan(n_pos_), c);
    }

    // Move to the best trial of the last search.
    void take() {
        for (std::size_t i = 0; i < size(); ++i) a_[i] += best_t_ * e_[i];
        here_.swap(best_);
        here_found_ = best_found_;
    }

  private:
    std::size_t row(std::size_t i) const { return static_cast<std::size_t>(order_[i]); }
    double against(std::size_t i, double score) const { return i < n_pos_ ? -score : score; }

    void aim(std::span<const double> target, double bias) {
        bool finite = true;
        for (std::size_t i = 0; i < size(); ++i) {
            const double score = target[row(i)] + bias;
            finite &= std::abs(score) <= std::numeric_limits<double>::max();
            e_[i] = against(i, score) - a_[i];
        }
        if (!finite) throw InputError("the data are too large: scores overflow; scale the columns first");
    }

    // Marks the worst labeling at t.
    Worst worst(double t) {
        const std::size_t n = size();
        gains_along(a_.data(), e_.data(), t, scale_, gains_.data(), n);
        const std::span<const double> pos(gains_.data(), n_pos_), neg(gains_.data() + n_pos_, n - n_pos_);
        Selection<Loss> selection(loss_, pos, neg);
        if (selection.find()) {
            mark(pos, selection.cut_pos(), flags_.data());
            mark(neg, selection.cut_neg(), flags_.data() + n_pos_);
            return selection.best();
        }
        std::vector<double> up(pos.begin(), pos.end()), down(neg.begin(), neg.end());
        std::sort(up.begin(), up.end());
        std::sort(down.begin(), down.end());
        const Worst found = loss_.scan(up, down);
        mark(pos, cut(up, found.b), flags_.data());
        mark(neg, cut(down, found.c), flags_.data() + n_pos_);
        return found;
    }
    static void mark(std::span<const double> gains, Cut cut, std::uint8_t* flags) {
        mark_from(gains.data(), cut.gain, flags, gains.size());
        for (std::size_t i = gains.size(); i-- > 0 && cut.extra > 0;) {
            if (gains[i] != cut.gain) continue;
            flags[i] = 0;
            --cut.extra;
        }
    }

    Trial describe(double t, const Worst& found, bool rising) {
        Trial trial{t, found.value, loss(found), found.b, found.c, {}, {}, {}, false, rising};
        const std::size_t n = size();
        trial.bits.resize((n + 7) / 8);
        pack(flags_, trial.bits);
        std::size_t changed = 0;
        each_difference([&](std::size_t) { ++changed; });
        trial.whole = found.b + found.c < changed;
        if (trial.whole) std::fill(last_.begin(), last_.end(), std::uint8_t{0});
        const std::size_t count = trial.whole ? found.b + found.c : changed;
        trial.rows.reserve(count);
        trial.values.reserve(count);
        each_difference([&](std::size_t i) {
            trial.rows.push_back(order_[i]);
            const double slope = i < n_pos_ ? -scale_ : scale_;
            trial.values.push_back(flags_[i] != 0 ? slope : -slope);
        });
        last_ = flags_;
        return trial;
    }
    // f(i) where the labeling differs from the last one; eight examples are compared at a time.
    template <class F>
    void each_difference(F&& f) const {
        const std::size_t n = size();
        std::size_t i = 0;
        for (; i + 8 <= n; i += 8) {
            std::uint64_t now, before;
            std::memcpy(&now, flags_.data() + i, 8);
            std::memcpy(&before, last_.data() + i, 8);
            if (now == before) continue;
            for (std::size_t j = i; j < i + 8; ++j)
                if (flags_[j] != last_[j]) f(j);
        }
        for (; i < n; ++i)
            if (flags_[i] != last_[i]) f(i);
    }

    Loss loss_;
    std::vector<std::int32_t> order_;
    std::size_t n_pos_;
    double scale_;
    std::vector<double> a_, e_, gains_;
    Flags flags_, last_, here_, best_;  // of the worst labeling now, the one before, and at two points
    Worst here_found_{0, 0, 0}, best_found_{0, 0, 0};
    double best_t_ = 0;
};

}  // namespace minorant
