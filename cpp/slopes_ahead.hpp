// The slopes to which a step d of Newton's method on the logistic loss leads if that is linear:  α' = α + h
// d. With the w of the whole step they have λ w + Aᵀ α' = 0, and ⟨s, α'⟩ = 0 where there is a bias. The
// slopes of the new point are that near only once another step would be short: those ahead prove w a step
// earlier.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "lanes.hpp"
#include "logistic_sums.hpp"
#include "parallel.hpp"
#include "samples.hpp"

namespace minorant {

// Within their bounds
MINORANT_CLONES inline void slopes_ahead(const double* alpha, const double* h, const double* d,
                                         const double* c, double* out, std::size_t i, std::size_t end) {
    for (; i < end; ++i) {
        const double a = alpha[i] + h[i] * d[i], above = a < 0 ? 0.0 : a;
        out[i] = above > c[i] ? c[i] : above;
    }
}

MINORANT_CLONES inline std::array<double, 2> ahead_bound(const double* alpha, const double* h,
                                                         const double* sign, const double* ahead,
                                                         std::size_t begin, std::size_t end) {
    return lane_sums<2>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double off = ahead[i] - alpha[i];
        return std::array<double, 2>{off * (off / (h[i] > 1e-300 ? h[i] : 1e-300)), sign[i] * ahead[i]};
    });
}

MINORANT_WIDE_CLONES inline std::array<double, 1> ahead_gap(const double* r, const double* c,
                                                            const double* ahead, std::size_t begin,
                                                            std::size_t end) {
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double t = ahead[i] / (c[i] > 0 ? c[i] : 1.0);
        return std::array<double, 1>{c[i] * (logistic_value(r[i]) + logistic_entropy(t) - r[i] * t)};
    });
}

struct SlopesAhead {
    std::span<const double> sign, c;
    std::span<double> ahead;  // α', and s α' once it leans
    int threads;

    void find(std::span<const double> alpha, std::span<const double> h, std::span<const double> d) const {
        ranges(6, [&](std::size_t i, std::size_t end) {
            slopes_ahead(alpha.data(), h.data(), d.data(), c.data(), ahead.data(), i, end);
        });
    }

    // Of their gap at the point with these α and h, which is a divergence of Kullback and Leibler: that of
    // χ², about twice as much where it is small. It takes no logarithms. With Σ s_i α'_i.
    std::array<double, 2> bound(std::span<const double> alpha, std::span<const double> h) const {
        return block_sums<2>(ahead.size(), threads, 8, [&](std::size_t begin, std::size_t end) {
            return ahead_bound(alpha.data(), h.data(), sign.data(), ahead.data(), begin, end);
        });
    }

    // Σ c_i (φ(r_i) + φ*(t'_i) - r_i t'_i)
    double gap(std::span<const double> r) const {
        return block_sums<1>(ahead.size(), threads, 40, [&](std::size_t begin, std::size_t end) {
            return ahead_gap(r.data(), c.data(), ahead.data(), begin, end);
        })[0];
    }

    // Onto the hyperplane, which bounds have led them away from: by so much of t' (1 - t'), and so not beyond
    // their bounds. Then s α' is in their place. False where that is too far.
    bool lean(double off) const {
        double move = 0;
        if (off != 0) {
            const auto [total] = block_sums<1>(ahead.size(), threads, 8, [&](std::size_t i, std::size_t end) {
                return lane_sums<1>(i, end, [&](std::size_t k) { return std::array{room(k)}; });
            });
            move = off / total;
            if (!(std::abs(move) < 1)) return false;
        }
        ranges(8, [&](std::size_t i, std::size_t end) {
            for (; i < end; ++i) ahead[i] = sign[i] * ahead[i] - move * room(i);
        });
        return true;
    }

  private:
    double room(std::size_t i) const { return ahead[i] * (1 - ahead[i] / (c[i] > 0 ? c[i] : 1.0)); }

    template <class F>
    void ranges(double cost, F&& f) const {
        parallel_ranges(ahead.size(), threads, cost * static_cast<double>(ahead.size()), f);
    }
};

}  // namespace minorant
