// What the bindings share: arrays as they come from Python, and fresh ones that Python will own.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <memory>
#include <span>
#include <string>

#include "error.hpp"

namespace minorant {

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Matrix = nanobind::ndarray<const T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Vector = Array<double>;
template <std::size_t D>
using Fresh = nanobind::ndarray<nanobind::numpy, double, nanobind::ndim<D>>;
using Result = Fresh<1>;

template <class A>
auto view(const A& array) {
    return std::span(array.data(), array.size());
}

inline void check_length(const char* name, std::size_t length, std::size_t expected) {
    if (length != expected)
        throw InputError(std::string(name) + " must have length " + std::to_string(expected) + "; got " +
                         std::to_string(length));
}

// A fresh array, filled by `fill` without the GIL, that Python will own.
template <std::size_t D, class F>
Fresh<D> fresh(const std::array<std::size_t, D>& shape, F&& fill) {
    std::size_t size = 1;
    for (const std::size_t length : shape) size *= length;
    auto values = std::make_unique_for_overwrite<double[]>(size);
    {
        const nanobind::gil_scoped_release release;
        fill(std::span(values.get(), size));
    }
    const nanobind::capsule owner(values.get(), [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Fresh<D>(values.release(), D, shape.data(), owner);
}

template <class F>
Result fresh(std::size_t n, F&& fill) {
    return fresh<1>({n}, fill);
}

}  // namespace minorant
