// Passes over the rows of a matrix with few columns: scores X w, gradient Xᵀe, products XᵀHX of some columns,
// which are added to zeros.
//
// Products of dense columns are taken kRows rows at a time in the tiles of `tiles.hpp`, float64 whatever the
// type and the order of the matrix; rows with h = 0 are left out. Sums are in a fixed order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "dense.hpp"
#include "lanes.hpp"
#include "lines.hpp"
#include "tiles.hpp"

namespace minorant {

inline constexpr std::size_t kRows = 128;

// z += w x
MINORANT_CLONES inline void add_scaled(const float* x, double w, std::size_t n, double* z) {
    for (std::size_t r = 0; r < n; ++r) z[r] += w * x[r];
}
MINORANT_CLONES inline void add_scaled(const double* x, double w, std::size_t n, double* z) {
    for (std::size_t r = 0; r < n; ++r) z[r] += w * x[r];
}

// out += Σ e_r x_r over neighboring rows, kStrip columns at a time: so many sums stay in registers. The last
// strip may begin within the one before it, which has counted those columns.
inline constexpr std::size_t kStrip = 32;

template <class V>
MINORANT_INLINE void add_strips(const V* X, std::size_t columns, const double* e, std::size_t rows,
                                double* out) {
    for (std::size_t done = 0; done < columns; done += kStrip) {
        const std::size_t first = std::min(done, columns - kStrip);
        const V* x = X + first;
        double sum[kStrip] = {};
        for (std::size_t r = 0; r < rows; ++r, x += columns)
            for (std::size_t c = 0; c < kStrip; ++c) sum[c] += e[r] * x[c];
        for (std::size_t c = done - first; c < kStrip; ++c) out[first + c] += sum[c];
    }
}
MINORANT_CLONES inline void block_gradient(const float* X, std::size_t columns, const double* e,
                                           std::size_t rows, double* out) {
    add_strips(X, columns, e, rows, out);
}
MINORANT_CLONES inline void block_gradient(const double* X, std::size_t columns, const double* e,
                                           std::size_t rows, double* out) {
    add_strips(X, columns, e, rows, out);
}

// Packs those columns of some rows for `add_tiles`: as they are to b, and scaled by h to a. Entry (r, j) is
// X[r·stride + j·step]; what comes after the columns of a row is read up to `end`, and left out.
template <class V>
MINORANT_INLINE void pack_chosen_of(const V* X, const V* end, std::size_t stride, std::size_t step,
                                    std::span<const std::uint32_t> rows, const double* h,
                                    std::span<const std::size_t> columns, double* __restrict a,
                                    double* __restrict b) {
    const std::size_t depth = rows.size();
    for (std::size_t k = 0; k < columns.size(); k += kSliver, a += depth * kSliver, b += depth * kSliver) {
        const std::size_t count = std::min(kSliver, columns.size() - k);
        const std::size_t* at = columns.data() + k;
        const bool neighbors = step == 1 && at[count - 1] - at[0] == count - 1;
        double keep[kSliver] = {};
        std::fill_n(keep, count, 1.0);
        for (std::size_t r = 0; r < depth; ++r) {
            const V* x = X + rows[r] * stride;
            const double scale = h[rows[r]];
            double *scaled = a + r * kSliver, *plain = b + r * kSliver;
            if (neighbors && end - x >= static_cast<std::ptrdiff_t>(at[0] + kSliver)) {
                for (std::size_t c = 0; c < kSliver; ++c) plain[c] = keep[c] * x[at[0] + c];
            } else {
                for (std::size_t c = 0; c < count; ++c) plain[c] = x[at[c] * step];
                for (std::size_t c = count; c < kSliver; ++c) plain[c] = 0;
            }
            for (std::size_t c = 0; c < kSliver; ++c) scaled[c] = scale * plain[c];
        }
    }
}
MINORANT_CLONES inline void pack_chosen(const float* X, const float* end, std::size_t stride,
                                        std::size_t step, std::span<const std::uint32_t> rows,
                                        const double* h, std::span<const std::size_t> columns, double* a,
                                        double* b) {
    pack_chosen_of(X, end, stride, step, rows, h, columns, a, b);
}
MINORANT_CLONES inline void pack_chosen(const double* X, const double* end, std::size_t stride,
                                        std::size_t step, std::span<const std::uint32_t> rows,
                                        const double* h, std::span<const std::size_t> columns, double* a,
                                        double* b) {
    pack_chosen_of(X, end, stride, step, rows, h, columns, a, b);
}

// What is above the diagonal becomes what is below it, tile by tile: rows and columns of a tile stay in the
// cache.
inline void mirror(std::span<double> out, std::size_t size) {
    constexpr std::size_t kTile = 32;
    for (std::size_t top = 0; top < size; top += kTile)
        for (std::size_t left = 0; left <= top; left += kTile)
            for (std::size_t j = top; j < std::min(size, top + kTile); ++j)
                for (std::size_t k = left; k < std::min(j, left + kTile); ++k)
                    out[k * size + j] = out[j * size + k];
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

// Dense rows, or some of them, which are copied: a sample is read many times.
template <class V>
class DenseRowProducts {
  public:
    // `by_columns`: X[j·n + i] is entry (i, j), else X[i·p + j]
    DenseRowProducts(const V* X, std::size_t n, std::size_t p, bool by_columns)
        : X_(X), n_(n), p_(p), by_columns_(by_columns) {}
    DenseRowProducts only(std::span<const std::uint32_t> rows) const {
        auto some = std::make_shared_for_overwrite<V[]>(rows.size() * p_);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            V* to = some.get() + k * p_;
            if (by_columns_) {
                for (std::size_t j = 0; j < p_; ++j) to[j] = X_[j * n_ + rows[k]];
            } else {
                std::copy_n(X_ + rows[k] * p_, p_, to);
            }
        }
        DenseRowProducts sample(some.get(), rows.size(), p_, false);
        sample.own_ = std::move(some);
        return sample;
    }

    std::size_t size() const { return n_; }
    std::size_t columns() const { return p_; }

    void scores(std::span<const double> w, std::span<double> z) const {
        if (!by_columns_) return row_dots(X_, w.data(), n_, p_, z.data());
        std::fill(z.begin(), z.end(), 0.0);
        for (std::size_t begin = 0; begin < n_; begin += kRows)
            for (std::size_t j = 0; j < p_; ++j)
                if (w[j] != 0)
                    add_scaled(X_ + j * n_ + begin, w[j], std::min(kRows, n_ - begin), z.data() + begin);
    }
    void gradient(std::span<const double> e, std::span<double> out) const {
        if (by_columns_) return row_dots(X_, e.data(), p_, n_, out.data());
        std::fill(out.begin(), out.end(), 0.0);
        if (p_ < kStrip) return add_rows(X_, e.data(), n_, p_, out.data());
        for (std::size_t begin = 0; begin < n_; begin += kRows)
            block_gradient(X_ + begin * p_, p_, e.data() + begin, std::min(kRows, n_ - begin), out.data());
    }
    void products(std::span<const double> h, std::span<const std::size_t> columns,
                  std::span<double> out) const {
        const std::size_t size = columns.size(), room = packed_size(kRows, size);
        const std::size_t stride = by_columns_ ? 1 : p_, step = by_columns_ ? n_ : 1;
        const Packed packed(2 * room);
        double *a = packed.data(), *b = a + room;
        std::vector<std::uint32_t> used(n_);
        std::size_t count = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            used[count] = static_cast<std::uint32_t>(i);
            count += h[i] != 0;
        }
        for (std::size_t begin = 0; begin < count; begin += kRows) {
            const std::span rows(used.data() + begin, std::min(kRows, count - begin));
            pack_chosen(X_, X_ + n_ * p_, stride, step, rows, h.data(), columns, a, b);
            add_tiles(a, b, rows.size(), 0, size, out.data(), size);
        }
        mirror(out, size);
    }

  private:
    const V* X_;
    std::size_t n_, p_;
    bool by_columns_;
    std::shared_ptr<V[]> own_;
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
            add_triangle(x.data(), at.data(), count, h[k], out.data(), Square{size});
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
