// M += Aᵀ B for its lower triangle, the work of all dense systems, in tiles that stay in registers:
//
//     A, B: `depth` rows of `size` entries, packed into slivers of kSliver columns, each row by row, so that
//     a tile reads either from its beginning to its end; what is beyond the last column is 0
//
// An entry of M gets the sum of its products in the order of the rows, one after another: how large a tile is
// and how wide the vectors are changes no bit. Entries above the diagonal may be overwritten with anything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "lanes.hpp"

namespace minorant {

inline constexpr std::size_t kSliver = 16;

inline constexpr std::size_t sliver_count(std::size_t size) { return (size + kSliver - 1) / kSliver; }
inline constexpr std::size_t packed_size(std::size_t depth, std::size_t size) {
    return sliver_count(size) * kSliver * depth;
}

// Room for packed entries, which begins with a line of the cache.
class Packed {
  public:
    explicit Packed(std::size_t size) : room_(std::make_unique_for_overwrite<double[]>(size + 8)) {
        void* begin = room_.get();
        std::size_t bytes = (size + 8) * sizeof(double);
        data_ = static_cast<double*>(std::align(64, size * sizeof(double), begin, bytes));
    }
    double* data() const { return data_; }

  private:
    std::unique_ptr<double[]> room_;
    double* data_;
};

#if defined(__GNUC__)
template <std::size_t kWidth>
struct Wide {
    typedef double type __attribute__((vector_size(kWidth * sizeof(double)), aligned(sizeof(double))));
};
#else
template <std::size_t kWidth>
struct Wide {
    struct type {
        double lane[kWidth];
        friend type operator*(double a, const type& b) {
            type c;
            for (std::size_t k = 0; k < kWidth; ++k) c.lane[k] = a * b.lane[k];
            return c;
        }
        type& operator+=(const type& b) {
            for (std::size_t k = 0; k < kWidth; ++k) lane[k] += b.lane[k];
            return *this;
        }
    };
};
#endif

inline constexpr std::size_t kTileRows = 4;

// out[i, k] += Σ a[r, i] b[r, k] for kTileRows times kVectors vectors; `rows` and `columns` of them are there
template <std::size_t kWidth, std::size_t kVectors>
MINORANT_INLINE void add_tile(const double* a, const double* b, std::size_t depth, double* out,
                              std::size_t stride, std::size_t rows, std::size_t columns) {
    using V = typename Wide<kWidth>::type;
    V sum[kTileRows][kVectors] = {};
    for (std::size_t r = 0; r < depth; ++r, a += kSliver, b += kSliver) {
        V x[kVectors];
        for (std::size_t v = 0; v < kVectors; ++v) std::memcpy(&x[v], b + v * kWidth, sizeof(V));
        for (std::size_t i = 0; i < kTileRows; ++i)
            for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] += a[i] * x[v];
    }
    if (rows >= kTileRows && columns >= kVectors * kWidth) {
        for (std::size_t i = 0; i < kTileRows; ++i)
            for (std::size_t v = 0; v < kVectors; ++v) {
                V old;
                std::memcpy(&old, out + i * stride + v * kWidth, sizeof(V));
                old += sum[i][v];
                std::memcpy(out + i * stride + v * kWidth, &old, sizeof(V));
            }
        return;
    }
    double values[kTileRows][kVectors * kWidth];
    std::memcpy(values, sum, sizeof(values));
    for (std::size_t i = 0; i < std::min(rows, kTileRows); ++i)
        for (std::size_t k = 0; k < std::min(columns, kVectors * kWidth); ++k)
            out[i * stride + k] += values[i][k];
}

// The rows from `first` (a multiple of kTileRows) to `last` of the lower triangle.
template <std::size_t kWidth>
MINORANT_INLINE void add_tiles_of(const double* a, const double* b, std::size_t depth, std::size_t first,
                                  std::size_t last, double* out, std::size_t stride) {
    constexpr std::size_t kColumns = 2 * kWidth;
    for (std::size_t k = 0; k < last; k += kColumns) {
        const double* right = b + k / kSliver * kSliver * depth + k % kSliver;
        for (std::size_t i = std::max(first, k / kTileRows * kTileRows); i < last; i += kTileRows) {
            const double* left = a + i / kSliver * kSliver * depth + i % kSliver;
            double* to = out + i * stride + k;
            if (k + kWidth >= std::min(i + kTileRows, last)) {  // half of the tile is above the diagonal
                add_tile<kWidth, 1>(left, right, depth, to, stride, last - i, last - k);
            } else {
                add_tile<kWidth, 2>(left, right, depth, to, stride, last - i, last - k);
            }
        }
    }
}

// Overwrites kSliver rows x of a panel, packed, with those of x L⁻ᵀ. `negative` has -L packed by rows.
template <std::size_t kWidth>
MINORANT_INLINE void solve_sliver_of(const double* negative, const double* L, std::size_t stride,
                                     std::size_t size, double* x) {
    for (std::size_t j = 0; j < size; j += kTileRows) {
        const double* left = negative + j / kSliver * kSliver * size + j % kSliver;
        for (std::size_t k = 0; k < kSliver; k += 2 * kWidth)
            add_tile<kWidth, 2>(left, x + k, j, x + j * kSliver + k, kSliver, size - j, kSliver);
        for (std::size_t i = j; i < std::min(size, j + kTileRows); ++i) {
            double* own = x + i * kSliver;
            for (std::size_t l = j; l < i; ++l)
                for (std::size_t c = 0; c < kSliver; ++c) own[c] -= L[i * stride + l] * x[l * kSliver + c];
            const double pivot = L[i * stride + i];
            for (std::size_t c = 0; c < kSliver; ++c) own[c] = pivot > 0 ? own[c] / pivot : 0.0;
        }
    }
}

// Each exists once for each vector unit, with as many tiles as its registers hold; the loader picks.
#if defined(MINORANT_VERSION)
MINORANT_VERSION("arch=x86-64-v4")
inline void add_tiles(const double* a, const double* b, std::size_t depth, std::size_t first,
                      std::size_t last, double* out, std::size_t stride) {
    add_tiles_of<8>(a, b, depth, first, last, out, stride);
}
MINORANT_VERSION("arch=x86-64-v3")
inline void add_tiles(const double* a, const double* b, std::size_t depth, std::size_t first,
                      std::size_t last, double* out, std::size_t stride) {
    add_tiles_of<4>(a, b, depth, first, last, out, stride);
}
MINORANT_VERSION("arch=x86-64-v4")
inline void solve_sliver(const double* negative, const double* L, std::size_t stride, std::size_t size,
                         double* x) {
    solve_sliver_of<8>(negative, L, stride, size, x);
}
MINORANT_VERSION("arch=x86-64-v3")
inline void solve_sliver(const double* negative, const double* L, std::size_t stride, std::size_t size,
                         double* x) {
    solve_sliver_of<4>(negative, L, stride, size, x);
}
MINORANT_VERSION("default")
#endif
inline void add_tiles(const double* a, const double* b, std::size_t depth, std::size_t first,
                      std::size_t last, double* out, std::size_t stride) {
    add_tiles_of<2>(a, b, depth, first, last, out, stride);
}
#if defined(MINORANT_VERSION)
MINORANT_VERSION("default")
#endif
inline void solve_sliver(const double* negative, const double* L, std::size_t stride, std::size_t size,
                         double* x) {
    solve_sliver_of<2>(negative, L, stride, size, x);
}

}  // namespace minorant
