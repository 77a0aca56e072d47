// Cholesky's factorization M = L Lᵀ of a positive semidefinite matrix in panels of kPanel columns:
//
//     L₁₁ of the panel's own block,    L₂₁ = M₂₁ L₁₁⁻ᵀ,    M₂₂ -= L₂₁ L₂₁ᵀ
//
// The last, nearly all of the work, and the second one go in tiles. A pivot that is rounding alone becomes 0:
// it belongs to a direction without curvature, in which no solution moves.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "dense.hpp"
#include "lanes.hpp"
#include "parallel.hpp"
#include "tiles.hpp"

namespace minorant {

inline constexpr std::size_t kPanel = 48;

// sliver[r, c] = sign · (entry r of row c) for kSliver rows, of which `count` are there
template <class V>
MINORANT_INLINE void pack_columns(const V* const* rows, std::size_t count, std::size_t depth, double sign,
                                  double* sliver) {
    if (count < kSliver) std::fill_n(sliver, depth * kSliver, 0.0);
    for (std::size_t c = 0; c < count; ++c)
        for (std::size_t r = 0; r < depth; ++r)
            sliver[r * kSliver + c] = sign * static_cast<double>(rows[c][r]);
}

// The same for neighbors in a matrix, all of their slivers.
inline void pack_block(const double* M, std::size_t stride, std::size_t count, std::size_t depth, double sign,
                       double* out) {
    for (std::size_t first = 0; first < count; first += kSliver, out += depth * kSliver) {
        const double* rows[kSliver];
        const std::size_t height = std::min(kSliver, count - first);
        for (std::size_t c = 0; c < height; ++c) rows[c] = M + (first + c) * stride;
        pack_columns(rows, height, depth, sign, out);
    }
}

// Its own block of the panel, column by column of a transposed copy; `diagonal` is that of M.
MINORANT_CLONES inline void factorize_block(double* M, std::size_t stride, std::size_t size,
                                            const double* diagonal) {
    double columns[kPanel][kPanel];
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j <= i; ++j) columns[j][i] = M[i * stride + j];
    for (std::size_t j = 0; j < size; ++j) {
        double* const own = columns[j];
        const double pivot = own[j] > 1e-14 * diagonal[j] ? std::sqrt(own[j]) : 0.0;
        own[j] = pivot;
        for (std::size_t i = j + 1; i < size; ++i) own[i] = pivot > 0 ? own[i] / pivot : 0.0;
        for (std::size_t k = j + 1; k < size; ++k) {
            const double scale = own[k];
            double* const other = columns[k];
            MINORANT_INDEPENDENT
            for (std::size_t i = k; i < size; ++i) other[i] -= scale * own[i];
        }
    }
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j <= i; ++j) M[i * stride + j] = columns[j][i];
}

// f(first, last) for strips of rows of a lower triangle, one a thread, that have about as much of it each
template <class F>
void for_strips(std::size_t size, int threads, double work, F&& f) {
    const std::size_t strips = team_size(sliver_count(size), threads, work);
    const auto edge = [&](std::size_t strip) {
        if (strip == strips) return size;
        const double share = std::sqrt(static_cast<double>(strip) / static_cast<double>(strips));
        return static_cast<std::size_t>(share * static_cast<double>(size) / kTileRows + 0.5) * kTileRows;
    };
    parallel_blocks(strips, threads, work, [&](std::size_t strip) {
        const std::size_t first = edge(strip), last = edge(strip + 1);
        if (first < last) f(first, last);
    });
}

// Overwrites the lower triangle of M with L.
inline void factorize(double* M, std::size_t size, int threads = 1) {
    std::vector<double> diagonal(size);
    for (std::size_t i = 0; i < size; ++i) diagonal[i] = M[i * size + i];
    const std::size_t below = size > kPanel ? packed_size(kPanel, size - kPanel) : 0;
    const Packed room(2 * below + packed_size(kPanel, kPanel));
    double *right = room.data(), *left = right + below, *triangle = left + below;
    for (std::size_t begin = 0; begin < size; begin += kPanel) {
        const std::size_t width = std::min(kPanel, size - begin), end = begin + width, rest = size - end;
        double* own = M + begin * size + begin;
        factorize_block(own, size, width, diagonal.data() + begin);
        if (rest == 0) return;
        pack_block(own, size, width, width, -1.0, triangle);
        const double each = 0.1 * static_cast<double>(width * width);
        parallel_blocks(
            sliver_count(rest), threads, each * static_cast<double>(rest), [&](std::size_t block) {
                const std::size_t first = block * kSliver, height = std::min(kSliver, rest - first);
                double *rows = M + (end + first) * size + begin, *x = right + first * width;
                pack_block(rows, size, height, width, 1.0, x);
                solve_sliver(triangle, own, size, width, x);
                for (std::size_t c = 0; c < height; ++c)
                    for (std::size_t r = 0; r < width; ++r) rows[c * size + r] = x[r * kSliver + c];
            });
        for (std::size_t k = 0; k < packed_size(width, rest); ++k) left[k] = -right[k];
        const double work = 0.1 * static_cast<double>(width * rest) * static_cast<double>(rest);
        for_strips(rest, threads, work, [&](std::size_t first, std::size_t last) {
            add_tiles(left, right, width, first, last, M + end * size + end, size);
        });
    }
}

// Overwrites g with the solution of L Lᵀ d = g.
MINORANT_CLONES inline void substitute(const double* L, double* g, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        const double* row = L + i * size;
        g[i] = row[i] > 0 ? (g[i] - dot(row, g, i)) / row[i] : 0.0;
    }
    for (std::size_t i = size; i-- > 0;) {
        const double* row = L + i * size;
        const double value = row[i] > 0 ? g[i] / row[i] : 0.0;
        g[i] = value;
        for (std::size_t j = 0; j < i; ++j) g[j] -= row[j] * value;
    }
}

}  // namespace minorant
