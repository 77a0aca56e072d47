// Proximal Newton for few columns and many examples:
//
//     minimize  Σ c_i φ(s_i (⟨x_i, w⟩ + b) - a_i) + l1 ‖w‖₁ + (l2/2) ‖w‖²   over w and a free b (or b = 0)
//
// A pass over the rows gives the scores, slopes and gradient at a point, another the products XᵀHX of the
// columns that may have a weight next; the quadratic model of these costs next to nothing (`ProductModel`). A
// free bias is at its best at every point. The first steps use a sample of the rows: far from the solution it
// tells as much as all of them; then all of them give the gradient, but a sample the products, and at last
// products serve as long as they lead on. Curvature has a floor, as in `BlockSolver`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "coordinate_loss.hpp"
#include "product_model.hpp"
#include "row_products.hpp"

namespace minorant {

struct RowSolved {
    std::vector<double> w, scores, e, slopes;  // e_i = c_i s_i φ'(r_i), there or at other weights, and Xᵀe
};

template <class Rows, class Loss>
class RowNewton {
  public:
    RowNewton(const Rows& X, const Loss& loss, const Examples& examples, double l1, double l2, bool bias)
        : X_(X), loss_(loss), examples_(examples), l1_(l1), l2_(l2), bias_(bias) {}

    // Until the gap is at most `enough` times J, or `part` of what it was at first, or after `most` steps.
    RowSolved solve(std::span<const double> start, double b, double enough, double part, int most) {
        w_.assign(start.begin(), start.end());
        b_ = b;
        const bool cold = std::none_of(start.begin(), start.end(), [](double x) { return x != 0; });
        if (cold && !loss_.quadratic()) sample(most);
        run(X_, examples_, std::max(enough, 1e-15), part, most);
        return {std::move(w_), std::move(z_), std::move(e_), std::move(v_)};
    }

  private:
    static constexpr double kRounding = 1e-14;  // of J: a fall by less is hidden, and the gap must tell
    static constexpr double kSampleGap = 0.1;   // of J: what a sample of the rows is solved to, at least,
    static constexpr double kNoise = 2;         // or to steps of so much of J for each weight and row
    static constexpr std::size_t kGrowth = 4;   // of samples
    static constexpr double kFar = 0.3;         // of J: a gap where a sample tells enough of the curvature
    static constexpr double kStale = 0.1;       // of the last gap: products that led here serve again
    static constexpr std::size_t kFew = 16;     // columns whose products cost less than a choice

    // The rows of a sample, at least.
    std::size_t wanted() const { return std::max<std::size_t>(1000, 10 * X_.columns()); }

    // One of `stride` neighbors, in any order of the rows: not always the same one.
    static std::size_t pick(std::size_t k, std::size_t stride, std::size_t turn = 0) {
        return k * stride + (((k + turn) * 2654435761u) >> 8) % stride;
    }

    // Leaves the curvature of one of kGrowth neighbors, for all of them.
    void thin(int turn) {
        std::vector<double> some(h_.size());
        for (std::size_t k = 0; k < h_.size() / kGrowth; ++k) {
            const std::size_t i = pick(k, kGrowth, static_cast<std::size_t>(turn));
            some[i] = kGrowth * h_[i];
        }
        h_.swap(some);
    }

    // Steps on samples of the rows, one of each `stride` neighbors, larger ones as w gets closer.
    void sample(int most) {
        std::size_t stride = 1;
        while (stride < 64 && X_.size() / (kGrowth * stride) >= wanted()) stride *= kGrowth;
        for (; stride > 1; stride /= kGrowth) sample(stride, most);
    }

    void sample(std::size_t stride, int most) {
        std::vector<std::uint32_t> rows(X_.size() / stride);
        for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<std::uint32_t>(pick(k, stride));
        std::vector<double> s(rows.size()), a(rows.size()), c(rows.size());
        double part = 0, whole = 0;
        for (const double weight : examples_.c) whole += weight;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            s[k] = examples_.s[rows[k]];
            a[k] = examples_.a[rows[k]];
            c[k] = examples_.c[rows[k]];
            part += c[k];
        }
        if (!(part > 0)) return;
        for (double& weight : c) weight *= whole / part;
        run(X_.only(rows), Examples{s, a, c}, kSampleGap, 0.0, most);
    }

    void run(const Rows& X, const Examples& on, double enough, double part, int most) {
        z_.resize(X.size());
        e_.resize(X.size());
        h_.resize(X.size());
        v_.resize(w_.size());
        X.scores(w_, z_);
        double last = INFINITY, before = 0;
        const bool alone = part == 0;  // else others go on from the slopes at w
        bool rough = false;            // the last step was of old products, or of those of a sample
        std::optional<ProductModel> model;
        level(on);
        for (int round = 0;; ++round) {
            X.gradient(e_, v_);
            const double gap = slopes_gap(w_, v_, l1_, l2_, level_), J = level_.loss + penalty(w_);
            if (round == 0) enough = std::max(enough, part * gap / J);
            if (gap <= enough * J || (gap > 0.5 * last && !rough) || round == most) return;
            const bool far = gap > kFar * J, failed = rough && gap > 0.5 * last;
            std::vector<std::size_t> set = choose(far);
            rough = !failed && model && gap <= kStale * before && model->has(set);
            if (rough || (model && loss_.quadratic())) {
                model->restart(w_, v_);
            } else {
                rough = !failed && far && !loss_.quadratic() && w_.size() > kFew &&
                        X.size() >= kGrowth * wanted();
                if (rough) thin(round);
                model.emplace(X, h_, std::move(set), bias_, l1_, l2_, w_, v_);
            }
            const bool ahead =
                model->minimize(inner(gap / J, enough) * J, level_, alone && loss_.quadratic());
            const double t = advance(X, on, model->weights(w_.size()), *model, J);
            if (ahead && t == 1 && proves(X, on, model->ahead(w_.size()), enough)) return;
            if (t == 0 && !rough) return;
            const double fall = J - level_.loss - penalty(w_);
            if (X.size() < X_.size() && t > 0 &&
                fall <= kNoise * J * support() / static_cast<double>(X.size()))
                return;
            before = gap;
            last = fall > kRounding * J ? INFINITY : gap;
        }
    }

    // What the model is solved to; gaps are fractions of J. Near the solution a step squares the gap: less
    // is not worth its sweeps, more would cost a step.
    double inner(double gap, double enough) const {
        if (loss_.quadratic()) return 0.3 * enough;
        return std::max(0.1 * enough, gap * std::min(0.01, gap));
    }

    // Whether the slopes at other weights prove that w is good enough; they stay if they do. The squares are
    // what their scores lose on those of w.
    bool proves(const Rows& X, const Examples& on, const std::vector<double>& other, double enough) {
        const double b = b_, J = level_.loss + penalty(w_);
        std::vector<double> z(z_.size());
        X.scores(other, z);
        z_.swap(z);
        level(on);
        X.gradient(e_, v_);
        double squares = 0;
        for (std::size_t i = 0; i < z.size(); ++i) {
            const double off = z_[i] + b_ - z[i] - b;
            squares += h_[i] * off * off;
        }
        z_.swap(z);
        if (slopes_gap(w_, v_, l1_, l2_, level_) + 0.5 * squares <= enough * J) return true;
        b_ = b;
        level(on);
        return false;
    }

    // To the minimizer of the model, or by halves of the way to where J is not higher; the step.
    double advance(const Rows& X, const Examples& on, const std::vector<double>& to,
                   const ProductModel& model, double J) {
        const double shift = model.shift(w_, to), most = J * (1 + kRounding), before = b_;
        const double raised = std::min(10 * floor_, 1.0);
        std::vector<double> next(z_.size());
        X.scores(to, next);
        std::swap(z_, next);
        b_ += shift;
        floor_ = std::max(0.1 * floor_, 1e-10);
        level(on);
        if (level_.loss + penalty(to) <= most) {
            w_ = to;
            return 1;
        }
        std::swap(z_, next);
        for (std::size_t i = 0; i < next.size(); ++i) next[i] -= z_[i];
        std::vector<double> there(to.size());
        for (double t = 0.5; t > 1e-12; t *= 0.5) {
            for (std::size_t j = 0; j < to.size(); ++j) there[j] = w_[j] + t * (to[j] - w_[j]);
            b_ = before + t * shift;
            if (value(loss_, on, z_.data(), next.data(), t, b_) + penalty(there) > most) continue;
            for (std::size_t i = 0; i < next.size(); ++i) z_[i] += t * next[i];
            w_ = there;
            if (t < 0.5) floor_ = raised;
            level(on);
            return t;
        }
        b_ = before;
        level(on);
        return 0;
    }

    // Slopes and curvatures at z, with a free bias at its best: Newton's method in a bracket.
    void level(const Examples& on) {
        const double least = (loss_.quadratic() ? 1.0 : floor_) * loss_.steepest();
        double low = -INFINITY, high = INFINITY, width = 1;
        for (int k = 0; k < 100; ++k) {
            level_ = linearize(loss_, on, z_.data(), b_, least, e_.data(), h_.data());
            if (!bias_) return;
            const double f = level_.balance;
            double size = 0;
            for (const double x : e_) size += std::abs(x);
            if (std::abs(f) <= 1e-15 * size || !(high > low)) return;
            (f > 0 ? high : low) = b_;
            double next = level_.mass > 0 ? b_ - f / level_.mass : f > 0 ? -INFINITY : INFINITY;
            if (!(next > low && next < high) || std::abs(next - b_) > 64 * width) {
                next =
                    low > -INFINITY && high < INFINITY ? 0.5 * (low + high) : b_ + (f > 0 ? -width : width);
                width *= 4;
            }
            if (std::abs(next - b_) <= 4e-16 * std::abs(b_)) return;
            b_ = next;
        }
    }

    // The columns whose weights the model may change: those with a weight or a slope near l1, the nearer the
    // closer the solution is; all of them where the model is kept.
    std::vector<std::size_t> choose(bool far) const {
        std::vector<std::size_t> set;
        for (std::size_t j = 0; j < w_.size(); ++j)
            if (loss_.quadratic() || w_.size() <= kFew || w_[j] != 0 ||
                std::abs(v_[j]) > (far ? 0.4 : 0.7) * l1_)
                set.push_back(j);
        return set;
    }

    double support() const {
        return static_cast<double>(std::count_if(w_.begin(), w_.end(), [](double x) { return x != 0; }));
    }

    double penalty(std::span<const double> w) const {
        double sum = 0;
        for (const double x : w) sum += l1_ * std::abs(x) + 0.5 * l2_ * x * x;
        return sum;
    }

    const Rows& X_;
    Loss loss_;
    Examples examples_;
    double l1_, l2_;
    bool bias_;
    std::vector<double> w_, z_, e_, h_, v_;
    double b_ = 0, floor_ = 1e-3;
    Level level_;
};

}  // namespace minorant
