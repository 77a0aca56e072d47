// The multinomial loss row by row, in panels (`panels.hpp`): with V_i = U_i + b and P_i = softmax(V_i)
//
//     Σ c_i (log Σ_z exp V_iz - V_iy) ,     its slopes c_i (P_i - E_i) ,     and what a change of V makes of
//     these, c_i P_i ∘ (V_i - ⟨P_i, V_i⟩)
//
// Each pass also adds up what it wrote, class by class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "exponential.hpp"
#include "lanes.hpp"
#include "logarithm.hpp"
#include "panels.hpp"
#include "parallel.hpp"

namespace minorant {

// Some rows of panels that are `stride` numbers apart, and what there is for each class or row. Beyond the
// last class `there` is 0, else 1.
struct SoftmaxRows {
    std::size_t begin, end, stride, panels;
    const double *there, *c;
    const std::int32_t* label;
};

// V = U + step D + bias, P = softmax(V); the loss
MINORANT_WIDE_CLONES inline double softmax_rows(const SoftmaxRows& at, const double* U, double step,
                                                const double* D, const double* bias, double* P,
                                                double* sums) {
    double loss = 0;
    for (std::size_t i = at.begin; i < at.end; ++i) {
        double tops[kPanelWidth], totals[kPanelWidth] = {};
        for (double& top : tops) top = -std::numeric_limits<double>::max();
        for (std::size_t q = 0; q < at.panels; ++q) {
            const std::size_t place = q * at.stride + i * kPanelWidth;
            for (std::size_t l = 0; l < kPanelWidth; ++l) {
                const double v = U[place + l] + step * D[place + l] + bias[q * kPanelWidth + l];
                P[place + l] = v;
                const double seen = at.there[q * kPanelWidth + l] > 0 ? v : tops[l];
                tops[l] = seen > tops[l] ? seen : tops[l];
            }
        }
        double top = tops[0];
        for (std::size_t l = 1; l < kPanelWidth; ++l) top = tops[l] > top ? tops[l] : top;
        const std::size_t label = static_cast<std::size_t>(at.label[i]);
        const double own = P[label / kPanelWidth * at.stride + i * kPanelWidth + label % kPanelWidth];
        for (std::size_t q = 0; q < at.panels; ++q) {
            double* const p = P + q * at.stride + i * kPanelWidth;
            for (std::size_t l = 0; l < kPanelWidth; ++l) {
                const double below = p[l] - top, e = exp_negative(below < 0 ? below : 0.0);
                p[l] = at.there[q * kPanelWidth + l] * e;
                totals[l] += p[l];
            }
        }
        const double total = fold(totals), share = 1 / total, c = at.c[i];
        loss += c * ((top - own) + log_positive(total));
        for (std::size_t q = 0; q < at.panels; ++q) {
            double* const p = P + q * at.stride + i * kPanelWidth;
            for (std::size_t l = 0; l < kPanelWidth; ++l) {
                p[l] *= share;
                sums[q * kPanelWidth + l] += c * p[l];
            }
        }
    }
    return loss;
}

// S = c (P - E)
MINORANT_CLONES inline void softmax_slopes(const SoftmaxRows& at, const double* P, double* S, double* sums) {
    for (std::size_t i = at.begin; i < at.end; ++i) {
        const double c = at.c[i];
        const std::size_t label = static_cast<std::size_t>(at.label[i]);
        for (std::size_t q = 0; q < at.panels; ++q) {
            const std::size_t place = q * at.stride + i * kPanelWidth;
            for (std::size_t l = 0; l < kPanelWidth; ++l) {
                const double e = q * kPanelWidth + l == label ? 1.0 : 0.0;
                S[place + l] = c * (P[place + l] - e);
                sums[q * kPanelWidth + l] += S[place + l];
            }
        }
    }
}

// S = c P (1 - P)
MINORANT_CLONES inline void softmax_bends(const SoftmaxRows& at, const double* P, double* S, double* sums) {
    for (std::size_t q = 0; q < at.panels; ++q)
        for (std::size_t i = at.begin; i < at.end; ++i) {
            const std::size_t place = q * at.stride + i * kPanelWidth;
            for (std::size_t l = 0; l < kPanelWidth; ++l) {
                S[place + l] = at.c[i] * P[place + l] * (1 - P[place + l]);
                sums[q * kPanelWidth + l] += S[place + l];
            }
        }
}

// V becomes c P ∘ (V + bias - ⟨P, V + bias⟩)
MINORANT_CLONES inline void softmax_curve(const SoftmaxRows& at, const double* P, const double* bias,
                                          double* V, double* sums) {
    for (std::size_t i = at.begin; i < at.end; ++i) {
        double means[kPanelWidth] = {};
        for (std::size_t q = 0; q < at.panels; ++q) {
            const std::size_t place = q * at.stride + i * kPanelWidth;
            for (std::size_t l = 0; l < kPanelWidth; ++l)
                means[l] += P[place + l] * (V[place + l] + bias[q * kPanelWidth + l]);
        }
        const double mean = fold(means), c = at.c[i];
        for (std::size_t q = 0; q < at.panels; ++q) {
            const std::size_t place = q * at.stride + i * kPanelWidth;
            for (std::size_t l = 0; l < kPanelWidth; ++l) {
                V[place + l] = c * P[place + l] * ((V[place + l] + bias[q * kPanelWidth + l]) - mean);
                sums[q * kPanelWidth + l] += V[place + l];
            }
        }
    }
}

// P becomes P ∘ (1 + lean - ⟨P, lean⟩): what it is after a change of the biases, to first order
MINORANT_CLONES inline void softmax_lean(const SoftmaxRows& at, const double* lean, double* P) {
    for (std::size_t i = at.begin; i < at.end; ++i) {
        double means[kPanelWidth] = {};
        for (std::size_t q = 0; q < at.panels; ++q)
            for (std::size_t l = 0; l < kPanelWidth; ++l)
                means[l] += P[q * at.stride + i * kPanelWidth + l] * lean[q * kPanelWidth + l];
        const double mean = fold(means);
        for (std::size_t q = 0; q < at.panels; ++q)
            for (std::size_t l = 0; l < kPanelWidth; ++l)
                P[q * at.stride + i * kPanelWidth + l] *= 1 + (lean[q * kPanelWidth + l] - mean);
    }
}

// H += c (diag P - P Pᵀ) for one row P of k classes
MINORANT_CLONES inline void add_softmax_bend(const double* P, double c, std::size_t k, double* H) {
    for (std::size_t l = 0; l < k; ++l) {
        const double weight = c * P[l];
        for (std::size_t m = 0; m < k; ++m) H[l * k + m] -= weight * P[m];
        H[l * k + l] += weight;
    }
}

// Calls pass(rows, sums) -> number for blocks of rows; the sum of the numbers, and `sums`, block by block.
template <class F>
double over_rows(SoftmaxRows all, std::span<double> sums, int threads, F&& pass) {
    constexpr std::size_t kSome = 1024;
    const std::size_t rows = all.end, width = sums.size(), blocks = (rows + kSome - 1) / kSome;
    std::vector<double> parts(blocks * (width + 1), 0.0);
    parallel_blocks(blocks, threads, 10.0 * static_cast<double>(rows * width), [&](std::size_t block) {
        SoftmaxRows some = all;
        some.begin = block * kSome, some.end = std::min(rows, some.begin + kSome);
        double* const part = parts.data() + block * (width + 1);
        part[width] = pass(some, part);
    });
    double total = 0;
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t block = 0; block < blocks; ++block) {
        const double* const part = parts.data() + block * (width + 1);
        for (std::size_t l = 0; l < width; ++l) sums[l] += part[l];
        total += part[width];
    }
    return total;
}

}  // namespace minorant
