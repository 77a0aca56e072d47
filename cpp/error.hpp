// What is wrong with the values that were handed in; Python sees it as minorant.errors.InputError.
#pragma once

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>

namespace minorant {

struct InputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The shortest text that reads back as `value`, as Python writes it, so that both twins say the same.
inline std::string number(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, value,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific);
    std::string result(text, end.ptr);
    if (plain && result.find('.') == std::string::npos) result += ".0";
    return result;
}

}  // namespace minorant
