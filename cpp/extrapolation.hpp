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

    explicit Extrapolation(Room& room) : changes_(room), last_(room) {}

    bool full() const { return size_ == kDepth + 1; }
    void clear() { size_ = 0; }
    void push(std::span<const double> t, double number) {
        last_.resize(t.size());
        changes_.resize(kDepth * t.size());
        if (size_ > 0) {
            float* const change = changes(size_ - 1);
            for (std::size_t i = 0; i < t.size(); ++i) change[i] = static_cast<float>(t[i] - last_[i]);
            steps_[size_ - 1] = number - number_;
        }
        std::copy(t.begin(), t.end(), last_.begin());
        number_ = number;
        ++size_;
    }

    // The extrapolated iterate, in the place of the last one, and its number; nothing where the differences
    // are rounding alone.
    std::span<double> combine(double& number) {
        std::array<double, kDepth> weights;
        if (!solve(weights)) return {};
        number = number_;
        // Σ γ_k t_k = t_K - Σ_k (γ_1 + … + γ_{k-1}) (t_k - t_{k-1})
        double before = 0;
        for (std::size_t k = 0; k < kDepth; ++k) {
            const float* const change = changes(k);
            for (std::size_t i = 0; i < last_.size(); ++i) last_[i] -= before * change[i];
            number -= before * steps_[k];
            before += weights[k];
        }
        return last_;
    }

  private:
    // γ with Σ γ = 1 and the least ‖Σ γ_k u_k‖, for the differences u: proportional to (U Uᵀ)⁻¹ 1.
    bool solve(std::array<double, kDepth>& gamma) {
        std::array<std::array<double, kDepth>, kDepth> G;
        double trace = 0;
        for (std::size_t k = 0; k < kDepth; ++k) {
            for (std::size_t l = 0; l <= k; ++l) G[k][l] = row_dot(changes(k), changes(l), last_.size());
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

    float* changes(std::size_t k) { return changes_.data() + k * last_.size(); }

    RoomVector<float> changes_;  // t_k - t_{k-1} for each k, one after another; half of the memory is enough
    RoomVector<double> last_;
    std::array<double, kDepth> steps_{};  // of the number
    double number_ = 0;
    std::size_t size_ = 0;
};

}  // namespace minorant
