// Newton's method for a classifier, from the best points known to the certificate.
//
// Where examples abound it begins with the solution of the same problem for one in so many of them, which
// need not be closer than the two problems are to each other; from there it takes fewer of the steps that go
// over all examples. Where its w turns out to be far off, as with a rare class, a larger sample is next.
// Periods of the data must not fall into step with a sample: it has a random one of each few.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "classifier.hpp"
#include "near_rows.hpp"
#include "newton.hpp"
#include "room.hpp"

namespace minorant {

// How it begins and how long it may take.
struct NewtonCall {
    NewtonRules rules;
    double wide;        // mu at rest, where the loss has corners
    double iterations;  // of conjugate gradients, to be expected
    double budget;      // operations
};

// The examples of a sample, each with its weight beside the others.
template <class Rows, class Loss>
class Sample {
  public:
    // One example in so many; none where they are too few for the unknowns. Losses without corners take few
    // steps anyway.
    static std::optional<std::size_t> stride(const Loss& loss, std::size_t n, std::size_t unknowns) {
        constexpr std::size_t kLeast = 300, kForEach = 10;
        const std::size_t most = has_corners(loss) ? 16 : 64, least = has_corners(loss) ? 6 : 24;
        const std::size_t found = n / std::max({n / most, kForEach * unknowns, kLeast});
        return found < least ? std::nullopt : std::optional(found);
    }

    Sample(const Classifier<Rows, Loss>& p, std::size_t stride)
        : which_(one_of_each(p.y.size(), stride, p.room)),
          copy_(p.X, which_, p.threads, p.room),
          rows_(copy_.rows()),
          y_(which_.size(), p.room),
          c_(which_.size(), p.room) {
        double total = 0, sum = 0;
        for (std::size_t k = 0; k < which_.size(); ++k) {
            y_[k] = p.y[which_[k]], c_[k] = p.c[which_[k]];
            total += c_[k], sum += c_[k] * y_[k];
        }
        both_classes_ = std::abs(sum) < total;
        for (double& c : c_) c /= total;
    }

    bool has_both_classes() const { return both_classes_; }
    Classifier<Rows, Loss> problem(const Classifier<Rows, Loss>& p) const {
        return {rows_, p.loss, y_, c_, p.a, p.lam, p.bias, p.threads, p.room};
    }

  private:
    static RoomVector<std::uint32_t> one_of_each(std::size_t n, std::size_t stride, Room& room) {
        RoomVector<std::uint32_t> which(n / stride, room);
        Shuffler random{0};
        for (std::size_t k = 0; k < which.size(); ++k)
            which[k] = static_cast<std::uint32_t>(k * stride + random.below(stride));
        return which;
    }

    const RoomVector<std::uint32_t> which_;
    const CopyOf<Rows> copy_;
    const Rows rows_;
    RoomVector<double> y_, c_;
    bool both_classes_ = false;
};

// The last mu, and how many steps there were.
struct NewtonEnd {
    double mu;
    int steps;
};

template <class Rows, class Loss>
NewtonEnd newton_to_the_end(const Classifier<Rows, Loss>& p, BestPair<Rows, Loss>& best,
                            const NewtonCall& call, double tol, double mu = 0);

// Returns the mu to go on with; 0: that at rest. Where the sample takes few steps, so will all examples, and
// it is not worth the product of its w, unless that is nearly the one for all. Where it is much worse for all
// than for the sample, a larger one follows, from there: it spares all examples steps that are worth several
// of its own.
template <class Rows, class Loss>
double begin_with_samples(const Classifier<Rows, Loss>& p, BestPair<Rows, Loss>& best,
                          const NewtonCall& call) {
    constexpr double kTol = 0.003, kSharper = 0.5, kWorse = 1.45;
    constexpr std::size_t kSmall = 48, kLarger = 8, kMany = 100;
    const std::size_t unknowns = best.w.size() + 1;
    auto stride = Sample<Rows, Loss>::stride(p.loss, p.y.size(), unknowns);
    if (!stride) return 0;
    double mu = 0;
    for (bool larger = false;; larger = true, stride = kLarger) {
        const Sample<Rows, Loss> sample(p, *stride);
        if (!sample.has_both_classes()) return kSharper * mu;
        const Classifier<Rows, Loss> small = sample.problem(p);
        const std::size_t n = small.y.size();
        std::vector<double> w(best.w.size());
        RoomVector<double> alpha(n, p.room);
        BestPair inner(small, kTol, w, alpha);
        if (larger) inner.begin(best.w, best.fit.bias);
        const NewtonEnd end = newton_to_the_end(small, inner, call, kTol, kSharper * mu);
        best.fit.products += static_cast<int>(static_cast<std::size_t>(inner.fit.products) * n / p.y.size());
        const int few = has_corners(p.loss) || n >= kMany * unknowns ? 1 : 3;
        if (end.steps <= few && !larger) return 0;
        mu = has_corners(p.loss) ? end.mu : 0.0;
        best.begin(w, inner.fit.bias);
        if (larger || *stride < kSmall || best.fit.primal <= kWorse * inner.fit.primal) return kSharper * mu;
    }
}

// From a mu that is known to do, or 0.
template <class Rows, class Loss>
NewtonEnd newton_to_the_end(const Classifier<Rows, Loss>& p, BestPair<Rows, Loss>& best,
                            const NewtonCall& call, double tol, double mu) {
    constexpr bool logistic = std::is_same_v<Loss, Logistic>;
    const std::size_t n = p.y.size();
    const bool at_rest = best.fit.dual == 0;
    if (best.fit.products == 0) mu = begin_with_samples(p, best, call);
    if (mu == 0 && has_corners(p.loss))
        mu = (at_rest ? call.wide : 1.0) * std::min(1.0, std::sqrt(best.relative_gap()));
    BareVector<double> alpha(n, p.room), h(n, p.room), center(logistic ? 0 : n, p.room);
    const std::span<double> image = best.image;  // that of the best w is not asked for any more
    std::vector<double> w(best.w.begin(), best.w.end()), v(w.size());
    if (!logistic) slopes_of(p.loss, best.alpha, p.c, center, p.threads);
    NewtonPoint at{w, image, alpha, v, h, center, mu, best.fit.bias, call.iterations};
    const NewtonProblem problem{p.c, p.offset, p.sign, p.lam, p.bias, p.threads};
    Newton newton(p.X, p.loss, problem, call.rules, at, p.room);
    const int before = best.fit.products;
    for (int looks = 1, steps = 0;; ++looks) {
        const double before_it = best.fit.primal;
        const NewtonSteps done = newton.run(0.995 * tol, before_it, call.budget);
        steps += done.steps;
        best.offer(w, image, at.bias);
        if (p.feasible(alpha, h)) {
            p.dual_image(alpha, h, v);
            best.offer_dual(alpha, v);
        }
        best.fit.products = before + done.products + looks;
        if (best.certified() || !(done.gap <= tol * before_it) || done.gap <= 0.995 * tol * best.fit.primal)
            return {at.mu, steps};
    }
}

}  // namespace minorant
