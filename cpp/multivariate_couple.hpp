// Two independent counts b ~ p and c ~ q, coupled by the weight exp(ℓ(b, c)),
//
//     ℓ(b, c) = κ (Δ(b, c) - Δ(b₀, c₀)) - θ₊ (b - b₀) - θ₋ (c - c₀),
//
// on a window of each, less the rectangles that are covered already. Δ(b, c) - Δ(b₀, c₀) is formed without
// cancellation: κ is large. Entries below e^-75 of the largest count as 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace minorant {

// Δ(b, c) - Δ(b₀, c₀) of 1 - Fβ.
struct FRise {
    double beta2, n_pos, n_neg, b0, c0;

    double operator()(double b, double c) const {
        const double numerator = beta2 * b0 + c0, denominator = (1 + beta2) * n_pos - b0 + c0;
        const double db = b - b0, dc = c - c0;
        return ((beta2 * db + dc) * denominator - numerator * (dc - db)) /
               ((denominator + (dc - db)) * denominator);
    }
};

// Δ(b, c) - Δ(b₀, c₀) of 1 - G-mean.
struct GMeanRise {
    double n_pos, n_neg, b0, c0;

    double operator()(double b, double c) const {
        const double fall = (n_pos - b0) * (c - c0) + (n_neg - c) * (b - b0);
        const double roots = std::sqrt((n_pos - b0) * (n_neg - c0)) + std::sqrt((n_pos - b) * (n_neg - c));
        return roots > 0 ? fall / (roots * std::sqrt(n_pos * n_neg)) : 0.0;
    }
};

struct Counts {
    std::span<const double> law;
    double first, center, theta;
};

struct Coupled {
    double log_scale;  // of the entries, p q e^ℓ = e^log_scale · what follows
    double total;      // Σ p q e^ℓ
    double rise;       // Σ p q e^ℓ (Δ - Δ₀)
    double largest;    // max e^ℓ, as a logarithm, without the scale
};

// `up` and `down` receive the weights Σ_c q e^ℓ and Σ_b p e^ℓ.
template <class Rise>
Coupled couple(const Rise& rise, double kappa, const Counts& b, const Counts& c,
               std::span<const double> covered, std::span<double> up, std::span<double> down) {
    constexpr double kSmall = 75;
    const std::size_t rows = b.law.size(), columns = c.law.size();
    std::vector<double> log_q(columns), change(columns), weight(columns);
    for (std::size_t k = 0; k < columns; ++k) log_q[k] = std::log(c.law[k]);
    const auto fill = [&](std::size_t j) {
        const double at = b.first + static_cast<double>(j), tilt = b.theta * (at - b.center);
        for (std::size_t k = 0; k < columns; ++k) {
            const double to = c.first + static_cast<double>(k);
            change[k] = rise(at, to);
            weight[k] = kappa * change[k] - tilt - c.theta * (to - c.center);
        }
        for (std::size_t r = 0; r + 4 <= covered.size(); r += 4) {  // b₁, b₂, c₁, c₂
            if (at < covered[r] || at > covered[r + 1]) continue;
            const double low = std::max(covered[r + 2] - c.first, 0.0), high = covered[r + 3] - c.first + 1;
            const auto end = static_cast<std::size_t>(std::clamp(high, 0.0, static_cast<double>(columns)));
            for (auto k = static_cast<std::size_t>(low); k < end; ++k) weight[k] = -HUGE_VAL;
        }
    };
    Coupled found{-HUGE_VAL, 0, 0, -HUGE_VAL};
    std::vector<double> top(rows);
    for (std::size_t j = 0; j < rows; ++j) {
        fill(j);
        double largest = -HUGE_VAL, both = -HUGE_VAL;
        for (std::size_t k = 0; k < columns; ++k) {
            largest = std::max(largest, weight[k]);
            both = std::max(both, weight[k] + log_q[k]);
        }
        top[j] = both + std::log(b.law[j]);
        found.largest = std::max(found.largest, largest);
        found.log_scale = std::max(found.log_scale, top[j]);
    }
    std::fill(up.begin(), up.end(), 0.0);
    std::fill(down.begin(), down.end(), 0.0);
    if (found.log_scale == -HUGE_VAL) return found;
    for (std::size_t j = 0; j < rows; ++j) {
        if (top[j] < found.log_scale - kSmall) continue;
        fill(j);
        const double least = found.log_scale - kSmall - std::log(b.law[j]);
        double sum = 0, risen = 0;
        for (std::size_t k = 0; k < columns; ++k) {
            if (weight[k] + log_q[k] < least) continue;
            const double e = std::exp(weight[k] - found.log_scale);
            sum += c.law[k] * e;
            risen += c.law[k] * e * change[k];
            down[k] += b.law[j] * e;
        }
        up[j] = sum;
        found.total += b.law[j] * sum;
        found.rise += b.law[j] * risen;
    }
    return found;
}

}  // namespace minorant
