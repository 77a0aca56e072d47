// Newton's method for multinomial logistic regression with a squared norm, by conjugate gradients:
// `solvers/multinomial.py` explains it. The biases are unknowns like the weights, without a penalty.
//
// At weights W and the best biases the gap is ‖λ W + Xᵀ α‖²/2λ for α = c (P - E): the gradient tells it. A
// system is solved the more accurately the closer the optimum is, but no further than the gap that is asked
// for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cholesky.hpp"
#include "panels.hpp"
#include "softmax_rows.hpp"

namespace minorant {

struct MultinomialProblem {
    std::span<const double> c;
    std::span<const std::int32_t> label;
    double lam;
    bool bias;
    int threads;
};

struct MultinomialSteps {
    double gap;  // an estimate
    int steps, products;
    bool feasible;  // α is on its hyperplanes and within its bounds
};

template <class Rows>
class MultinomialNewton {
  public:
    MultinomialNewton(const Rows& X, const MultinomialProblem& p, std::size_t columns, std::size_t classes,
                      Room& room)
        : X_(X),
          p_(p),
          W_(columns, classes, room),
          g_(columns, classes, room),
          x_(columns, classes, room),
          r_(columns, classes, room),
          d_(columns, classes, room),
          Hd_(columns, classes, room),
          inverse_(columns, classes, room),
          U_(X.size(), classes, room),
          V_(X.size(), classes, room),
          P_(X.size(), classes, room),
          width_(W_.count * kPanelWidth),
          there_(width_, 0.0),
          sums_(width_, 0.0),
          b_(width_),
          b_step_(width_),
          b_r_(width_),
          b_d_(width_),
          b_inverse_(width_) {
        std::fill_n(there_.begin(), classes, 1.0);
    }

    // From W, U = X W and b, in place, until the gap is at most tol J or so many operations are made.
    MultinomialSteps run(std::span<double> w, std::span<double> u, std::span<double> b,
                         std::span<double> alpha, std::span<double> v, double tol, double budget) {
        W_.read(w);
        U_.read(u);
        std::fill(b_.begin(), b_.end(), 0.0);
        std::copy(b.begin(), b.end(), b_.begin());
        hidden_ = false;
        MultinomialSteps done{std::numeric_limits<double>::infinity(), 0, 0, false};
        const double a_product = static_cast<double>((X_.volume() + 8 * X_.size()) * width_);
        double J = value(0.0), last = std::numeric_limits<double>::infinity();
        while (true) {
            slopes();
            panel_transposed(X_, V_, g_, false, p_.threads);
            ++done.products;
            const double gap = gradient() / (2 * p_.lam) + bends();
            done.gap = gap;
            if (gap <= tol * J || a_product * done.products > budget || (hidden_ && gap > 0.25 * last)) break;
            last = gap;
            precondition_by_bends();
            const double now = gap / J, enough = 0.5 * std::sqrt(tol / now);
            done.products += 2 * solve(std::max(std::min(0.1, std::sqrt(now)), enough));
            panel_product(X_, x_, V_, p_.threads);
            ++done.products;
            if (!step(J)) break;
            ++done.steps;
        }
        done.feasible = onto_the_planes();
        ++done.products;
        W_.write(w);
        U_.write(u);
        V_.write(alpha);
        g_.write(v);
        std::copy_n(b_.begin(), b.size(), b.begin());
        return done;
    }

  private:
    static constexpr int kMost = 500;
    static constexpr double kDecrease = 1e-4, kShort = 1e-8;

    SoftmaxRows rows() const {
        return {0, X_.size(), U_.rows * kPanelWidth, U_.count, there_.data(), p_.c.data(), p_.label.data()};
    }
    static double dot(const Panels& a, const Panels& b) {
        return row_dot(a.values.data(), b.values.data(), a.values.size());
    }
    static double dot(const std::vector<double>& a, const std::vector<double>& b) {
        return row_dot(a.data(), b.data(), a.size());
    }

    // J at W + way x, and P there
    double value(double way) {
        std::vector<double> bias(b_);
        for (std::size_t l = 0; l < width_; ++l) bias[l] += way * b_step_[l];
        const double loss = over_rows(rows(), sums_, p_.threads, [&](const SoftmaxRows& at, double* sums) {
            return softmax_rows(at, U_.values.data(), way, V_.values.data(), bias.data(), P_.values.data(),
                                sums);
        });
        const double norm = dot(W_, W_) + way * (2 * dot(W_, x_) + way * dot(x_, x_));
        return loss + 0.5 * p_.lam * norm;
    }

    // V = c (P - E); the slopes of the biases
    void slopes() {
        over_rows(rows(), sums_, p_.threads, [&](const SoftmaxRows& at, double* sums) {
            softmax_slopes(at, P_.values.data(), V_.values.data(), sums);
            return 0.0;
        });
        for (std::size_t l = 0; l < width_; ++l) b_r_[l] = p_.bias ? -sums_[l] : 0.0;
    }

    // V = c P (1 - P); what the biases add to the gap
    double bends() {
        over_rows(rows(), sums_, p_.threads, [&](const SoftmaxRows& at, double* sums) {
            softmax_bends(at, P_.values.data(), V_.values.data(), sums);
            return 0.0;
        });
        double gap = 0;
        for (std::size_t l = 0; l < width_; ++l) {
            b_inverse_[l] = p_.bias && sums_[l] > 0 ? 1 / sums_[l] : 0.0;
            gap += 0.5 * b_r_[l] * b_r_[l] * b_inverse_[l];
        }
        return gap;
    }
    void precondition_by_bends() {
        panel_transposed(X_, V_, inverse_, true, p_.threads);
        for (double& value : inverse_.values) value = 1 / (value + p_.lam);
    }

    // r = -(λ W + Xᵀ α); ‖r‖²
    double gradient() {
        for (std::size_t j = 0; j < g_.values.size(); ++j)
            r_.values[j] = -(p_.lam * W_.values[j] + g_.values[j]);
        return dot(r_, r_);
    }

    // x and the step of the biases by conjugate gradients; how many
    int solve(double accuracy) {
        std::fill(x_.values.begin(), x_.values.end(), 0.0);
        std::fill(b_step_.begin(), b_step_.end(), 0.0);
        double old = precondition(0.0), enough = accuracy * accuracy * old;
        g_.values = r_.values;  // the gradient, for the slope
        const std::vector<double> b_g(b_r_);
        int count = 0;
        while (count < kMost && old > 0) {
            panel_product(X_, d_, V_, p_.threads);
            over_rows(rows(), sums_, p_.threads, [&](const SoftmaxRows& at, double* sums) {
                softmax_curve(at, P_.values.data(), b_d_.data(), V_.values.data(), sums);
                return 0.0;
            });
            panel_transposed(X_, V_, Hd_, false, p_.threads);
            ++count;
            for (std::size_t j = 0; j < Hd_.values.size(); ++j) Hd_.values[j] += p_.lam * d_.values[j];
            if (!p_.bias) std::fill(sums_.begin(), sums_.end(), 0.0);
            const double bend = dot(d_, Hd_) + dot(b_d_, sums_);
            if (!(bend > 0)) break;
            const double way = old / bend;
            for (std::size_t j = 0; j < x_.values.size(); ++j) {
                x_.values[j] += way * d_.values[j];
                r_.values[j] -= way * Hd_.values[j];
            }
            for (std::size_t l = 0; l < width_; ++l) b_step_[l] += way * b_d_[l], b_r_[l] -= way * sums_[l];
            double now = 0;
            for (std::size_t l = 0; l < width_; ++l) now += b_r_[l] * b_r_[l] * b_inverse_[l];
            now += weighted_square();
            if (now <= enough) break;
            precondition(now / old);
            old = now;
        }
        slope_ = -dot(g_, x_) - dot(b_g, b_step_);
        return count;
    }

    double weighted_square() const {
        const double *r = r_.values.data(), *inverse = inverse_.values.data();
        return lane_sums<1>(0, r_.values.size(),
                            [=](std::size_t j) { return std::array{r[j] * r[j] * inverse[j]}; })[0];
    }

    // d = M⁻¹ r + keep d; ⟨r, M⁻¹ r⟩
    double precondition(double keep) {
        for (std::size_t j = 0; j < d_.values.size(); ++j)
            d_.values[j] = r_.values[j] * inverse_.values[j] + keep * d_.values[j];
        double biases = 0;
        for (std::size_t l = 0; l < width_; ++l) {
            b_d_[l] = b_r_[l] * b_inverse_[l] + keep * b_d_[l];
            biases += b_r_[l] * b_r_[l] * b_inverse_[l];
        }
        return biases + weighted_square();
    }

    // As far along x as J falls; false where it does not. Rounding may hide that it does: the gap has to fall
    // then.
    bool step(double& J) {
        const double rounding = 1e-15 * J;
        double way = 1, reached = value(way);
        while (!(reached <= J + kDecrease * way * slope_ + rounding)) {
            way *= 0.5;
            if (way < kShort) {
                value(0.0);
                return false;
            }
            reached = value(way);
        }
        hidden_ = reached > J - 10 * rounding;
        J = reached;
        for (std::size_t j = 0; j < W_.values.size(); ++j) W_.values[j] += way * x_.values[j];
        for (std::size_t j = 0; j < U_.values.size(); ++j) U_.values[j] += way * V_.values[j];
        for (std::size_t l = 0; l < width_; ++l) b_[l] += way * b_step_[l];
        return true;
    }

    // V = α and g = Xᵀ α after the Newton step of the biases alone: it is linear, so that Σ α = 0 then. False
    // where it leads out of the bounds.
    bool onto_the_planes() {
        slopes();
        bool feasible = true;
        if (p_.bias) {
            const std::vector<double> lean = bias_step();
            const auto [least, most] = std::minmax_element(lean.begin(), lean.end());
            feasible = *most - *least < 0.5;
            for (std::size_t l = 0; l < width_; ++l) b_[l] += lean[l];
            over_rows(rows(), sums_, p_.threads, [&](const SoftmaxRows& at, double*) {
                softmax_lean(at, lean.data(), P_.values.data());
                return 0.0;
            });
            slopes();
        }
        panel_transposed(X_, V_, g_, false, p_.threads);
        return feasible;
    }

    // δ with Σ c (diag P - P Pᵀ) δ = -Σ α, of mean 0
    std::vector<double> bias_step() {
        const std::size_t k = W_.classes;
        std::vector<double> H(k * k, 0.0), row(width_), delta(width_, 0.0);
        for (std::size_t i = 0; i < X_.size(); ++i) {
            for (std::size_t q = 0; q < P_.count; ++q)
                std::copy_n(P_.at(q, i), kPanelWidth, row.data() + q * kPanelWidth);
            add_softmax_bend(row.data(), p_.c[i], k, H.data());
        }
        double trace = 0;
        for (std::size_t l = 0; l < k; ++l) trace += H[l * k + l];
        for (double& value : H)
            value += trace / static_cast<double>(k * k);  // it has no bend along (1, ..., 1)
        for (std::size_t l = 0; l < k; ++l) H[l * k + l] += 1e-14 * trace;
        factorize(H.data(), k);
        std::copy_n(b_r_.begin(), k, delta.begin());
        substitute(H.data(), delta.data(), k);
        return delta;
    }

    const Rows& X_;
    const MultinomialProblem p_;
    Panels W_, g_, x_, r_, d_, Hd_, inverse_, U_, V_, P_;
    const std::size_t width_;
    std::vector<double> there_, sums_, b_, b_step_, b_r_, b_d_, b_inverse_;
    double slope_ = 0;
    bool hidden_ = false;  // the last step made no difference to J that can be seen
};

}  // namespace minorant
