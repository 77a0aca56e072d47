// (Σ_i weights_i x_ij²)^½ of every column j, without a copy of the squares.
#pragma once

#include <cmath>
#include <span>

#include "csr.hpp"
#include "dense.hpp"
#include "lanes.hpp"

namespace minorant {

template <class V>
MINORANT_INLINE void add_squares(const V* x, double weight, double* sum, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) {
        const double value = static_cast<double>(x[j]);
        sum[j] += weight * (value * value);
    }
}
MINORANT_CLONES inline void add_row_squares(const float* x, double weight, double* sum, std::size_t n) {
    add_squares(x, weight, sum, n);
}
MINORANT_CLONES inline void add_row_squares(const double* x, double weight, double* sum, std::size_t n) {
    add_squares(x, weight, sum, n);
}

template <class V>
MINORANT_INLINE double weighted_squares(const V* x, const double* weights, std::size_t n) {
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double value = static_cast<double>(x[i]);
        return std::array{weights[i] * (value * value)};
    })[0];
}
MINORANT_CLONES inline double row_squares(const float* x, const double* weights, std::size_t n) {
    return weighted_squares(x, weights, n);
}
MINORANT_CLONES inline double row_squares(const double* x, const double* weights, std::size_t n) {
    return weighted_squares(x, weights, n);
}

inline void square_roots(std::span<double> out) {
    for (double& x : out) x = std::sqrt(x);
}

template <class V, class I, class P>
void csr_column_norms(const Csr<V, I, P>& X, std::span<const double> weights, std::span<double> out,
                      int threads) {
    const std::size_t blocks = partial_count(X.data.size(), out.size());
    sum_partials(blocks, out, threads, 2.0 * static_cast<double>(X.data.size()),
                 [&](std::size_t block, double* sum) {
                     const std::size_t last = X.block_begin(block + 1, blocks);
                     for (std::size_t i = X.block_begin(block, blocks); i < last; ++i)
                         for (std::size_t k = X.begin(i); k < X.end(i); ++k) {
                             const double value = static_cast<double>(X.data[k]);
                             sum[X.indices[k]] += weights[i] * (value * value);
                         }
                 });
    square_roots(out);
}

// `by_columns`: the columns are the rows of `X` here.
template <class V>
void dense_column_norms(const Dense<V>& X, bool by_columns, std::span<const double> weights,
                        std::span<double> out, int threads) {
    if (by_columns) {
        for_rows(X, out, threads, [&](const V* x) { return row_squares(x, weights.data(), X.columns); });
    } else {
        const std::size_t blocks = partial_count(X.data.size(), X.columns);
        sum_partials(blocks, out, threads, 2.0 * static_cast<double>(X.data.size()),
                     [&](std::size_t block, double* sum) {
                         const std::size_t last = X.rows * (block + 1) / blocks;
                         for (std::size_t i = X.rows * block / blocks; i < last; ++i)
                             add_row_squares(X.row(i), weights[i], sum, X.columns);
                     });
    }
    square_roots(out);
}

}  // namespace minorant
