// The systems of Newton's method, (λ I + Zᵀ H Z) d = g  with the rows z_i = (x_i, 1) or x_i of the examples
// and H = diag(h); the last unknown, the bias, has no λ. Examples with h_i = 0 cost nothing.
//
//     gram: Zᵀ H Z, lower triangle, row by row            solve_directly: d by Cholesky
//     conjugate_gradients: d, without ever forming it
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "cholesky.hpp"
#include "csr.hpp"
#include "dense.hpp"
#include "dual_coordinate.hpp"
#include "gram.hpp"
#include "lanes.hpp"
#include "lines.hpp"
#include "parallel.hpp"

namespace minorant {

// The examples that are wanted, in the place of `rows`, which is as long as there are examples.
template <class F>
std::span<const std::uint32_t> chosen(std::span<std::uint32_t> rows, int threads, F&& wanted) {
    const std::size_t n = rows.size();
    std::vector<std::size_t> counts(block_count(n));
    parallel_ranges(n, threads, 4.0 * static_cast<double>(n), [&](std::size_t begin, std::size_t end) {
        std::size_t count = 0;
        for (std::size_t i = begin; i < end; ++i) {  // no branch: it would be mispredicted
            rows[begin + count] = static_cast<std::uint32_t>(i);
            count += wanted(i);
        }
        counts[begin / kBlock] = count;
    });
    std::size_t count = 0;
    for (std::size_t block = 0; block < counts.size(); ++block) {
        const auto found = rows.begin() + static_cast<std::ptrdiff_t>(block * kBlock);
        if (count < block * kBlock)
            std::copy_n(found, counts[block], rows.begin() + static_cast<std::ptrdiff_t>(count));
        count += counts[block];
    }
    return rows.first(count);
}

// Those with h_i > 0
inline std::span<const std::uint32_t> support(std::span<const double> h, std::span<std::uint32_t> rows,
                                              int threads) {
    return chosen(rows, threads, [=](std::size_t i) { return h[i] > 0; });
}

template <class V, class I, class P>
Triangle layout(const CsrRows<V, I, P>&, std::size_t size) {
    return {size};
}
template <class V>
Square layout(const DenseRows<V>&, std::size_t size) {
    return {size};
}

// The square of what is at the beginning of M.
inline void spread(Square, std::span<double>) {}
inline void spread(Triangle packed, std::span<double> M) {
    for (std::size_t size = packed.size, j = size; j-- > 0;) {
        double *from = M.data() + packed(j), *to = M.data() + j * size;
        std::copy_backward(from, from + j + 1, to + j + 1);
        std::fill(to + j + 1, to + size, 0.0);
    }
}

template <class V, class I, class P>
void add_outer(const CsrRows<V, I, P>& rows, std::size_t i, double h, bool bordered, double* out,
               Triangle at) {
    const std::size_t begin = rows.X.begin(i), size = rows.X.end(i) - begin;
    const V* const x = rows.X.data.data() + begin;
    const I* const column = rows.X.indices.data() + begin;
    if (std::is_sorted(column, column + size)) {
        add_triangle(x, column, size, h, out, at);
    } else {
        for (std::size_t k = 0; k < size; ++k)
            for (std::size_t l = 0; l <= k; ++l) {
                const auto [low, high] = std::minmax(column[k], column[l]);
                out[at(static_cast<std::size_t>(high)) + static_cast<std::size_t>(low)] += h * x[k] * x[l];
            }
    }
    if (!bordered) return;
    double* const border = out + at(at.size - 1);
    for (std::size_t k = 0; k < size; ++k) border[column[k]] += h * x[k];
    border[at.size - 1] += h;
}

template <class V, class I, class P>
void gram_block(const CsrRows<V, I, P>& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                bool bordered, double* out, Triangle at) {
    for (const std::uint32_t i : rows) add_outer(X, i, h[i], bordered, out, at);
}
template <class V>
void gram_block(const DenseRows<V>& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                bool bordered, double* out, Square at) {
    add_gram(X.X, h, rows, bordered, 0, at.size, out, at.size);
}

// Threads share the examples, each block of them with a matrix of its own,
template <class Rows>
void gram_in_blocks(const Rows& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                    bool bordered, std::size_t size, std::span<double> out, int threads) {
    const double each =
        static_cast<double>(X.volume()) / static_cast<double>(std::max<std::size_t>(X.size(), 1));
    const std::size_t blocks = std::clamp<std::size_t>(rows.size() / (4 * size), 1, 8);
    sum_partials(blocks, out, threads, each * each * static_cast<double>(rows.size()),
                 [&](std::size_t block, double* sum) {
                     const std::size_t first = rows.size() * block / blocks;
                     const std::size_t last = rows.size() * (block + 1) / blocks;
                     gram_block(X, h, rows.subspan(first, last - first), bordered, sum, layout(X, size));
                 });
}
template <class V, class I, class P>
void lower_gram(const CsrRows<V, I, P>& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                bool bordered, std::size_t size, std::span<double> out, int threads) {
    gram_in_blocks(X, h, rows, bordered, size, out, threads);
}
// or the rows of the matrix, where it is dense, and the examples too few for blocks of them, or it so large
// that those would take much memory.
template <class V>
void lower_gram(const DenseRows<V>& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                bool bordered, std::size_t size, std::span<double> out, int threads) {
    if (size < 32 || rows.size() >= (size < 128 ? 8 : 64) * size)
        return gram_in_blocks(X, h, rows, bordered, size, out, threads);
    const double work = 0.1 * static_cast<double>(size * size) * static_cast<double>(rows.size());
    std::fill(out.begin(), out.end(), 0.0);
    for_strips(size, threads, work, [&](std::size_t first, std::size_t last) {
        add_gram(X.X, h, rows, bordered, first, last, out.data(), size);
    });
}

// Both as they are in the square M.
template <class Rows>
void gram(const Rows& X, std::span<const double> h, std::span<const std::uint32_t> rows, bool bordered,
          std::size_t size, std::span<double> M, int threads) {
    const auto packed = layout(X, size);
    lower_gram(X, h, rows, bordered, size, M.first(packed.volume()), threads);
    spread(packed, M);
}

// ⟨x_k, x_l⟩ for those rows, lower triangle.
template <class Rows>
std::vector<double> row_products(const Rows& X, std::span<const std::uint32_t> rows, std::size_t columns) {
    const std::size_t size = rows.size();
    std::vector<double> M(size * size), row(columns);
    for (std::size_t k = 0; k < size; ++k) {
        X.add(rows[k], 1.0, row.data());
        for (std::size_t l = 0; l <= k; ++l) M[k * size + l] = X.dot(rows[l], row.data());
        X.add(rows[k], -1.0, row.data());
    }
    return M;
}

template <class V>
std::vector<double> row_products(const DenseRows<V>& X, std::span<const std::uint32_t> rows, std::size_t) {
    std::vector<double> M(rows.size() * rows.size());
    row_products(X.X, rows, M);
    return M;
}

// The same d from a system as large as the number of examples with h_i > 0 (Woodbury): for q = H Z d,
//
//     (H⁻¹ + X Xᵀ/λ) q = X g/λ + b 1,    Σ q_i = g_b where there is a bias b,    d = (g - Xᵀ q)/λ
//
// `products` has those of all rows with each other, or nothing.
template <class Rows>
void solve_by_examples(const Rows& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                       bool bordered, double lam, std::span<double> g,
                       std::span<const double> products = {}) {
    const std::size_t size = rows.size(), columns = g.size() - (bordered ? 1 : 0);
    std::vector<double> M, q(size), ones(size, 1.0);
    if (products.empty()) {
        M = row_products(X, rows, columns);
    } else {
        M.resize(size * size);
        for (std::size_t k = 0; k < size; ++k)
            for (std::size_t l = 0; l <= k; ++l) M[k * size + l] = products[rows[k] * X.size() + rows[l]];
    }
    for (std::size_t k = 0; k < size; ++k) {
        for (std::size_t l = 0; l <= k; ++l) M[k * size + l] /= lam;
        M[k * size + k] += 1 / h[rows[k]];
        q[k] = X.dot(rows[k], g.data()) / lam;
    }
    factorize(M.data(), size);
    substitute(M.data(), q.data(), size);
    if (bordered) {
        substitute(M.data(), ones.data(), size);
        double total = 0, sum = 0;
        for (std::size_t k = 0; k < size; ++k) total += ones[k], sum += q[k];
        const double bias = total > 0 ? (g[columns] - sum) / total : 0.0;
        for (std::size_t k = 0; k < size; ++k) q[k] += bias * ones[k];
        g[columns] = bias;
    }
    for (std::size_t k = 0; k < size; ++k) X.add(rows[k], -q[k], g.data());
    for (std::size_t j = 0; j < columns; ++j) g[j] /= lam;
}

// Overwrites g with d; `fill` makes Zᵀ H Z.
template <class F>
void solve_by_columns(bool bordered, double lam, std::span<double> g, int threads, F&& fill) {
    const std::size_t size = g.size();
    const auto M = std::make_unique_for_overwrite<double[]>(size * size);
    fill(std::span(M.get(), size * size));
    for (std::size_t j = 0; j + (bordered ? 1 : 0) < size; ++j) M[j * size + j] += lam;
    factorize(M.get(), size, threads);
    substitute(M.get(), g.data(), size);
}

// The one or the other, whichever is smaller.
template <class Rows>
void solve_directly(const Rows& X, std::span<const double> h, bool bordered, double lam, std::span<double> g,
                    int threads) {
    std::vector<std::uint32_t> all(h.size());
    const auto rows = support(h, all, threads);
    if (rows.size() < g.size()) return solve_by_examples(X, h, rows, bordered, lam, g);
    solve_by_columns(bordered, lam, g, threads,
                     [&](std::span<double> M) { gram(X, h, rows, bordered, g.size(), M, threads); });
}

template <class V, class I, class P>
void curved_block(const CsrRows<V, I, P>& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                  bool bordered, std::span<const double> v, double* sum) {
    double border = 0;
    for (const std::uint32_t i : rows) {
        const double image = h[i] * (X.dot(i, v.data()) + (bordered ? v.back() : 0.0));
        X.add(i, image, sum);
        border += image;
    }
    if (bordered) sum[v.size() - 1] = border;
}
template <class V>
void curved_block(const DenseRows<V>& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                  bool bordered, std::span<const double> v, double* sum) {
    add_curved(X.X.data.data(), X.X.columns, rows, h.data(), bordered, v.data(), sum);
}

// out = Σ f over parts of the examples; f(part, sum) adds to a sum of its own, at so many operations a value.
template <class Rows, class F>
void for_parts_of(const Rows& X, std::span<const std::uint32_t> rows, double cost, std::span<double> out,
                  int threads, F&& f) {
    const double share =
        static_cast<double>(rows.size()) / static_cast<double>(std::max<std::size_t>(X.size(), 1));
    const double volume = share * static_cast<double>(X.volume());
    const std::size_t blocks = partial_count(static_cast<std::size_t>(volume), out.size());
    sum_partials(blocks, out, threads, cost * volume, [&](std::size_t block, double* sum) {
        const std::size_t first = rows.size() * block / blocks, last = rows.size() * (block + 1) / blocks;
        f(rows.subspan(first, last - first), sum);
    });
}

// out = Zᵀ H Z v: each row is read once, for both products.
template <class Rows>
void curved(const Rows& X, std::span<const double> h, std::span<const std::uint32_t> rows, bool bordered,
            std::span<const double> v, std::span<double> out, int threads) {
    for_parts_of(X, rows, 4.0, out, threads, [&](std::span<const std::uint32_t> part, double* sum) {
        curved_block(X, h, part, bordered, v, sum);
    });
}

struct Iterated {
    int iterations;
    double residual;  // relative
};

// A free bias is eliminated: with the means m = Xᵀh/Σh the system left is  λ I + Xᵀ H (X - 1 mᵀ),  whose
// condition does not depend on how far the columns are from having mean 0. `solve(residual, out)` is a
// preconditioner, in the place of the diagonal.
struct ByDiagonal {};
template <class Rows, class Solve = ByDiagonal>
Iterated conjugate_gradients(const Rows& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                             bool bordered, double lam, std::span<const double> g,
                             std::span<const double> inverse_diagonal, double accuracy, int most,
                             std::span<double> d, int threads, const Solve& solve = {}) {
    const std::size_t size = g.size(), columns = bordered ? size - 1 : size;
    std::vector<double> residual(g.begin(), g.end()), direction(size), image(size), scaled(size), mean;
    std::vector<double> inverse(inverse_diagonal.begin(), inverse_diagonal.end());
    double total = 0;
    if (bordered) {
        direction.back() = 1;
        mean.resize(size);
        curved(X, h, rows, bordered, direction, mean, threads);
        total = mean.back();
        for (double& m : mean) m = total > 0 ? m / total : 0.0;
        for (std::size_t j = 0; j < columns; ++j) {
            residual[j] -= mean[j] * g.back();
            inverse[j] = 1 / std::max(1 / inverse[j] - total * mean[j] * mean[j], lam);
        }
    }
    std::fill(d.begin(), d.end(), 0.0);
    const auto precondition = [&] {
        if constexpr (std::is_same_v<Solve, ByDiagonal>) {
            for (std::size_t j = 0; j < columns; ++j) scaled[j] = inverse[j] * residual[j];
        } else {
            solve(residual, scaled);
        }
        return row_dot(residual.data(), scaled.data(), columns);
    };
    double energy = precondition();
    const double start = energy;
    direction = scaled;
    int k = 0;
    while (k < most && energy > accuracy * accuracy * start) {
        if (bordered) direction.back() = -row_dot(mean.data(), direction.data(), columns);
        curved(X, h, rows, bordered, direction, image, threads);
        for (std::size_t j = 0; j < columns; ++j) image[j] += lam * direction[j];
        const double along = row_dot(direction.data(), image.data(), columns);
        if (!(along > 0)) break;
        const double step = energy / along;
        for (std::size_t j = 0; j < columns; ++j) d[j] += step * direction[j], residual[j] -= step * image[j];
        const double before = energy;
        energy = precondition();
        for (std::size_t j = 0; j < columns; ++j) direction[j] = scaled[j] + energy / before * direction[j];
        ++k;
    }
    if (bordered) d.back() = (total > 0 ? g.back() / total : 0.0) - row_dot(mean.data(), d.data(), columns);
    return {k, start > 0 ? std::sqrt(energy / start) : 0.0};
}

}  // namespace minorant
