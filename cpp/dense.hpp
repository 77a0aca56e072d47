// Products with a row-major matrix X; values float or double, sums in double.
//
//     dense_dot: X w        dense_tdot: Xᵀ α        dense_row_norms: ‖x_i‖₂
//
// A row is summed in eight interleaved lanes, an order that vector units of any width can follow: the result
// does not depend on the one that runs.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "csr.hpp"
#include "parallel.hpp"

namespace minorant {

template <class V>
struct Dense {
    std::span<const V> data;
    std::size_t rows, columns;

    const V* row(std::size_t i) const { return data.data() + i * columns; }
};

template <class V, class W>
double lane_dot(const V* a, const W* b, std::size_t n) {
    std::array<double, 8> lane{};
    std::size_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (std::size_t k = 0; k < 8; ++k)
            lane[k] += static_cast<double>(a[j + k]) * static_cast<double>(b[j + k]);
    for (std::size_t k = 0; j + k < n; ++k)
        lane[k] += static_cast<double>(a[j + k]) * static_cast<double>(b[j + k]);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// out[i] = reduce(row i)
template <class V, class F>
void for_rows(const Dense<V>& X, std::span<double> out, int threads, F&& reduce) {
    const std::size_t height = std::max<std::size_t>(1, 8 * kBlock / std::max<std::size_t>(X.columns, 1));
    parallel_blocks((X.rows + height - 1) / height, threads, 2.0 * static_cast<double>(X.data.size()),
                    [&](std::size_t block) {
                        const std::size_t last = std::min(X.rows, (block + 1) * height);
                        for (std::size_t i = block * height; i < last; ++i) out[i] = reduce(X.row(i));
                    });
}

template <class V>
void dense_dot(const Dense<V>& X, std::span<const double> w, std::span<double> out, int threads) {
    for_rows(X, out, threads, [&](const V* x) { return lane_dot(x, w.data(), X.columns); });
}

template <class V>
void dense_row_norms(const Dense<V>& X, std::span<double> out, int threads) {
    for_rows(X, out, threads, [&](const V* x) { return std::sqrt(lane_dot(x, x, X.columns)); });
}

template <class V>
void dense_tdot(const Dense<V>& X, std::span<const double> alpha, std::span<double> out, int threads) {
    const std::size_t columns = X.columns;
    const std::size_t blocks = partial_count(X.data.size(), columns);
    sum_partials(
        blocks, out, threads, 2.0 * static_cast<double>(X.data.size()), [&](std::size_t block, double* sum) {
            const std::size_t last = X.rows * (block + 1) / blocks;
            std::size_t i = X.rows * block / blocks;
            std::array<std::size_t, 4> row{};  // the next rows with α_i ≠ 0: four per sweep over `sum`
            while (true) {
                std::size_t found = 0;
                for (; i < last && found < 4; ++i)
                    if (alpha[i] != 0) row[found++] = i;
                if (found < 4) {
                    for (std::size_t r = 0; r < found; ++r) {
                        const V* x = X.row(row[r]);
                        const double a = alpha[row[r]];
                        for (std::size_t j = 0; j < columns; ++j) sum[j] += a * x[j];
                    }
                    return;
                }
                const V *p = X.row(row[0]), *q = X.row(row[1]), *r = X.row(row[2]), *s = X.row(row[3]);
                const double a = alpha[row[0]], b = alpha[row[1]], c = alpha[row[2]], d = alpha[row[3]];
                for (std::size_t j = 0; j < columns; ++j)
                    sum[j] += (a * p[j] + b * q[j]) + (c * r[j] + d * s[j]);
            }
        });
}

}  // namespace minorant
