// Products with a matrix X in compressed sparse rows; values float or double, sums in double.
//
//     csr_dot: X w        csr_tdot: Xᵀ α        csr_row_norms: ‖x_i‖₂        check_csr: the door
//
// Row i holds data[k] at column indices[k] for indptr[i] ≤ k < indptr[i + 1]. Only check_csr looks at the
// indices with suspicion; the others trust a matrix that has passed it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "error.hpp"
#include "lanes.hpp"
#include "parallel.hpp"

namespace minorant {

template <class V, class I, class P>
struct Csr {
    std::span<const V> data;
    std::span<const I> indices;
    std::span<const P> indptr;

    std::size_t rows() const { return indptr.size() - 1; }
    std::size_t begin(std::size_t row) const { return static_cast<std::size_t>(indptr[row]); }
    std::size_t end(std::size_t row) const { return static_cast<std::size_t>(indptr[row + 1]); }

    // Where block `block` of `blocks` begins when all are to hold the same number of rows + values.
    std::size_t block_begin(std::size_t block, std::size_t blocks) const {
        const std::size_t target = (rows() + data.size()) / blocks * block;
        if (block == blocks) return rows();
        std::size_t low = 0, high = rows();
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (middle + begin(middle) < target) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
};

// The greatest index, a negative one beyond all others.
MINORANT_CLONES inline std::uint32_t greatest(const std::int32_t* indices, std::size_t n) {
    std::uint32_t most = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const auto j = static_cast<std::uint32_t>(indices[k]);
        most = j > most ? j : most;
    }
    return most;
}
MINORANT_CLONES inline std::uint64_t greatest(const std::int64_t* indices, std::size_t n) {
    std::uint64_t most = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const auto j = static_cast<std::uint64_t>(indices[k]);
        most = j > most ? j : most;
    }
    return most;
}

template <class I, class P>
void check_csr(std::span<const I> indices, std::span<const P> indptr, std::int64_t n_rows,
               std::int64_t n_columns) {
    using std::to_string;
    if (n_rows < 0 || indptr.size() != static_cast<std::size_t>(n_rows) + 1)
        throw InputError("sparse matrix with " + to_string(n_rows) + " rows has an indptr of length " +
                         to_string(indptr.size()) + ", not " + to_string(n_rows + 1));
    if (indptr.front() != 0 || static_cast<std::uint64_t>(indptr.back()) != indices.size() ||
        !std::is_sorted(indptr.begin(), indptr.end()))
        throw InputError(
            "sparse matrix has a bad indptr: it must rise from 0 to the number of stored values");
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<I>::max()) + 1;
    const auto limit = std::min(most, static_cast<std::uint64_t>(std::max<std::int64_t>(n_columns, 0)));
    if (indices.empty() || greatest(indices.data(), indices.size()) < limit) return;
    const auto outside = [limit](I j) { return j < 0 || static_cast<std::uint64_t>(j) >= limit; };
    const auto k = std::find_if(indices.begin(), indices.end(), outside) - indices.begin();
    const auto row = std::upper_bound(indptr.begin(), indptr.end(), static_cast<P>(k)) - indptr.begin() - 1;
    throw InputError("sparse matrix has column index " + to_string(indices[static_cast<std::size_t>(k)]) +
                     " in row " + to_string(row) + "; allowed: 0 to " + to_string(n_columns - 1));
}

// Whether a row has two values in one column; its columns may be in any order.
template <class I, class P>
bool has_duplicates(std::span<const I> indices, std::span<const P> indptr, std::size_t n_columns) {
    std::vector<P> seen(n_columns, 0);  // 1 + the last row with a value in the column
    for (std::size_t i = 0; i + 1 < indptr.size(); ++i) {
        bool any = false;
        for (auto k = static_cast<std::size_t>(indptr[i]); k < static_cast<std::size_t>(indptr[i + 1]); ++k) {
            P& last = seen[static_cast<std::size_t>(indices[k])];
            any |= last == static_cast<P>(i + 1);
            last = static_cast<P>(i + 1);
        }
        if (any) return true;
    }
    return false;
}

// out[i] = reduce(row i), for rows in blocks of about equal work.
template <class V, class I, class P, class F>
void for_rows(const Csr<V, I, P>& X, std::span<double> out, int threads, F&& reduce) {
    const std::size_t size = X.rows() + X.data.size();
    const std::size_t blocks = size / (8 * kBlock) + 1;
    parallel_blocks(blocks, threads, 2.0 * static_cast<double>(size), [&](std::size_t block) {
        const std::size_t last = X.block_begin(block + 1, blocks);
        for (std::size_t i = X.block_begin(block, blocks); i < last; ++i)
            out[i] = reduce(X.begin(i), X.end(i));
    });
}

template <class V, class I, class P>
void csr_dot(const Csr<V, I, P>& X, std::span<const double> w, std::span<double> out, int threads) {
    const V* data = X.data.data();
    const I* indices = X.indices.data();
    const double* weight = w.data();
    for_rows(X, out, threads, [=](std::size_t k, std::size_t end) {
        double a = 0, b = 0, c = 0, d = 0;  // independent sums hide the latency of the additions
        for (; k + 4 <= end; k += 4) {
            a += data[k] * weight[indices[k]];
            b += data[k + 1] * weight[indices[k + 1]];
            c += data[k + 2] * weight[indices[k + 2]];
            d += data[k + 3] * weight[indices[k + 3]];
        }
        for (; k < end; ++k) a += data[k] * weight[indices[k]];
        return (a + b) + (c + d);
    });
}

template <class V, class I, class P>
void csr_row_norms(const Csr<V, I, P>& X, std::span<double> out, int threads) {
    const V* data = X.data.data();
    const auto square = [=](std::size_t k) { return static_cast<double>(data[k]) * data[k]; };
    for_rows(X, out, threads, [=](std::size_t k, std::size_t end) {
        double a = 0, b = 0, c = 0, d = 0;
        for (; k + 4 <= end; k += 4)
            a += square(k), b += square(k + 1), c += square(k + 2), d += square(k + 3);
        for (; k < end; ++k) a += square(k);
        return std::sqrt((a + b) + (c + d));
    });
}

// Each block of rows adds into a vector of its own, on lines of memory that no other core writes to;
// out = ((first + second) + third) + ...
template <class Scatter>
void sum_partials(std::size_t blocks, std::span<double> out, int threads, double work, Scatter&& scatter) {
    constexpr std::size_t kLines = 16;
    const std::size_t columns = out.size(), stride = (columns + 2 * kLines - 1) / kLines * kLines;
    const bool alone = team_size(blocks, threads, work) == 1;
    const std::size_t kept = blocks < 2 ? 0 : alone ? 1 : blocks - 1;
    const auto partials = std::make_unique_for_overwrite<double[]>(kept * stride);
    const auto fill = [&](std::size_t block, double* sum) {
        std::fill_n(sum, columns, 0.0);
        scatter(block, sum);
    };
    if (alone) {  // one vector, still in the cache, serves every block after the first
        fill(0, out.data());
        for (std::size_t block = 1; block < blocks; ++block) {
            fill(block, partials.get());
            for (std::size_t j = 0; j < columns; ++j) out[j] += partials[j];
        }
        return;
    }
    parallel_blocks(blocks, threads, work, [&](std::size_t block) {
        fill(block, block == 0 ? out.data() : partials.get() + (block - 1) * stride);
    });
    parallel_ranges(columns, threads, static_cast<double>(kept * columns),
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t block = 0; block < kept; ++block)
                            for (std::size_t j = begin; j < end; ++j) out[j] += partials[block * stride + j];
                    });
}

// Blocks worth their vectors: adding those up stays a fraction of the product itself.
inline std::size_t partial_count(std::size_t values, std::size_t columns) {
    return std::clamp<std::size_t>(values / (4 * std::max<std::size_t>(columns, 1)), 1, 16);
}

template <class V, class I, class P>
void csr_tdot(const Csr<V, I, P>& X, std::span<const double> alpha, std::span<double> out, int threads) {
    const V* data = X.data.data();
    const I* indices = X.indices.data();
    const std::size_t blocks = partial_count(X.data.size(), out.size());
    sum_partials(blocks, out, threads, 2.0 * static_cast<double>(X.data.size()),
                 [&](std::size_t block, double* sum) {
                     const std::size_t last = X.block_begin(block + 1, blocks);
                     for (std::size_t i = X.block_begin(block, blocks); i < last; ++i) {
                         const double a = alpha[i];
                         if (a == 0) continue;
                         const std::size_t end = X.end(i);
                         for (std::size_t k = X.begin(i); k < end; ++k) sum[indices[k]] += a * data[k];
                     }
                 });
}

}  // namespace minorant
