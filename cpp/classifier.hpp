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
#include "room.hpp"

namespace minorant {

// Σ c_i φ(u_i - a + b s_i)
MINORANT_CLONES inline std::array<double, 1> loss_block(const Piecewise& loss, const double* u,
                                                        const double* s, const double* c, double a, double b,
                                                        std::size_t begin, std::size_t end) {
    const Smoothed f(loss, 0.0);
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 1>{c[i] * f.excess(u[i] - a + b * s[i], 0)};
    });
}
MINORANT_WIDE_CLONES inline std::array<double, 1> logistic_block(const double* u, const double* s,
                                                                 const double* c, double a, double b,
                                                                 std::size_t begin, std::size_t end) {
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 1>{c[i] * logistic_value(u[i] - a + b * s[i])};
    });
}
inline std::array<double, 1> loss_block(const Logistic&, const double* u, const double* s, const double* c,
                                        double a, double b, std::size_t begin, std::size_t end) {
    return logistic_block(u, s, c, a, b, begin, end);
}

// Σ c_i φ*(α_i/c_i)
inline double conjugate_block(const Logistic&, const double* alpha, const double* c, std::size_t n) {
    return logistic_conjugate(alpha, c, n);
}
MINORANT_CLONES inline double conjugate_block(const Piecewise& loss, const double* alpha, const double* c,
                                              std::size_t n) {
    const double tube = loss.tube, half = 0.5 * loss.kappa;
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double a = alpha[i], value = tube * std::abs(a) + half * a * (a / (c[i] > 0 ? c[i] : 1.0));
        return std::array<double, 1>{c[i] > 0 ? value : 0.0};
    })[0];
}

// α_i within its bounds, c_i low and c_i high
MINORANT_CLONES inline void clip_block(double low, double high, const double* c, double* alpha, std::size_t i,
                                       std::size_t end) {
    for (; i < end; ++i) {
        double a = alpha[i];
        a = a < c[i] * low ? c[i] * low : a;
        a = a > c[i] * high ? c[i] * high : a;
        alpha[i] = c[i] > 0 ? a : 0.0;
    }
}

// Σ |α_i| and Σ s_i α_i
MINORANT_CLONES inline std::array<double, 2> sizes_block(const double* s, const double* alpha,
                                                         std::size_t begin, std::size_t end) {
    return lane_sums<2>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 2>{std::abs(alpha[i]), s[i] * alpha[i]};
    });
}

inline bool has_corners(const Logistic&) { return false; }
inline bool has_corners(const Piecewise& loss) { return loss.kappa == 0; }

template <class Rows, class Loss>
class Classifier {
  public:
    // `weights` may be empty: then all c_i are 1/n.
    Classifier(const Rows& X, const Loss& loss, std::span<const double> y, std::span<const double> weights,
               double a, double lam, bool bias, int threads, Room& room)
        : X(X),
          loss(loss),
          y(y),
          sign(y.size(), room),
          c(y.size(), room),
          offset(y.size(), room),
          a(a),
          lam(lam),
          bias(bias),
          threads(threads),
          room(room) {
        const double share = 1 / static_cast<double>(y.size());
        ranges(4, [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) {
                sign[i] = -y[i], offset[i] = a;
                c[i] = weights.empty() ? share : weights[i];
            }
        });
    }

    void image(std::span<const double> w, std::span<double> out) const {
        product(X, w, out, threads);
        multiply(sign, out, out, threads);
    }

    // Aᵀ α; `room` is overwritten.
    void dual_image(std::span<const double> alpha, std::span<double> room, std::span<double> out) const {
        multiply(sign, alpha, room, threads);
        adjoint(X, room, out, threads);
    }

    BareVector<double> residuals(std::span<const double> image, double b) const {
        BareVector<double> r(y.size(), room);
        ranges(4, [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) r[i] = image[i] - offset[i] + b * sign[i];
        });
        return r;
    }

    // Σ c_i x_i
    double mean(std::span<const double> x) const {
        return block_sums<1>(y.size(), threads, 2, [&](std::size_t i, std::size_t end) {
            return std::array{row_dot(c.data() + i, x.data() + i, end - i)};
        })[0];
    }

    double primal(std::span<const double> w, std::span<const double> image, double b) const {
        const auto [risk] = block_sums<1>(y.size(), threads, 8, [&](std::size_t begin, std::size_t end) {
            return loss_block(loss, image.data(), sign.data(), c.data(), a, b, begin, end);
        });
        return 0.5 * lam * row_dot(w.data(), w.data(), w.size()) + risk;
    }

    // Σ (a α_i + c_i φ*(α_i/c_i))
    double conjugate(std::span<const double> alpha) const {
        return block_sums<1>(y.size(), threads, 8, [&](std::size_t begin, std::size_t end) {
            const double* const a = alpha.data() + begin;
            return std::array{row_dot(offset.data() + begin, a, end - begin) +
                              conjugate_block(loss, a, c.data() + begin, end - begin)};
        })[0];
    }

    double dual(std::span<const double> alpha, std::span<const double> v) const {
        return -conjugate(alpha) - row_dot(v.data(), v.data(), v.size()) / (2 * lam);
    }

    double best_bias(std::span<const double> image, double guess) const {
        if (!bias) return 0;
        if (has_corners(loss)) return hinge_bias({image, y, c}, guess, threads);
        return balance(loss, 0.0, residuals(image, 0), sign, c, guess, 0.0, threads);
    }

    // At w = 0, where it is known, or nearly.
    double bias_at_rest() const {
        if (!bias) return 0;
        const double balance = mean(y);
        if (has_corners(loss)) return balance < 0 ? -1 : 1;
        return std::is_same_v<Loss, Logistic> ? std::log((1 + balance) / (1 - balance)) : balance;
    }

    // Brings α into its domain; false where that takes more than rounding. The examples move as h lets them,
    // or all alike where h is 0.
    bool feasible(std::span<double> alpha, std::span<const double> h) const {
        clip(alpha);
        for (int k = 0; bias && !on_plane(alpha); ++k) {
            if (k == 5) return false;
            double total = std::accumulate(h.begin(), h.end(), 0.0);
            if (!(total > 0)) {
                h = c;
                total = std::accumulate(h.begin(), h.end(), 0.0);
            }
            const double share = row_dot(sign.data(), alpha.data(), alpha.size()) / total;
            ranges(4, [&](std::size_t i, std::size_t end) {
                for (; i < end; ++i) alpha[i] -= share * h[i] * sign[i];
            });
            clip(alpha);
        }
        return true;
    }

    const Rows& X;
    const Loss& loss;
    std::span<const double> y;
    BareVector<double> sign, c, offset;
    const double a, lam;
    const bool bias;
    const int threads;
    Room& room;  // for vectors of length n

  private:
    // f(begin, end) for blocks of examples; each costs so many operations.
    template <class F>
    void ranges(double cost, F&& f) const {
        parallel_ranges(y.size(), threads, cost * static_cast<double>(y.size()), f);
    }

    void clip(std::span<double> alpha) const {
        ranges(4, [&](std::size_t begin, std::size_t end) {
            clip_block(loss.low, loss.high, c.data(), alpha.data(), begin, end);
        });
    }

    bool on_plane(std::span<const double> alpha) const {
        const auto [total, off] = block_sums<2>(y.size(), threads, 4, [&](std::size_t i, std::size_t end) {
            return sizes_block(sign.data(), alpha.data(), i, end);
        });
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
        : w(w), alpha(alpha), image(p.y.size(), p.room), p_(p), tol_(tol) {
        std::fill(w.begin(), w.end(), 0.0);
        fill(alpha, 0.0, p.threads);
        fill<double>(image, 0.0, p.threads);
        fit.bias = p.bias_at_rest();
        fit.primal = p.primal(w, image, fit.bias);
    }

    double gap() const { return fit.primal - fit.dual; }
    double relative_gap() const { return gap() / fit.primal; }
    bool certified() const { return certified_by(fit.primal); }
    bool certified_by(double J) const { return J - fit.dual <= tol_ * J; }

    void offer(std::span<const double> point, std::span<const double> its_image, double b) {
        if (better(point, its_image, b) && its_image.data() != image.data())
            copy<double>(its_image, image, p_.threads);
    }

    // The same with no room for another image: that of w is lost.
    void begin(std::span<const double> point, double b) {
        p_.image(point, image);
        ++fit.products;
        if (better(point, image, b)) return;
        if (std::all_of(w.begin(), w.end(), [](double value) { return value == 0; }))
            return fill<double>(image, 0.0, p_.threads);
        p_.image(w, image);
        ++fit.products;
    }

    // v = Aᵀ α
    void offer_dual(std::span<const double> point, std::span<const double> v) {
        const double value = p_.dual(point, v);
        if (!(value > fit.dual)) return;
        fit.dual = value;
        copy(point, alpha, p_.threads);
    }

    std::span<double> w, alpha;
    BareVector<double> image;
    WholeFit fit{};

  private:
    bool better(std::span<const double> point, std::span<const double> its_image, double b) {
        const double value = p_.primal(point, its_image, b);
        if (!(value < fit.primal)) return false;
        fit.primal = value, fit.bias = b;
        std::copy(point.begin(), point.end(), w.begin());
        return true;
    }

    const Classifier<Rows, Loss>& p_;
    const double tol_;
};

}  // namespace minorant
