// Columns of a working set, contiguous in memory, and what coordinate descent asks of one: products with a
// vector of examples, in float64 whatever the type of the values.
//
// Dense columns are found in a matrix of them (a gathered block, or the whole of a column-major X: no copy);
// sparse ones are gathered from compressed rows by a pass over the indices.
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

namespace minorant {

// y += a x
template <class V>
MINORANT_INLINE void add_scaled(double a, const V* x, double* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}
MINORANT_CLONES inline void add_column(double a, const float* x, double* y, std::size_t n) {
    add_scaled(a, x, y, n);
}
MINORANT_CLONES inline void add_column(double a, const double* x, double* y, std::size_t n) {
    add_scaled(a, x, y, n);
}

// y += a h x
template <class V>
MINORANT_INLINE void add_scaled(double a, const double* h, const V* x, double* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] += a * h[i] * x[i];
}
MINORANT_CLONES inline void add_column(double a, const double* h, const float* x, double* y, std::size_t n) {
    add_scaled(a, h, x, y, n);
}
MINORANT_CLONES inline void add_column(double a, const double* h, const double* x, double* y, std::size_t n) {
    add_scaled(a, h, x, y, n);
}

// Σ h (x - m)²
template <class V>
MINORANT_INLINE double sum_squares(const double* h, const V* x, double m, std::size_t n) {
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        const double d = static_cast<double>(x[i]) - m;
        return std::array{h[i] * d * d};
    })[0];
}
MINORANT_CLONES inline double column_squares(const double* h, const float* x, double m, std::size_t n) {
    return sum_squares(h, x, m, n);
}
MINORANT_CLONES inline double column_squares(const double* h, const double* x, double m, std::size_t n) {
    return sum_squares(h, x, m, n);
}

template <class V>
class DenseColumns {
  public:
    // Column j is row `index[j]` of a row-major matrix of columns.
    DenseColumns(std::span<const V> columns, std::size_t rows, std::span<const std::int64_t> index)
        : base_(columns.data()), rows_(rows), index_(index) {}

    static constexpr double kCost = 1.0;  // of a multiplication and addition, in units of a dense one
    std::size_t size() const { return index_.size(); }
    std::size_t rows() const { return rows_; }
    std::size_t count(std::size_t) const { return rows_; }

    double dot(std::size_t j, const double* e) const { return row_dot(column(j), e, rows_); }
    void add(std::size_t j, double a, double* y) const { add_column(a, column(j), y, rows_); }
    void add(std::size_t j, double a, const double* h, double* y) const {
        add_column(a, h, column(j), y, rows_);
    }
    double squares(std::size_t j, const double* h, double m, double /*mass*/) const {
        return column_squares(h, column(j), m, rows_);
    }
    // `y` back to 0 where the column has a value
    void clear(std::size_t, double* y) const { std::fill_n(y, rows_, 0.0); }

  private:
    const V* column(std::size_t j) const { return base_ + static_cast<std::size_t>(index_[j]) * rows_; }

    const V* base_;
    std::size_t rows_;
    std::span<const std::int64_t> index_;
};

template <class V>
struct SparseColumn {
    const V* value = nullptr;
    const std::int32_t* row = nullptr;
    std::size_t count = 0;
    bool held = false;
};

template <class V>
class SparseColumns {
  public:
    SparseColumns(std::vector<SparseColumn<V>> columns, std::size_t rows)
        : columns_(std::move(columns)), rows_(rows) {}

    static constexpr double kCost = 4.0;
    std::size_t size() const { return columns_.size(); }
    std::size_t rows() const { return rows_; }
    std::size_t count(std::size_t j) const { return columns_[j].count; }

    double dot(std::size_t j, const double* e) const {
        const auto& [x, i, size, held] = columns_[j];
        double a = 0, b = 0, c = 0, d = 0;
        std::size_t k = 0;
        for (; k + 4 <= size; k += 4) {
            a += x[k] * e[i[k]];
            b += x[k + 1] * e[i[k + 1]];
            c += x[k + 2] * e[i[k + 2]];
            d += x[k + 3] * e[i[k + 3]];
        }
        for (; k < size; ++k) a += x[k] * e[i[k]];
        return (a + b) + (c + d);
    }
    void add(std::size_t j, double a, double* y) const {
        const auto& [x, i, size, held] = columns_[j];
        for (std::size_t k = 0; k < size; ++k) y[i[k]] += a * x[k];
    }
    void add(std::size_t j, double a, const double* h, double* y) const {
        const auto& [x, i, size, held] = columns_[j];
        for (std::size_t k = 0; k < size; ++k) y[i[k]] += a * h[i[k]] * x[k];
    }
    double squares(std::size_t j, const double* h, double m, double mass) const {
        const auto& [x, i, size, held] = columns_[j];
        double sum = 0, rest = mass;
        for (std::size_t k = 0; k < size; ++k) {
            const double d = x[k] - m;
            sum += h[i[k]] * d * d;
            rest -= h[i[k]];
        }
        return sum + std::max(rest, 0.0) * m * m;
    }
    void clear(std::size_t j, double* y) const {
        const auto& [x, i, size, held] = columns_[j];
        for (std::size_t k = 0; k < size; ++k) y[i[k]] = 0;
    }

  private:
    std::vector<SparseColumn<V>> columns_;
    std::size_t rows_;
};

// out[j·rows + i] = X[i, columns[j]], eight rows at a time: then a line of `out` is written once, not eight
// times.
template <class V>
void gather_dense(const Dense<V>& X, std::span<const std::int64_t> columns, V* out) {
    constexpr std::size_t kRows = 8;
    for (std::size_t begin = 0; begin < X.rows; begin += kRows) {
        const std::size_t end = std::min(X.rows, begin + kRows);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const V* x = X.data.data() + columns[j];
            for (std::size_t i = begin; i < end; ++i) out[j * X.rows + i] = x[i * X.columns];
        }
    }
}

// The columns of a matrix in compressed rows that have been asked for so far.
template <class V>
class SparseStore {
  public:
    SparseStore(std::size_t rows, std::size_t columns)
        : rows_(rows), columns_(columns), wanted_((columns + 63) / 64) {}
    SparseStore(SparseStore&&) = default;

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_.size(); }
    bool holds(std::int64_t j) const { return columns_[static_cast<std::size_t>(j)].held; }

    // Gathers the columns that are not there yet, by one pass over the indices. A bitmap of the columns
    // wanted stays in the nearest cache and answers for most indices; the places of the others are noted
    // without a branch.
    template <class I, class P>
    void gather(const Csr<V, I, P>& X, std::span<const std::int64_t> columns) {
        if (X.data.empty()) return;
        if (!counted_) {
            for (const I j : X.indices) ++columns_[static_cast<std::size_t>(j)].count;
            counted_ = true;
        }
        std::vector<std::size_t> fresh;
        std::size_t total = 0;
        for (const std::int64_t c : columns) {
            const auto j = static_cast<std::size_t>(c);
            if (columns_[j].held) continue;
            columns_[j].held = true;
            fresh.push_back(j);
            total += columns_[j].count;
        }
        if (fresh.empty()) return;
        auto& values = values_.emplace_back(std::make_unique_for_overwrite<V[]>(total));
        auto& places = places_.emplace_back(std::make_unique_for_overwrite<std::int32_t[]>(total));
        std::vector<std::size_t> next(columns_.size());
        std::size_t start = 0;
        for (const std::size_t j : fresh) {
            columns_[j].value = values.get() + start;
            columns_[j].row = places.get() + start;
            next[j] = start;
            start += columns_[j].count;
            wanted_[j / 64] |= std::uint64_t{1} << (j % 64);
        }
        constexpr std::size_t kChunk = 4096;
        std::uint32_t hits[kChunk];
        const I* index = X.indices.data();
        std::size_t i = 0;
        for (std::size_t begin = 0; begin < X.data.size(); begin += kChunk) {
            const std::size_t size = std::min(kChunk, X.data.size() - begin);
            std::size_t found = 0;
            for (std::size_t k = 0; k < size; ++k) {
                const auto j = static_cast<std::size_t>(index[begin + k]);
                hits[found] = static_cast<std::uint32_t>(k);
                found += (wanted_[j / 64] >> (j % 64)) & 1;
            }
            for (std::size_t f = 0; f < found; ++f) {
                const std::size_t k = begin + hits[f];
                while (k >= X.end(i)) ++i;
                const std::size_t at = next[static_cast<std::size_t>(index[k])]++;
                values[at] = X.data[k];
                places[at] = static_cast<std::int32_t>(i);
            }
        }
        for (const std::size_t j : fresh) wanted_[j / 64] = 0;
    }

    SparseColumns<V> take(std::span<const std::int64_t> columns) const {
        std::vector<SparseColumn<V>> taken;
        taken.reserve(columns.size());
        for (const std::int64_t j : columns) taken.push_back(columns_[static_cast<std::size_t>(j)]);
        return SparseColumns<V>(std::move(taken), rows_);
    }

  private:
    std::size_t rows_;
    std::vector<SparseColumn<V>> columns_;
    std::vector<std::uint64_t> wanted_;
    std::vector<std::unique_ptr<V[]>> values_;
    std::vector<std::unique_ptr<std::int32_t[]>> places_;
    bool counted_ = false;
};

}  // namespace minorant
