// The gains of a class in bins of equal width, counted and summed, so that the sum of the largest k is known
// at the edges of bins; between two edges it is concave and at most count·width/4 above its chord.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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

}  // namespace minorant
