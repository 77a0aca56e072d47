// A classifier of labels y = ±1, from w = 0 to its certificate in one call:
//
//     J(w, b) = λ/2 ‖w‖² + Σ c_i φ(r_i),    r_i = s_i (⟨x_i, w⟩ + b) - a,    s = -y
//     D(α) = -Σ (a α_i + c_i φ*(α_i/c_i)) - ‖Aᵀ α‖²/(2λ),    c_i low ≤ α_i ≤ c_i high,  ⟨s, α⟩ = 0
//
// by Newton's method. What is returned is J and D of the arrays returned, each from products of their own.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "logistic_sums.hpp"
#include "newton.hpp"

namespace minorant {

struct WholeFit {
    double primal, dual, bias;
    int steps, products;
};

// Σ c_i φ(r_i) and Σ c_i φ*(α_i/c_i)
inline double sum_of_losses(const Logistic&, std::span<const double> r, std::span<const double> c) {
    return logistic_loss(r.data(), c.data(), r.size());
}
inline double sum_of_losses(const Piecewise& loss, std::span<const double> r, std::span<const double> c) {
    return excess(loss, r, std::vector<double>(r.size()), c);  // at t = 0, where φ* is 0
}
inline double sum_of_conjugates(const Logistic&, std::span<const double> alpha, std::span<const double> c) {
    return logistic_conjugate(alpha.data(), c.data(), alpha.size());
}
inline double sum_of_conjugates(const Piecewise& loss, std::span<const double> alpha,
                                std::span<const double> c) {
    double sum = 0;
    for (std::size_t i = 0; i < c.size(); ++i)
        if (c[i] > 0) sum += c[i] * loss.conjugate(alpha[i] / c[i]);
    return sum;
}

template <class Rows, class Loss>
class Classifier {
  public:
    // `c` may be empty: then all are 1/n
    Classifier(const Rows& X, const Loss& loss, std::span<const double> y, std::span<const double> c,
               double a, double lam, bool bias, std::span<double> w, std::span<double> alpha, int threads)
        : X_(X),
          loss_(loss),
          w_(w),
          alpha_(alpha),
          sign_(y.size()),
          c_(c.begin(), c.end()),
          offset_(y.size(), a),
          image_(y.size()),
          h_(y.size()),
          dual_image_(w.size()),
          lam_(lam),
          bias_(bias),
          threads_(threads) {
        if (c_.empty()) c_.assign(y.size(), 1 / static_cast<double>(y.size()));
        for (std::size_t i = 0; i < y.size(); ++i) sign_[i] = -y[i];
    }

    // Steps until the gap is at most tol·J or the budget of operations is spent. `mu`: the first smoothing.
    WholeFit run(const NewtonRules& rules, double mu, double iterations, double tol, double budget) {
        std::fill(w_.begin(), w_.end(), 0.0);
        std::vector<double> center(std::is_same_v<Loss, Logistic> ? 0 : sign_.size());
        NewtonPoint at{w_, image_, alpha_, dual_image_, h_, center, mu, 0.0, iterations};
        const NewtonProblem p{c_, offset_, sign_, lam_, bias_, threads_};
        Newton newton(X_, loss_, p, rules, at);
        WholeFit fit{primal(0.0), 0.0, 0.0, 0, 0};
        for (int looks = 1;; ++looks) {
            const double target = 0.9 * tol * fit.primal;
            const NewtonSteps done = newton.run(looks == 1, target, budget);
            fit = {primal(at.bias), dual(), at.bias, done.steps, done.products + looks};
            const bool certified = fit.primal - fit.dual <= tol * fit.primal;
            if (certified || !(done.gap <= target) || done.gap <= 0.9 * tol * fit.primal) return fit;
        }
    }

  private:
    double primal(double bias) const {
        const std::size_t n = sign_.size();
        std::vector<double> r(n);
        for (std::size_t i = 0; i < n; ++i) r[i] = image_[i] - offset_[i] + bias * sign_[i];
        return 0.5 * lam_ * row_dot(w_.data(), w_.data(), w_.size()) + sum_of_losses(loss_, r, c_);
    }

    // Brings α into its domain first; -∞ where that takes more than rounding.
    double dual() {
        for (std::size_t i = 0; i < alpha_.size(); ++i) alpha_[i] = within(i, alpha_[i]);
        for (int k = 0; bias_ && !on_plane(); ++k) {
            if (k == 3) return -std::numeric_limits<double>::infinity();
            spread();
        }
        const std::size_t n = sign_.size();
        std::vector<double> signed_alpha(n);
        for (std::size_t i = 0; i < n; ++i) signed_alpha[i] = sign_[i] * alpha_[i];
        adjoint(X_, signed_alpha, dual_image_, threads_);
        return -row_dot(offset_.data(), alpha_.data(), n) - sum_of_conjugates(loss_, alpha_, c_) -
               row_dot(dual_image_.data(), dual_image_.data(), w_.size()) / (2 * lam_);
    }

    double within(std::size_t i, double alpha) const {
        return c_[i] > 0 ? std::clamp(alpha, c_[i] * loss_.low, c_[i] * loss_.high) : 0.0;
    }

    double off_plane() const { return row_dot(sign_.data(), alpha_.data(), alpha_.size()); }

    bool on_plane() const {
        double total = 0;
        for (const double a : alpha_) total += std::abs(a);
        return std::abs(off_plane()) <= 8 * std::numeric_limits<double>::epsilon() * total;
    }

    // What is left of ⟨s, α⟩ goes to the examples that are free to move.
    void spread() {
        double total = 0;
        for (const double h : h_) total += h;
        if (!(total > 0)) return;
        const double share = off_plane() / total;
        for (std::size_t i = 0; i < alpha_.size(); ++i)
            alpha_[i] = within(i, alpha_[i] - share * h_[i] * sign_[i]);
    }

    const Rows& X_;
    const Loss& loss_;
    std::span<double> w_, alpha_;
    std::vector<double> sign_, c_, offset_, image_, h_, dual_image_;
    const double lam_;
    const bool bias_;
    const int threads_;
};

}  // namespace minorant
