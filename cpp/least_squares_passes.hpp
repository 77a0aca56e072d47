// The passes of least squares over the examples and their rows; see `least_squares.hpp`.
#pragma once

#include <array>
#include <cstddef>

#include "dual_coordinate.hpp"
#include "lanes.hpp"

namespace minorant {

// Σ c_i (u_i - y_i)
MINORANT_CLONES inline std::array<double, 1> offset_block(const double* u, const double* y, const double* c,
                                                          std::size_t begin, std::size_t end) {
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 1>{c[i] * (u[i] - y[i])};
    });
}
// α = 2 c r;  Σ c_i r_i² and Σ α_i
MINORANT_CLONES inline std::array<double, 2> slopes_block(const double* u, const double* y, const double* c,
                                                          double b, double* alpha, std::size_t begin,
                                                          std::size_t end) {
    return lane_sums<2>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double r = u[i] - y[i] + b, a = c[i] * r;
        alpha[i] = 2 * a;
        return std::array<double, 2>{a * r, 2 * a};
    });
}
// α -= off c;  Σ y_i α_i + α_i²/(4 c_i)
MINORANT_CLONES inline std::array<double, 1> bound_block(const double* y, const double* c, double off,
                                                         double* alpha, std::size_t begin, std::size_t end) {
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double a = alpha[i] - off * c[i], half = 0.5 * (a / (c[i] > 0 ? c[i] : 1.0));
        alpha[i] = a;
        return std::array<double, 1>{a * (y[i] + 0.5 * half)};
    });
}

// Σ h_i x_i, Σ h_i x_i², Σ a_i x_i, one after another in `sums`
MINORANT_CLONES inline void add_moments(const float* x, double h, double a, double* sums, std::size_t n) {
    double *square = sums + n, *image = square + n;
    for (std::size_t j = 0; j < n; ++j) {
        const double value = x[j], scaled = h * value;
        sums[j] += scaled, square[j] += scaled * value, image[j] += a * value;
    }
}
MINORANT_CLONES inline void add_moments(const double* x, double h, double a, double* sums, std::size_t n) {
    double *square = sums + n, *image = square + n;
    for (std::size_t j = 0; j < n; ++j) {
        const double value = x[j], scaled = h * value;
        sums[j] += scaled, square[j] += scaled * value, image[j] += a * value;
    }
}
template <class V>
void add_moments(const DenseRows<V>& rows, std::size_t i, double h, double a, std::size_t n, double* sums) {
    add_moments(rows.X.row(i), h, a, sums, n);
}
template <class V, class I, class P>
void add_moments(const CsrRows<V, I, P>& rows, std::size_t i, double h, double a, std::size_t n,
                 double* sums) {
    const auto& X = rows.X;
    for (std::size_t k = X.begin(i); k < X.end(i); ++k) {
        const double value = X.data[k], scaled = h * value;
        double* const at = sums + X.indices[k];
        at[0] += scaled, at[n] += scaled * value, at[2 * n] += a * value;
    }
}

}  // namespace minorant
