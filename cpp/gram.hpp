// Gram matrices of the rows z_i = (x_i, 1) or x_i of dense data, lower triangles, in panels that are packed
// for the tiles of `tiles.hpp`:
//
//     gram: Zᵀ H Z, a panel has kDepth rows          row_products: ⟨x_k, x_l⟩, a panel has kDepth columns
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cholesky.hpp"
#include "dense.hpp"
#include "lanes.hpp"
#include "parallel.hpp"
#include "tiles.hpp"

namespace minorant {

inline constexpr std::size_t kDepth = 128;

// Packs the rows as they are to b, and scaled by h to a.
template <class V>
MINORANT_INLINE void pack_rows_of(std::span<const V> X, std::size_t columns,
                                  std::span<const std::uint32_t> rows, const double* h, bool bordered,
                                  double* __restrict a, double* __restrict b) {
    const std::size_t depth = rows.size(), whole = columns / kSliver * kSliver, tail = columns - whole;
    const V* end = X.data() + X.size();
    double keep[kSliver] = {}, border[kSliver] = {};
    V last[kSliver] = {};
    std::fill_n(keep, tail, 1.0);
    if (bordered) border[tail] = 1;
    for (std::size_t r = 0; r < depth; ++r) {
        const V* x = X.data() + rows[r] * columns;
        const double scale = h[rows[r]];
        std::size_t at = r * kSliver;
        for (std::size_t j = 0; j < whole; j += kSliver, at += depth * kSliver)
            for (std::size_t c = 0; c < kSliver; ++c) {
                const double value = x[j + c];
                b[at + c] = value;
                a[at + c] = scale * value;
            }
        if (tail == 0 && !bordered) continue;
        const V* from = x + whole;
        if (from + kSliver > end) from = std::copy_n(from, tail, last) - tail;
        for (std::size_t c = 0; c < kSliver; ++c) {
            const double value = keep[c] * from[c] + border[c];
            b[at + c] = value;
            a[at + c] = scale * value;
        }
    }
}
MINORANT_CLONES inline void pack_rows(std::span<const float> X, std::size_t columns,
                                      std::span<const std::uint32_t> rows, const double* h, bool bordered,
                                      double* __restrict a, double* __restrict b) {
    pack_rows_of(X, columns, rows, h, bordered, a, b);
}
MINORANT_CLONES inline void pack_rows(std::span<const double> X, std::size_t columns,
                                      std::span<const std::uint32_t> rows, const double* h, bool bordered,
                                      double* __restrict a, double* __restrict b) {
    pack_rows_of(X, columns, rows, h, bordered, a, b);
}

// The rows from `first` to `last` of the lower triangle, added to `out`.
template <class V>
void add_gram(const Dense<V>& X, std::span<const double> h, std::span<const std::uint32_t> rows,
              bool bordered, std::size_t first, std::size_t last, double* out, std::size_t stride) {
    const std::size_t size = X.columns + (bordered ? 1 : 0), room = packed_size(kDepth, size);
    const Packed packed(2 * room);
    for (std::size_t begin = 0; begin < rows.size(); begin += kDepth) {
        const auto panel = rows.subspan(begin, std::min(kDepth, rows.size() - begin));
        pack_rows(X.data, X.columns, panel, h.data(), bordered, packed.data(), packed.data() + room);
        add_tiles(packed.data(), packed.data() + room, panel.size(), first, last, out, stride);
    }
}

// ⟨x_k, x_l⟩ for those rows, lower triangle
template <class V>
void row_products(const Dense<V>& X, std::span<const std::uint32_t> rows, std::span<double> out) {
    const std::size_t size = rows.size();
    const Packed packed(packed_size(kDepth, size));
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t begin = 0; begin < X.columns; begin += kDepth) {
        const std::size_t depth = std::min(kDepth, X.columns - begin);
        for (std::size_t first = 0; first < size; first += kSliver) {
            const V* own[kSliver];
            const std::size_t height = std::min(kSliver, size - first);
            for (std::size_t c = 0; c < height; ++c) own[c] = X.row(rows[first + c]) + begin;
            pack_columns(own, height, depth, 1.0, packed.data() + first * depth);
        }
        add_tiles(packed.data(), packed.data(), depth, 0, size, out.data(), size);
    }
}

}  // namespace minorant
