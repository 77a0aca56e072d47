// A classifier of labels y = ±1 with a squared norm, as its whole fit sees it, and the best pair of points so
// far:
//
//     J(w, b) = λ/2 ‖w‖² + Σ c_i φ(r_i),    r_i = s_i (⟨x_i, w⟩ + b) - a,    s = -y,  A = diag(s) X
//     D(α) = -Σ (a α_i + c_i φ*(α_i/c_i)) - ‖Aᵀ α‖²/(2λ),    c_i low ≤ α_i ≤ c_i high,  ⟨s, α⟩ = 0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "curvature.hpp"
#include "hinge.hpp"
#include "logistic_sums.hpp"
#include "newton.hpp"

namespace minorant {

// Σ c_i φ*(α_i/c_i)
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

inline bool has_corners(const Logistic&) { return false; }
inline bool has_corners(const Piecewise& loss) { return loss.kappa == 0; }

template <class Rows, class Loss>
class Classifier {
  public:
    // `weights` may be empty: then all c_i are 1/n.
    Classifier(const Rows& X, const Loss& loss, std::span<const double> y, std::span<const double> weights,
               double a, double lam, bool bias, int threads)
        : X(X),
          loss(loss),
          y(y),
          sign(y.size()),
          c(weights.begin(), weights.end()),
          offset(y.size(), a),
          lam(lam),
          bias(bias),
          threads(threads) {
        if (c.empty()) c.assign(y.size(), 1 / static_cast<double>(y.size()));
        for (std::size_t i = 0; i < y.size(); ++i) sign[i] = -y[i];
    }

    void image(std::span<const double> w, std::span<double> out) const {
        product(X, w, out, threads);
        for (std::size_t i = 0; i < y.size(); ++i) out[i] *= sign[i];
    }

    void dual_image(std::span<const double> alpha, std::span<double> out) const {
        std::vector<double> signed_alpha(y.size());
        for (std::size_t i = 0; i < y.size(); ++i) signed_alpha[i] = sign[i] * alpha[i];
        adjoint(X, signed_alpha, out, threads);
    }

    std::vector<double> residuals(std::span<const double> image, double b) const {
        std::vector<double> r(y.size());
        for (std::size_t i = 0; i < y.size(); ++i) r[i] = image[i] - offset[i] + b * sign[i];
        return r;
    }

    double primal(std::span<const double> w, std::span<const double> image, double b) const {
        return 0.5 * lam * row_dot(w.data(), w.data(), w.size()) + mean_loss(loss, residuals(image, b), c);
    }

    double dual(std::span<const double> alpha, std::span<const double> v) const {
        return -row_dot(offset.data(), alpha.data(), alpha.size()) - sum_of_conjugates(loss, alpha, c) -
               row_dot(v.data(), v.data(), v.size()) / (2 * lam);
    }

    double best_bias(std::span<const double> image, double guess) const {
        if (!bias) return 0;
        if (has_corners(loss)) return hinge_bias({image, y, c}, guess, threads);
        return balance(loss, 0.0, residuals(image, 0), sign, c, guess, 0.0, threads);
    }

    // At w = 0, where it is known, or nearly.
    double bias_at_rest() const {
        if (!bias) return 0;
        const double balance = row_dot(c.data(), y.data(), y.size());  // Σ c_i y_i
        if (has_corners(loss)) return balance < 0 ? -1 : 1;
        return std::is_same_v<Loss, Logistic> ? std::log((1 + balance) / (1 - balance)) : balance;
    }

    // Brings α into its domain; false where that takes more than rounding. The examples move as h lets them,
    // or all alike where h is 0.
    bool feasible(std::span<double> alpha, std::span<const double> h) const {
        for (std::size_t i = 0; i < y.size(); ++i) alpha[i] = within(i, alpha[i]);
        for (int k = 0; bias && !on_plane(alpha); ++k) {
            if (k == 5) return false;
            double total = std::accumulate(h.begin(), h.end(), 0.0);
            if (!(total > 0)) {
                h = c;
                total = std::accumulate(h.begin(), h.end(), 0.0);
            }
            const double share = row_dot(sign.data(), alpha.data(), alpha.size()) / total;
            for (std::size_t i = 0; i < y.size(); ++i)
                alpha[i] = within(i, alpha[i] - share * h[i] * sign[i]);
        }
        return true;
    }

    const Rows& X;
    const Loss& loss;
    std::span<const double> y;
    std::vector<double> sign, c, offset;
    const double lam;
    const bool bias;
    const int threads;

  private:
    double within(std::size_t i, double alpha) const {
        return c[i] > 0 ? std::clamp(alpha, c[i] * loss.low, c[i] * loss.high) : 0.0;
    }

    bool on_plane(std::span<const double> alpha) const {
        double total = 0;
        for (const double a : alpha) total += std::abs(a);
        const double off = row_dot(sign.data(), alpha.data(), alpha.size());
        return std::abs(off) <= 8 * std::numeric_limits<double>::epsilon() * total;
    }
};

struct WholeFit {
    double primal, dual, bias;
    int products;
};

// The best points so far and their values: each from products of its own.
template <class Rows, class Loss>
class BestPair {
  public:
    BestPair(const Classifier<Rows, Loss>& p, double tol, std::span<double> w, std::span<double> alpha)
        : w(w), alpha(alpha), image(p.y.size()), p_(p), tol_(tol) {
        std::fill(w.begin(), w.end(), 0.0);
        std::fill(alpha.begin(), alpha.end(), 0.0);
        fit.bias = p.bias_at_rest();
        fit.primal = p.primal(w, image, fit.bias);
    }

    double gap() const { return fit.primal - fit.dual; }
    double relative_gap() const { return gap() / fit.primal; }
    bool certified() const { return gap() <= tol_ * fit.primal; }

    void offer(std::span<const double> point, std::span<const double> its_image, double b) {
        const double value = p_.primal(point, its_image, b);
        if (!(value < fit.primal)) return;
        fit.primal = value, fit.bias = b;
        std::copy(point.begin(), point.end(), w.begin());
        std::copy(its_image.begin(), its_image.end(), image.begin());
    }

    // v = Aᵀ α
    void offer_dual(std::span<const double> point, std::span<const double> v) {
        const double value = p_.dual(point, v);
        if (!(value > fit.dual)) return;
        fit.dual = value;
        std::copy(point.begin(), point.end(), alpha.begin());
    }

    std::span<double> w, alpha;
    std::vector<double> image;
    WholeFit fit{};

  private:
    const Classifier<Rows, Loss>& p_;
    const double tol_;
};

}  // namespace minorant
