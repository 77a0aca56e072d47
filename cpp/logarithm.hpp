// log(1 + q) for 0 ≤ q ≤ 1, and log(x) for normal x > 0, within a few units in the last place, in a form that
// compilers vectorize:  log((1 + u)/(1 - u)) = 2u (1 + u²/3 + u⁴/5 + ...).
#pragma once

#include <bit>
#include <cstdint>

#include "lanes.hpp"

namespace minorant {

// 2 artanh(u) for |u| ≤ 0.172
MINORANT_INLINE double twice_artanh(double u) {
    const double s = u * u;
    double p = 1.0 / 21;
    p = p * s + 1.0 / 19;
    p = p * s + 1.0 / 17;
    p = p * s + 1.0 / 15;
    p = p * s + 1.0 / 13;
    p = p * s + 1.0 / 11;
    p = p * s + 1.0 / 9;
    p = p * s + 1.0 / 7;
    p = p * s + 1.0 / 5;
    p = p * s + 1.0 / 3;
    return 2 * u + 2 * u * s * p;
}

// Above q = √2 - 1 a factor √2 is taken out first; below, q is not rounded to that of 1 + q.
MINORANT_INLINE double log1p_unit(double q) {
    constexpr double kRoot = 1.4142135623730951, kHalfLog2 = 0.34657359027997264;
    const bool large = q > kRoot - 1;
    const double top = large ? (1 + q) - kRoot : q, bottom = large ? (1 + q) + kRoot : 2 + q;
    return twice_artanh(top / bottom) + (large ? kHalfLog2 : 0.0);
}

MINORANT_INLINE double log_positive(double x) {
    constexpr double kHigh = 0.693147180369123816490, kLow = 1.90821492927058770002e-10;
    constexpr std::uint64_t kHalfRoot = 0x3FE6A09E667F3BCD;  // of √½
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) - kHalfRoot;
    // the exponent k of x = 2^k m, √½ ≤ m < √2, as a double: its bits in the place of the last ones of 2^52
    const std::uint64_t k = (bits + (std::uint64_t{1024} << 52)) >> 52;
    const double exponent = std::bit_cast<double>(k | 0x4330000000000000) - (4503599627370496.0 + 1024.0);
    const double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) + kHalfRoot);
    return exponent * kHigh + (twice_artanh((m - 1) / (m + 1)) + exponent * kLow);
}

}  // namespace minorant
