// Anderson's extrapolation of iterates t_0, …, t_K of one and the same map: the affine combination of t_1, …,
// t_K for which the combination of the differences t_k - t_{k-1}, which are 0 at a fixed point, is least. A
// number, such as a multiplier, may go along with each iterate.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "dense.hpp"
#include "room.hpp"

namespace minorant {

class Extrapolation {
  public:
    static constexpr std::size_t kDepth = 5;

    explicit Extrapolation(Room& room) : iterates_(room) {}

    std::size_t size() const { return size_; }
    bool full() const { return size_ == kDepth + 1; }
    void clear() { size_ = 0; }
    void push(std::span<const double> t, double number) {
        iterates_.resize((kDepth + 1) * t.size());
        std::copy(t.begin(), t.end(), iterate(size_).begin());
        numbers_[size_++] = number;
    }

    // Overwrites the iterates but the first with their differences from the ones before; t and the number are
    // the last iterate and become the extrapolated one. False where the differences are rounding alone.
    bool combine(std::span<double> t, double& number) {
        const std::size_t n = t.size();
        std::array<double, kDepth> weights;
        for (std::size_t k = kDepth; k > 0; --k) {
            const std::span now = iterate(k), last = iterate(k - 1);
            for (std::size_t i = 0; i < n; ++i) now[i] -= last[i];
            numbers_[k] -= numbers_[k - 1];
        }
        if (!solve(weights)) return false;
        // Σ γ_k t_k = t_K - Σ_k (γ_1 + … + γ_{k-1}) (t_k - t_{k-1})
        double before = 0;
        for (std::size_t k = 1; k <= kDepth; ++k) {
            const std::span change = iterate(k);
            for (std::size_t i = 0; i < n; ++i) t[i] -= before * change[i];
            number -= before * numbers_[k];
            before += weights[k - 1];
        }
        return true;
    }

  private:
    // γ with Σ γ = 1 and the least ‖Σ γ_k u_k‖, for the differences u: proportional to (U Uᵀ)⁻¹ 1.
    bool solve(std::array<double, kDepth>& gamma) {
        std::array<std::array<double, kDepth>, kDepth> G;
        double trace = 0;
        for (std::size_t k = 0; k < kDepth; ++k) {
            const std::span u = iterate(k + 1);
            for (std::size_t l = 0; l <= k; ++l) G[k][l] = row_dot(u.data(), iterate(l + 1).data(), u.size());
            trace += G[k][k];
        }
        if (!(trace > 0) || !std::isfinite(trace)) return false;
        for (std::size_t k = 0; k < kDepth; ++k) {  // Cholesky
            G[k][k] += 1e-10 * trace;
            for (std::size_t l = 0; l <= k; ++l) {
                double left = G[k][l];
                for (std::size_t j = 0; j < l; ++j) left -= G[k][j] * G[l][j];
                G[k][l] = l < k ? left / G[l][l] : std::sqrt(left);
            }
        }
        double total = 0;
        for (std::size_t k = 0; k < kDepth; ++k) {
            gamma[k] = 1;
            for (std::size_t j = 0; j < k; ++j) gamma[k] -= G[k][j] * gamma[j];
            gamma[k] /= G[k][k];
        }
        for (std::size_t k = kDepth; k-- > 0;) {
            for (std::size_t j = k + 1; j < kDepth; ++j) gamma[k] -= G[j][k] * gamma[j];
            gamma[k] /= G[k][k];
            total += gamma[k];
        }
        for (double& value : gamma) value /= total;
        return std::isfinite(total) && total != 0;
    }

    std::span<double> iterate(std::size_t k) {
        const std::size_t n = iterates_.size() / (kDepth + 1);
        return {iterates_.data() + k * n, n};
    }

    RoomVector<double> iterates_;  // one after another
    std::array<double, kDepth + 1> numbers_{};
    std::size_t size_ = 0;
};

}  // namespace minorant
