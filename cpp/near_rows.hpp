// The examples of a piecewise quadratic loss whose slopes may change soon, as a problem of their own. All
// others are held at their slopes, and the sum of what they pull at,  g = Σ α_i s_i x_i  and  Σ α_i s_i,  is
// all that is left of them: with u = w + g/λ
//
//     λ/2 ‖w‖² + ⟨g, w⟩ + Σ c_i φ(s_i (⟨x_i, w⟩ + b) - a_i)
//         = λ/2 ‖u‖² + Σ c_i φ(s_i (⟨x_i, u⟩ + b) - a_i - s_i ⟨x_i, g⟩/λ) + a constant
//
// is a problem of the same kind for copies of a few rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "csr.hpp"
#include "dense.hpp"
#include "dual_coordinate.hpp"
#include "newton_system.hpp"
#include "parallel.hpp"
#include "room.hpp"
#include "scalar.hpp"

namespace minorant {

// When Newton's method goes over to them.
struct NearRows {
    static constexpr std::size_t kMany = 1000;  // examples, for which it is worth to see whether
    static constexpr double kFew = 6;           // times as many are not near a corner,
    static constexpr double kFar = 4;       // so many times as far from it as the last step would move them,
    static constexpr double kDigit = 10;    // with so much of the gap to go
    static constexpr double kAhead = 0.5;   // of which, as far as those near one tell, that much is left,
    static constexpr double kReach = 0.01;  // or of all
    static constexpr double kWhole = 0.9;   // a shorter step shows that others had been near one,
    static constexpr int kWait = 3;         // and is followed by some that see all
};

// Some rows, one after another.
template <class Rows>
class CopyOf;

// f(k) for each of `count` rows with so many values.
template <class F>
void for_rows(std::size_t count, double volume, int threads, F&& f) {
    constexpr std::size_t kRows = 64;
    parallel_blocks((count + kRows - 1) / kRows, threads, 2 * volume, [&](std::size_t block) {
        for (std::size_t k = block * kRows, end = std::min(count, k + kRows); k < end; ++k) f(k);
    });
}

template <class V, class I, class P>
class CopyOf<CsrRows<V, I, P>> {
  public:
    CopyOf(const CsrRows<V, I, P>& from, std::span<const std::uint32_t> which, int threads, Room& room)
        : indptr_(which.size() + 1, room), data_(room), indices_(room) {
        const auto& X = from.X;
        indptr_[0] = 0;
        for (std::size_t k = 0; k < which.size(); ++k)
            indptr_[k + 1] = indptr_[k] + static_cast<P>(X.end(which[k]) - X.begin(which[k]));
        const auto volume = static_cast<std::size_t>(indptr_.back());
        data_.resize(volume), indices_.resize(volume);
        for_rows(which.size(), 2 * static_cast<double>(volume), threads, [&](std::size_t k) {
            const std::size_t begin = X.begin(which[k]), size = X.end(which[k]) - begin;
            const auto to = static_cast<std::size_t>(indptr_[k]);
            std::copy_n(X.data.begin() + begin, size, data_.begin() + to);
            std::copy_n(X.indices.begin() + begin, size, indices_.begin() + to);
        });
    }
    CsrRows<V, I, P> rows() const { return {{data_, indices_, indptr_}}; }

  private:
    BareVector<P> indptr_;
    BareVector<V> data_;
    BareVector<I> indices_;
};

template <class V>
class CopyOf<DenseRows<V>> {
  public:
    CopyOf(const DenseRows<V>& from, std::span<const std::uint32_t> which, int threads, Room& room)
        : data_(which.size() * from.X.columns, room), X_{data_, which.size(), from.X.columns} {
        for_rows(which.size(), static_cast<double>(data_.size()), threads, [&](std::size_t k) {
            std::copy_n(from.X.row(which[k]), X_.columns, data_.data() + k * X_.columns);
        });
    }
    CopyOf(const CopyOf&) = delete;
    CopyOf& operator=(const CopyOf&) = delete;
    DenseRows<V> rows() const { return {X_}; }

  private:
    BareVector<V> data_;
    const Dense<V> X_;
};

// The examples with curvature, and those whose r is at most so far from where they would have some; all
// others have the same slope all around. In the place of `rows`.
inline std::span<const std::uint32_t> near_corners(const Piecewise& loss, double mu, double far,
                                                   std::span<const double> r, std::span<const double> h,
                                                   std::span<std::uint32_t> rows, int threads) {
    const double tube = loss.tube, reach = loss.kappa + mu;
    const double low = loss.low * reach - tube, high = loss.high * reach + tube;
    return chosen(rows, threads, [=](std::size_t i) {
        const double ends = std::min(std::abs(r[i] - low), std::abs(r[i] - high));
        const double flat = tube > 0 ? std::abs(std::abs(r[i]) - tube) : ends;
        return (h[i] > 0) | (std::min(ends, flat) <= far);
    });
}

}  // namespace minorant
