// The line search of a bundle over labelings (multivariate_search.hpp), and the products with some rows that
// its cuts need.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "bind_multivariate.hpp"
#include "multivariate_search.hpp"
#include "some_rows.hpp"

namespace minorant {

using Mutable = nanobind::ndarray<double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// An array that Python will own, of the values of a vector.
template <class T>
nanobind::object owned(std::vector<T>&& values) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    const std::size_t size = kept->size();
    T* data = kept->data();
    const nanobind::capsule owner(kept.release(),
                                  [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data, {size}, owner));
}

inline nanobind::tuple as_object(Trial& trial) {
    return nanobind::make_tuple(trial.t, trial.value, trial.loss, trial.b, trial.c,
                                owned(std::move(trial.bits)), owned(std::move(trial.rows)),
                                owned(std::move(trial.values)), trial.whole, trial.rising);
}

inline void check_order(std::span<const std::int32_t> order, std::size_t n_pos) {
    std::vector<bool> seen(order.size());
    for (const std::int32_t i : order) {
        if (i < 0 || static_cast<std::size_t>(i) >= order.size() || seen[static_cast<std::size_t>(i)])
            throw InputError("order must list every example once");
        seen[static_cast<std::size_t>(i)] = true;
    }
    if (n_pos > order.size()) throw InputError("n_pos must be at most the number of examples");
}

template <class Loss, class... Arguments>
void bind_search_of(nanobind::module_& m, const char* name, Loss (*loss)(double, double, Arguments...)) {
    using namespace nanobind::literals;
    using Search = LabelingSearch<Loss>;
    nanobind::class_<Search>(m, name)
        .def("__init__",
             [loss](Search* self, const Array<std::int32_t>& order, std::size_t n_pos, Arguments... more) {
                 check_order(view(order), n_pos);
                 const double up = static_cast<double>(n_pos), all = static_cast<double>(order.size());
                 new (self) Search(loss(up, all - up, more...), view(order), n_pos);
             })
        .def(
            "stand",
            [](Search& self, const Vector& scores) {
                check_length("scores", scores.size(), self.size());
                return without_gil([&] { return self.stand(view(scores)); });
            },
            "scores"_a.noconvert())
        .def("here",
             [](Search& self) {
                 Trial trial = without_gil([&] { return self.here(); });
                 return as_object(trial);
             })
        .def(
            "flat",
            [](Search& self, double score) {
                const nanobind::gil_scoped_release release;
                const Worst found = self.flat(score);
                return std::tuple(found.value, self.loss(found), found.b, found.c);
            },
            "score"_a)
        .def(
            "along",
            [](Search& self, const Vector& target, double bias, double q0, double q1, double q2, double t,
               double lowest, double goal, std::size_t most) {
                check_length("target", target.size(), self.size());
                std::pair<std::vector<Trial>, std::size_t> found;
                {
                    const nanobind::gil_scoped_release release;
                    found = self.along(view(target), bias, {q0, q1, q2}, t, lowest, goal, most);
                }
                nanobind::list trials;
                for (Trial& trial : found.first) trials.append(as_object(trial));
                return nanobind::make_tuple(std::move(trials), found.second);
            },
            "target"_a.noconvert(), "bias"_a, "q0"_a, "q1"_a, "q2"_a, "t"_a, "lowest"_a, "goal"_a, "most"_a)
        .def("take",
             [](Search& self) {
                 const nanobind::gil_scoped_release release;
                 self.take();
             })
        .def(
            "nearest",
            [](const Search& self, double pull, double b, double c, const Mutable& shares) {
                check_length("shares", shares.size(), self.size());
                const nanobind::gil_scoped_release release;
                self.nearest(pull, b, c, std::span(shares.data(), shares.size()));
            },
            "pull"_a, "b"_a, "c"_a, "shares"_a.noconvert());
}

inline void check_rows(std::span<const std::int32_t> rows, std::size_t values, std::size_t n_rows) {
    check_length("values", values, rows.size());
    for (const std::int32_t i : rows)
        if (i < 0 || static_cast<std::size_t>(i) >= n_rows)
            throw InputError("row " + std::to_string(i) + " is outside of the matrix");
}

template <class V, class I, class P>
void bind_some_csr(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def(
        "csr_add_rows",
        [](const Array<V>& data, const Array<I>& indices, const Array<P>& indptr,
           const Array<std::int32_t>& rows, const Vector& values, const Vector& base) {
            check_length("indices", indices.size(), data.size());
            if (indptr.size() == 0) throw InputError("sparse matrix without an indptr");
            const Csr<V, I, P> X{view(data), view(indices), view(indptr)};
            check_rows(view(rows), values.size(), X.rows());
            return fresh(base.size(), [&](std::span<double> out) {
                std::copy_n(base.data(), out.size(), out.begin());
                add_some_rows(X, view(rows), view(values), out);
            });
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "rows"_a.noconvert(),
        "values"_a.noconvert(), "base"_a.noconvert());
}

template <class V>
void bind_some_dense(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def(
        "dense_add_rows",
        [](const Matrix<V>& X, const Array<std::int32_t>& rows, const Vector& values, const Vector& base) {
            check_length("base", base.size(), X.shape(1));
            check_rows(view(rows), values.size(), X.shape(0));
            return fresh(base.size(), [&](std::span<double> out) {
                std::copy_n(base.data(), out.size(), out.begin());
                add_some_rows(Dense<V>{view(X), X.shape(0), X.shape(1)}, view(rows), view(values), out);
            });
        },
        "X"_a.noconvert(), "rows"_a.noconvert(), "values"_a.noconvert(), "base"_a.noconvert());
}

inline void bind_search(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def(
        "gram_rows",
        [](const Matrix<double>& V, std::size_t first) {
            if (first > V.shape(0)) throw InputError("first must be at most the number of rows");
            const Dense<double> rows{view(V), V.shape(0), V.shape(1)};
            return fresh<2>({V.shape(0) - first, V.shape(0)},
                            [&](std::span<double> out) { gram_rows(rows, first, out); });
        },
        "V"_a.noconvert(), "first"_a);
    m.def(
        "flip_shares",
        [](const Array<std::uint8_t>& ones, const Array<std::int32_t>& where, const Vector& values,
           double weight, const Mutable& total) {
            check_length("ones", ones.size(), (total.size() + 7) / 8);
            check_length("values", values.size(), where.size());
            const nanobind::gil_scoped_release release;
            flip_shares(view(ones), view(where), view(values), weight, std::span(total.data(), total.size()));
        },
        "ones"_a.noconvert(), "where"_a.noconvert(), "values"_a.noconvert(), "weight"_a,
        "total"_a.noconvert());
    using std::int32_t, std::int64_t;
    bind_search_of<FLoss, double>(
        m, "FSearch", +[](double n_pos, double, double beta2) { return FLoss{beta2, n_pos}; });
    bind_search_of<GMeanLoss>(
        m, "GMeanSearch", +[](double n_pos, double n_neg) { return GMeanLoss{n_pos, n_neg}; });
    bind_some_csr<float, int32_t, int32_t>(m);
    bind_some_csr<float, int32_t, int64_t>(m);
    bind_some_csr<float, int64_t, int32_t>(m);
    bind_some_csr<float, int64_t, int64_t>(m);
    bind_some_csr<double, int32_t, int32_t>(m);
    bind_some_csr<double, int32_t, int64_t>(m);
    bind_some_csr<double, int64_t, int32_t>(m);
    bind_some_csr<double, int64_t, int64_t>(m);
    bind_some_dense<float>(m);
    bind_some_dense<double>(m);
}

}  // namespace minorant
