// Newton's method for  λ/2 ‖w‖² + Σ c_i φ_mu(r_i)  around a center that moves: the loop of
// `solvers/newton.py`, which explains it, in one call for as many steps as a budget of operations pays for.
//
// The caller owns all arrays, and a call goes on where the last one ended. The gap of (w, b) and α, as
//
//     J(w, b) - D(α) = λ/2 ‖w - w(α)‖²  +  Σ c_i (φ(r_i) + φ*(t_i) - r_i t_i),
//
// says when to return; it proves nothing, since the caller computes J and D anew.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "curvature.hpp"
#include "dense.hpp"
#include "kept_gram.hpp"
#include "near_rows.hpp"
#include "newton_passes.hpp"
#include "newton_point.hpp"
#include "newton_rows.hpp"
#include "newton_system.hpp"
#include "room.hpp"
#include "sampled_system.hpp"
#include "slopes_ahead.hpp"

namespace minorant {

template <class Rows, class Loss>
class Newton {
  public:
    Newton(const Rows& X, const Loss& loss, const NewtonProblem& p, const NewtonRules& rules, NewtonPoint& at,
           Room& room)
        : X_(X),
          loss_(loss),
          p_(p),
          rules_(rules),
          at_(at),
          n_(at.image.size()),
          size_(at.w.size() + (p.bias ? 1 : 0)),
          room_(room),
          direction_(n_, room),
          gradient_(size_),
          gram_(X, p.c, p.bias, size_, p.threads, std::is_same_v<Loss, Piecewise>, room),
          rows_(n_, room),
          r_(room) {}

    // Steps until the gap is at most `tol` of J, of which a bound is known, or the budget is spent, one at
    // least.
    NewtonSteps run(double tol, double primal, double budget) {
        const int last = steps_ + rules_.most;
        tol_ = tol, primal_ = primal;
        begin();
        look(0);
        double gap = excess_gap();
        do {
            if (at_.mu > 0 && first_ <= rules_.settled * second_) recenter();
            const double tau = step(gap, tol_ * primal_, budget);
            short_ = tau < rules_.short_step ? short_ + 1 : 0;
            if (!at_.center.empty() && short_ == rules_.patience) soften();
            look(tau);
            gap = excess_gap();
            // J may have fallen by much since the bound was found
            if (!p_.part && gap <= tol_ * primal_ && gap > kSurely * tol_ * primal_) see_primal();
        } while (gap > tol_ * primal_ && spent_ < budget && steps_ < last);
        into_the_plane();
        refresh();
        return {gap, steps_, products_};
    }

  private:
    static constexpr double kSurely = 0.02;

    // A w anew: on the way its place is that of r, to which many small changes have left their rounding.
    void refresh() {
        product(X_, at_.w, at_.image, p_.threads);
        multiply(p_.sign, at_.image, at_.image, p_.threads);
        ++products_;
    }

    // r as it is, and with what the moved center adds to it.
    std::span<double> exact() { return at_.image; }
    std::span<double> shifted() {
        if (at_.mu == 0) return at_.image;
        r_.resize(n_);
        return r_;
    }

    // From A w to r
    void begin() {
        parallel_ranges(n_, p_.threads, 6.0 * static_cast<double>(n_), [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) at_.image[i] += at_.bias * p_.sign[i] - p_.offset[i], direction_[i] = 0;
        });
    }

    // r, α and h further on by τ, and Aᵀ α as it is once the bias has taken its Newton step: the step of all
    // unknowns then is that of w from there. A bias too far for that is brought nearer first.
    void look(double tau) {
        slopes(tau);
        const double near = near_balance(loss_, at_.mu);
        if (p_.bias && !(std::abs(tilt_) <= near)) {
            const double most = reach(loss_, at_.mu);
            balanced_look(-std::clamp(tilt_, -most, most), 0.5 * near);
        }
        if (!(std::exchange(hopeful_, false) && proved_ahead(tau))) project_back();
        spent_ += 2.0 * static_cast<double>(X_.volume()) + 30.0 * static_cast<double>(n_);
    }

    // Whether the slopes ahead prove w; then they are α. See `slopes_ahead.hpp`.
    bool proved_ahead(double tau) {
        const SlopesAhead ahead{p_.sign, p_.c, r_, p_.threads};
        const double least = (1 - tau) * (1 - tau) * rest_ + (by_iterations_ ? 0.01 * first_ : 0.0);
        auto [excess, off] = ahead.bound(at_.alpha, at_.h);
        double goal = kSurely * tol_ * primal_;
        if (excess + least > goal) {
            if (0.5 * excess + least > tol_ * primal_) return false;
            see_primal();
            goal = tol_ * primal_;
            if (excess + least > goal && 0.5 * excess + least <= goal) excess = ahead.gap(exact());
            if (!(excess + least <= goal)) return false;
        }
        if (!ahead.lean(p_.bias ? off : 0.0)) return false;
        adjoint(X_, r_, at_.dual_image, p_.threads);
        ++products_;
        const double tilt = std::exchange(tilt_, 0.0);
        second_ = excess;
        const bool proved = excess_gap() <= goal;
        if (proved) {
            ++steps_;  // the one that it spares
            multiply(p_.sign, r_, at_.alpha, p_.threads);
            off_ = 0;
        } else {
            tilt_ = tilt, second_ = 0;
            hope_ *= 10;  // the next ones had better be nearer
        }
        return proved;
    }

    // With how far the bias is from the best one, to first order.
    void slopes(double tau) {
        const NewtonVectors v{p_.c.data(),      p_.sign.data(),   at_.center.data(), exact().data(),
                              shifted().data(), at_.alpha.data(), at_.h.data(),      direction_.data()};
        const auto [off, total, excess] = advance(loss_, at_.mu, tau, known_, v, n_, p_.threads);
        known_ = false;
        second_ = excess;
        if (!p_.bias) return;
        off_ = off + p_.pull, total_ = total;
        tilt_ = off_ == 0 ? 0.0 : off_ / total_;
    }

    // The same at the best bias, or one so near that the last Newton step was at most this long; the guess is
    // how far it is from here.
    void balanced_look(double guess, double last) {
        const double rounding = 2e-16 * std::abs(at_.bias);
        const double move = balance(loss_, at_.mu, shifted(), p_.sign, p_.c, guess, std::max(last, rounding),
                                    p_.threads, p_.pull);
        at_.bias += move;
        add_scaled(p_.sign.data(), move, exact().data(), n_, p_.threads);
        slopes(0);
        if (!std::isfinite(tilt_)) tilt_ = 0;
    }

    void project_back() {
        if (tilt_ != 0) add_scaled(at_.h.data(), -tilt_, direction_.data(), n_, p_.threads);
        adjoint(X_, direction_, at_.dual_image, p_.threads);
        ++products_;
    }

    // That α in the place of the direction, with Σ s_i α_i and how many are beyond their bounds.
    std::array<double, 2> leaned() {
        return lean(loss_, tilt_, p_.sign, p_.c, at_.alpha, at_.h, direction_, p_.threads);
    }

    // α as it is once the bias has taken its step, if no slope leaves its bounds; else that of the best bias.
    void into_the_plane() {
        if (!p_.bias || tilt_ == 0) return;
        auto [off, outside] = leaned();
        if (outside == 0) {
            at_.bias -= tilt_;
        } else {
            balanced_look(-tilt_, 0);
            project_back();
            off = leaned()[0];
        }
        const double rounding = total_ > 0 ? (off + p_.pull) / total_ : 0.0;
        parallel_ranges(n_, p_.threads, 4.0 * static_cast<double>(n_), [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) at_.alpha[i] = direction_[i] - rounding * at_.h[i] * p_.sign[i];
        });
        tilt_ = off_ = 0;
    }

    void see_primal() {
        const double square = row_dot(at_.w.data(), at_.w.data(), at_.w.size());
        primal_ = std::min(primal_, 0.5 * p_.lam * square + mean_loss(loss_, exact(), p_.c, p_.threads));
    }

    double excess_gap() {
        first_ = 0;
        for (std::size_t j = 0; j < at_.w.size(); ++j) {
            gradient_[j] = p_.lam * at_.w[j] + at_.dual_image[j];
            first_ += gradient_[j] * gradient_[j];
        }
        first_ = first_ / (2 * p_.lam) + 0.5 * off_ * tilt_;
        return first_ + second_;
    }

    void to_center() { slopes_of(loss_, at_.alpha, p_.c, at_.center, p_.threads); }

    void recenter() {
        to_center();
        at_.mu *= rules_.shrink;
        look(0);
        excess_gap();
    }

    // Short steps, one after another: the corners are too sharp. A loss without any is smoothed too then.
    void soften() {
        if (at_.mu == 0) to_center();
        at_.mu = at_.mu > 0 ? rules_.growth * at_.mu : rules_.unit;
        short_ = 0;
    }

    // Returns how far it went along the direction; `look` will go there.
    double step(double gap, double goal, double budget) {
        std::vector<double> d(size_);
        if (const auto rows = near(gap, goal); !rows.empty()) {
            const double mu = at_.mu;
            solve_near(rows, std::max(NearRows::kAhead * goal, NearRows::kReach * gap), budget - spent_, d);
            const double tau = go(d, p_.bias ? d.back() : 0.0, NAN);
            if (tau > NearRows::kWhole) return tau;
            at_.mu = mu;  // others had been near a corner
            wait_ = NearRows::kWait;
            return tau;
        }
        double start = 0;
        for (std::size_t j = 0; j < at_.w.size(); ++j) d[j] = -gradient_[j];
        solve(d);
        for (std::size_t j = 0; j < at_.w.size(); ++j) start += gradient_[j] * d[j];
        hopeful_ = std::is_same_v<Loss, Logistic> && at_.mu == 0 && hope_ * start * start <= goal * primal_;
        return go(d, p_.bias ? d.back() - tilt_ : 0.0, start);
    }

    // Along d, and by so much of the bias; `start` is the slope of J there from the leaning point on, if
    // known.
    double go(std::span<const double> d, double lift, double start) {
        const std::span<const double> move = d.first(at_.w.size());
        product(X_, move, direction_, p_.threads);
        const auto [leaning, square] =
            turn(p_.sign.data(), at_.h.data(), lift, direction_.data(), n_, p_.threads);
        const double slope = row_dot(at_.w.data(), move.data(), move.size()),
                     bend = row_dot(move.data(), move.data(), move.size());
        rest_ = 0.5 * p_.lam * bend;
        if (hopeful_) {
            r_.resize(n_);
            SlopesAhead{p_.sign, p_.c, r_, p_.threads}.find(at_.alpha, at_.h, direction_);
        }
        Line line(loss_, at_.mu, shifted(), direction_, p_.c, p_.lam * slope + p_.pull * lift, p_.lam * bend,
                  p_.threads, {at_.alpha, at_.h});
        const double tau = along(line, std::isnan(start) ? line(0)[0] : start + tilt_ * leaning, 0.05);
        known_ = line.keeps(tau);
        add_row(move.data(), tau, at_.w.data(), move.size());
        at_.bias += tau * lift;
        moved_ = std::max(tau, 1.0) * std::sqrt(square / static_cast<double>(n_));
        spent_ += 2.0 * static_cast<double>(X_.volume()) + 30.0 * static_cast<double>(n_);
        ++products_, ++steps_;
        return tau;
    }

    // The examples that the next steps may concern, where there are few of them and many steps to be made.
    std::span<const std::uint32_t> near(double gap, double goal) {
        if constexpr (std::is_same_v<Loss, Piecewise>) {
            if (p_.part || n_ < NearRows::kMany || !(moved_ > 0 && gap > NearRows::kDigit * goal) ||
                wait_-- > 0)
                return {};
            if (static_cast<double>(band_) * NearRows::kFew > 0.5 * static_cast<double>(n_)) return {};
            const auto rows =
                near_corners(loss_, at_.mu, NearRows::kFar * moved_, shifted(), at_.h, rows_, p_.threads);
            if (rows.size() * NearRows::kFew <= n_) return rows;
        }
        return {};
    }

    // The step to where Newton's method leads with those examples alone: see `near_rows.hpp`.
    void solve_near(std::span<const std::uint32_t> rows, double goal, double budget, std::vector<double>& d) {
        const std::size_t size = rows.size(), columns = at_.w.size();
        const CopyOf<Rows> those(X_, rows, p_.threads, room_);
        const Rows X = those.rows();
        BareVector<double> c(size, room_), sign(size, room_), offset(size, room_), image(size, room_),
            alpha(size, room_), h(size, room_), center(at_.center.empty() ? 0 : size, room_);
        const auto [pulled] = block_sums<1>(size, p_.threads, 8, [&](std::size_t begin, std::size_t end) {
            return lane_sums<1>(begin, end, [&](std::size_t k) {
                const std::size_t i = rows[k];
                const double image = p_.sign[i] * at_.alpha[i];
                c[k] = p_.c[i], sign[k] = p_.sign[i];
                alpha[k] = image - tilt_ * at_.h[i];
                if (!center.empty()) center[k] = at_.center[i];
                return std::array{image};
            });
        });
        const double pull = p_.bias ? off_ - pulled : 0.0;
        std::vector<double> g(columns), v(columns), w(columns);
        adjoint(X, alpha, g, p_.threads);
        for (std::size_t j = 0; j < columns; ++j) {
            g[j] = at_.dual_image[j] - g[j];
            w[j] = at_.w[j] + g[j] / p_.lam;
            d[j] = -w[j];
        }
        product(X, g, offset, p_.threads);
        product(X, w, image, p_.threads);
        for (std::size_t k = 0; k < size; ++k) {
            offset[k] = p_.offset[rows[k]] + sign[k] * offset[k] / p_.lam;
            image[k] *= sign[k];
        }
        NewtonPoint at{w, image, alpha, v, h, center, at_.mu, at_.bias, at_.iterations};
        const NewtonProblem p{c, offset, sign, p_.lam, p_.bias, p_.threads, true, pull};
        Newton part(X, loss_, p, rules_, at, room_);
        const NewtonSteps done = part.run(1.0, goal, budget);

        for (std::size_t j = 0; j < columns; ++j) d[j] += w[j];
        if (p_.bias) d.back() = at.bias - at_.bias;
        if (!center.empty()) to_center();
        for (std::size_t k = 0; k < center.size(); ++k) at_.center[rows[k]] = center[k];
        at_.mu = at.mu, at_.iterations = at.iterations;
        if (at_.mu > 0) {
            copy<double>(exact(), shifted(), p_.threads);
            add_scaled(at_.center.data(), at_.mu, shifted().data(), n_, p_.threads);
        }
        spent_ += part.spent_;
        steps_ += done.steps;
        products_ +=
            static_cast<int>(std::ceil(done.products * X.volume() / static_cast<double>(X_.volume())));
    }

    // Overwrites -∇ with the step.
    void solve(std::vector<double>& d) {
        const auto rows = support(at_.h, rows_, p_.threads);
        by_iterations_ = false;
        const double band = static_cast<double>(rows.size());
        band_ = rows.size();
        const double n = static_cast<double>(std::max<std::size_t>(n_, 1)),
                     volume = static_cast<double>(X_.volume()), columns = static_cast<double>(size_);
        const double direct = gram_.share(rows.size()) * direct_cost(X_, band, volume / n, columns);
        const double iteration = pass_cost(X_, loss_) * band / n * volume + 10 * columns;
        const double sample = direct_cost(X_, SampledSystem::examples(columns), volume / n, columns) +
                              SampledSystem::kIterations * iteration;
        const bool sampled = SampledSystem::fits(columns, band, volume) &&
                             sample < std::min(0.5 * direct, at_.iterations * iteration);
        if (!sampled && direct <= at_.iterations * iteration) {
            spent_ += products_of_rows_.empty() ? direct : 4 * band * volume / n + band * band * band / 6;
            if (rows.size() >= size_)
                return solve_by_columns(p_.bias, p_.lam, d, p_.threads,
                                        [&](std::span<double> M) { gram_(at_.h, rows, M); });
            if (products_of_rows_.empty() && n_ < size_ && n_ <= 1000) {
                std::vector<std::uint32_t> all(n_);
                std::iota(all.begin(), all.end(), 0u);
                products_of_rows_ = row_products(X_, all, at_.w.size());
            }
            return solve_by_examples(X_, at_.h, rows, p_.bias, p_.lam, d, products_of_rows_);
        }
        by_iterations_ = true;
        const int taken = solve_by_iterations(X_, at_.h, rows, p_.bias, p_.lam, d, sampled, p_.threads);
        products_ += 2 * taken;
        spent_ += sampled ? sample : taken * iteration;
        if (!sampled) at_.iterations = 0.5 * (at_.iterations + taken);
    }

    const Rows& X_;
    const Loss& loss_;
    const NewtonProblem& p_;
    const NewtonRules rules_;
    NewtonPoint& at_;
    const std::size_t n_, size_;
    Room& room_;
    BareVector<double> direction_;
    std::vector<double> gradient_;
    KeptGram<Rows> gram_;
    BareVector<std::uint32_t> rows_;  // with h_i > 0, or near a corner
    BareVector<double> r_;            // where there is a center, else slopes: taken last, given back first
    std::size_t band_ = 0;            // how many there were last
    std::vector<double> products_of_rows_;  // where there are few rows
    double first_ = 0, second_ = 0, spent_ = 0;
    double off_ = 0, total_ = 0, tilt_ = 0;  // Σ s_i α_i, Σ h_i, and how far the bias is too high for them
    bool known_ = false;                     // α and h, by the search along the line
    double tol_ = 0, primal_ = 0;            // the goal
    bool hopeful_ = false;                   // the slopes ahead may prove the next point
    double hope_ = 0.1, rest_ = 0;           // times the square of the decrease: their gap; λ/2 ‖d‖²
    bool by_iterations_ = false;             // the last system was solved so, to a tenth
    double moved_ = 0;                       // by the last step, r in the mean square
    int steps_ = 0, products_ = 0, short_ = 0, wait_ = 0;
};

}  // namespace minorant
