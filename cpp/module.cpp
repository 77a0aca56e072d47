// The Python module minorant._core: the reader, and the kernels with the signatures of
// src/minorant/kernels/_numpy.py.
//
// Arrays are taken as they are (contiguous, the exact type, read-only is fine) or refused with a TypeError;
// lengths are checked here, and the kernels run without the GIL.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <tuple>

#include "bind.hpp"
#include "bind_coordinate.hpp"
#include "bind_logistic.hpp"
#include "bind_multivariate.hpp"
#include "bind_newton.hpp"
#include "bind_projections.hpp"
#include "bind_row_newton.hpp"
#include "bind_search.hpp"
#include "column_norms.hpp"
#include "csr.hpp"
#include "dense.hpp"
#include "error.hpp"
#include "hinge.hpp"
#include "labels.hpp"
#include "smoothed_hinge.hpp"
#include "svmlight.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace minorant;

namespace {

template <class V, class I, class P>
Csr<V, I, P> csr(const Array<V>& data, const Array<I>& indices, const Array<P>& indptr) {
    check_length("indices", indices.size(), data.size());
    if (indptr.size() == 0 || indptr.data()[0] != 0 ||
        static_cast<std::uint64_t>(indptr.data()[indptr.size() - 1]) != data.size())
        throw InputError(
            "sparse matrix has a bad indptr: it must rise from 0 to the number of stored values");
    return {view(data), view(indices), view(indptr)};
}

template <class V>
Dense<V> dense(const Matrix<V>& X) {
    return {view(X), X.shape(0), X.shape(1)};
}

Samples samples(const Vector& u, const Vector& y, const Vector& c) {
    check_length("y", y.size(), u.size());
    check_length("c", c.size(), u.size());
    return {view(u), view(y), view(c)};
}

template <class I, class P>
void bind_check(nb::module_& m) {
    m.def(
        "check_csr",
        [](const Array<I>& indices, const Array<P>& indptr, std::int64_t n_rows, std::int64_t n_columns) {
            const nb::gil_scoped_release release;
            check_csr(view(indices), view(indptr), n_rows, n_columns);
        },
        "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_rows"_a, "n_columns"_a);
    m.def(
        "csr_has_duplicates",
        [](const Array<I>& indices, const Array<P>& indptr, std::int64_t n_columns) {
            const nb::gil_scoped_release release;
            check_csr(view(indices), view(indptr), static_cast<std::int64_t>(indptr.size()) - 1, n_columns);
            return has_duplicates(view(indices), view(indptr), static_cast<std::size_t>(n_columns));
        },
        "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_columns"_a);
}

template <class V, class I, class P>
void bind_csr(nb::module_& m) {
    m.def(
        "csr_dot",
        [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr, const Vector& w,
           int threads) {
            const auto X = csr(data, indices, indptr);
            return fresh(X.rows(), [&](std::span<double> out) { csr_dot(X, view(w), out, threads); });
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "w"_a.noconvert(),
        "threads"_a);
    m.def(
        "csr_tdot",
        [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr, const Vector& alpha,
           std::size_t n_columns, int threads) {
            const auto X = csr(data, indices, indptr);
            check_length("alpha", alpha.size(), X.rows());
            return fresh(n_columns, [&](std::span<double> out) { csr_tdot(X, view(alpha), out, threads); });
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "alpha"_a.noconvert(),
        "n_columns"_a, "threads"_a);
    m.def(
        "csr_row_norms",
        [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr, int threads) {
            const auto X = csr(data, indices, indptr);
            return fresh(X.rows(), [&](std::span<double> out) { csr_row_norms(X, out, threads); });
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "threads"_a);
    m.def(
        "csr_column_norms",
        [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr, const Vector& weights,
           std::size_t n_columns, int threads) {
            const auto X = csr(data, indices, indptr);
            check_length("weights", weights.size(), X.rows());
            return fresh(n_columns,
                         [&](std::span<double> out) { csr_column_norms(X, view(weights), out, threads); });
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "weights"_a.noconvert(),
        "n_columns"_a, "threads"_a);
}

template <class V>
void bind_dense(nb::module_& m) {
    m.def(
        "dense_dot",
        [](const Matrix<V>& X, const Vector& w, int threads) {
            check_length("w", w.size(), X.shape(1));
            return fresh(X.shape(0),
                         [&](std::span<double> out) { dense_dot(dense(X), view(w), out, threads); });
        },
        "X"_a.noconvert(), "w"_a.noconvert(), "threads"_a);
    m.def(
        "dense_tdot",
        [](const Matrix<V>& X, const Vector& alpha, int threads) {
            check_length("alpha", alpha.size(), X.shape(0));
            return fresh(X.shape(1),
                         [&](std::span<double> out) { dense_tdot(dense(X), view(alpha), out, threads); });
        },
        "X"_a.noconvert(), "alpha"_a.noconvert(), "threads"_a);
    m.def(
        "dense_row_norms",
        [](const Matrix<V>& X, int threads) {
            return fresh(X.shape(0), [&](std::span<double> out) { dense_row_norms(dense(X), out, threads); });
        },
        "X"_a.noconvert(), "threads"_a);
    m.def(
        "dense_column_norms",
        [](const Matrix<V>& X, bool by_columns, const Vector& weights, int threads) {
            check_length("weights", weights.size(), X.shape(by_columns ? 1 : 0));
            return fresh(X.shape(by_columns ? 0 : 1), [&](std::span<double> out) {
                dense_column_norms(dense(X), by_columns, view(weights), out, threads);
            });
        },
        "X"_a.noconvert(), "by_columns"_a, "weights"_a.noconvert(), "threads"_a);
}

template <class V>
void bind_finite(nb::module_& m) {
    m.def(
        "all_finite",
        [](const Array<V>& values, int threads) {
            const nb::gil_scoped_release release;
            return all_finite(view(values), threads);
        },
        "values"_a.noconvert(), "threads"_a);
}

template <class T>
void bind_labels(nb::module_& m) {
    m.def("two_labels", [](const Array<T>& y) { return two_labels(view(y)); }, "y"_a.noconvert());
}

void bind_vectors(nb::module_& m) {
    bind_finite<float>(m);
    bind_finite<double>(m);
    bind_labels<double>(m);
    bind_labels<float>(m);
    bind_labels<std::int64_t>(m);
    bind_labels<std::int32_t>(m);
    m.def(
        "dot",
        [](const Vector& a, const Vector& b) {
            check_length("b", b.size(), a.size());
            const nb::gil_scoped_release release;
            return row_dot(a.data(), b.data(), a.size());
        },
        "a"_a.noconvert(), "b"_a.noconvert());
    m.def(
        "smoothed_hinge",
        [](const Vector& u, const Vector& y, const Vector& c, double mu, bool free_bias, double guess,
           int threads) {
            const Samples s = samples(u, y, c);
            SmoothedHinge found{};
            Result alpha = fresh(s.size(), [&](std::span<double> out) {
                found = smoothed_hinge(s, mu, free_bias, guess, threads, out);
            });
            return std::tuple(found.value, std::move(alpha), found.bias);
        },
        "u"_a.noconvert(), "y"_a.noconvert(), "c"_a.noconvert(), "mu"_a, "free_bias"_a, "guess"_a,
        "threads"_a);
    m.def(
        "hinge",
        [](const Vector& u, const Vector& y, const Vector& c, bool free_bias, int threads, double guess) {
            const Samples s = samples(u, y, c);
            Hinge found{};
            {
                const nb::gil_scoped_release release;
                found = hinge(s, free_bias, guess, threads);
            }
            return std::tuple(found.value, found.bias);
        },
        "u"_a.noconvert(), "y"_a.noconvert(), "c"_a.noconvert(), "free_bias"_a, "threads"_a,
        "guess"_a = std::numeric_limits<double>::quiet_NaN());
}

void bind_kernels(nb::module_& m) {
    using std::int32_t, std::int64_t;
    bind_check<int32_t, int32_t>(m);
    bind_check<int32_t, int64_t>(m);
    bind_check<int64_t, int32_t>(m);
    bind_check<int64_t, int64_t>(m);
    bind_csr<float, int32_t, int32_t>(m);
    bind_csr<float, int32_t, int64_t>(m);
    bind_csr<float, int64_t, int32_t>(m);
    bind_csr<float, int64_t, int64_t>(m);
    bind_csr<double, int32_t, int32_t>(m);
    bind_csr<double, int32_t, int64_t>(m);
    bind_csr<double, int64_t, int32_t>(m);
    bind_csr<double, int64_t, int64_t>(m);
    bind_dense<float>(m);
    bind_dense<double>(m);
    bind_vectors(m);
    bind_projections(m);
    bind_newton(m);
    bind_multivariate(m);
    bind_search(m);
    bind_coordinate(m);
    bind_row_newton(m);
    bind_logistic(m);
}

void translate_input_error(const std::exception_ptr& error, void*) {
    try {
        std::rethrow_exception(error);
    } catch (const InputError& problem) {
        PyErr_SetString(nb::module_::import_("minorant.errors").attr("InputError").ptr(), problem.what());
    }
}

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object to_numpy(svmlight::Buffer<T>& buffer) {
    const std::size_t size = buffer.size();
    T* data = buffer.release();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

template <class Value>
void bind_reader_of(nb::module_& m, const char* name) {
    using Reader = svmlight::Reader<Value>;
    nb::class_<Reader>(m, name)
        .def(
            "__init__",
            [](Reader* self, nb::object zero_based, std::int64_t n_features, std::size_t max_line) {
                using svmlight::Base;
                const Base base = zero_based.is_none()         ? Base::kAuto
                                  : nb::cast<bool>(zero_based) ? Base::kZero
                                                               : Base::kOne;
                new (self) Reader(base, n_features, max_line);
            },
            nb::arg("zero_based").none(), nb::arg("n_features"), nb::arg("max_line"))
        .def("feed",
             [](Reader& self, const Bytes& chunk) {
                 nb::gil_scoped_release release;
                 self.feed(reinterpret_cast<const char*>(chunk.data()), chunk.size());
             })
        .def("finish", [](Reader& self) {
            {
                nb::gil_scoped_release release;
                self.finish();
            }
            return nb::make_tuple(to_numpy(self.labels()), to_numpy(self.values()), to_numpy(self.indices()),
                                  to_numpy(self.row_ends()), self.n_columns());
        });
}

void bind_reader(nb::module_& m) {
    nb::exception<svmlight::ParseError>(m, "ParseError", PyExc_ValueError);
    bind_reader_of<float>(m, "SvmlightReader32");
    bind_reader_of<double>(m, "SvmlightReader64");
}

}  // namespace

NB_MODULE(_core, m) {
    nb::register_exception_translator(translate_input_error);
    bind_kernels(m);
    bind_reader(m);
}
