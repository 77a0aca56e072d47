// Dual coordinate ascent for  λ/2 ‖w‖² + Σ c_i φ(r_i),   r_i = s_i (⟨x_i, w⟩ + b) - a_i,   s_i = ±1.
//
// The dual variables are the slopes t_i, and w = -Σ s_i (c_i/λ) t_i x_i throughout. Each step is the proximal
// one of `dual_step.hpp` with Q_i = (c_i/λ) ‖x_i‖². A free bias is found by the augmented Lagrangian of Σ s_i
// c_i t_i = 0, which is a column of √rho more, with b in the place of its weight: b = b₀ - rho Σ s_i (c_i/λ)
// t_i, and b₀ ← b after each sweep.
//
// Rows are visited chunk by chunk, the chunks in random order, the few rows of each in that of the memory: as
// good as a whole permutation, and processors see where the next row is. Slopes held at a bound by more than
// what moved the others in the last sweep, in the mean square, are left out until those left are solved, in
// the sweeps of later calls too.
// Many sweeps are the preconditioner of conjugate gradients (`conjugate_step.hpp`).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "conjugate_step.hpp"
#include "csr.hpp"
#include "dense.hpp"
#include "dual_step.hpp"
#include "room.hpp"

namespace minorant {

template <class V, class I, class P>
struct CsrRows {
    const Csr<V, I, P> X;

    std::size_t size() const { return X.rows(); }
    std::size_t volume() const { return X.data.size(); }
    MINORANT_INLINE double dot(std::size_t i, const double* w) const {
        const V* data = X.data.data();
        const I* indices = X.indices.data();
        std::size_t k = X.begin(i);
        const std::size_t end = X.end(i);
        double a = 0, b = 0;
        for (; k + 2 <= end; k += 2) {
            a += data[k] * w[indices[k]];
            b += data[k + 1] * w[indices[k + 1]];
        }
        if (k < end) a += data[k] * w[indices[k]];
        return a + b;
    }
    MINORANT_INLINE void add(std::size_t i, double scale, double* w) const {
        const V* data = X.data.data();
        const I* indices = X.indices.data();
        for (std::size_t k = X.begin(i), end = X.end(i); k < end; ++k) w[indices[k]] += scale * data[k];
    }
    // The first cache lines of a row: all of a short one, and after those processors see where a long one
    // goes.
    MINORANT_INLINE void prefetch(std::size_t i) const {
#if defined(__GNUC__)
        const V* data = X.data.data() + X.begin(i);
        const I* indices = X.indices.data() + X.begin(i);
        constexpr std::size_t kLine = 64;
        for (std::size_t line = 0; line < 3; ++line) __builtin_prefetch(data + line * kLine / sizeof(V));
        for (std::size_t line = 0; line < 2; ++line) __builtin_prefetch(indices + line * kLine / sizeof(I));
#endif
    }
};

MINORANT_CLONES inline void add_row(const float* x, double scale, double* w, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) w[j] += scale * static_cast<double>(x[j]);
}
MINORANT_CLONES inline void add_row(const double* x, double scale, double* w, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) w[j] += scale * x[j];
}

template <class V>
struct DenseRows {
    const Dense<V>& X;

    std::size_t size() const { return X.rows; }
    std::size_t volume() const { return X.data.size(); }
    double dot(std::size_t i, const double* w) const { return row_dot(X.row(i), w, X.columns); }
    void add(std::size_t i, double scale, double* w) const { add_row(X.row(i), scale, w, X.columns); }
    void prefetch(std::size_t) const {}  // long rows: processors see by themselves where they go
};

// xoshiro-like quality is not needed, but every platform must shuffle alike.
struct Shuffler {
    std::uint64_t state;
    std::uint64_t next() {
        state += 0x9e3779b97f4a7c15ull;
        std::uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(((next() >> 32) * n) >> 32); }
    template <class T>
    void operator()(T* values, std::size_t n) {
        for (std::size_t k = n; k > 1; --k) std::swap(values[k - 1], values[below(k)]);
    }
};

// The rows that are not left out, and what made the others be; empty at the beginning, and once all are to be
// seen again. It goes from one call to the next. Eager sweeps also end where what the last one gained
// promises enough: each excess is that before the steps, so w is better than it says.
struct SweptRows {
    static constexpr std::uint32_t kLeft = 0x80000000u;

    explicit SweptRows(bool eager = false) : eager(eager) {}

    bool eager;                                              // until the first look
    std::size_t of = 0;                                      // so many
    std::vector<std::uint32_t> active;                       // some of them marked as left out
    std::size_t left_out = 0;                                // how many are
    double limit = std::numeric_limits<double>::infinity();  // what held a slope beyond this may be left out
    double whole = std::numeric_limits<double>::infinity();  // the excess of the last sweep over all rows

    std::size_t seen() const { return active.size() - left_out; }
    bool known(std::size_t rows) const { return of == rows && seen() > 0; }
    void forget() {
        eager = false;
        active.clear();
        left_out = 0;
        limit = whole = std::numeric_limits<double>::infinity();
    }
};

struct Sweeps {
    double excess;  // of the last sweep: Σ (c_i/λ) excess(r_i, t_i), each before its step
    int count;
};

// Up to `most` sweeps over t, w and b, fewer once the excess of a sweep over all rows is at most `enough`.
// Rows that are left out have none as long as they are held.
template <class Rows, class Loss>
class CoordinateAscent {
  public:
    CoordinateAscent(const Rows& X, const Loss& loss, const CoordinateProblem& p, std::uint64_t seed,
                     std::span<double> t, std::span<double> w, double bias, SweptRows& rows, Room& room)
        : X_(X),
          p_(p),
          n_(X.size()),
          height_(std::max<std::size_t>(8, n_ * kChunkValues / (X.volume() + n_))),
          q_(n_, room),
          kept_(room),
          steps_(loss, curvatures(), t, kept_),
          shuffle_{seed},
          t_(t),
          w_(w),
          bias_(bias),
          rows_(rows),
          order_(room),
          conjugate_(X_, p_, room) {
        for (std::size_t i = 0; i < n_; ++i) balance_ += p_.sign[i] * p_.scale[i] * t_[i];
        order_.reserve((n_ + height_ - 1) / height_);  // all that it will need: see `room.hpp`
        if (rows_.known(n_)) {
            mix();
        } else {
            see_all();
        }
    }

    double bias() const { return bias_; }

    Sweeps run(int most, double enough) {
        Sweeps done{kInfinity, 0};
        const bool conjugate = most > kFew && stride() < most;  // else there would be none, but for copies
        if (conjugate) conjugate_.begin(t_, w_);
        int same = 0;  // sweeps in the present order
        while (done.count < most) {
            if (same == 0 && done.count > 0) mix();
            const bool all = rows_.seen() == n_;
            const double excess = sweep();
            done = {excess, done.count + 1};
            if (all) {
                const bool forecast = rows_.eager && rows_.whole < kInfinity;
                const double next = forecast ? excess * std::sqrt(excess / rows_.whole) : excess;
                rows_.whole = excess;
                if (std::min(excess, next) <= enough) break;
            } else if (excess <= std::max(0.05 * rows_.whole, enough)) {  // solved among those left
                see_all();
            }
            if (conjugate && ++same < stride()) continue;
            if (conjugate && done.count < most) conjugate_step();
            same = 0;
        }
        return done;
    }

  private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr std::size_t kChunkValues = 1024;
    static constexpr int kFew = 3;  // sweeps that are made without conjugate steps between them
    static constexpr std::uint32_t kLeft = SweptRows::kLeft;
    static constexpr std::size_t kAhead = 2;  // rows from the one that is visited to the one that is fetched

    std::span<double> curvatures() {
        for (std::size_t i = 0; i < n_; ++i) q_[i] = std::max(p_.scale[i] * (p_.norm2[i] + p_.rho), 1e-300);
        return q_;
    }

    void see_all() {
        rows_.of = n_;
        rows_.active.resize(n_);
        std::iota(rows_.active.begin(), rows_.active.end(), 0u);
        rows_.left_out = 0;
        rows_.limit = kInfinity;
        mix();
    }

    // A new order, of those rows that are not left out.
    void mix() {
        auto& active = rows_.active;
        if (rows_.left_out > 0) std::erase_if(active, [](std::uint32_t i) { return (i & kLeft) != 0; });
        rows_.left_out = 0;
        order_.resize((active.size() + height_ - 1) / height_);
        std::iota(order_.begin(), order_.end(), 0u);
        shuffle_(order_.data(), order_.size());
    }

    double sweep() {
        const auto steps = steps_;  // copies: for all that a compiler knows, writing to w changes the members
        const Rows X = X_;
        const CoordinateProblem p = p_;
        const std::span<double> t = t_;
        double* const w = w_.data();
        const std::span<std::uint32_t> active = rows_.active;
        const double limit = rows_.limit;
        double excess = 0, squares = 0, moved = 0, bias = bias_, balance = balance_;
        for (const std::uint32_t chunk : order_) {
            const std::size_t begin = chunk * height_, end = std::min(active.size(), begin + height_);
            for (std::size_t k = begin; k < end; ++k) {
                X.prefetch(active[std::min(k + kAhead, end - 1)] & ~kLeft);
                const std::uint32_t i = active[k];
                if ((i & kLeft) != 0) continue;
                const double old = t[i], scale = p.scale[i], sign = p.sign[i];
                const double score = sign * (X.dot(i, w) + bias), r = score - p.offset[i];
                const double force = steps.force(score, p.offset[i], old);
                excess += scale * steps.excess(i, r, old);
                if (steps.held(force, old)) {
                    if (std::abs(force) > limit) {
                        active[k] |= kLeft;
                        ++rows_.left_out;
                    }
                    continue;
                }
                squares += force * force, ++moved;
                const double now = steps(i, r, old, force), move = -sign * scale * (now - old);
                t[i] = now;
                X.add(i, move, w);
                bias += p.rho * move;
                balance -= move;
            }
        }
        balance_ = balance;
        bias_ = bias - p.rho * balance;
        rows_.limit = squares > 0 ? std::sqrt(squares / moved) : kInfinity;
        return excess;
    }

    void conjugate_step() {
        const double multiplier = bias_ + p_.rho * balance_;
        conjugate_(steps_, multiplier, t_, w_, balance_);
        bias_ = multiplier - 2 * p_.rho * balance_;  // b of b₀ ← b, as after a sweep
    }

    // As many sweeps, in one order, as take the time of a conjugate step.
    int stride() const {
        const double n = static_cast<double>(n_), part = static_cast<double>(rows_.seen()) / n;
        const double sweep = part * (1.5 * static_cast<double>(X_.volume()) + 25.0 * n);
        return static_cast<int>((2.5 * static_cast<double>(w_.size()) + 5.5 * n) / (sweep + 1)) + 1;
    }

    const Rows& X_;
    const CoordinateProblem& p_;
    const std::size_t n_, height_;  // of all rows, of a chunk
    RoomVector<double> q_, kept_;   // of the steps
    DualSteps<Loss> steps_;
    Shuffler shuffle_;
    std::span<double> t_, w_;
    double bias_, balance_ = 0;
    SweptRows& rows_;
    RoomVector<std::uint32_t> order_;  // of chunks of them
    ConjugateStep<Rows, DualSteps<Loss>> conjugate_;
};

}  // namespace minorant
