// Products of Newton's method with all rows, sparse or dense, and what a Cholesky step for some of them
// costs.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "csr.hpp"
#include "dense.hpp"
#include "dual_coordinate.hpp"

namespace minorant {

template <class V, class I, class P>
void product(const CsrRows<V, I, P>& rows, std::span<const double> w, std::span<double> out, int threads) {
    csr_dot(rows.X, w, out, threads);
}
template <class V, class I, class P>
void adjoint(const CsrRows<V, I, P>& rows, std::span<const double> a, std::span<double> out, int threads) {
    csr_tdot(rows.X, a, out, threads);
}
template <class V>
void product(const DenseRows<V>& rows, std::span<const double> w, std::span<double> out, int threads) {
    dense_dot(rows.X, w, out, threads);
}
template <class V>
void adjoint(const DenseRows<V>& rows, std::span<const double> a, std::span<double> out, int threads) {
    dense_tdot(rows.X, a, out, threads);
}

template <class V, class I, class P>
void add_squares(const CsrRows<V, I, P>& rows, std::size_t i, double h, double* out) {
    const auto& X = rows.X;
    for (std::size_t k = X.begin(i); k < X.end(i); ++k) {
        const double x = X.data[k];
        out[X.indices[k]] += h * (x * x);
    }
}
template <class V>
void add_squares(const DenseRows<V>& rows, std::size_t i, double h, double* out) {
    add_squared(rows.X.row(i), h, out, rows.X.columns);
}

// What an operation of a Cholesky step costs, in tiles or not, to one of an iteration of conjugate gradients.
template <class V, class I, class P>
constexpr double product_cost(const CsrRows<V, I, P>&) {
    return 1.0;
}
template <class V>
constexpr double product_cost(const DenseRows<V>&) {
    return 0.3;
}

// What one of them costs for each value that is stored. Bends that jump make more of them needed than the
// last ones promised, which is why those of the logistic loss alone are believed to run at the speed of the
// memory.
template <class Rows, class Loss>
constexpr double pass_cost(const Rows&, const Loss&) {
    return 4.0;
}
template <class V>
constexpr double pass_cost(const DenseRows<V>&, const Logistic&) {
    return 2.0;
}

// A Cholesky step for that many examples in operations; infinite where the matrix would be too large.
template <class Rows>
double direct_cost(const Rows& X, double band, double row, double columns) {
    const double size = std::min(columns, band);
    if (size > 4000) return std::numeric_limits<double>::infinity();
    return product_cost(X) * (band * row * std::min(row + 1, size) + size * size * size / 6);
}

}  // namespace minorant
