// Minimizes  Σ c_i φ(s_i (⟨x_i, w⟩ + b) - a_i) + l1 ‖w‖₁ + (l2/2) ‖w‖²  over the columns of a working set.
//
// A quadratic loss is its own model. Others are replaced by the model at the point reached, again and again
// (proximal Newton), with a search by halves along the way to its minimizer. Curvature below `floor` times
// the greatest there is counts as that much: the floor rises where the search had to shorten a step, up to 1,
// where the model is above the loss and needs no search, and falls where it had not.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "coordinate_loss.hpp"
#include "coordinate_newton.hpp"

namespace minorant {

// About the duality gap of the model: exact but for the square of how much the dual point must be shrunk.
template <class B>
double model_gap(Model<B>& m, const Level& at) {
    double most = 0, gap = 0, product = 0;
    for (std::size_t j = 0; j < m.w.size(); ++j) {
        const double v = m.slope(j), size = std::abs(v), w = m.w[j];
        most = std::max(most, size);
        product += w * v;
        gap += m.l1 * std::abs(w) + 0.5 * m.l2 * w * w;
        if (m.l2 > 0 && size > m.l1) gap += 0.5 * (size - m.l1) * (size - m.l1) / m.l2;
    }
    if (m.l2 > 0) return gap + product;
    const double shrink = most > m.l1 ? m.l1 / most : 1.0;
    return gap + shrink * product + (1 - shrink) * (at.clipped + (1 - shrink) * at.loss);
}

// The same with the dual point of scores that are further on by v, the rest of a step at whose end all slopes
// on the support would be equal: signs that change let w make a part of it only.
template <class B>
double gap_ahead(Model<B>& m, const Level& at, std::span<const double> v) {
    const std::vector<double> e = m.e;
    const double shift = m.shift;
    double hv = 0, hvv = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        m.e[i] += m.h[i] * v[i];
        hv += m.h[i] * v[i], hvv += m.h[i] * v[i] * v[i];
    }
    if (m.bias && m.mass > 0) m.shift -= hv / m.mass, hvv -= hv * hv / m.mass;
    const double gap = model_gap(m, at) + 0.5 * hvv;
    m.e = e, m.shift = shift;
    return gap;
}

// Until the gap of the model is `enough`, or the work allowed is done. Returns the way to the scores of the
// dual point, where that is not the one of w.
template <class B>
std::vector<double> descend(Model<B>& m, SupportNewton<B>& newton, double enough, const Level& at,
                            double allowed) {
    constexpr double kNear = 10;   // times enough: w is as good as found, and the dual point may be ahead
    constexpr double kDear = 100;  // sweeps: that of a Newton step which is not to be waited for
    double mark = m.work;
    bool tried = false;  // to find it there
    std::vector<std::size_t> last;
    for (int quiet = 0; quiet < 2;) {
        double fall = 0, sweep = -m.work;
        for (std::size_t j = 0; j < m.w.size(); ++j) fall += m.step(j);
        sweep += m.work;
        const double gap = fall <= enough ? model_gap(m, at) : INFINITY;
        if (gap <= enough || m.work > allowed) break;
        quiet = fall <= 1e-16 * at.loss ? quiet + 1 : 0;
        const std::vector<std::size_t> set = m.support();
        if (set.empty()) continue;
        const double cost = newton.cost(m, set);
        if (m.work - mark >= cost) {
            newton.run(m);
            mark = m.work;
        } else if (set == last || (gap <= kNear * enough && cost > kDear * sweep && !tried)) {
            std::vector<double> v = conjugate_gradient(m, set);
            if (gap < INFINITY && gap_ahead(m, at, v) <= enough) return v;
            tried = true;
        } else {
            anderson(m, set);
            tried = false;
        }
        last = set;
    }
    return {};
}

struct Solved {
    std::vector<double> w, image;
    std::vector<double> ahead;  // the scores of a better dual point, or nothing
};

template <class B, class Loss>
class BlockSolver {
  public:
    BlockSolver(const B& X, const Loss& loss, const Examples& examples, double l1, double l2, bool bias)
        : X_(X), loss_(loss), examples_(examples), model_(X, l1, l2, bias), newton_(X.size()) {}

    Solved solve(std::span<const double> start, double b, double enough, double part, double allowed) {
        model_.w.assign(start.begin(), start.end());
        std::vector<double> z = image(model_.w), ahead;
        if (loss_.quadratic()) {
            linearize_at(z, b, 1.0);
            enough = std::max(enough, part * model_gap(model_, level_));
            ahead = descend(model_, newton_, enough, level_, allowed);
        } else {
            proximal_newton(z, b, enough, part, allowed);
        }
        z = image(model_.w);
        for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] += z[i];
        return {std::move(model_.w), std::move(z), std::move(ahead)};
    }

  private:
    void proximal_newton(std::vector<double>& z, double b, double enough, double part, double allowed) {
        double floor = 1e-3, last = INFINITY;  // the gap to be halved once rounding hides that J falls
        while (model_.work <= allowed) {
            linearize_at(z, b, floor);
            newton_.forget();
            const double gap = model_gap(model_, level_);
            enough = std::max(enough, part * gap);
            part = 0;
            if (gap <= enough || gap > 0.5 * last) return;
            const std::vector<double> from = model_.w;
            descend(model_, newton_, std::max(0.1 * gap, 0.3 * enough), level_, allowed);
            const std::vector<double> to = std::move(model_.w);
            std::vector<double> move(to.size());
            for (std::size_t j = 0; j < to.size(); ++j) move[j] = to[j] - from[j];
            const std::vector<double> v = image(move);
            const double before = level_.loss + penalty(from), rounding = 1e-15 * before,
                         shift = model_.shift;
            model_.w = to;
            double t = 1;
            for (; t > 1e-12; t *= 0.5) {
                for (std::size_t j = 0; j < to.size(); ++j)
                    model_.w[j] = t == 1 ? to[j] : from[j] + t * move[j];
                const double next =
                    value(loss_, examples_, z.data(), v.data(), t, b + t * shift) + penalty(model_.w);
                if (next <= before + rounding) {
                    for (std::size_t i = 0; i < z.size(); ++i) z[i] += t * v[i];
                    b += t * shift;
                    last = next < before - rounding ? INFINITY : gap;
                    break;
                }
            }
            if (t <= 1e-12) {
                model_.w = from;
                return;
            }
            floor = t < 0.5 ? std::min(10 * floor, 1.0) : t == 1 ? std::max(0.1 * floor, 1e-10) : floor;
        }
    }

    // The model at z + b, with the weights of the model as they are.
    void linearize_at(const std::vector<double>& z, double b, double floor) {
        level_ = linearize(loss_, examples_, z.data(), b, floor * loss_.steepest(), model_.e.data(),
                           model_.h.data());
        model_.begin();
    }

    double penalty(const std::vector<double>& w) const {
        double sum = 0;
        for (const double x : w) sum += model_.l1 * std::abs(x) + 0.5 * model_.l2 * x * x;
        return sum;
    }

    std::vector<double> image(const std::vector<double>& w) {
        std::vector<double> z(X_.rows(), 0.0);
        for (std::size_t j = 0; j < w.size(); ++j)
            if (w[j] != 0) X_.add(j, w[j], z.data());
        return z;
    }

    const B& X_;
    Loss loss_;
    Examples examples_;
    Model<B> model_;
    Level level_{};
    SupportNewton<B> newton_;
};

}  // namespace minorant
