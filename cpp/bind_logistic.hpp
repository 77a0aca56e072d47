// The sums of the logistic loss, with the signatures of src/minorant/kernels/_numpy_logistic.py.
#pragma once

#include "bind.hpp"
#include "logistic_sums.hpp"
#include "softmax_sums.hpp"

namespace minorant {

inline void bind_logistic(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def(
        "logistic_loss",
        [](const Vector& r, const Vector& c) {
            check_length("c", c.size(), r.size());
            const nanobind::gil_scoped_release release;
            return logistic_loss(r.data(), c.data(), r.size());
        },
        "r"_a.noconvert(), "c"_a.noconvert());
    m.def(
        "logistic_conjugate",
        [](const Vector& alpha, const Vector& c) {
            check_length("c", c.size(), alpha.size());
            const nanobind::gil_scoped_release release;
            return logistic_conjugate(alpha.data(), c.data(), alpha.size());
        },
        "alpha"_a.noconvert(), "c"_a.noconvert());
    m.def(
        "logistic_conjugate_slope",
        [](const Vector& alpha, const Vector& c, double s) {
            check_length("c", c.size(), alpha.size());
            const nanobind::gil_scoped_release release;
            return logistic_conjugate_slope(alpha.data(), c.data(), s, alpha.size());
        },
        "alpha"_a.noconvert(), "c"_a.noconvert(), "s"_a);
    m.def(
        "softmax_sums",
        [](const Matrix<double>& V, const Vector& c, double temperature, const Vector& b) {
            check_length("c", c.size(), V.shape(0));
            check_length("b", b.size(), V.shape(1));
            double value = 0;
            const std::size_t k = b.size();
            Result sums = fresh(k, [](std::span<double>) {});
            Fresh<2> squares = fresh<2>({k, k}, [&](std::span<double> out) {
                value = softmax_sums(view(V), view(c), temperature, view(b), std::span(sums.data(), k), out);
            });
            return std::tuple(value, std::move(sums), std::move(squares));
        },
        "V"_a.noconvert(), "c"_a.noconvert(), "temperature"_a, "b"_a.noconvert());
}

}  // namespace minorant
