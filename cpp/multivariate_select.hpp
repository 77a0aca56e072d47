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
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "multivariate_bins.hpp"
#include "multivariate_scan.hpp"

namespace minorant {

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
