// Minimize ½‖x - g‖² over γ‖x‖₁ + ½‖x‖² ≤ r, in linear time: x = soft(g, λγ)/(1 + λ).
//
// With G = max|g|, q = (γ + |g|)/(γ + G) and δ = (G - |g|)/(γ + G), |x| = [τ q - γ δ]_+ for the largest entry
// τ of x, so λ = (G - τ)/(γ + τ), and for the active entries A the constraint reads
//
//     τ² + 2γτ = (2r + γ² Σ_A (1 - q²)) / Σ_A q².
//
// Nothing cancels, however large g or small r. ERRATUM 34: the printed equation has γr for r.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "sum.hpp"
#include "top_set.hpp"

namespace minorant {

struct ElasticNetBall {
    double radius, gamma, most;

    double q(double size) const { return (gamma + size) / (gamma + most); }
    double delta(double size) const { return (most - size) / (gamma + most); }
    double shrunk(double tau, double size) const { return tau * q(size) - gamma * delta(size); }
};

struct ActiveEntries {
    ElasticNetBall ball;
    Sum squares, rest;

    void look_from(double) {}
    void add(double size) {
        const double q = ball.q(size);
        squares.add(q * q);
        rest.add(ball.delta(size) * (1 + q));
    }
    double tau() const {
        const double gamma = ball.gamma;
        const double side = std::hypot(std::sqrt(2 * ball.radius), gamma * std::sqrt(rest.value())) /
                            std::sqrt(squares.value());
        return std::min(side * (side / (gamma + std::hypot(gamma, side))), ball.most);
    }
};

// Writes the solution to x, adds the elements visited to `work`, returns λ.
inline double elastic_net_ball(std::span<const double> center, double radius, double gamma,
                               std::span<double> x, std::size_t& work) {
    const std::size_t n = center.size();
    Sum ones, squares;
    double most = 0;
    std::vector<double> sizes(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double size = sizes[i] = std::abs(center[i]);
        ones.add(size);
        squares.add(size * size);
        most = std::max(most, size);
    }
    work += n;
    if (gamma * ones.value() + 0.5 * squares.value() <= radius) {
        std::copy(center.begin(), center.end(), x.begin());
        return 0;
    }
    const ElasticNetBall ball{radius, gamma, most};
    const ActiveEntries active = top_set(
        std::span(sizes), ActiveEntries{ball, {}, {}},
        [&](const ActiveEntries& trial, double size) { return ball.shrunk(trial.tau(), size) > 0; }, work);
    const double tau = active.tau();
    for (std::size_t i = 0; i < n; ++i) {
        const double size = std::max(ball.shrunk(tau, std::abs(center[i])), 0.0);
        x[i] = center[i] < 0 ? 0.0 - size : size;
    }
    work += n;
    return (most - tau) / (gamma + tau);
}

}  // namespace minorant
