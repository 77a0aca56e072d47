// Decimal text to the nearest double.
//
//     number = [+-] (digits [. [digits]] | . digits) [(e|E) [+-] digits]
//
// A decimal m·10^e with m <= 2^53 and |e| <= 22 is one operation on two exact doubles, hence correctly
// rounded; every other one goes to std::from_chars, which is correctly rounded too.
//
// No scan has a bound: the text must hold a character that belongs to no number, such as its newline.
#pragma once

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace minorant {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The value of the plain decimal [first, last) where two exact doubles do not suffice; infinite on overflow.
inline double round_decimal(const char* first, const char* last, std::int64_t exponent) {
    double value = 0.0;
    if (std::from_chars(first, last, value).ec != std::errc::result_out_of_range) return value;
    // 10^(exponent-1) <= value < 10^exponent once `exponent` counts the digits from the first nonzero one on.
    const char* p = first;
    while (*p == '0' || *p == '.') ++p;
    for (; is_digit(*p) || *p == '.'; ++p) exponent += *p != '.';
    return exponent > 0 ? HUGE_VAL : 0.0;
}

// Reads a number at p and moves p past it; false if there is none. Overflow gives an infinite value.
inline bool read_number(const char*& p, double& value) {
    static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char* q = p;
    const bool negative = *q == '-';
    if (negative || *q == '+') ++q;
    const char* const first = q;
    std::uint64_t mantissa = 0;  // wraps beyond 19 digits, and is then not used
    for (; is_digit(*q); ++q) mantissa = 10 * mantissa + static_cast<std::uint64_t>(*q - '0');
    std::ptrdiff_t digits = q - first;
    std::int64_t exponent = 0;
    if (*q == '.') {
        const char* const fraction = ++q;
        for (; is_digit(*q); ++q) mantissa = 10 * mantissa + static_cast<std::uint64_t>(*q - '0');
        digits += q - fraction;
        exponent = fraction - q;
    }
    if (digits == 0) return false;
    if (*q == 'e' || *q == 'E') {
        ++q;
        const bool below = *q == '-';
        if (below || *q == '+') ++q;
        if (!is_digit(*q)) return false;
        std::int64_t power = 0;
        constexpr std::int64_t kEnough = std::int64_t{1} << 50;  // dwarfs the number of digits of any line
        for (; is_digit(*q); ++q) power = std::min(10 * power + (*q - '0'), kEnough);
        exponent += below ? -power : power;
    }
    constexpr bool kExact = FLT_EVAL_METHOD == 0;
    if (kExact && digits <= 19 && mantissa <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
        const auto m = static_cast<double>(mantissa);
        value = exponent < 0 ? m / kPowers[-exponent] : m * kPowers[exponent];
    } else {
        value = round_decimal(first, q, exponent);
    }
    if (negative) value = -value;
    p = q;
    return true;
}

}  // namespace minorant
