// The solvers of linear models: dual coordinates and Newton's method.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "curvature.hpp"
#include "dual_coordinate.hpp"
#include "newton_system.hpp"

namespace minorant {

using Shape = std::tuple<double, double, double, double>;  // kappa, tube, low, high
using Mutable = nanobind::ndarray<double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// f(loss): the logistic one where `logistic`, else the piecewise quadratic one of that shape.
template <class F>
auto with_loss(bool logistic, const Shape& shape, F&& f) {
    const auto [kappa, tube, low, high] = shape;
    return logistic ? f(Logistic{}) : f(Piecewise{kappa, tube, low, high});
}

// The kernels that read rows; `X` are the arguments that make them, `rows` turns these into rows.
template <class Make, class... X>
void bind_rows(nanobind::module_& m, const char* sweeps, const char* direct, const char* cg, Make rows,
               std::tuple<X...>*) {
    using namespace nanobind::literals;
    namespace nb = nanobind;
    m.def(sweeps, [rows](const X&... x, bool logistic, const Shape& shape, const Vector& scale, const Vector& offset,
                         const Vector& sign, const Vector& norm2, double rho, int most, double enough,
                         std::uint64_t seed, Mutable t, Mutable w, double bias) {
        const auto view_of = rows(x...);
        const CoordinateProblem p{view(scale), view(offset), view(sign), view(norm2), rho};
        Sweeps done{};
        {
            const nb::gil_scoped_release release;
            done = with_loss(logistic, shape, [&](const auto& loss) {
                return coordinate_sweeps(view_of.rows(), loss, p, most, enough, seed, std::span(t.data(), t.size()),
                                         std::span(w.data(), w.size()), bias);
            });
        }
        return std::tuple(bias, done.excess, done.count);
    });
    m.def(direct, [rows](const X&... x, const Vector& h, bool bordered, double lam, const Vector& g, int threads) {
        const auto view_of = rows(x...);
        return fresh(g.size(), [&](std::span<double> out) {
            const std::size_t size = g.size();
            const auto M = std::make_unique_for_overwrite<double[]>(size * size);
            gram(view_of.rows(), view(h), bordered, size, std::span(M.get(), size * size), threads);
            for (std::size_t j = 0; j + (bordered ? 1 : 0) < size; ++j) M[j * size + j] += lam;
            std::copy(g.data(), g.data() + size, out.begin());
            cholesky(M.get(), out);
        });
    });
    m.def(cg, [rows](const X&... x, const Vector& h, bool bordered, double lam, const Vector& g,
                     const Vector& inverse_diagonal, double accuracy, int most, int threads) {
        const auto view_of = rows(x...);
        Solved solved{};
        Result d = fresh(g.size(), [&](std::span<double> out) {
            solved = conjugate_gradients(view_of.rows(), view(h), bordered, lam, view(g), view(inverse_diagonal),
                                         accuracy, most, out, threads);
        });
        return std::tuple(std::move(d), solved.iterations, solved.residual);
    });
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
    bind_rows(m, "csr_sweeps", "csr_cholesky", "csr_conjugate_gradients",
              [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr) {
                  return CsrView<V, I, P>{{view(data), view(indices), view(indptr)}};
              },
              static_cast<std::tuple<Array<V>, Array<I>, Array<P>>*>(nullptr));
}

template <class V>
void bind_newton_dense(nanobind::module_& m) {
    bind_rows(m, "dense_sweeps", "dense_cholesky", "dense_conjugate_gradients",
              [](const Matrix<V>& X) { return DenseView<V>{{view(X), X.shape(0), X.shape(1)}}; },
              static_cast<std::tuple<Matrix<V>>*>(nullptr));
}

inline void bind_newton(nanobind::module_& m) {
    using std::int32_t, std::int64_t;
    bind_newton_csr<float, int32_t, int32_t>(m);
    bind_newton_csr<float, int32_t, int64_t>(m);
    bind_newton_csr<float, int64_t, int64_t>(m);
    bind_newton_csr<double, int32_t, int32_t>(m);
    bind_newton_csr<double, int32_t, int64_t>(m);
    bind_newton_csr<double, int64_t, int64_t>(m);
    bind_newton_dense<float>(m);
    bind_newton_dense<double>(m);
    m.def("bends", [](bool logistic, const Shape& shape, double mu, const Vector& r, const Vector& c, int threads) {
        Result h = fresh(r.size(), [](std::span<double>) {});
        Result alpha = fresh(r.size(), [&](std::span<double> out) {
            with_loss(logistic, shape, [&](const auto& loss) {
                bends(loss, mu, view(r), view(c), threads, out, std::span(h.data(), h.size()));
                return 0;
            });
        });
        return std::tuple(std::move(alpha), std::move(h));
    });
    m.def("excess", [](bool logistic, const Shape& shape, const Vector& r, const Vector& alpha, const Vector& c) {
        const nanobind::gil_scoped_release release;
        return with_loss(logistic, shape, [&](const auto& loss) { return excess(loss, view(r), view(alpha), view(c)); });
    });
    m.def("along", [](bool logistic, const Shape& shape, double mu, const Vector& r, const Vector& d, const Vector& c,
                      double slope, double bend, double accuracy, int threads) {
        const nanobind::gil_scoped_release release;
        return with_loss(logistic, shape, [&](const auto& loss) {
            return along(loss, mu, view(r), view(d), view(c), slope, bend, accuracy, threads);
        });
    });
    m.def("balance", [](bool logistic, const Shape& shape, double mu, const Vector& r, const Vector& s,
                        const Vector& c, double guess, int threads) {
        const nanobind::gil_scoped_release release;
        return with_loss(logistic, shape, [&](const auto& loss) {
            return balance(loss, mu, view(r), view(s), view(c), guess, threads);
        });
    });
}

}  // namespace minorant
