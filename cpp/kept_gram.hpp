// Σ c_i z_i z_iᵀ over the examples of a piecewise quadratic loss that have curvature, h_i = c_i/(kappa + mu),
// kept from one step of Newton's method to the next: those that got some are added, those that lost it taken
// away, where they are fewer than all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "newton_system.hpp"
#include "room.hpp"

namespace minorant {

template <class Rows>
class KeptGram {
  public:
    // `constant`: that is what h is; else nothing is kept.
    KeptGram(const Rows& X, std::span<const double> c, bool bordered, std::size_t size, int threads,
             bool constant, Room& room)
        : X_(X),
          c_(c),
          bordered_(bordered),
          size_(size),
          threads_(threads),
          constant_(constant),
          room_(room) {}

    // Zᵀ H Z for the rows with h_i > 0 into M, lower triangle.
    void operator()(std::span<const double> h, std::span<const std::uint32_t> rows, std::span<double> M) {
        if (!constant_ || !worth_it(rows.size())) return gram(X_, h, rows, bordered_, size_, M, threads_);
        const auto add = [&](std::span<const std::uint32_t> some, double sign) {
            if (some.empty()) return;
            const std::span<double> part = M.first(sum_.size());
            lower_gram(X_, c_, some, bordered_, size_, part, threads_);
            for (std::size_t k = 0; k < sum_.size(); ++k) sum_[k] += sign * part[k];
        };
        BareVector<std::uint32_t> place(X_.size(), room_);
        if (in_.empty()) in_.resize(X_.size());
        const auto gone = chosen(place, threads_, [&](std::size_t i) { return (h[i] == 0) & (in_[i] != 0); });
        const std::size_t kept = count_ - gone.size(), fresh = rows.size() - kept;
        bool anew = static_cast<double>(gone.size() + fresh) >= kFewer * static_cast<double>(rows.size());
        if (!anew) {
            add(gone, -1);
            for (const std::uint32_t i : gone) in_[i] = 0;
            add(chosen(place, threads_, [&](std::size_t i) { return (h[i] > 0) & (in_[i] == 0); }), 1);
            anew = cancelled();
        }
        if (anew) {
            std::fill(in_.begin(), in_.end(), 0);
            sum_.assign(layout(X_, size_).volume(), 0.0);
            most_.assign(size_, 0.0);
            add(rows, 1);
            cancelled();
        }
        for (const std::uint32_t i : rows) in_[i] = 1;
        count_ = rows.size();
        const double scale = h[rows.front()] / c_[rows.front()];
        for (std::size_t k = 0; k < sum_.size(); ++k) M[k] = scale * sum_[k];
        spread(layout(X_, size_), M);
    }

    // What a system costs beside one that begins anew, over some steps.
    double share(std::size_t rows) const { return constant_ && worth_it(rows) ? kShare : 1.0; }

  private:
    static constexpr double kShare = 0.3;
    static constexpr double kFewer = 0.7;  // of the rows
    static constexpr double kLeft = 1e-3;  // of a square
    static constexpr double kPass = 20;    // operations for each example, to find which have changed

    bool worth_it(std::size_t rows) const {
        const double n = static_cast<double>(X_.size()), volume = static_cast<double>(X_.volume());
        const double size = static_cast<double>(size_), each = volume / n * std::min(volume / n + 1, size);
        return each * static_cast<double>(rows) > kPass * n && 6 * size * size <= volume;
    }

    // Rows much longer than those left have been taken away, but not their rounding.
    bool cancelled() {
        bool any = false;
        const auto at = layout(X_, size_);
        for (std::size_t j = 0; j < size_; ++j) {
            const double own = sum_[at(j) + j];
            most_[j] = std::max(most_[j], own);
            any |= own < kLeft * most_[j];
        }
        return any;
    }

    const Rows& X_;
    const std::span<const double> c_;
    const bool bordered_;
    const std::size_t size_;
    const int threads_;
    const bool constant_;
    Room& room_;
    std::vector<double> sum_, most_;  // and the largest its diagonal has been
    std::vector<std::uint8_t> in_;    // 1 for the examples that are in the sum,
    std::size_t count_ = 0;           // so many
};

}  // namespace minorant
