// Sums in eight interleaved lanes: an order that vector units of any width can follow, so the compiler may
// use them without being allowed to reorder, and the result does not depend on which one runs.
#pragma once

#include <array>
#include <cstddef>  // on Linux, also what says whether the C library is glibc

// A function so marked exists twice, for AVX2 and for the baseline, and the loader picks (too early for the
// thread sanitizer). It must not be a template. One with much to compute for each value it reads, such as
// exponentials, gains from a third one for AVX-512; others lose. MINORANT_VERSION marks one of several
// functions of the same name, written for one vector unit each.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_THREAD__)
#define MINORANT_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#define MINORANT_WIDE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define MINORANT_VERSION(unit) __attribute__((target(unit)))
#else
#define MINORANT_CLONES
#define MINORANT_WIDE_CLONES
#endif
// What such a function calls must become a part of it.
#if defined(__GNUC__)
#define MINORANT_INLINE __attribute__((always_inline)) inline
#define MINORANT_INLINE_LAMBDA __attribute__((always_inline))
#else
#define MINORANT_INLINE inline
#define MINORANT_INLINE_LAMBDA
#endif
// No turn of the loop that follows writes what another one reads.
#if defined(__GNUC__) && !defined(__clang__)
#define MINORANT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define MINORANT_INDEPENDENT
#endif

namespace minorant {

inline constexpr std::size_t kLanes = 8;

MINORANT_INLINE double fold(const double (&lanes)[kLanes]) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// Σ term(i) for begin ≤ i < end, of K terms at once. Terms first, sums second: compilers vectorize either
// loop, but not the two in one. A term may write as well, but only what no other one reads.
template <std::size_t K, class F>
MINORANT_INLINE std::array<double, K> lane_sums(std::size_t begin, std::size_t end, F&& term) {
    constexpr std::size_t kChunk = 16 * kLanes;
    double lanes[K][kLanes] = {};
    double terms[K][kChunk];
    for (; begin < end; begin += kChunk) {
        const std::size_t size = end - begin < kChunk ? end - begin : kChunk;
        MINORANT_INDEPENDENT
        for (std::size_t j = 0; j < size; ++j) {
            const std::array<double, K> values = term(begin + j);
            for (std::size_t k = 0; k < K; ++k) terms[k][j] = values[k];
        }
        for (std::size_t k = 0; k < K; ++k) {
            std::size_t j = 0;
            for (; j + kLanes <= size; j += kLanes)
                for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[k][lane] += terms[k][j + lane];
            for (std::size_t lane = 0; j + lane < size; ++lane) lanes[k][lane] += terms[k][j + lane];
        }
    }
    std::array<double, K> sums;
    for (std::size_t k = 0; k < K; ++k) sums[k] = fold(lanes[k]);
    return sums;
}

}  // namespace minorant
