// Newton's method on  λ/2 ‖w‖² + Σ c_i φ_mu(r_i)  sees the examples through slopes t_i, bends h_i = c_i
// φ_mu''(r_i), and one search along a line:
//
//     bends: α_i = c_i t_i and h_i                along: τ with  slope + τ bend + Σ c_i φ_mu'(r_i + τ d_i)
//     d_i = 0 balance: the bias b with  Σ c_i φ_mu'(r_i + s_i b) s_i = 0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include "dense.hpp"
#include "lanes.hpp"
#include "logistic_sums.hpp"
#include "parallel.hpp"
#include "scalar.hpp"

namespace minorant {

MINORANT_CLONES inline void bends_block(const Piecewise& loss, double mu, const double* r, const double* c,
                                        double* alpha, double* h, std::size_t i, std::size_t end) {
    const Smoothed f(loss, mu);
    for (; i < end; ++i) {
        alpha[i] = c[i] * f.slope(r[i]);
        h[i] = c[i] * f.bend(r[i]);
    }
}
MINORANT_WIDE_CLONES inline void logistic_bends(const double* r, const double* c, double* alpha, double* h,
                                                std::size_t i, std::size_t end) {
    for (; i < end; ++i) {
        const double t = Logistic::sigmoid(r[i]);
        alpha[i] = c[i] * t;
        h[i] = c[i] * (t * (1 - t));
    }
}
inline void bends_block(const Logistic& loss, double mu, const double* r, const double* c, double* alpha,
                        double* h, std::size_t i, std::size_t end) {
    if (mu == 0) return logistic_bends(r, c, alpha, h, i, end);
    for (; i < end; ++i) {
        alpha[i] = c[i] * loss.slope(r[i], mu);
        h[i] = c[i] * loss.bend(r[i], mu);
    }
}

template <class Loss>
void bends(const Loss& loss, double mu, std::span<const double> r, std::span<const double> c, int threads,
           std::span<double> alpha, std::span<double> h) {
    parallel_ranges(r.size(), threads, 8.0 * static_cast<double>(r.size()),
                    [&](std::size_t i, std::size_t end) {
                        bends_block(loss, mu, r.data(), c.data(), alpha.data(), h.data(), i, end);
                    });
}

// t_i = α_i/c_i within the bounds
MINORANT_CLONES inline void slopes_of(const double* alpha, const double* c, double low, double high,
                                      double* t, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        double v = alpha[i] / (c[i] > 0 ? c[i] : 1.0);
        v = v < low ? low : v;
        v = v > high ? high : v;
        t[i] = c[i] > 0 ? v : 0.0;
    }
}

template <class Loss>
void slopes_of(const Loss& loss, std::span<const double> alpha, std::span<const double> c,
               std::span<double> t, int threads) {
    parallel_ranges(t.size(), threads, 8.0 * static_cast<double>(t.size()),
                    [&](std::size_t i, std::size_t end) {
                        slopes_of(alpha.data() + i, c.data() + i, loss.low, loss.high, t.data() + i, end - i);
                    });
}

// Σ c_i (φ(r_i) + φ*(t_i) - r_i t_i)
template <class Loss>
MINORANT_INLINE double excess_terms(const Loss& loss, const double* r, const double* alpha, const double* c,
                                    std::size_t n) {
    const Loss f = loss;
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double t = alpha[i] / (c[i] > 0 ? c[i] : 1.0);
        return std::array<double, 1>{c[i] > 0 ? c[i] * f.excess(r[i], t) : 0.0};
    })[0];
}
MINORANT_CLONES inline double excess_sum(const Piecewise& loss, const double* r, const double* alpha,
                                         const double* c, std::size_t n) {
    return excess_terms(loss, r, alpha, c, n);
}
inline double excess_sum(const Logistic& loss, const double* r, const double* alpha, const double* c,
                         std::size_t n) {
    return excess_terms(loss, r, alpha, c, n);
}
// Σ c_i φ(r_i)
MINORANT_CLONES inline double mean_loss(const Piecewise& loss, std::span<const double> r,
                                        std::span<const double> c) {
    const double *at = r.data(), *weight = c.data();
    const Piecewise f = loss;
    return lane_sums<1>(0, r.size(), [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 1>{weight[i] > 0 ? weight[i] * f.excess(at[i], 0) : 0.0};
    })[0];
}
inline double mean_loss(const Logistic&, std::span<const double> r, std::span<const double> c) {
    return logistic_loss(r.data(), c.data(), r.size());
}
template <class Loss>
double excess(const Loss& loss, std::span<const double> r, std::span<const double> alpha,
              std::span<const double> c) {
    return excess_sum(loss, r.data(), alpha.data(), c.data(), r.size());
}

MINORANT_CLONES inline std::array<double, 2> line_sums(const Piecewise& loss, double mu, const double* r,
                                                       const double* d, const double* c, double tau,
                                                       std::size_t begin, std::size_t end) {
    const Smoothed f(loss, mu);
    return lane_sums<2>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double at = r[i] + tau * d[i], weight = c[i] * d[i];
        return std::array<double, 2>{weight * f.slope(at), weight * d[i] * f.bend(at)};
    });
}
MINORANT_WIDE_CLONES inline std::array<double, 2> logistic_sums(const double* r, const double* d,
                                                                const double* c, double tau,
                                                                std::size_t begin, std::size_t end) {
    return lane_sums<2>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double t = Logistic::sigmoid(r[i] + tau * d[i]), weight = c[i] * d[i];
        return std::array<double, 2>{weight * t, weight * d[i] * (t * (1 - t))};
    });
}
inline std::array<double, 2> line_sums(const Logistic& loss, double mu, const double* r, const double* d,
                                       const double* c, double tau, std::size_t begin, std::size_t end) {
    if (mu == 0) return logistic_sums(r, d, c, tau, begin, end);
    return lane_sums<2>(begin, end, [=](std::size_t i) {
        const double t = loss.slope(r[i] + tau * d[i], mu), b = t * (1 - t), weight = c[i] * d[i];
        return std::array<double, 2>{weight * t, weight * d[i] * b / (1 + mu * b)};
    });
}

// The same by way of α and h there, which are kept: where an exponential is the dear part, the next point
// need not compute it again.
MINORANT_WIDE_CLONES inline void logistic_bends_along(const double* r, const double* d, const double* c,
                                                      double tau, double* alpha, double* h, std::size_t i,
                                                      std::size_t end) {
    for (; i < end; ++i) {
        const double t = Logistic::sigmoid(r[i] + tau * d[i]);
        alpha[i] = c[i] * t;
        h[i] = c[i] * (t * (1 - t));
    }
}
MINORANT_CLONES inline std::array<double, 2> sums_along(const double* d, const double* alpha, const double* h,
                                                        std::size_t begin, std::size_t end) {
    return lane_sums<2>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 2>{d[i] * alpha[i], d[i] * d[i] * h[i]};
    });
}

// f(τ) = slope + τ bend + Σ c_i φ_mu'(r_i + τ d_i) d_i, and its derivative; f never falls. Of the logistic
// loss as it is, α and h are left in `kept`, where there is such, as they are at the τ asked for last.
template <class Loss>
class Line {
  public:
    struct Kept {
        std::span<double> alpha, h;
    };

    Line(const Loss& loss, double mu, std::span<const double> r, std::span<const double> d,
         std::span<const double> c, double slope, double bend, int threads, Kept kept = {})
        : loss_(loss),
          mu_(mu),
          r_(r),
          d_(d),
          c_(c),
          slope_(slope),
          bend_(bend),
          threads_(threads),
          kept_(kept),
          sums_(block_count(r.size())) {}

    std::array<double, 2> operator()(double tau) {
        parallel_ranges(
            r_.size(), threads_, 16.0 * static_cast<double>(r_.size()),
            [&](std::size_t begin, std::size_t end) { sums_[begin / kBlock] = sums(tau, begin, end); });
        std::array<double, 2> total{slope_ + tau * bend_, bend_};
        for (const auto& s : sums_) total[0] += s[0], total[1] += s[1];
        last_ = tau;
        return total;
    }

    // Whether α and h are those at τ.
    bool keeps(double tau) const { return keeping() && last_ == tau; }

  private:
    bool keeping() const { return std::is_same_v<Loss, Logistic> && mu_ == 0 && !kept_.alpha.empty(); }

    std::array<double, 2> sums(double tau, std::size_t begin, std::size_t end) {
        if (!keeping()) return line_sums(loss_, mu_, r_.data(), d_.data(), c_.data(), tau, begin, end);
        double *alpha = kept_.alpha.data(), *h = kept_.h.data();
        logistic_bends_along(r_.data(), d_.data(), c_.data(), tau, alpha, h, begin, end);
        return sums_along(d_.data(), alpha, h, begin, end);
    }

    const Loss& loss_;
    double mu_;
    std::span<const double> r_, d_, c_;
    double slope_, bend_;
    int threads_;
    Kept kept_;
    double last_ = NAN;
    std::vector<std::array<double, 2>> sums_;
};

// A root of f from a guess, up to |f| ≤ enough: Newton's method within a bracket that grows from the guess. A
// step of `last` or less is believed without looking, one of many times `width` is not.
template <class F>
double rising_root(F&& f, double tau, double enough, double last = 0, double width = 1) {
    double low = -INFINITY, high = INFINITY;
    for (int k = 0; k < 200; ++k) {
        const auto [value, rise] = f(tau);
        if (std::abs(value) <= enough) break;
        (value < 0 ? low : high) = tau;
        double next = rise > 0 ? tau - value / rise : value < 0 ? INFINITY : -INFINITY;
        if (!(next > low && next < high) || std::abs(next - tau) > 64 * width) {
            next =
                low > -INFINITY && high < INFINITY ? 0.5 * (low + high) : tau + (value < 0 ? width : -width);
            width *= 4;
        }
        if (std::abs(next - tau) <= 2e-16 * std::abs(tau)) break;
        const bool done = std::abs(next - tau) <= last;
        tau = next;
        if (done) break;
    }
    return tau;
}

// Where a convex function that falls at 0 has its minimum, up to that share of its slope at 0.
template <class Loss>
double along(Line<Loss>& line, double start, double accuracy) {
    return start < 0 ? rising_root(line, 1.0, -accuracy * start) : 0.0;
}

// What is rounding in Σ c_i φ_mu'(r_i) s_i, whatever the scale of the data; slopes with a bound are of its
// size.
inline double balanced(const Logistic&) { return 1e-13; }
inline double balanced(const Piecewise& loss) {
    return loss.kappa == 0 ? 1e-13 * std::max(-loss.low, loss.high) : 1e-15;
}

// A bias is near the best one where a Newton step of it leads there but for little: what is of second order,
// and the slopes that reach their bounds on the way. Without smoothing steps are few, and better from the
// best bias. `reach` is how far such a step can be believed at all.
inline double reach(const Logistic&, double mu) { return 1 + mu; }
inline double reach(const Piecewise& loss, double mu) { return loss.kappa + mu; }
inline double near_balance(const Logistic& loss, double mu) { return 0.1 * reach(loss, mu); }
inline double near_balance(const Piecewise& loss, double mu) {
    return (mu > 0 ? 0.1 : 0.01) * reach(loss, mu);
}

// A Newton step of `last` or less is the last one. `pull` is what else there is to the sum.
template <class Loss>
double balance(const Loss& loss, double mu, std::span<const double> r, std::span<const double> s,
               std::span<const double> c, double guess, double last, int threads, double pull = 0) {
    Line line(loss, mu, r, s, c, pull, 0.0, threads);
    double sure = 1e-7, width = 1;  // of the logistic loss: its square is rounding
    if constexpr (std::is_same_v<Loss, Piecewise>) {
        const bool bounded = loss.low > -INFINITY && loss.high < INFINITY;  // else slopes have the size of r
        const double square = bounded ? 0.0 : row_dot(r.data(), r.data(), r.size());
        const double size = bounded ? 0.0 : std::sqrt(square / static_cast<double>(r.size()));
        sure = 1e-15 * size, width = std::max(1.0, size);
    }
    return rising_root(line, guess, balanced(loss), std::max(last, sure), width);
}

}  // namespace minorant
