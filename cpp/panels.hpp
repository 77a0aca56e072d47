// Several numbers for each row or column of a matrix, one for each class, and products with the matrix:
//
//     U = X W ,     G = Xᵀ S        (also with the squares of the entries of X)
//
// Eight classes make a panel: for each row those eight numbers, one row after another; what is beyond the
// last class is 0. A sum is taken in the order of the rows (or of the entries of a row), so that no bit
// depends on threads or vector units.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "dual_coordinate.hpp"
#include "lanes.hpp"
#include "parallel.hpp"
#include "room.hpp"
#include "tiles.hpp"

namespace minorant {

inline constexpr std::size_t kPanelWidth = 8;

struct Panels {
    Panels(std::size_t rows, std::size_t classes, Room& room)
        : rows(rows),
          classes(classes),
          count((classes + kPanelWidth - 1) / kPanelWidth),
          values(count * rows * kPanelWidth, 0.0, room) {}

    double* panel(std::size_t q) { return values.data() + q * rows * kPanelWidth; }
    const double* panel(std::size_t q) const { return values.data() + q * rows * kPanelWidth; }
    double* at(std::size_t q, std::size_t row) { return panel(q) + row * kPanelWidth; }
    const double* at(std::size_t q, std::size_t row) const { return panel(q) + row * kPanelWidth; }

    // From and to a matrix of a row for each row, a column for each class.
    void read(std::span<const double> from) {
        for (std::size_t q = 0; q < count; ++q)
            for (std::size_t i = 0; i < rows; ++i)
                std::copy_n(from.data() + i * classes + q * kPanelWidth, width(q), at(q, i));
    }
    void write(std::span<double> to) const {
        for (std::size_t q = 0; q < count; ++q)
            for (std::size_t i = 0; i < rows; ++i)
                std::copy_n(at(q, i), width(q), to.data() + i * classes + q * kPanelWidth);
    }
    std::size_t width(std::size_t q) const { return std::min(kPanelWidth, classes - q * kPanelWidth); }

    std::size_t rows, classes, count;
    RoomVector<double> values;
};

using PanelRow = Wide<kPanelWidth>::type;

MINORANT_INLINE PanelRow load_panel_row(const double* from) {
    PanelRow row;
    std::memcpy(&row, from, sizeof(PanelRow));
    return row;
}
MINORANT_INLINE void store_panel_row(const PanelRow& row, double* to) {
    std::memcpy(to, &row, sizeof(PanelRow));
}

// out_i = Σ_j x_ij W_j for neighboring dense rows, kRows at once
template <std::size_t kRows, class V>
MINORANT_INLINE void some_scores(const V* X, std::size_t columns, const double* W, double* out) {
    PanelRow sum[kRows] = {};
    for (std::size_t j = 0; j < columns; ++j) {
        const PanelRow w = load_panel_row(W + j * kPanelWidth);
        for (std::size_t r = 0; r < kRows; ++r) sum[r] += static_cast<double>(X[r * columns + j]) * w;
    }
    for (std::size_t r = 0; r < kRows; ++r) store_panel_row(sum[r], out + r * kPanelWidth);
}
template <class V>
MINORANT_INLINE void all_scores(const V* X, std::size_t rows, std::size_t columns, const double* W,
                                double* out) {
    constexpr std::size_t kRows = 4;
    std::size_t i = 0;
    for (; i + kRows <= rows; i += kRows)
        some_scores<kRows>(X + i * columns, columns, W, out + i * kPanelWidth);
    for (; i < rows; ++i) some_scores<1>(X + i * columns, columns, W, out + i * kPanelWidth);
}
MINORANT_WIDE_CLONES inline void panel_scores(const double* X, std::size_t rows, std::size_t columns,
                                              const double* W, double* out) {
    all_scores(X, rows, columns, W, out);
}
MINORANT_WIDE_CLONES inline void panel_scores(const float* X, std::size_t rows, std::size_t columns,
                                              const double* W, double* out) {
    all_scores(X, rows, columns, W, out);
}

// G_j += Σ_i x_ij S_i for `some` columns from `first` on, and all rows
template <class V>
MINORANT_INLINE void all_adjoint(const V* X, std::size_t rows, std::size_t columns, std::size_t first,
                                 std::size_t some, bool squares, const double* S, double* G) {
    constexpr std::size_t kRows = 4;
    const auto entry = [squares](V x) MINORANT_INLINE_LAMBDA {
        const double value = static_cast<double>(x);
        return squares ? value * value : value;
    };
    std::size_t i = 0;
    for (; i + kRows <= rows; i += kRows) {
        PanelRow s[kRows];
        for (std::size_t r = 0; r < kRows; ++r) s[r] = load_panel_row(S + (i + r) * kPanelWidth);
        const V* x = X + i * columns;
        for (std::size_t j = first; j < first + some; ++j) {
            PanelRow g = load_panel_row(G + j * kPanelWidth);
            for (std::size_t r = 0; r < kRows; ++r) g += entry(x[r * columns + j]) * s[r];
            store_panel_row(g, G + j * kPanelWidth);
        }
    }
    for (; i < rows; ++i) {
        const PanelRow s = load_panel_row(S + i * kPanelWidth);
        for (std::size_t j = first; j < first + some; ++j) {
            PanelRow g = load_panel_row(G + j * kPanelWidth);
            g += entry(X[i * columns + j]) * s;
            store_panel_row(g, G + j * kPanelWidth);
        }
    }
}
MINORANT_WIDE_CLONES inline void panel_adjoint(const double* X, std::size_t rows, std::size_t columns,
                                               std::size_t first, std::size_t some, bool squares,
                                               const double* S, double* G) {
    all_adjoint(X, rows, columns, first, some, squares, S, G);
}
MINORANT_WIDE_CLONES inline void panel_adjoint(const float* X, std::size_t rows, std::size_t columns,
                                               std::size_t first, std::size_t some, bool squares,
                                               const double* S, double* G) {
    all_adjoint(X, rows, columns, first, some, squares, S, G);
}

// The same for one sparse row of `count` values.
template <class V, class I>
MINORANT_INLINE void sparse_score(const V* data, const I* indices, std::size_t count, const double* W,
                                  double* out) {
    PanelRow sum{};
    for (std::size_t k = 0; k < count; ++k)
        sum += static_cast<double>(data[k]) *
               load_panel_row(W + static_cast<std::size_t>(indices[k]) * kPanelWidth);
    store_panel_row(sum, out);
}
template <class V, class I>
MINORANT_INLINE void sparse_adjoint(const V* data, const I* indices, std::size_t count, bool squares,
                                    const double* s, double* G) {
    const PanelRow row = load_panel_row(s);
    for (std::size_t k = 0; k < count; ++k) {
        const double value = static_cast<double>(data[k]);
        double* const to = G + static_cast<std::size_t>(indices[k]) * kPanelWidth;
        PanelRow g = load_panel_row(to);
        g += (squares ? value * value : value) * row;
        store_panel_row(g, to);
    }
}
#define MINORANT_SPARSE_PANEL_ROWS(V, I)                                                              \
    MINORANT_CLONES inline void panel_row_score(const V* data, const I* indices, std::size_t count,   \
                                                const double* W, double* out) {                       \
        sparse_score(data, indices, count, W, out);                                                   \
    }                                                                                                 \
    MINORANT_CLONES inline void panel_row_adjoint(const V* data, const I* indices, std::size_t count, \
                                                  bool squares, const double* s, double* G) {         \
        sparse_adjoint(data, indices, count, squares, s, G);                                          \
    }
MINORANT_SPARSE_PANEL_ROWS(double, std::int32_t)
MINORANT_SPARSE_PANEL_ROWS(double, std::int64_t)
MINORANT_SPARSE_PANEL_ROWS(float, std::int32_t)
MINORANT_SPARSE_PANEL_ROWS(float, std::int64_t)
#undef MINORANT_SPARSE_PANEL_ROWS

template <class V>
void scores_of_rows(const DenseRows<V>& rows, std::size_t begin, std::size_t end, const double* W,
                    double* U) {
    panel_scores(rows.X.row(begin), end - begin, rows.X.columns, W, U + begin * kPanelWidth);
}
template <class V, class I, class P>
void scores_of_rows(const CsrRows<V, I, P>& rows, std::size_t begin, std::size_t end, const double* W,
                    double* U) {
    const auto& X = rows.X;
    for (std::size_t i = begin; i < end; ++i)
        panel_row_score(X.data.data() + X.begin(i), X.indices.data() + X.begin(i), X.end(i) - X.begin(i), W,
                        U + i * kPanelWidth);
}

// U = X W
template <class Rows>
void panel_product(const Rows& X, const Panels& W, Panels& U, int threads) {
    constexpr std::size_t kSome = 512;
    const std::size_t blocks = (X.size() + kSome - 1) / kSome;
    const double work = static_cast<double>(X.volume() * W.count * kPanelWidth);
    parallel_blocks(blocks * W.count, threads, work, [&](std::size_t block) {
        const std::size_t q = block / blocks, begin = block % blocks * kSome;
        scores_of_rows(X, begin, std::min(X.size(), begin + kSome), W.panel(q), U.panel(q));
    });
}

// G = Xᵀ S: whole panels, or some columns of one where rows are dense, so that no two threads add to the same
// sum
template <class V>
void panel_transposed(const DenseRows<V>& rows, const Panels& S, Panels& G, bool squares, int threads) {
    constexpr std::size_t kSome = 128;
    const std::size_t columns = rows.X.columns, parts = std::max<std::size_t>(1, columns / kSome);
    const double work = static_cast<double>(rows.volume() * S.count * kPanelWidth);
    std::fill(G.values.begin(), G.values.end(), 0.0);
    parallel_blocks(parts * S.count, threads, work, [&](std::size_t block) {
        const std::size_t q = block / parts, part = block % parts;
        const std::size_t first = part * columns / parts, last = (part + 1) * columns / parts;
        panel_adjoint(rows.X.data.data(), rows.size(), columns, first, last - first, squares, S.panel(q),
                      G.panel(q));
    });
}
template <class V, class I, class P>
void panel_transposed(const CsrRows<V, I, P>& rows, const Panels& S, Panels& G, bool squares, int threads) {
    const auto& X = rows.X;
    const double work = static_cast<double>(rows.volume() * S.count * kPanelWidth);
    std::fill(G.values.begin(), G.values.end(), 0.0);
    parallel_blocks(S.count, threads, work, [&](std::size_t q) {
        for (std::size_t i = 0; i < rows.size(); ++i)
            panel_row_adjoint(X.data.data() + X.begin(i), X.indices.data() + X.begin(i),
                              X.end(i) - X.begin(i), squares, S.at(q, i), G.panel(q));
    });
}

}  // namespace minorant
