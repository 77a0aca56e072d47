// The oracles of whole-sample measures, with the signatures of src/minorant/kernels/_numpy_multivariate.py.
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "multivariate_scan.hpp"

namespace minorant {

inline Flips flips(const Vector& scores, const Vector& y, const Vector& weights) {
    check_length("y", y.size(), scores.size());
    if (weights.size() != 0) check_length("weights", weights.size(), scores.size());
    return {view(scores), view(y), view(weights)};
}

template <class F>
auto without_gil(F&& f) {
    const nanobind::gil_scoped_release release;
    return f();
}

inline std::tuple<double, std::size_t, std::size_t> as_tuple(const Worst& worst) {
    return {worst.value, worst.b, worst.c};
}

inline void bind_multivariate(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def(
        "flip_gains",
        [](const Vector& scores, const Vector& y, const Vector& weights) {
            const Flips all = flips(scores, y, weights);
            std::size_t n_pos = 0;
            Result gains = fresh(scores.size(), [&](std::span<double> out) { n_pos = flip_gains(all, out); });
            return std::tuple(std::move(gains), n_pos);
        },
        "scores"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert());
    m.def(
        "flip_top",
        [](const Vector& scores, const Vector& y, const Vector& weights, const Vector& pos, std::size_t b,
           const Vector& neg, std::size_t c) {
            const Flips all = flips(scores, y, weights);
            if (b > pos.size() || c > neg.size())
                throw InputError("b and c must be at most the sizes of the classes");
            return fresh(scores.size(), [&](std::span<double> out) {
                flip_from(all, cut(view(pos), b), cut(view(neg), c), out);
            });
        },
        "scores"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert(), "pos"_a.noconvert(), "b"_a,
        "neg"_a.noconvert(), "c"_a);
    m.def(
        "flip_from",
        [](const Vector& scores, const Vector& y, const Vector& weights, double pos, double neg) {
            const Flips all = flips(scores, y, weights);
            return fresh(scores.size(),
                         [&](std::span<double> out) { flip_from(all, {pos, 0}, {neg, 0}, out); });
        },
        "scores"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert(), "pos"_a, "neg"_a);
    m.def(
        "f_scan",
        [](const Vector& pos, const Vector& neg, double beta2) {
            return as_tuple(without_gil([&] { return f_scan(view(pos), view(neg), beta2); }));
        },
        "pos"_a.noconvert(), "neg"_a.noconvert(), "beta2"_a);
    m.def(
        "gmean_scan",
        [](const Vector& pos, const Vector& neg) {
            return as_tuple(without_gil([&] { return gmean_scan(view(pos), view(neg)); }));
        },
        "pos"_a.noconvert(), "neg"_a.noconvert());
    m.def(
        "count_scan",
        [](const Vector& pos, const Vector& neg, std::size_t count, double rate) {
            return as_tuple(without_gil([&] { return count_scan(view(pos), view(neg), count, rate); }));
        },
        "pos"_a.noconvert(), "neg"_a.noconvert(), "count"_a, "rate"_a);
}

}  // namespace minorant
