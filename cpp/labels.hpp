// The labels of two classes, found and checked in one pass.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "lanes.hpp"

namespace minorant {

// How many are the one or the other; NaN is neither.
template <class T>
MINORANT_INLINE double count_of_either(const T* y, std::size_t n, T a, T b) {
    return lane_sums<1>(0, n, [=](std::size_t i) MINORANT_INLINE_LAMBDA {
        return std::array<double, 1>{(y[i] == a) | (y[i] == b) ? 1.0 : 0.0};
    })[0];
}
MINORANT_CLONES inline double count_of(const double* y, std::size_t n, double a, double b) {
    return count_of_either(y, n, a, b);
}
MINORANT_CLONES inline double count_of(const float* y, std::size_t n, float a, float b) {
    return count_of_either(y, n, a, b);
}
MINORANT_CLONES inline double count_of(const std::int64_t* y, std::size_t n, std::int64_t a, std::int64_t b) {
    return count_of_either(y, n, a, b);
}
MINORANT_CLONES inline double count_of(const std::int32_t* y, std::size_t n, std::int32_t a, std::int32_t b) {
    return count_of_either(y, n, a, b);
}

// The smaller and the larger value, where there are just two, both of them whole and finite numbers.
template <class T>
std::optional<std::pair<T, T>> two_labels(std::span<const T> y) {
    std::size_t first = 0;  // that differs
    while (first < y.size() && y[first] == y[0]) ++first;
    if (first == y.size()) return {};
    const T a = y[0], b = y[first];
    const auto whole = [](double value) { return std::trunc(value) == value && std::abs(value) <= 0x1p53; };
    if (!whole(static_cast<double>(a)) || !whole(static_cast<double>(b))) return {};
    if (count_of(y.data() + first, y.size() - first, a, b) < static_cast<double>(y.size() - first)) return {};
    return a < b ? std::pair(a, b) : std::pair(b, a);
}

}  // namespace minorant
