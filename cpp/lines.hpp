// h x xᵀ of a sparse row x, added to the lower triangle of a matrix.
#pragma once

#include <cstddef>

#include "lanes.hpp"

namespace minorant {

// A symmetric matrix by its lower triangle, in a square or packed, row after row: where a row begins. Sparse
// rows add to the packed one, half of the memory; tiles of dense ones take the square.
struct Square {
    std::size_t size;
    std::size_t volume() const { return size * size; }
    std::size_t operator()(std::size_t row) const { return row * size; }
};
struct Triangle {
    std::size_t size;
    std::size_t volume() const { return (*this)(size); }
    std::size_t operator()(std::size_t row) const { return row * (row + 1) / 2; }
};

// K lines of the triangle, from the k-th value of the row on: the values before it are read once for all.
template <std::size_t K, class V, class I, class Layout>
MINORANT_INLINE void add_lines(const V* x, const I* column, std::size_t k, double h, double* out, Layout at) {
    double scaled[K], *line[K];
    for (std::size_t j = 0; j < K; ++j) {
        scaled[j] = h * x[k + j];
        line[j] = out + at(static_cast<std::size_t>(column[k + j]));
    }
    for (std::size_t l = 0; l <= k; ++l) {
        const double value = x[l];  // which a compiler cannot know not to change
        const auto to = static_cast<std::size_t>(column[l]);
        for (std::size_t j = 0; j < K; ++j) line[j][to] += scaled[j] * value;
    }
    for (std::size_t j = 1; j < K; ++j)
        for (std::size_t l = k + 1; l <= k + j; ++l) line[j][column[l]] += scaled[j] * x[l];
}

// The columns of the row ascend; in a square they need not, where its two halves are to be added.
template <class V, class I, class Layout>
void add_triangle(const V* x, const I* column, std::size_t size, double h, double* out, Layout at) {
    std::size_t k = 0;
    for (; k + 4 <= size; k += 4) add_lines<4>(x, column, k, h, out, at);
    for (; k < size; ++k) add_lines<1>(x, column, k, h, out, at);
}

}  // namespace minorant
