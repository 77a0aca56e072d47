// A classifier from w = 0 to its certificate in one call, by sweeps of dual coordinates, Newton's method, or
// the one after the other: `solvers/linear.py` explains when, and is what runs on larger data.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "bias_pace.hpp"
#include "classifier.hpp"
#include "dual_coordinate.hpp"
#include "newton_fit.hpp"

namespace minorant {

// The constants of `solvers/linear.py`; costs are counted in sweeps.
struct SweepRules {
    bool by_products;  // of few rows with each other: neither sweeps nor columns
    int first, blind, most;
    double growth, overhead, hope, surprise, near;
    double slower, tried, ahead, few;
    double linked, pulling;      // Newton's method takes over where the mean curvature is at least the first,
                                 // with so many examples that have a slope for each column
    double step, steps, digits;  // what a step of Newton's method costs, how many it takes, and for a digit
    double curved;               // it comes first where the mean curvature is at least this
};

// ‖x_i‖²
template <class V, class I, class P>
void squares(const CsrRows<V, I, P>& rows, std::span<double> out, int threads) {
    csr_row_norms(rows.X, out, threads);
    for (double& norm : out) norm *= norm;
}
template <class V>
void squares(const DenseRows<V>& rows, std::span<double> out, int threads) {
    dense_row_squares(rows.X, out, threads);
}

template <class Rows, class Loss>
class Sweeping {
  public:
    Sweeping(const Classifier<Rows, Loss>& p, BestPair<Rows, Loss>& best, const SweepRules& rules,
             const BiasRules& pacing, double tol, std::span<const double> norm2, double size)
        : p_(p),
          best_(best),
          rules_(rules),
          tol_(tol),
          mu_(rules.near * size / (p.lam * static_cast<double>(p.y.size()))),
          t_(p.y.size(), p.room),
          scale_(t_.size(), p.room),
          w_(best.w.size(), p.room),
          v_(w_.size(), p.room),
          pace_(p, pacing, norm2, size, v_),
          problem_{scale_, p.offset, p.sign, norm2, pace_.at_rest()},
          bend_(size / (p.lam * static_cast<double>(p.y.size()))),
          bias_(best.fit.bias),
          began_(best.relative_gap()) {
        for (std::size_t i = 0; i < t_.size(); ++i) scale_[i] = p.c[i] / p.lam;
    }

    // Until the gap is within tol, they are too many, or, which is the answer, Newton's method is cheaper.
    bool run() {
        double enough = rules_.hope * tol_ * best_.fit.primal, last = best_.gap();
        while (done_ < rules_.most) {
            const double block = std::max(rules_.growth * done_, rules_.overhead);
            const Sweeps now = sweep(std::max(rules_.first, static_cast<int>(block)), enough);
            const double excess = p_.lam * now.excess;
            const double rate = excess > 0 && excess < last ? std::log(last / excess) / now.count : 0.0;
            if (done_ == 0) {
                reached_ = value() + excess;
                enough = rules_.hope * tol_ * std::min(best_.fit.primal, reached_);
            }
            done_ += now.count;
            best_.fit.products += 2 * now.count;
            last = excess;
            bool ending = linked() || newton_is_cheaper(excess / std::min(best_.fit.primal, reached_), rate);
            const bool promised = excess * std::exp(-rate) <= enough;
            if (ending || promised || done_ >= 3 * std::max(seen_, rules_.blind)) {
                look();
                if (p_.bias && promised && !best_.certified() && best_.gap() > rules_.surprise * excess)
                    look_at_the_dual_point();
                if (best_.certified()) return false;
                enough = 0.95 * tol_ * best_.fit.primal * std::min(excess / best_.gap(), 1.3);
                const double now_at = best_.relative_gap();
                ending = ending ||
                         newton_is_cheaper(now_at, now_at < began_ ? std::log(began_ / now_at) / done_ : 0.0);
            }
            if (ending) return true;
        }
        return false;
    }

  private:
    // Sweeps of the logistic loss keep their rate where there is little curvature.
    double slower() const {
        const bool logistic = std::is_same_v<Loss, Logistic>;
        return logistic ? 1 + (rules_.slower - 1) * bend_ / (1 + bend_) : rules_.slower;
    }

    bool linked() const {
        if (!(bend_ >= rules_.linked)) return false;
        const auto pulling = t_.size() - static_cast<std::size_t>(std::count(t_.begin(), t_.end(), 0.0));
        return static_cast<double>(pulling) >= rules_.pulling * static_cast<double>(w_.size());
    }

    Sweeps sweep(int most, double enough) {
        if (done_ > 0) problem_.rho = pace_(t_);
        CoordinateAscent ascent(p_.X, p_.loss, problem_, static_cast<std::uint64_t>(done_), t_, w_, bias_,
                                rows_, p_.room);
        const Sweeps found = ascent.run(most, enough / p_.lam);
        bias_ = ascent.bias();
        return found;
    }

    // See `Examples.value`.
    double value() {
        BareVector<double> alpha(t_.size(), p_.room);
        for (std::size_t i = 0; i < t_.size(); ++i) alpha[i] = p_.c[i] * t_[i];
        const double square = row_dot(w_.data(), w_.data(), w_.size());
        return -p_.conjugate(alpha) - 0.5 * p_.lam * square +
               bias_ * row_dot(p_.sign.data(), alpha.data(), alpha.size());
    }

    bool newton_is_cheaper(double gap, double rate) const {
        const double digits = std::log10(std::max(gap, tol_) / tol_);
        const double newton = (rules_.steps + rules_.digits * digits) * rules_.step + rules_.overhead;
        const double most = std::max(rules_.ahead * done_, rules_.few);
        const double rest = rate > 0 ? slower() * std::log(10.0) * digits / rate : most;
        return done_ >= rules_.tried * newton && std::min(rest, most) > newton;
    }

    // The points of the sweeps as candidates.
    void look() {
        const double old_bias = seen_bias_;
        BareVector<double> image(t_.size(), p_.room), alpha(t_.size(), p_.room), h(t_.size(), p_.room);
        if (p_.bias) {
            p_.image(w_, image);
            onto_the_plane(image, alpha, h);
        } else {
            for (std::size_t i = 0; i < t_.size(); ++i) alpha[i] = p_.c[i] * t_[i];
        }
        const bool feasible = p_.feasible(alpha, h);
        p_.dual_image(alpha, h, v_);
        if (!p_.bias) {
            follow();
            p_.image(w_, image);
        }
        if (feasible) best_.offer_dual(alpha, v_);
        const double b = p_.best_bias(image, bias_);
        if (seen_ > 0 && !best_.certified_by(p_.primal(w_, image, b))) between(old_bias, image, h);
        best_.offer(w_, image, b);
        if (p_.bias && !best_.certified()) {
            follow();
            slopes_of(p_.loss, alpha, p_.c, t_, p_.threads);
        }
        best_.fit.products += 2;
        seen_ = done_, seen_bias_ = bias_;
        rows_.forget();
    }

    // What the sweeps promised and the bias did not keep, its own w may: on the hyperplane it is another one.
    void look_at_the_dual_point() {
        BareVector<double> image(t_.size(), p_.room);
        p_.image(w_, image);
        best_.offer(w_, image, p_.best_bias(image, bias_));
        ++best_.fit.products;
    }

    // w of the dual point
    void follow() {
        const double scale = -1 / p_.lam;
        for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = scale * v_[j];
    }

    // See `Examples.on_plane`.
    void onto_the_plane(std::span<const double> image, std::span<double> alpha, std::span<double> h) {
        if constexpr (std::is_same_v<Loss, Logistic>) {
            for (std::size_t i = 0; i < t_.size(); ++i) {
                alpha[i] = p_.c[i] * t_[i];
                h[i] = alpha[i] * (1 - t_[i]);
            }
        } else {
            BareVector<double> r = p_.residuals(image, bias_);
            for (std::size_t i = 0; i < t_.size(); ++i) r[i] = p_.loss.staying(r[i], t_[i]) + mu_ * t_[i];
            const double step = balance(p_.loss, mu_, r, p_.sign, p_.c, 0.0, 0.0, p_.threads);
            for (std::size_t i = 0; i < t_.size(); ++i) r[i] += step * p_.sign[i];
            bends(p_.loss, mu_, r, p_.c, p_.threads, alpha, h);
        }
    }

    // The best point on the line from the best one so far to that of this image: primal points of sweeps are
    // noisy. Overwrites d.
    void between(double old_bias, std::span<const double> its_image, std::span<double> d) {
        BareVector<double> w(w_.size(), p_.room);
        BareVector<double> r = p_.residuals(best_.image, old_bias);
        double slope = 0, bend = 0;
        for (std::size_t j = 0; j < w.size(); ++j) {
            w[j] = w_[j] - best_.w[j];
            slope += best_.w[j] * w[j], bend += w[j] * w[j];
        }
        for (std::size_t i = 0; i < r.size(); ++i)
            d[i] = its_image[i] - best_.image[i] + (bias_ - old_bias) * p_.sign[i];
        Line line(p_.loss, 0.0, r, d, p_.c, p_.lam * slope, p_.lam * bend, p_.threads);
        const double tau = along(line, line(0)[0], 0.1);
        for (std::size_t j = 0; j < w.size(); ++j) w[j] = best_.w[j] + tau * w[j];
        BareVector<double>& image = r;
        for (std::size_t i = 0; i < image.size(); ++i)
            image[i] = best_.image[i] + tau * (its_image[i] - best_.image[i]);
        best_.offer(w, image, p_.best_bias(image, old_bias + tau * (bias_ - old_bias)));
    }

    const Classifier<Rows, Loss>& p_;
    BestPair<Rows, Loss>& best_;
    const SweepRules rules_;
    const double tol_, mu_;
    RoomVector<double> t_, scale_, w_, v_;
    SweptRows rows_{true};
    const BiasPace<Rows, Loss> pace_;
    CoordinateProblem problem_;
    const double bend_;                          // the mean curvature
    double bias_, seen_bias_ = 0, reached_ = 0;  // J after the first block, more or less
    const double began_;
    int done_ = 0, seen_ = 0;
};

// Few rows by their products with each other, X Xᵀ = L Lᵀ: see `solvers/few_rows.py`. Newton's method for the
// rows of L goes a little beyond tol, since w comes from its dual point; or from its own, if that is not
// enough.
template <class Rows, class Loss>
void newton_on_products(const Classifier<Rows, Loss>& p, BestPair<Rows, Loss>& best, const NewtonCall& newton,
                        double tol) {
    constexpr double kAhead = 0.1;
    const std::size_t n = p.y.size();
    RoomVector<std::uint32_t> all(n, p.room);
    std::iota(all.begin(), all.end(), 0u);
    std::vector<double> L = row_products(p.X, all, best.w.size());
    for (std::size_t i = 0; i < n; ++i)
        if (!std::isfinite(L[i * n + i])) return;  // data that are not, or whose squares overflow
    factorize(L.data(), n);
    for (std::size_t i = 0; i < n; ++i) std::fill_n(L.data() + i * n + i + 1, n - i - 1, 0.0);
    const Dense<double> factor{L, n, n};
    const DenseRows<double> rows{factor};
    const Classifier<DenseRows<double>, Loss> small(rows, p.loss, p.y, p.c, p.a, p.lam, p.bias, p.threads,
                                                    p.room);
    RoomVector<double> u(n, p.room), alpha(n, p.room), image(n, p.room), space(n, p.room);
    BestPair<DenseRows<double>, Loss> inner(small, kAhead * tol, u, alpha);
    newton_to_the_end(small, inner, newton, kAhead * tol);

    std::vector<double> w(best.w.size());
    const auto offer = [&] {
        p.image(w, image);
        best.offer(w, image, p.best_bias(image, inner.fit.bias));
        best.fit.products += 2;
    };
    p.dual_image(alpha, space, w);
    best.offer_dual(alpha, w);
    for (double& value : w) value /= -p.lam;
    offer();
    if (best.certified()) return;
    for (std::size_t i = n; i-- > 0;) {  // L⁻ᵀ u
        u[i] = L[i * n + i] > 0 ? u[i] / L[i * n + i] : 0.0;
        for (std::size_t j = 0; j < i; ++j) u[j] -= L[i * n + j] * u[i];
    }
    adjoint(p.X, u, w, p.threads);
    offer();
}

template <class Rows, class Loss>
WholeFit whole_fit(const Classifier<Rows, Loss>& p, const SweepRules& sweeps, const BiasRules& pacing,
                   const NewtonCall& newton, double tol, std::span<double> w, std::span<double> alpha) {
    BestPair best(p, tol, w, alpha);
    if (sweeps.by_products) {
        newton_on_products(p, best, newton, tol);
        return best.fit;
    }
    bool newton_now = true;
    if (sweeps.curved > 0) {
        BareVector<double> norm2(p.y.size(), p.room);
        squares(p.X, norm2, p.threads);
        const double size = p.mean(norm2);
        if (!std::isfinite(size)) return best.fit;  // data whose squares overflow
        if (size < sweeps.curved * p.lam * static_cast<double>(p.y.size()))
            newton_now = Sweeping(p, best, sweeps, pacing, tol, norm2, size).run();
    } else if (!squares_finite(p.X.X.data, p.threads)) {
        return best.fit;
    }
    if (newton_now) newton_to_the_end(p, best, newton, tol);
    return best.fit;
}

}  // namespace minorant
