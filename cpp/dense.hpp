// Products with a row-major matrix X; values float or double, sums in double.
//
//     dense_dot: X w        dense_tdot: Xᵀ α        dense_row_norms: ‖x_i‖₂
//
// A row is summed in eight interleaved lanes, an order that vector units of any width can follow: the result
// does not depend on the one that runs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "csr.hpp"
#include "lanes.hpp"
#include "parallel.hpp"
#include "samples.hpp"

namespace minorant {

template <class V>
struct Dense {
    std::span<const V> data;
    std::size_t rows, columns;

    const V* row(std::size_t i) const { return data.data() + i * columns; }
};

template <class V, class W>
MINORANT_INLINE double dot(const V* a, const W* b, std::size_t n) {
    double lanes[kLanes] = {};
    std::size_t j = 0;
    for (; j + kLanes <= n; j += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] += static_cast<double>(a[j + lane]) * static_cast<double>(b[j + lane]);
    for (std::size_t lane = 0; j + lane < n; ++lane)
        lanes[lane] += static_cast<double>(a[j + lane]) * static_cast<double>(b[j + lane]);
    return fold(lanes);
}

MINORANT_CLONES inline double row_dot(const float* a, const double* b, std::size_t n) { return dot(a, b, n); }
MINORANT_CLONES inline double row_dot(const double* a, const double* b, std::size_t n) {
    return dot(a, b, n);
}
MINORANT_CLONES inline double row_dot(const float* a, const float* b, std::size_t n) { return dot(a, b, n); }

// Four rows at once are four places in memory, and processors do not see where each of them goes before it
// ends: unless rows are that short, reading them one after another takes half of the time.
template <class V>
constexpr std::size_t kShortRow = 256 / sizeof(V);

// sum += Σ α_r x_r for four rows at once: a quarter of the traffic on `sum`
template <class V>
MINORANT_INLINE void add_four(const std::array<const V*, 4>& x, const std::array<double, 4>& alpha,
                              double* sum, std::size_t columns) {
    const V *p = x[0], *q = x[1], *r = x[2], *s = x[3];
    const double a = alpha[0], b = alpha[1], c = alpha[2], d = alpha[3];
    for (std::size_t j = 0; j < columns; ++j) sum[j] += (a * p[j] + b * q[j]) + (c * r[j] + d * s[j]);
}

// sum += Σ α_i x_i over neighboring rows; those with α_i = 0 are not read
template <class V>
MINORANT_INLINE void add_block(const V* X, const double* alpha, std::size_t rows, std::size_t columns,
                               double* sum) {
    constexpr std::size_t kLongRow = 16 * kShortRow<V>;  // with so many, the traffic on `sum` counts for more
    if (columns >= kShortRow<V> && columns <= kLongRow) {
        for (std::size_t i = 0; i < rows; ++i, X += columns) {
            if (alpha[i] == 0) continue;
            for (std::size_t j = 0; j < columns; ++j) sum[j] += alpha[i] * static_cast<double>(X[j]);
        }
        return;
    }
    std::array<const V*, 4> x;  // rows that wait for the next sweep
    std::array<double, 4> scale;
    std::size_t waiting = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        x[waiting] = X + i * columns;
        scale[waiting] = alpha[i];
        waiting += alpha[i] != 0;
        if (waiting < 4) continue;
        add_four(x, scale, sum, columns);
        waiting = 0;
    }
    if (waiting == 0) return;
    for (; waiting < 4; ++waiting) x[waiting] = x[0], scale[waiting] = 0;
    add_four(x, scale, sum, columns);
}
MINORANT_CLONES inline void add_rows(const float* X, const double* alpha, std::size_t rows,
                                     std::size_t columns, double* sum) {
    add_block(X, alpha, rows, columns, sum);
}
MINORANT_CLONES inline void add_rows(const double* X, const double* alpha, std::size_t rows,
                                     std::size_t columns, double* sum) {
    add_block(X, alpha, rows, columns, sum);
}

// out[i] = ⟨x_i, w⟩ for kRows neighboring rows at once, the sums of `dot` in registers. What comes after the
// end of a row is read, and left out by `there`.
#if defined(__GNUC__)
typedef double Four __attribute__((vector_size(4 * sizeof(double))));
typedef std::int64_t FourBits __attribute__((vector_size(4 * sizeof(double))));

MINORANT_INLINE Four four(const double* x) {
    Four v;
    std::memcpy(&v, x, sizeof(v));
    return v;
}
MINORANT_INLINE Four four(const float* x) {
    typedef float Floats __attribute__((vector_size(4 * sizeof(float))));
    Floats v;
    std::memcpy(&v, x, sizeof(v));
    return __builtin_convertvector(v, Four);
}

template <std::size_t kRows, class V>
MINORANT_INLINE void some_dots(const V* X, const double* w, const double* last, const FourBits (&there)[2],
                               std::size_t columns, double* out) {
    const std::size_t whole = columns / kLanes * kLanes;
    Four even[kRows] = {}, odd[kRows] = {};
    for (std::size_t j = 0; j < whole; j += kLanes)
        for (std::size_t r = 0; r < kRows; ++r) {
            const V* x = X + r * columns + j;
            even[r] += four(x) * four(w + j);
            odd[r] += four(x + 4) * four(w + j + 4);
        }
    if (whole < columns) {
        for (std::size_t r = 0; r < kRows; ++r) {
            const V* x = X + r * columns + whole;
            even[r] += Four(FourBits(four(x)) & there[0]) * four(last);
            odd[r] += Four(FourBits(four(x + 4)) & there[1]) * four(last + 4);
        }
    }
    for (std::size_t r = 0; r < kRows; ++r) {
        const Four sum = even[r] + odd[r];
        out[r] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    }
}
#endif

template <class V>
MINORANT_INLINE void all_dots(const V* X, const double* w, std::size_t rows, std::size_t columns,
                              double* out) {
    std::size_t i = 0;
#if defined(__GNUC__)
    const std::size_t whole = columns / kLanes * kLanes, tail = columns - whole;
    double last[kLanes] = {};
    std::int64_t bits[kLanes] = {};
    std::copy_n(w + whole, tail, last);
    std::fill_n(bits, tail, -1);
    FourBits there[2];
    std::memcpy(there, bits, sizeof(there));
    std::size_t safe = rows;  // rows with so much after them
    while (tail > 0 && safe > 0 && (rows - safe) * columns + tail < kLanes) --safe;
    if (columns < kShortRow<V>)
        for (; i + 4 <= safe; i += 4) some_dots<4>(X + i * columns, w, last, there, columns, out + i);
    for (; i < safe; ++i) some_dots<1>(X + i * columns, w, last, there, columns, out + i);
#endif
    for (; i < rows; ++i) out[i] = dot(X + i * columns, w, columns);
}
MINORANT_CLONES inline void row_dots(const float* X, const double* w, std::size_t rows, std::size_t columns,
                                     double* out) {
    all_dots(X, w, rows, columns, out);
}
MINORANT_CLONES inline void row_dots(const double* X, const double* w, std::size_t rows, std::size_t columns,
                                     double* out) {
    all_dots(X, w, rows, columns, out);
}

// out[i] = ‖x_i‖² for neighboring rows
MINORANT_CLONES inline void squared_norms(const float* X, std::size_t rows, std::size_t columns,
                                          double* out) {
    for (std::size_t i = 0; i < rows; ++i, X += columns) out[i] = dot(X, X, columns);
}
MINORANT_CLONES inline void squared_norms(const double* X, std::size_t rows, std::size_t columns,
                                          double* out) {
    for (std::size_t i = 0; i < rows; ++i, X += columns) out[i] = dot(X, X, columns);
}

// sum += Σ h_i z_i ⟨z_i, v⟩ over those rows z_i = (x_i, 1), or x_i if not bordered
template <class V>
MINORANT_INLINE void curve_rows(const V* X, std::size_t columns, std::span<const std::uint32_t> rows,
                                const double* h, bool bordered, const double* v, double* sum) {
    const double lift = bordered ? v[columns] : 0.0;
    double border = 0;
    for (std::size_t k = 0; k < rows.size(); k += 4) {
        std::array<const V*, 4> x;
        std::array<double, 4> scale{};
        for (std::size_t r = 0; r < 4; ++r) {
            const bool there = k + r < rows.size();
            x[r] = X + rows[there ? k + r : k] * columns;
            if (there) scale[r] = h[rows[k + r]] * (dot(x[r], v, columns) + lift);
            border += scale[r];
        }
        add_four(x, scale, sum, columns);
    }
    if (bordered) sum[columns] += border;
}
MINORANT_CLONES inline void add_curved(const float* X, std::size_t columns,
                                       std::span<const std::uint32_t> rows, const double* h, bool bordered,
                                       const double* v, double* sum) {
    curve_rows(X, columns, rows, h, bordered, v, sum);
}
MINORANT_CLONES inline void add_curved(const double* X, std::size_t columns,
                                       std::span<const std::uint32_t> rows, const double* h, bool bordered,
                                       const double* v, double* sum) {
    curve_rows(X, columns, rows, h, bordered, v, sum);
}

// sum += h x², entry by entry
MINORANT_CLONES inline void add_squared(const float* x, double h, double* sum, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) sum[j] += h * (static_cast<double>(x[j]) * x[j]);
}
MINORANT_CLONES inline void add_squared(const double* x, double h, double* sum, std::size_t n) {
    for (std::size_t j = 0; j < n; ++j) sum[j] += h * (x[j] * x[j]);
}

// 0 where all values are finite, else NaN
MINORANT_CLONES inline std::array<double, 1> finite_block(const float* x, std::size_t begin,
                                                          std::size_t end) {
    return lane_sums<1>(begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 1>{static_cast<double>(x[i] * 0)};
    });
}
MINORANT_CLONES inline std::array<double, 1> finite_block(const double* x, std::size_t begin,
                                                          std::size_t end) {
    return lane_sums<1>(
        begin, end, [=](std::size_t i) MINORANT_INLINE_LAMBDA { return std::array<double, 1>{x[i] * 0}; });
}
template <class V>
bool all_finite(std::span<const V> values, int threads) {
    return block_sums<1>(values.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
               return finite_block(values.data(), begin, end);
           })[0] == 0;
}

// f(first, last) for blocks of rows
template <class V, class F>
void for_row_blocks(const Dense<V>& X, int threads, F&& f) {
    const std::size_t height = std::max<std::size_t>(1, 8 * kBlock / std::max<std::size_t>(X.columns, 1));
    parallel_blocks((X.rows + height - 1) / height, threads, 2.0 * static_cast<double>(X.data.size()),
                    [&](std::size_t block) { f(block * height, std::min(X.rows, (block + 1) * height)); });
}

// out[i] = reduce(row i)
template <class V, class F>
void for_rows(const Dense<V>& X, std::span<double> out, int threads, F&& reduce) {
    for_row_blocks(X, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) out[i] = reduce(X.row(i));
    });
}

template <class V>
void dense_dot(const Dense<V>& X, std::span<const double> w, std::span<double> out, int threads) {
    for_row_blocks(X, threads, [&](std::size_t first, std::size_t last) {
        row_dots(X.row(first), w.data(), last - first, X.columns, out.data() + first);
    });
}

template <class V>
void dense_row_squares(const Dense<V>& X, std::span<double> out, int threads) {
    for_row_blocks(X, threads, [&](std::size_t first, std::size_t last) {
        squared_norms(X.row(first), last - first, X.columns, out.data() + first);
    });
}

// Whether all values are finite, and so are their products.
template <class V>
bool squares_finite(std::span<const V> values, int threads) {
    const auto [sum] = block_sums<1>(values.size(), threads, 2, [&](std::size_t begin, std::size_t end) {
        std::array<double, 1> square;
        squared_norms(values.data() + begin, 1, end - begin, square.data());
        return square;
    });
    return std::isfinite(sum);
}

template <class V>
void dense_row_norms(const Dense<V>& X, std::span<double> out, int threads) {
    dense_row_squares(X, out, threads);
    for (double& square : out) square = std::sqrt(square);
}

template <class V>
void dense_tdot(const Dense<V>& X, std::span<const double> alpha, std::span<double> out, int threads) {
    const std::size_t blocks = partial_count(X.data.size(), X.columns);
    sum_partials(blocks, out, threads, 2.0 * static_cast<double>(X.data.size()),
                 [&](std::size_t block, double* sum) {
                     const std::size_t first = X.rows * block / blocks, last = X.rows * (block + 1) / blocks;
                     add_rows(X.row(first), alpha.data() + first, last - first, X.columns, sum);
                 });
}

}  // namespace minorant
