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
#include <vector>

#include "csr.hpp"
#include "dense.hpp"
#include "dual_coordinate.hpp"
#include "newton_system.hpp"
#include "scalar.hpp"

namespace minorant {

// Some rows, one after another.
template <class Rows>
class CopyOf;

template <class V, class I, class P>
class CopyOf<CsrRows<V, I, P>> {
  public:
    CopyOf(const CsrRows<V, I, P>& from, std::span<const std::uint32_t> which) {
        const auto& X = from.X;
        std::size_t volume = 0;
        for (const std::uint32_t i : which) volume += X.end(i) - X.begin(i);
        data_.reserve(volume), indices_.reserve(volume), indptr_.reserve(which.size() + 1);
        indptr_.push_back(0);
        for (const std::uint32_t i : which) {
            data_.insert(data_.end(), X.data.begin() + X.begin(i), X.data.begin() + X.end(i));
            indices_.insert(indices_.end(), X.indices.begin() + X.begin(i), X.indices.begin() + X.end(i));
            indptr_.push_back(static_cast<P>(data_.size()));
        }
    }
    CsrRows<V, I, P> rows() const { return {{data_, indices_, indptr_}}; }

  private:
    std::vector<V> data_;
    std::vector<I> indices_;
    std::vector<P> indptr_;
};

template <class V>
class CopyOf<DenseRows<V>> {
  public:
    CopyOf(const DenseRows<V>& from, std::span<const std::uint32_t> which)
        : data_(which.size() * from.X.columns), X_{data_, which.size(), from.X.columns} {
        for (std::size_t k = 0; k < which.size(); ++k)
            std::copy_n(from.X.row(which[k]), X_.columns, data_.data() + k * X_.columns);
    }
    CopyOf(const CopyOf&) = delete;
    CopyOf& operator=(const CopyOf&) = delete;
    DenseRows<V> rows() const { return {X_}; }

  private:
    std::vector<V> data_;
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
