// Working sets and coordinate descent, with the signatures of src/minorant/kernels/_numpy_coordinate.py.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "coordinate_solve.hpp"

namespace minorant {

using Index = Array<std::int64_t>;

template <class T>
nanobind::object give(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    const nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nanobind::cast(
        nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(kept->data(), {kept->size()}, owner));
}

inline void check_columns(const Index& columns, std::size_t n_columns) {
    for (const std::int64_t j : view(columns))
        if (j < 0 || static_cast<std::size_t>(j) >= n_columns)
            throw InputError("column " + std::to_string(j) + " is not one of " + std::to_string(n_columns));
}

// The scalars of a problem: l1, l2, where the bias starts, what gap is enough and what work is allowed.
struct Settings {
    double l1, l2, b, enough, part, allowed;
    bool bias, logistic;
    ClippedQuadratic quadratic;
};

template <class B>
nanobind::object solve_on(const B& X, const Vector& s, const Vector& a, const Vector& c, const Vector& w,
                          const Settings& set) {
    check_length("s", s.size(), X.rows());
    check_length("a", a.size(), X.rows());
    check_length("c", c.size(), X.rows());
    check_length("w", w.size(), X.size());
    const Examples examples{view(s), view(a), view(c)};
    Solved found;
    {
        const nanobind::gil_scoped_release release;
        if (set.logistic) {
            BlockSolver<B, LogisticLoss> solver(X, {}, examples, set.l1, set.l2, set.bias);
            found = solver.solve(view(w), set.b, set.enough, set.part, set.allowed);
        } else {
            BlockSolver<B, ClippedQuadratic> solver(X, set.quadratic, examples, set.l1, set.l2, set.bias);
            found = solver.solve(view(w), set.b, set.enough, set.part, set.allowed);
        }
    }
    return nanobind::make_tuple(give(std::move(found.w)), give(std::move(found.image)),
                                give(std::move(found.ahead)));
}

inline Settings settings(const std::tuple<double, double, double>& loss, double l1, double l2, bool bias,
                         double b, double enough, double part, double allowed) {
    const auto [kappa, low, high] = loss;
    return {l1, l2, b, enough, part, allowed, bias, kappa == 0, {kappa, low, high}};
}

template <class V>
void bind_columns(nanobind::module_& m) {
    using namespace nanobind::literals;
    using Loss = std::tuple<double, double, double>;
    m.def(
        "gather_dense",
        [](const Matrix<V>& X, const Index& columns) {
            check_columns(columns, X.shape(1));
            const std::size_t rows = X.shape(0), size = columns.size();
            auto out = std::make_unique_for_overwrite<V[]>(rows * size);
            {
                const nanobind::gil_scoped_release release;
                gather_dense(Dense<V>{view(X), rows, X.shape(1)}, view(columns), out.get());
            }
            const nanobind::capsule owner(out.get(), [](void* p) noexcept { delete[] static_cast<V*>(p); });
            return nanobind::ndarray<nanobind::numpy, V, nanobind::ndim<2>>(out.release(), {size, rows},
                                                                            owner);
        },
        "X"_a.noconvert(), "columns"_a.noconvert());
    m.def(
        "solve_dense_columns",
        [](const Matrix<V>& columns, const Index& index, const Vector& s, const Vector& a, const Vector& c,
           const Loss& loss, double l1, double l2, bool bias, const Vector& w, double b, double enough,
           double part, double allowed) {
            check_columns(index, columns.shape(0));
            const DenseColumns<V> X(view(columns), columns.shape(1), view(index));
            return solve_on(X, s, a, c, w, settings(loss, l1, l2, bias, b, enough, part, allowed));
        },
        "columns"_a.noconvert(), "index"_a.noconvert(), "s"_a.noconvert(), "a"_a.noconvert(),
        "c"_a.noconvert(), "loss"_a, "l1"_a, "l2"_a, "bias"_a, "w"_a.noconvert(), "b"_a, "enough"_a, "part"_a,
        "allowed"_a);
}

template <class V, class I, class P>
void bind_gather(nanobind::class_<SparseStore<V>>& store) {
    using namespace nanobind::literals;
    store.def(
        "gather",
        [](SparseStore<V>& self, const Array<V>& data, const Array<I>& indices, const Array<P>& indptr,
           const Index& columns) {
            check_length("indices", indices.size(), data.size());
            check_length("indptr", indptr.size(), self.rows() + 1);
            check_columns(columns, self.columns());
            const nanobind::gil_scoped_release release;
            self.gather(Csr<V, I, P>{view(data), view(indices), view(indptr)}, view(columns));
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "columns"_a.noconvert());
}

template <class V>
void bind_store(nanobind::module_& m, const char* name) {
    using namespace nanobind::literals;
    using Loss = std::tuple<double, double, double>;
    using std::int32_t, std::int64_t;
    nanobind::class_<SparseStore<V>> store(m, name);
    store.def(nanobind::init<std::size_t, std::size_t>(), "rows"_a, "columns"_a);
    bind_gather<V, int32_t, int32_t>(store);
    bind_gather<V, int32_t, int64_t>(store);
    bind_gather<V, int64_t, int32_t>(store);
    bind_gather<V, int64_t, int64_t>(store);
    store.def(
        "solve",
        [](const SparseStore<V>& self, const Index& columns, const Vector& s, const Vector& a,
           const Vector& c, const Loss& loss, double l1, double l2, bool bias, const Vector& w, double b,
           double enough, double part, double allowed) {
            check_columns(columns, self.columns());
            for (const std::int64_t j : view(columns))
                if (!self.holds(j))
                    throw InputError("column " + std::to_string(j) + " has not been gathered");
            return solve_on(self.take(view(columns)), s, a, c, w,
                            settings(loss, l1, l2, bias, b, enough, part, allowed));
        },
        "columns"_a.noconvert(), "s"_a.noconvert(), "a"_a.noconvert(), "c"_a.noconvert(), "loss"_a, "l1"_a,
        "l2"_a, "bias"_a, "w"_a.noconvert(), "b"_a, "enough"_a, "part"_a, "allowed"_a);
}

inline void bind_coordinate(nanobind::module_& m) {
    bind_columns<float>(m);
    bind_columns<double>(m);
    bind_store<float>(m, "SparseStore32");
    bind_store<double>(m, "SparseStore64");
}

}  // namespace minorant
