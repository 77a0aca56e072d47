// Newton's method: the passes over the examples, and, declared here, the solvers of `bind_newton_rows.hpp`.
#pragma once

#include <span>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "curvature.hpp"
#include "dual_coordinate.hpp"

namespace minorant {

using Shape = std::tuple<double, double, double, double>;  // kappa, tube, low, high

// f(loss): the logistic one where `logistic`, else the piecewise quadratic one of that shape.
template <class F>
auto with_loss(bool logistic, const Shape& shape, F&& f) {
    const auto [kappa, tube, low, high] = shape;
    return logistic ? f(Logistic{}) : f(Piecewise{kappa, tube, low, high});
}

template <class V>
void bind_newton_rows(nanobind::module_& m);
extern template void bind_newton_rows<float>(nanobind::module_& m);
extern template void bind_newton_rows<double>(nanobind::module_& m);

inline void bind_newton(nanobind::module_& m) {
    nanobind::class_<SweptRows>(m, "SweptRows").def(nanobind::init<bool>(), nanobind::arg("eager") = false);
    bind_newton_rows<float>(m);
    bind_newton_rows<double>(m);
    using namespace nanobind::literals;
    m.def(
        "bends",
        [](bool logistic, const Shape& shape, double mu, const Vector& r, const Vector& c, int threads) {
            check_length("c", c.size(), r.size());
            Result h = fresh(r.size(), [](std::span<double>) {});
            Result alpha = fresh(r.size(), [&](std::span<double> out) {
                with_loss(logistic, shape, [&](const auto& loss) {
                    bends(loss, mu, view(r), view(c), threads, out, std::span(h.data(), h.size()));
                    return 0;
                });
            });
            return std::tuple(std::move(alpha), std::move(h));
        },
        "logistic"_a, "shape"_a, "mu"_a, "r"_a.noconvert(), "c"_a.noconvert(), "threads"_a);
    m.def(
        "excess",
        [](bool logistic, const Shape& shape, const Vector& r, const Vector& alpha, const Vector& c) {
            const bool none = alpha.size() == 0;  // all 0
            check_length("alpha", none ? r.size() : alpha.size(), r.size());
            check_length("c", c.size(), r.size());
            const nanobind::gil_scoped_release release;
            return with_loss(logistic, shape, [&](const auto& loss) {
                return none ? mean_loss(loss, view(r), view(c)) : excess(loss, view(r), view(alpha), view(c));
            });
        },
        "logistic"_a, "shape"_a, "r"_a.noconvert(), "alpha"_a.noconvert(), "c"_a.noconvert());
    m.def(
        "along",
        [](bool logistic, const Shape& shape, double mu, const Vector& r, const Vector& d, const Vector& c,
           double slope, double bend, double accuracy, int threads) {
            check_length("d", d.size(), r.size());
            check_length("c", c.size(), r.size());
            const nanobind::gil_scoped_release release;
            return with_loss(logistic, shape, [&](const auto& loss) {
                Line line(loss, mu, view(r), view(d), view(c), slope, bend, threads);
                return along(line, line(0)[0], accuracy);
            });
        },
        "logistic"_a, "shape"_a, "mu"_a, "r"_a.noconvert(), "d"_a.noconvert(), "c"_a.noconvert(), "slope"_a,
        "bend"_a, "accuracy"_a, "threads"_a);
    m.def(
        "balance",
        [](bool logistic, const Shape& shape, double mu, const Vector& r, const Vector& s, const Vector& c,
           double guess, int threads, double last) {
            check_length("s", s.size(), r.size());
            check_length("c", c.size(), r.size());
            const nanobind::gil_scoped_release release;
            return with_loss(logistic, shape, [&](const auto& loss) {
                return balance(loss, mu, view(r), view(s), view(c), guess, last, threads);
            });
        },
        "logistic"_a, "shape"_a, "mu"_a, "r"_a.noconvert(), "s"_a.noconvert(), "c"_a.noconvert(), "guess"_a,
        "threads"_a, "last"_a = 0.0);
}

}  // namespace minorant
