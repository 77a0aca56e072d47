// The solvers of linear models: dual coordinates and Newton's method, for rows of values of one type. They
// take long to compile: each type has a file of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "bind_newton.hpp"
#include "dual_coordinate.hpp"
#include "least_squares.hpp"
#include "multinomial.hpp"
#include "newton.hpp"
#include "newton_system.hpp"
#include "parallel.hpp"
#include "room.hpp"
#include "whole_fit.hpp"

namespace minorant {

using Rules = std::tuple<double, double, double, double, double, int, int>;  // the fields of NewtonRules
using SweepNumbers = std::tuple<bool, int, int, int, double, double, double, double, double, double, double,
                                double, double, double, double, double, double, double,
                                double>;  // those of SweepRules
using BiasNumbers = std::tuple<int, double, double, double, double, double, double, double,
                               double>;  // those of BiasRules
using Mutable = nanobind::ndarray<double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// The kernels that read rows. A matrix is the arguments X..., named `names`; `rows` makes rows of them.
template <class Make, class Names, class... X>
void bind_rows(nanobind::module_& m, const std::string& prefix, Make rows, const Names& names,
               std::tuple<X...>*) {
    using namespace nanobind::literals;
    namespace nb = nanobind;
    const auto define = [&](const char* name, auto&& kernel, auto... arguments) {
        std::apply([&](auto... x) { m.def((prefix + name).c_str(), kernel, x.noconvert()..., arguments...); },
                   names);
    };
    define(
        "_sweeps",
        [rows](const X&... x, bool logistic, const Shape& shape, const Vector& scale, const Vector& offset,
               const Vector& sign, const Vector& norm2, double rho, int most, double enough,
               std::uint64_t seed, Mutable t, Mutable w, double bias, SweptRows& swept) {
            const auto matrix = rows(x...);
            const auto examples = matrix.rows();
            for (const auto& [name, size] : {std::pair{"scale", scale.size()},
                                             {"offset", offset.size()},
                                             {"sign", sign.size()},
                                             {"norm2", norm2.size()},
                                             {"t", t.size()}})
                check_length(name, size, examples.size());
            const CoordinateProblem p{view(scale), view(offset), view(sign), view(norm2), rho};
            Sweeps done{};
            {
                const nb::gil_scoped_release release;
                Room room(5 * examples.size() / 2);
                done = with_loss(logistic, shape, [&](const auto& loss) {
                    CoordinateAscent ascent(examples, loss, p, seed, std::span(t.data(), t.size()),
                                            std::span(w.data(), w.size()), bias, swept, room);
                    const Sweeps found = ascent.run(most, enough);
                    bias = ascent.bias();
                    return found;
                });
            }
            return std::tuple(bias, done.excess, done.count);
        },
        "logistic"_a, "shape"_a, "scale"_a.noconvert(), "offset"_a.noconvert(), "sign"_a.noconvert(),
        "norm2"_a.noconvert(), "rho"_a, "most"_a, "enough"_a, "seed"_a, "t"_a.noconvert(), "w"_a.noconvert(),
        "bias"_a, "swept"_a);
    define(
        "_newton",
        [rows](const X&... x, bool logistic, const Shape& shape, const Vector& c, const Vector& offset,
               const Vector& sign, double lam, bool bias, Mutable w, Mutable image, Mutable alpha,
               Mutable dual_image, Mutable h, Mutable center, Mutable scalars, const Rules& rules, double tol,
               double primal, double budget, int threads) {
            const auto matrix = rows(x...);
            const auto examples = matrix.rows();
            for (const auto& [name, size] : {std::pair{"c", c.size()},
                                             {"offset", offset.size()},
                                             {"sign", sign.size()},
                                             {"image", image.size()},
                                             {"alpha", alpha.size()},
                                             {"h", h.size()},
                                             {"center", center.size() == 0 ? image.size() : center.size()}})
                check_length(name, size, examples.size());
            check_length("dual_image", dual_image.size(), w.size());
            check_length("scalars", scalars.size(), 3);
            const auto span = [](Mutable& a) { return std::span(a.data(), a.size()); };
            const NewtonProblem p{view(c), view(offset), view(sign), lam, bias, threads};
            NewtonPoint at{span(w),      span(image), span(alpha), span(dual_image), span(h),
                           span(center), scalars(0),  scalars(1),  scalars(2)};
            NewtonSteps done{};
            {
                const nb::gil_scoped_release release;
                const Crew crew(threads, 2 * static_cast<double>(examples.volume()));
                Room room(5 * examples.size() / 2);
                done = with_loss(logistic, shape, [&](const auto& loss) {
                    return Newton(examples, loss, p, std::make_from_tuple<NewtonRules>(rules), at, room)
                        .run(tol, primal, budget);
                });
            }
            scalars(0) = at.mu, scalars(1) = at.bias, scalars(2) = at.iterations;
            return std::tuple(done.gap, done.steps, done.products);
        },
        "logistic"_a, "shape"_a, "c"_a.noconvert(), "offset"_a.noconvert(), "sign"_a.noconvert(), "lam"_a,
        "bias"_a, "w"_a.noconvert(), "image"_a.noconvert(), "alpha"_a.noconvert(), "dual_image"_a.noconvert(),
        "h"_a.noconvert(), "center"_a.noconvert(), "scalars"_a.noconvert(), "rules"_a, "tol"_a, "primal"_a,
        "budget"_a, "threads"_a);
    define(
        "_whole_fit",
        [rows](const X&... x, std::size_t columns, const Vector& y, const Vector& c, bool logistic,
               const Shape& shape, double offset, double lam, bool bias, const SweepNumbers& sweeps,
               const BiasNumbers& pacing, const Rules& newton, double wide, double iterations, double tol,
               double budget, int threads) {
            const auto matrix = rows(x...);
            const auto examples = matrix.rows();
            check_length("y", y.size(), examples.size());
            check_length("c", c.size() == 0 ? y.size() : c.size(), y.size());
            WholeFit fit{};
            Result alpha = fresh(y.size(), [](std::span<double>) {});
            Result w = fresh(columns, [&](std::span<double> out) {
                const Crew crew(threads, 2 * static_cast<double>(examples.volume()));
                Room room(19 * examples.size() / 2 + 5 * columns + 1024);
                fit = with_loss(logistic, shape, [&](const auto& loss) {
                    const Classifier problem(examples, loss, view(y), view(c), offset, lam, bias, threads,
                                             room);
                    const NewtonCall call{std::make_from_tuple<NewtonRules>(newton), wide, iterations,
                                          budget};
                    return whole_fit(problem, std::make_from_tuple<SweepRules>(sweeps),
                                     std::make_from_tuple<BiasRules>(pacing), call, tol, out,
                                     std::span(alpha.data(), alpha.size()));
                });
            });
            return std::tuple(std::move(w), std::move(alpha), fit.primal, fit.dual, fit.bias, fit.products);
        },
        "columns"_a, "y"_a.noconvert(), "c"_a.noconvert(), "logistic"_a, "shape"_a, "offset"_a, "lam"_a,
        "bias"_a, "sweeps"_a, "pacing"_a, "newton"_a, "wide"_a, "iterations"_a, "tol"_a, "budget"_a,
        "threads"_a);
    define(
        "_least_squares",
        [rows](const X&... x, std::size_t columns, const Vector& y, const Vector& c, double lam, bool bias,
               double tol, double budget, int threads) {
            const auto matrix = rows(x...);
            const auto examples = matrix.rows();
            check_length("y", y.size(), examples.size());
            check_length("c", c.size() == 0 ? y.size() : c.size(), y.size());
            WholeFit fit{};
            Result alpha = fresh(y.size(), [](std::span<double>) {});
            Result w = fresh(columns, [&](std::span<double> out) {
                const Crew crew(threads, 2 * static_cast<double>(examples.volume()));
                Room room(9 * examples.size() / 2 + 1024);
                fit = LeastSquares(examples, view(y), view(c), lam, bias, threads, room, out,
                                   std::span(alpha.data(), alpha.size()))
                          .run(tol, budget);
            });
            return std::tuple(std::move(w), std::move(alpha), fit.primal, fit.dual, fit.bias, fit.products);
        },
        "columns"_a, "y"_a.noconvert(), "c"_a.noconvert(), "lam"_a, "bias"_a, "tol"_a, "budget"_a,
        "threads"_a);
    define(
        "_multinomial",
        [rows](const X&... x, const Array<std::int32_t>& label, const Vector& c, double lam, bool bias,
               Mutable w, Mutable image, Mutable b, Mutable alpha, Mutable dual_image, double tol,
               double budget, int threads) {
            const auto matrix = rows(x...);
            const auto examples = matrix.rows();
            const std::size_t n = examples.size(), k = b.size();
            check_length("label", label.size(), n);
            check_length("c", c.size(), n);
            check_length("image", image.size(), n * k);
            check_length("alpha", alpha.size(), n * k);
            check_length("dual_image", dual_image.size(), w.size());
            const nb::gil_scoped_release release;
            const Crew crew(threads, 2 * static_cast<double>(examples.volume()));
            const std::size_t columns = w.size() / k,
                              width = (k + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
            Room room((3 * n + 7 * columns) * width + 1024);
            const MultinomialProblem problem{view(c), view(label), lam, bias, threads};
            const auto span = [](const Mutable& v) { return std::span(v.data(), v.size()); };
            const MultinomialSteps done =
                MultinomialNewton(examples, problem, columns, k, room)
                    .run(span(w), span(image), span(b), span(alpha), span(dual_image), tol, budget);
            return std::tuple(done.gap, done.steps, done.products, done.feasible);
        },
        "label"_a.noconvert(), "c"_a.noconvert(), "lam"_a, "bias"_a, "w"_a.noconvert(), "image"_a.noconvert(),
        "b"_a.noconvert(), "alpha"_a.noconvert(), "dual_image"_a.noconvert(), "tol"_a, "budget"_a,
        "threads"_a);
    define(
        "_row_products",
        [rows](const X&... x, std::size_t columns) {
            const auto matrix = rows(x...);
            const std::size_t n = matrix.rows().size();
            std::vector<std::uint32_t> all(n);
            std::iota(all.begin(), all.end(), 0u);
            return fresh<2>({n, n}, [&](std::span<double> out) {
                const std::vector<double> lower = row_products(matrix.rows(), all, columns);
                for (std::size_t k = 0; k < n; ++k)
                    for (std::size_t l = 0; l <= k; ++l) out[k * n + l] = out[l * n + k] = lower[k * n + l];
            });
        },
        "columns"_a);
    define(
        "_cholesky",
        [rows](const X&... x, const Vector& h, bool bordered, double lam, const Vector& g, int threads) {
            const auto matrix = rows(x...);
            check_length("h", h.size(), matrix.rows().size());
            return fresh(g.size(), [&](std::span<double> out) {
                std::copy(g.data(), g.data() + g.size(), out.begin());
                solve_directly(matrix.rows(), view(h), bordered, lam, out, threads);
            });
        },
        "h"_a.noconvert(), "bordered"_a, "lam"_a, "g"_a.noconvert(), "threads"_a);
    define(
        "_conjugate_gradients",
        [rows](const X&... x, const Vector& h, bool bordered, double lam, const Vector& g,
               const Vector& inverse_diagonal, double accuracy, int most, int threads) {
            const auto matrix = rows(x...);
            check_length("h", h.size(), matrix.rows().size());
            check_length("inverse_diagonal", inverse_diagonal.size(), g.size());
            Iterated solved{};
            Result d = fresh(g.size(), [&](std::span<double> out) {
                std::vector<std::uint32_t> rows(h.size());
                solved =
                    conjugate_gradients(matrix.rows(), view(h), support(view(h), rows, threads), bordered,
                                        lam, view(g), view(inverse_diagonal), accuracy, most, out, threads);
            });
            return std::tuple(std::move(d), solved.iterations, solved.residual);
        },
        "h"_a.noconvert(), "bordered"_a, "lam"_a, "g"_a.noconvert(), "inverse_diagonal"_a.noconvert(),
        "accuracy"_a, "most"_a, "threads"_a);
}

template <class V, class I, class P>
struct CsrView {
    Csr<V, I, P> X;
    CsrRows<V, I, P> rows() const { return {X}; }
};
template <class V>
struct DenseView {
    Dense<V> X;
    DenseRows<V> rows() const { return {X}; }
};

template <class V, class I, class P>
void bind_newton_csr(nanobind::module_& m) {
    bind_rows(
        m, "csr",
        [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr) {
            return CsrView<V, I, P>{{view(data), view(indices), view(indptr)}};
        },
        std::tuple(nanobind::arg("data"), nanobind::arg("indices"), nanobind::arg("indptr")),
        static_cast<std::tuple<Array<V>, Array<I>, Array<P>>*>(nullptr));
}

template <class V>
void bind_newton_dense(nanobind::module_& m) {
    bind_rows(
        m, "dense", [](const Matrix<V>& X) { return DenseView<V>{{view(X), X.shape(0), X.shape(1)}}; },
        std::tuple(nanobind::arg("X")), static_cast<std::tuple<Matrix<V>>*>(nullptr));
}

template <class V>
void bind_newton_rows(nanobind::module_& m) {
    using std::int32_t, std::int64_t;
    bind_newton_csr<V, int32_t, int32_t>(m);
    bind_newton_csr<V, int32_t, int64_t>(m);
    bind_newton_csr<V, int64_t, int32_t>(m);
    bind_newton_csr<V, int64_t, int64_t>(m);
    bind_newton_dense<V>(m);
}

}  // namespace minorant
