// Passes over the rows of a matrix with few columns: scores X w, gradient Xᵀe, products XᵀHX of some columns,
// which are added to zeros.
//
// Dense rows are taken kRows at a time into a buffer of columns, float64 whatever the type and the order of
// the matrix: then the vectors run over examples, however few the columns are. Sums are in a fixed order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "csr.hpp"
#include "dense.hpp"
#include "lanes.hpp"

namespace minorant {

inline constexpr std::size_t kRows = 128;

// Σ a x over kRows
MINORANT_INLINE double block_dot(const double* a, const double* x) {
    double lanes[kLanes] = {};
    for (std::size_t r = 0; r < kRows; r += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[r + lane] * x[r + lane];
    return fold(lanes);
}

MINORANT_CLONES inline void block_scores(const double* x, const double* w, std::size_t columns, double* z) {
    for (std::size_t r = 0; r < kRows; ++r) z[r] = 0;
    for (std::size_t j = 0; j < columns; ++j, x += kRows)
        if (w[j] != 0)
            for (std::size_t r = 0; r < kRows; ++r) z[r] += w[j] * x[r];
}

MINORANT_CLONES inline void block_gradient(const double* x, const double* e, std::size_t columns, double* g) {
    for (std::size_t j = 0; j < columns; ++j) g[j] += block_dot(e, x + j * kRows);
}

// out[j, k] += Σ h x_j x_k for k ≤ j
MINORANT_CLONES inline void block_products(const double* x, const double* h, std::size_t columns,
                                           double* out) {
    double scaled[kRows];
    for (std::size_t j = 0; j < columns; ++j) {
        const double* own = x + j * kRows;
        for (std::size_t r = 0; r < kRows; ++r) scaled[r] = h[r] * own[r];
        double* row = out + j * columns;
        for (std::size_t k = 0; k <= j; ++k) row[k] += block_dot(scaled, x + k * kRows);
    }
}

// Either side of the diagonal becomes the sum of both, tile by tile: rows and columns of a tile stay in the
// cache.
inline void symmetrize(std::span<double> out, std::size_t size) {
    constexpr std::size_t kTile = 32;
    for (std::size_t top = 0; top < size; top += kTile)
        for (std::size_t left = 0; left <= top; left += kTile)
            for (std::size_t j = top; j < std::min(size, top + kTile); ++j)
                for (std::size_t k = left; k < std::min(j, left + kTile); ++k)
                    out[j * size + k] = out[k * size + j] = out[j * size + k] + out[k * size + j];
}

// Some rows of a matrix, or all of them where `rows` is empty.
struct Picked {
    std::size_t all;
    std::span<const std::uint32_t> rows;

    std::size_t size() const { return rows.empty() ? all : rows.size(); }
    std::size_t operator[](std::size_t k) const { return rows.empty() ? k : rows[k]; }
};

template <class V>
class DenseRowProducts {
  public:
    // `by_columns`: X[j·n + i] is entry (i, j), else X[i·p + j]
    DenseRowProducts(const V* X, std::size_t n, std::size_t p, bool by_columns, Picked rows)
        : X_(X), n_(n), p_(p), by_columns_(by_columns), rows_(rows) {}
    DenseRowProducts only(std::span<const std::uint32_t> rows) const {
        return {X_, n_, p_, by_columns_, Picked{n_, rows}};
    }

    std::size_t size() const { return rows_.size(); }
    std::size_t columns() const { return p_; }

    void scores(std::span<const double> w, std::span<double> z) const {
        std::vector<std::size_t> used;
        std::vector<double> weights;
        for (std::size_t j = 0; j < p_; ++j)
            if (w[j] != 0) used.push_back(j), weights.push_back(w[j]);
        double block[kRows];
        each(used, [&](const double* x, std::size_t begin, std::size_t count) {
            block_scores(x, weights.data(), used.size(), block);
            std::copy_n(block, count, z.data() + begin);
        });
    }
    void gradient(std::span<const double> e, std::span<double> out) const {
        std::fill(out.begin(), out.end(), 0.0);
        double block[kRows];
        each(whole(), [&](const double* x, std::size_t begin, std::size_t count) {
            block_gradient(x, padded(e, begin, count, block), p_, out.data());
        });
    }
    void products(std::span<const double> h, std::span<const std::size_t> columns,
                  std::span<double> out) const {
        double block[kRows];
        each(columns, [&](const double* x, std::size_t begin, std::size_t count) {
            block_products(x, padded(h, begin, count, block), columns.size(), out.data());
        });
        symmetrize(out, columns.size());
    }

  private:
    std::vector<std::size_t> whole() const {
        std::vector<std::size_t> all(p_);
        for (std::size_t j = 0; j < p_; ++j) all[j] = j;
        return all;
    }

    static const double* padded(std::span<const double> e, std::size_t begin, std::size_t count, double* to) {
        if (count == kRows) return e.data() + begin;
        std::fill(std::copy_n(e.data() + begin, count, to), to + kRows, 0.0);
        return to;
    }

    // f(columns of the block, where it begins, its rows); rows beyond the last are 0
    template <class F>
    void each(std::span<const std::size_t> columns, F&& f) const {
        std::vector<double> x(columns.size() * kRows);
        const std::size_t n = size();
        for (std::size_t begin = 0; begin < n; begin += kRows) {
            const std::size_t count = std::min(kRows, n - begin);
            if (count < kRows) std::fill(x.begin(), x.end(), 0.0);
            if (by_columns_) {
                for (std::size_t j = 0; j < columns.size(); ++j) {
                    const V* column = X_ + columns[j] * n_;
                    for (std::size_t r = 0; r < count; ++r) x[j * kRows + r] = column[rows_[begin + r]];
                }
            } else {
                for (std::size_t first = 0; first < count; first += kLanes)  // a line of the buffer at a time
                    transpose(columns, begin + first, std::min(kLanes, count - first), x.data() + first);
            }
            f(x.data(), begin, count);
        }
    }

    void transpose(std::span<const std::size_t> columns, std::size_t begin, std::size_t count,
                   double* x) const {
        const V* row[kLanes] = {};
        for (std::size_t r = 0; r < count; ++r) row[r] = X_ + rows_[begin + r] * p_;
        if (count < kLanes) {
            for (std::size_t j = 0; j < columns.size(); ++j)
                for (std::size_t r = 0; r < count; ++r) x[j * kRows + r] = row[r][columns[j]];
            return;
        }
        for (std::size_t j = 0; j < columns.size(); ++j, x += kRows) {
            const std::size_t at = columns[j];
            for (std::size_t r = 0; r < kLanes; ++r) x[r] = row[r][at];
        }
    }

    const V* X_;
    std::size_t n_, p_;
    bool by_columns_;
    Picked rows_;
};

template <class V, class I, class P>
class CsrRowProducts {
  public:
    CsrRowProducts(const Csr<V, I, P>& X, std::size_t columns, Picked rows)
        : X_(X), columns_(columns), rows_(rows) {}
    CsrRowProducts only(std::span<const std::uint32_t> rows) const {
        return {X_, columns_, Picked{X_.rows(), rows}};
    }

    std::size_t size() const { return rows_.size(); }
    std::size_t columns() const { return columns_; }

    void scores(std::span<const double> w, std::span<double> z) const {
        const V* data = X_.data.data();
        const I* indices = X_.indices.data();
        for (std::size_t k = 0; k < size(); ++k) {
            const std::size_t i = rows_[k], end = X_.end(i);
            double a = 0, b = 0;
            std::size_t at = X_.begin(i);
            for (; at + 2 <= end; at += 2) {
                a += data[at] * w[static_cast<std::size_t>(indices[at])];
                b += data[at + 1] * w[static_cast<std::size_t>(indices[at + 1])];
            }
            if (at < end) a += data[at] * w[static_cast<std::size_t>(indices[at])];
            z[k] = a + b;
        }
    }
    void gradient(std::span<const double> e, std::span<double> out) const {
        std::fill(out.begin(), out.end(), 0.0);
        const V* data = X_.data.data();
        const I* indices = X_.indices.data();
        for (std::size_t k = 0; k < size(); ++k) {
            if (e[k] == 0) continue;
            const std::size_t i = rows_[k], end = X_.end(i);
            for (std::size_t at = X_.begin(i); at < end; ++at)
                out[static_cast<std::size_t>(indices[at])] += e[k] * data[at];
        }
    }
    // The order of a row's columns is any: a product is added on either side of the diagonal, and both at
    // last.
    void products(std::span<const double> h, std::span<const std::size_t> columns,
                  std::span<double> out) const {
        const std::size_t size = columns.size();
        std::vector<std::int32_t> place(columns_, -1);
        for (std::size_t j = 0; j < size; ++j) place[columns[j]] = static_cast<std::int32_t>(j);
        std::vector<std::int32_t> at(columns_);
        std::vector<double> x(columns_);
        for (std::size_t k = 0; k < this->size(); ++k) {
            if (h[k] == 0) continue;
            const std::size_t i = rows_[k];
            std::size_t count = 0;
            for (std::size_t q = X_.begin(i); q < X_.end(i); ++q) {
                const std::int32_t j = place[static_cast<std::size_t>(X_.indices[q])];
                at[count] = j;
                x[count] = X_.data[q];
                count += j >= 0;
            }
            for (std::size_t q = 0; q < count; ++q) {
                const double scaled = h[k] * x[q];
                double* row = out.data() + static_cast<std::size_t>(at[q]) * size;
                for (std::size_t r = 0; r <= q; ++r) row[at[r]] += scaled * x[r];
            }
        }
        symmetrize(out, size);
    }

  private:
    Csr<V, I, P> X_;
    std::size_t columns_;
    Picked rows_;
};

// The rows of a matrix with some of its columns alone, numbered in their order.
template <class V>
struct SomeColumns {
    std::vector<V> data;
    std::vector<std::int32_t> indices;
    std::vector<std::int64_t> indptr;

    Csr<V, std::int32_t, std::int64_t> rows() const { return {data, indices, indptr}; }
};

// A bitmap of the columns stays in the nearest cache and answers for most values, without a branch.
template <class V, class I, class P>
SomeColumns<V> some_columns(const Csr<V, I, P>& X, std::size_t n_columns,
                            std::span<const std::int64_t> columns) {
    std::vector<std::uint64_t> wanted((n_columns + 63) / 64);
    std::vector<std::int32_t> place(n_columns);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto j = static_cast<std::size_t>(columns[k]);
        wanted[j / 64] |= std::uint64_t{1} << (j % 64);
        place[j] = static_cast<std::int32_t>(k);
    }
    SomeColumns<V> some;
    some.indptr.assign(X.rows() + 1, 0);
    constexpr std::size_t kChunk = 4096;
    std::uint32_t hits[kChunk + 1];
    const I* index = X.indices.data();
    std::size_t row = 0, size = 0;
    for (std::size_t begin = 0; begin < X.data.size(); begin += kChunk) {
        const std::size_t count = std::min(kChunk, X.data.size() - begin);
        std::size_t found = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const auto j = static_cast<std::size_t>(index[begin + k]);
            hits[found] = static_cast<std::uint32_t>(k);
            found += (wanted[j / 64] >> (j % 64)) & 1;
        }
        some.data.resize(size + found);
        some.indices.resize(size + found);
        for (std::size_t f = 0; f < found; ++f, ++size) {
            const std::size_t k = begin + hits[f];
            for (; k >= X.end(row); ++row) some.indptr[row + 1] = static_cast<std::int64_t>(size);
            some.data[size] = X.data[k];
            some.indices[size] = place[static_cast<std::size_t>(index[k])];
        }
    }
    for (; row < X.rows(); ++row) some.indptr[row + 1] = static_cast<std::int64_t>(size);
    return some;
}

}  // namespace minorant
