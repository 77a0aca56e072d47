// exp(x) for x ≤ 0 within two units in the last place, in a form that compilers vectorize: exp(x) = 2^k
// exp(r), with x = k log 2 + r and |r| ≤ log(2)/2, where the series of exp needs 14 terms.
#pragma once

#include <bit>
#include <cstdint>

#include "lanes.hpp"

namespace minorant {

MINORANT_INLINE double exp_negative(double x) {
    constexpr double kLog2e = 1.4426950408889634, kHigh = 0.693147180369123816490,
                     kLow = 1.90821492927058770002e-10;
    constexpr double kRound = 6755399441055744.0;  // 1.5 · 2^52: adding it leaves an integer in the last bits
    x = x < -708.0 ? -708.0 : x;
    const double shifted = x * kLog2e + kRound, k = shifted - kRound;
    const double r = (x - k * kHigh) - k * kLow;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const std::uint64_t scale = std::bit_cast<std::uint64_t>(shifted)
                                << 52;  // k, in the place of the exponent
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + scale);
}

}  // namespace minorant
