// Products with some rows of a matrix: out += Σ value_k x_{row_k} in the order of the list, and Gram
// matrices.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "csr.hpp"
#include "dense.hpp"

namespace minorant {

template <class V, class I, class P>
void add_some_rows(const Csr<V, I, P>& X, std::span<const std::int32_t> rows, std::span<const double> values,
                   std::span<double> out) {
    const V* data = X.data.data();
    const I* indices = X.indices.data();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto i = static_cast<std::size_t>(rows[r]);
        const double a = values[r];
        const std::size_t end = X.end(i);
        for (std::size_t k = X.begin(i); k < end; ++k)
            out[static_cast<std::size_t>(indices[k])] += a * data[k];
    }
}

MINORANT_CLONES inline void add_rows(const std::array<const float*, 4>& x, const std::array<double, 4>& scale,
                                     double* sum, std::size_t columns) {
    add_four(x, scale, sum, columns);
}
MINORANT_CLONES inline void add_rows(const std::array<const double*, 4>& x,
                                     const std::array<double, 4>& scale, double* sum, std::size_t columns) {
    add_four(x, scale, sum, columns);
}

template <class V>
void add_some_rows(const Dense<V>& X, std::span<const std::int32_t> rows, std::span<const double> values,
                   std::span<double> out) {
    for (std::size_t r = 0; r < rows.size(); r += 4) {
        std::array<const V*, 4> x;
        std::array<double, 4> scale{};
        for (std::size_t k = 0; k < 4; ++k) {
            const bool there = r + k < rows.size();
            x[k] = X.row(static_cast<std::size_t>(rows[there ? r + k : r]));
            if (there) scale[k] = values[r + k];
        }
        add_rows(x, scale, out.data(), X.columns);
    }
}

// The inner products of the rows from `first` on with all rows. Columns are taken in blocks: a row is read
// once for all that it is multiplied with.
inline void gram_rows(const Dense<double>& V, std::size_t first, std::span<double> out) {
    constexpr std::size_t kColumns = 1024;
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t begin = 0; begin < V.columns; begin += kColumns) {
        const std::size_t size = std::min(kColumns, V.columns - begin);
        for (std::size_t i = 0; i < V.rows; ++i)
            for (std::size_t j = std::max(first, i); j < V.rows; ++j)
                out[(j - first) * V.rows + i] += row_dot(V.row(j) + begin, V.row(i) + begin, size);
    }
    for (std::size_t j = first; j < V.rows; ++j)
        for (std::size_t i = first; i < j; ++i) out[(i - first) * V.rows + j] = out[(j - first) * V.rows + i];
}

}  // namespace minorant
