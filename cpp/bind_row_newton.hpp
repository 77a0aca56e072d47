// Proximal Newton by rows, with the signatures of src/minorant/kernels/_numpy_coordinate.py.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "bind_coordinate.hpp"
#include "row_newton.hpp"

namespace minorant {

template <class Rows>
nanobind::object newton_on(const Rows& X, const Vector& s, const Vector& a, const Vector& c,
                           const std::tuple<double, double, double>& loss, double l1, double l2, bool bias,
                           const Vector& w, double b, double enough, double part, int most) {
    check_length("s", s.size(), X.size());
    check_length("a", a.size(), X.size());
    check_length("c", c.size(), X.size());
    check_length("w", w.size(), X.columns());
    const Examples examples{view(s), view(a), view(c)};
    const auto [kappa, low, high] = loss;
    RowSolved found;
    {
        const nanobind::gil_scoped_release release;
        if (kappa == 0) {
            RowNewton<Rows, LogisticLoss> solver(X, {}, examples, l1, l2, bias);
            found = solver.solve(view(w), b, enough, part, most);
        } else {
            RowNewton<Rows, ClippedQuadratic> solver(X, {kappa, low, high}, examples, l1, l2, bias);
            found = solver.solve(view(w), b, enough, part, most);
        }
    }
    return nanobind::make_tuple(give(std::move(found.w)), give(std::move(found.scores)),
                                give(std::move(found.e)), give(std::move(found.slopes)));
}

template <class V>
void bind_row_newton_dense(nanobind::module_& m) {
    using namespace nanobind::literals;
    using Loss = std::tuple<double, double, double>;
    m.def(
        "dense_row_newton",
        [](const Matrix<V>& X, bool by_columns, const Vector& s, const Vector& a, const Vector& c,
           const Loss& loss, double l1, double l2, bool bias, const Vector& w, double b, double enough,
           int most) {
            const std::size_t n = X.shape(by_columns ? 1 : 0), p = X.shape(by_columns ? 0 : 1);
            const DenseRowProducts<V> rows(X.data(), n, p, by_columns);
            return newton_on(rows, s, a, c, loss, l1, l2, bias, w, b, enough, 0.0, most);
        },
        "X"_a.noconvert(), "by_columns"_a, "s"_a.noconvert(), "a"_a.noconvert(), "c"_a.noconvert(), "loss"_a,
        "l1"_a, "l2"_a, "bias"_a, "w"_a.noconvert(), "b"_a, "enough"_a, "most"_a);
}

template <class V, class I, class P>
void bind_row_newton_csr(nanobind::module_& m) {
    using namespace nanobind::literals;
    using Loss = std::tuple<double, double, double>;
    m.def(
        "csr_row_newton",
        [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr, const Vector& s,
           const Vector& a, const Vector& c, const Loss& loss, double l1, double l2, bool bias,
           const Vector& w, double b, double enough, int most) {
            check_length("indices", indices.size(), data.size());
            check_length("indptr", indptr.size(), s.size() + 1);
            const Csr<V, I, P> X{view(data), view(indices), view(indptr)};
            const CsrRowProducts<V, I, P> rows(X, w.size(), Picked{X.rows(), {}});
            return newton_on(rows, s, a, c, loss, l1, l2, bias, w, b, enough, 0.0, most);
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "s"_a.noconvert(),
        "a"_a.noconvert(), "c"_a.noconvert(), "loss"_a, "l1"_a, "l2"_a, "bias"_a, "w"_a.noconvert(), "b"_a,
        "enough"_a, "most"_a);
    m.def(
        "csr_columns_newton",
        [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr, std::size_t n_columns,
           const Index& columns, const Vector& s, const Vector& a, const Vector& c, const Loss& loss,
           double l1, double l2, bool bias, const Vector& w, double b, double enough, double part, int most) {
            check_length("indices", indices.size(), data.size());
            check_length("indptr", indptr.size(), s.size() + 1);
            check_columns(columns, n_columns);
            SomeColumns<V> some;
            {
                const nanobind::gil_scoped_release release;
                some = some_columns(Csr<V, I, P>{view(data), view(indices), view(indptr)}, n_columns,
                                    view(columns));
            }
            const CsrRowProducts<V, std::int32_t, std::int64_t> rows(some.rows(), columns.size(),
                                                                     Picked{s.size(), {}});
            return newton_on(rows, s, a, c, loss, l1, l2, bias, w, b, enough, part, most);
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_columns"_a,
        "columns"_a.noconvert(), "s"_a.noconvert(), "a"_a.noconvert(), "c"_a.noconvert(), "loss"_a, "l1"_a,
        "l2"_a, "bias"_a, "w"_a.noconvert(), "b"_a, "enough"_a, "part"_a, "most"_a);
}

inline void bind_row_newton(nanobind::module_& m) {
    using std::int32_t, std::int64_t;
    bind_row_newton_dense<float>(m);
    bind_row_newton_dense<double>(m);
    bind_row_newton_csr<float, int32_t, int32_t>(m);
    bind_row_newton_csr<float, int32_t, int64_t>(m);
    bind_row_newton_csr<float, int64_t, int32_t>(m);
    bind_row_newton_csr<float, int64_t, int64_t>(m);
    bind_row_newton_csr<double, int32_t, int32_t>(m);
    bind_row_newton_csr<double, int32_t, int64_t>(m);
    bind_row_newton_csr<double, int64_t, int32_t>(m);
    bind_row_newton_csr<double, int64_t, int64_t>(m);
}

}  // namespace minorant
