// The labels of two classes, found and checked in one pass.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace minorant {

// The smaller and the larger value, where there are just two, both of them whole and finite numbers.
template <class T>
std::optional<std::pair<T, T>> two_labels(std::span<const T> y) {
    std::size_t first = 0;  // that differs
    while (first < y.size() && y[first] == y[0]) ++first;
    if (first == y.size()) return {};
    const T a = y[0], b = y[first];
    const auto whole = [](double value) { return std::trunc(value) == value && std::abs(value) <= 0x1p53; };
    if (!whole(static_cast<double>(a)) || !whole(static_cast<double>(b))) return {};
    bool third = false;  // NaN is one too
    for (const T label : y.subspan(first)) third |= (label != a) & (label != b);
    if (third) return {};
    return a < b ? std::pair(a, b) : std::pair(b, a);
}

}  // namespace minorant
