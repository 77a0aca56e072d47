// The worst labeling without sorting the gains: max over b, c of Δ(b, c) + S₊(b) + S₋(c).
//
// Gains are counted and summed in bins of equal width, so that S is known at the edges of bins; between two
// edges it is concave and at most count·width/4 above its chord. Δ is convex in b, and in c convex or of a
// known bend, so that in a cell of two bins no value is above that of the highest corner by more than these.
// Cells that could hold the maximum are few; they alone are sorted and read. The coarse search over corners:
// concave in c, a walk (Fβ), or with Δ(b+1, c) - Δ(b, c) that never rises with c, halves of the rows, each
// with its own columns (G-mean).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lanes.hpp"
#include "multivariate_scan.hpp"
#include "sum.hpp"

namespace minorant {

MINORANT_CLONES inline std::array<double, 2> lowest_highest(const double* x, std::size_t n) {
    double low[kLanes], high[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) low[lane] = HUGE_VAL, high[lane] = -HUGE_VAL;
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            low[lane] = x[i + lane] < low[lane] ? x[i + lane] : low[lane];
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            high[lane] = x[i + lane] > high[lane] ? x[i + lane] : high[lane];
    }
    for (; i < n; ++i) {
        low[0] = x[i] < low[0] ? x[i] : low[0];
        high[0] = x[i] > high[0] ? x[i] : high[0];
    }
    return {*std::min_element(low, low + kLanes), *std::max_element(high, high + kLanes)};
}

// The steps of 1/scale from `high` down, at most `last`. Rounding is monotone: what is in a later step is
// less.
MINORANT_CLONES inline void steps_down(const double* x, double high, double scale, double last,
                                       std::uint16_t* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double step = (high - x[i]) * scale;
        out[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(step < last ? step : last));
    }
}

// The gains of a class in bins that are not empty, the largest gains first; bins are sorted when they are
// read.
class GainBins {
  public:
    explicit GainBins(std::span<const double> gains)
        : gains_(gains),
          most_(std::clamp<std::size_t>(gains.size() / 16, 1, 1024)),
          steps_(std::make_unique_for_overwrite<std::uint16_t[]>(gains.size())) {
        const auto [low, high] = lowest_highest(gains.data(), gains.size());
        const double count = static_cast<double>(most_), width = high - low;
        const double scale = width > 0 && std::isfinite(count / width) ? count / width : 0;
        steps_down(gains.data(), high, scale, count - 1, steps_.get(), gains.size());
        struct Bin {
            double sum = 0;
            std::size_t count = 0;
        };
        std::vector<Bin> bins(2 * most_);  // twice, in turns: neighbors that meet in a bin do not wait
        const auto put = [&](std::size_t i, std::size_t turn) {
            Bin& bin = bins[2 * steps_[i] + turn];
            bin.sum += gains[i];
            ++bin.count;
        };
        std::size_t i = 0;
        for (; i + 2 <= gains.size(); i += 2) put(i, 0), put(i + 1, 1);
        if (i < gains.size()) put(i, 0);
        bend_ = (scale > 0 ? 1 / scale : std::max(width, 0.0)) / 4 + 1e-15 * (std::abs(low) + std::abs(high));
        Sum total;
        double rank = 0;
        for (std::size_t j = 0; j < most_; ++j) {
            const Bin &first = bins[2 * j], &second = bins[2 * j + 1];
            if (first.count + second.count == 0) continue;
            step_.push_back(j);
            rank_.push_back(rank);
            sum_.push_back(total.value());
            rank += static_cast<double>(first.count + second.count);
            total.add(first.sum + second.sum);
        }
        rank_.push_back(rank);
        sum_.push_back(total.value());
        values_.resize(step_.size());
        sums_.resize(step_.size());
    }

    std::size_t bins() const { return step_.size(); }
    // The number of gains before bin j, and their sum.
    double rank(std::size_t j) const { return rank_[j]; }
    double sum(std::size_t j) const { return sum_[j]; }
    // How far the sum may be above its chord within bin j.
    double bend(std::size_t j) const { return bend_ * (rank_[j + 1] - rank_[j]); }

    // The gains of the bins from j to last, both included, are put together: one pass for many.
    void gather(std::size_t j, std::size_t last) {
        std::vector<double>& all = blocks_.emplace_back(static_cast<std::size_t>(rank_[last + 1] - rank_[j]));
        std::vector<std::size_t> place(step_[last] - step_[j] + 1);
        for (std::size_t k = j; k <= last; ++k) {
            const auto begin = static_cast<std::size_t>(rank_[k] - rank_[j]);
            place[step_[k] - step_[j]] = begin;
            values_[k] = std::span(all).subspan(begin, static_cast<std::size_t>(rank_[k + 1] - rank_[k]));
        }
        constexpr std::size_t kChunk = 256;
        std::uint32_t found[kChunk];
        for (std::size_t begin = 0; begin < gains_.size(); begin += kChunk) {
            const std::size_t end = std::min(begin + kChunk, gains_.size());
            std::size_t count = 0;
            for (std::size_t i = begin; i < end; ++i) {  // without a branch: which it is cannot be foretold
                found[count] = static_cast<std::uint32_t>(i - begin);
                count += steps_[i] - step_[j] < place.size();  // what is before j wraps around
            }
            for (std::size_t k = 0; k < count; ++k) {
                const std::size_t i = begin + found[k];
                all[place[steps_[i] - step_[j]]++] = gains_[i];
            }
        }
    }

    // The sums of the largest 0, 1, ..., all gains of bin j.
    const std::vector<double>& sums(std::size_t j) {
        if (!sums_[j].empty()) return sums_[j];
        if (values_[j].empty()) gather(j, j);
        if (!std::is_sorted(values_[j].begin(), values_[j].end(), std::greater<>()))  // many are equal
            std::sort(values_[j].begin(), values_[j].end(), std::greater<>());
        sums_[j].reserve(values_[j].size() + 1);
        sums_[j].push_back(0);
        for (const double gain : values_[j]) sums_[j].push_back(sums_[j].back() + gain);
        return sums_[j];
    }

    // The cut that leaves the k largest.
    Cut cut(std::size_t k) {
        if (k == 0) return {};
        const double count = static_cast<double>(k);
        const auto edge = std::lower_bound(rank_.begin(), rank_.end(), count);
        const auto j = static_cast<std::size_t>(edge - rank_.begin()) - 1;
        sums(j);
        const auto last = values_[j].begin() + static_cast<std::ptrdiff_t>(count - rank_[j]) - 1;
        const auto end = std::upper_bound(last, values_[j].end(), *last, std::greater<>());
        return {*last, static_cast<std::size_t>(end - last) - 1};
    }

  private:
    std::span<const double> gains_;
    std::size_t most_;
    std::unique_ptr<std::uint16_t[]> steps_;
    double bend_ = 0;
    std::vector<std::size_t> step_;
    std::vector<double> rank_, sum_;
    std::vector<std::span<double>> values_;
    std::vector<std::vector<double>> sums_, blocks_;
};

struct FLoss {
    double beta2, n_pos;
    static constexpr bool kConcave = true;  // in c

    double operator()(double b, double c) const { return (beta2 * b + c) / ((1 + beta2) * n_pos - b + c); }
    // How far it may be above its chord between c and c + count, for b to b + missed: count²/8 · |Δ_cc|.
    double bend(double b, double missed, double c, double count) const {
        const double d = (1 + beta2) * n_pos - (b + missed) + c;
        return 0.25 * count * count * (1 + beta2) * (n_pos - b) / (d * d * d);
    }
    // By sorted gains.
    Worst scan(std::span<const double> pos, std::span<const double> neg) const {
        return f_scan(pos, neg, beta2);
    }
};

struct GMeanLoss {
    double n_pos, n_neg;
    static constexpr bool kConcave = false;

    double operator()(double b, double c) const {
        return 1 - std::sqrt((n_pos - b) * (n_neg - c)) / std::sqrt(n_pos * n_neg);
    }
    double bend(double, double, double, double) const { return 0; }
    Worst scan(std::span<const double> pos, std::span<const double> neg) const {
        return gmean_scan(pos, neg);
    }
};

template <class Loss>
class Selection {
  public:
    Selection(const Loss& loss, std::span<const double> pos, std::span<const double> neg)
        : loss_(loss), up_(pos), down_(neg) {}

    // Whether it was found: where ties or outliers leave most gains in few bins it is cheaper to sort them
    // all.
    bool find() {
        if (up_.bins() == 0 || down_.bins() == 0) return false;
        coarse();
        double work = 0;
        const double all = up_.rank(up_.bins()) + down_.rank(down_.bins());
        const std::vector<double> most = bends_from_here();
        Rows rows(down_.bins());
        std::vector<char> sorted(down_.bins());
        for (std::size_t k = 0; k < up_.bins(); ++k) {
            if (!could_hold(k)) continue;
            const double height = up_.rank(k + 1) - up_.rank(k);
            const auto take = [&](std::size_t l) {
                cells_.emplace_back(k, l);
                const double width = down_.rank(l + 1) - down_.rank(l);
                if (Loss::kConcave)  // sorted once, and then walked along
                    work += 4 * height + (std::exchange(sorted[l], 1) ? 0 : 4 * width);
                else
                    work += height * width;
            };
            if constexpr (Loss::kConcave)
                near_the_top(k, most, take);
            else
                all_columns(k, rows, take);
            if (work > 4 * all) return false;
        }
        if (!cells_.empty()) {
            const auto of_neg = [](const auto& a, const auto& b) { return a.second < b.second; };
            const auto [left, right] = std::minmax_element(cells_.begin(), cells_.end(), of_neg);
            up_.gather(cells_.front().first, cells_.back().first);
            down_.gather(left->second, right->second);
        }
        for (const auto& [k, l] : cells_) read(k, l);
        return true;
    }
    const Worst& best() const { return best_; }
    Cut cut_pos() { return up_.cut(best_.b); }
    Cut cut_neg() { return down_.cut(best_.c); }

  private:
    double corner(std::size_t k, std::size_t l) const {
        return loss_(up_.rank(k), down_.rank(l)) + (up_.sum(k) + down_.sum(l));
    }
    // What a value in the rows of bin k must be above.
    double least(std::size_t k) const { return best_.value - slack_ - up_.bend(k); }
    bool could_hold(std::size_t k) const { return std::max(bound_[k], bound_[k + 1]) >= least(k); }
    bool could_hold(std::size_t k, std::size_t l, double highest) const {
        return highest + bend(k, k + 1, l) >= least(k);
    }

    // The corners of a row of cells; the upper ones of a row are the lower ones of the next.
    struct Rows {
        explicit Rows(std::size_t columns) : first(columns + 1), second(columns + 1) {}
        std::vector<double> first, second;
        std::size_t known = 0;  // the row of `second`, if any
    };
    void corners(std::size_t k, std::vector<double>& out) const {
        const double b = up_.rank(k), sum = up_.sum(k);
        for (std::size_t l = 0; l < out.size(); ++l) out[l] = loss_(b, down_.rank(l)) + (sum + down_.sum(l));
    }
    template <class F>
    void all_columns(std::size_t k, Rows& rows, F&& take) const {
        if (k > 0 && rows.known == k)
            rows.first.swap(rows.second);
        else
            corners(k, rows.first);
        corners(k + 1, rows.second);
        rows.known = k + 1;
        for (std::size_t l = 0; l < down_.bins(); ++l) {
            const double highest = std::max(std::max(rows.first[l], rows.first[l + 1]),
                                            std::max(rows.second[l], rows.second[l + 1]));
            if (could_hold(k, l, highest)) take(l);
        }
    }

    // For every column the largest bend of it and what follows, and behind these of it and what precedes, for
    // all rows that could hold the maximum.
    std::vector<double> bends_from_here() const {
        if constexpr (!Loss::kConcave) return {};
        std::size_t first = up_.bins(), last = 0;
        for (std::size_t k = 0; k < up_.bins(); ++k)
            if (could_hold(k)) first = std::min(first, k), last = k + 1;
        const std::size_t columns = down_.bins();
        std::vector<double> most(2 * columns);
        if (first < last)
            for (std::size_t l = 0; l < columns; ++l) most[l] = most[columns + l] = bend(first, last, l);
        for (std::size_t l = columns - 1; l-- > 0;) most[l] = std::max(most[l], most[l + 1]);
        for (std::size_t l = columns + 1; l < 2 * columns; ++l) most[l] = std::max(most[l], most[l - 1]);
        return most;
    }
    // Corners fall on both sides of the best ones.
    template <class F>
    void near_the_top(std::size_t k, const std::vector<double>& most, F&& take) const {
        const std::size_t columns = down_.bins();
        const auto highest = [&](std::size_t l) { return std::max(corner(k, l), corner(k + 1, l)); };
        const std::size_t low = std::min(top_[k], top_[k + 1]), high = std::max(top_[k], top_[k + 1]);
        double here = highest(low);
        for (std::size_t l = low; l-- > 0;) {
            if (here + most[columns + l] < least(k)) break;
            if (could_hold(k, l, here)) take(l);
            here = highest(l);
        }
        here = highest(low);
        for (std::size_t l = low; l < columns; ++l) {
            if (l >= high && here + most[l] < least(k)) break;
            const double next = highest(l + 1);
            if (could_hold(k, l, std::max(here, next))) take(l);
            here = next;
        }
    }
    // Of the values between two corners of bin l, for b from the rank of k to that of k2.
    double bend(std::size_t k, std::size_t k2, std::size_t l) const {
        const double count = down_.rank(l + 1) - down_.rank(l);
        return down_.bend(l) + loss_.bend(up_.rank(k), up_.rank(k2) - up_.rank(k), down_.rank(l), count);
    }

    // For every edge in b a bound of the values there, and the best corner.
    void coarse() {
        const std::size_t rows = up_.bins() + 1, columns = down_.bins() + 1;
        bound_.resize(rows);
        top_.resize(rows);
        const auto settle = [&](std::size_t k, std::size_t l, double more) {
            const double value = corner(k, l);
            bound_[k] = value + more;
            top_[k] = l;
            slack_ = std::max(slack_, 1e-13 * (std::abs(up_.sum(k)) + std::abs(down_.sum(l)) + 1));
            consider(value, up_.rank(k), down_.rank(l));
        };
        if constexpr (Loss::kConcave) {
            std::size_t l = 0;
            for (std::size_t k = 0; k < rows; ++k) {
                while (l + 1 < columns && corner(k, l + 1) > corner(k, l)) ++l;
                while (l > 0 && corner(k, l - 1) >= corner(k, l)) --l;
                settle(k, l,
                       std::max(l > 0 ? bend(k, k, l - 1) : 0.0, l + 1 < columns ? bend(k, k, l) : 0.0));
            }
            return;
        }
        double most = 0;
        for (std::size_t l = 0; l + 1 < columns; ++l) most = std::max(most, down_.bend(l));
        const auto halve = [&](auto&& self, std::size_t first, std::size_t last, std::size_t left,
                               std::size_t right) -> void {
            if (first >= last) return;
            const std::size_t k = first + (last - first) / 2;
            std::size_t best = left;
            double value = corner(k, left);
            for (std::size_t l = left + 1; l <= right; ++l)
                if (const double other = corner(k, l); other > value) best = l, value = other;
            settle(k, best, most);
            self(self, first, k, best, right);
            self(self, k + 1, last, left, best);
        };
        halve(halve, 0, rows, 0, columns - 1);
    }

    void read(std::size_t k, std::size_t l) {
        const auto &up = up_.sums(k), &down = down_.sums(l);
        const auto column = [&](std::size_t j) { return down_.rank(l) + static_cast<double>(j); };
        std::size_t j = 0;
        for (std::size_t i = 0; i < up.size(); ++i) {
            const double b = up_.rank(k) + static_cast<double>(i), most = up_.sum(k) + up[i];
            const auto value = [&](std::size_t at) {
                return loss_(b, column(at)) + (most + (down_.sum(l) + down[at]));
            };
            if constexpr (Loss::kConcave) {  // from the best column of the row before
                if (i == 0) j = first_fall(down.size() - 1, value);
                double here = value(j), next = 0;
                for (; j + 1 < down.size() && (next = value(j + 1)) > here; here = next) ++j;
                for (; j > 0 && (next = value(j - 1)) >= here; here = next) --j;
                consider(here, b, column(j));
            } else {
                for (j = 0; j < down.size(); ++j) consider(value(j), b, column(j));
            }
        }
    }
    // Where values that rise and then fall stop to rise, by bisection.
    template <class F>
    static std::size_t first_fall(std::size_t last, F&& value) {
        std::size_t low = 0;
        while (low < last) {
            const std::size_t middle = low + (last - low) / 2;
            if (value(middle + 1) > value(middle))
                low = middle + 1;
            else
                last = middle;
        }
        return low;
    }
    void consider(double value, double b, double c) {
        if (value > best_.value) best_ = {value, static_cast<std::size_t>(b), static_cast<std::size_t>(c)};
    }

    Loss loss_;
    GainBins up_, down_;
    Worst best_{0, 0, 0};
    double slack_ = 0;
    std::vector<double> bound_;
    std::vector<std::size_t> top_;  // the best column
    std::vector<std::pair<std::size_t, std::size_t>> cells_;
};

}  // namespace minorant
