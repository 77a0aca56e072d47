// How many of many sorted numbers are below another: a table of equal steps leads to a short range, and the
// search ends there, so that numbers in any order cost about as much as sorted ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace minorant
