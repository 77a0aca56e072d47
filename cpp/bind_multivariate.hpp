// The oracles of whole-sample measures, with the signatures of src/minorant/kernels/_numpy_multivariate.py.
#pragma once

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "multivariate_couple.hpp"
#include "multivariate_pairs.hpp"
#include "multivariate_rank.hpp"
#include "multivariate_scan.hpp"
#include "multivariate_select.hpp"
#include "multivariate_tree.hpp"
#include "simplex_qp.hpp"

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

// (log_scale, total, rise, largest), and the weights of b and of c.
using Coupling = std::tuple<std::tuple<double, double, double, double>, Result, Result>;

template <class Rise>
Coupling coupling(const Rise& rise, double kappa, const Counts& b, const Counts& c, const Vector& covered) {
    Coupled found{};
    Result down = fresh(c.law.size(), [](std::span<double>) {});
    Result up = fresh(b.law.size(), [&](std::span<double> out) {
        found = couple(rise, kappa, b, c, view(covered), out, std::span(down.data(), c.law.size()));
    });
    return {std::tuple(found.log_scale, found.total, found.rise, found.largest), std::move(up),
            std::move(down)};
}

inline void bind_tree(nanobind::module_& m) {
    using namespace nanobind::literals;
    nanobind::class_<PoissonTree>(m, "PoissonTree")
        .def(
            "__init__",
            [](PoissonTree* self, const Vector& logits, double trim) {
                const nanobind::gil_scoped_release release;
                new (self) PoissonTree(view(logits), trim);
            },
            "logits"_a.noconvert(), "trim"_a)
        .def_prop_ro("first", &PoissonTree::first)
        .def_prop_ro("dropped", &PoissonTree::dropped)
        .def_prop_ro("log_partition", &PoissonTree::log_partition)
        .def_prop_ro(
            "law",
            [](const PoissonTree& self) {
                return fresh(self.law().size(), [&](std::span<double> out) {
                    std::copy(self.law().begin(), self.law().end(), out.begin());
                });
            },
            nanobind::rv_policy::move)
        .def(
            "marginals",
            [](const PoissonTree& self, const Vector& r) {
                check_length("r", r.size(), self.law().size());
                return fresh(self.size(), [&](std::span<double> out) { self.marginals(view(r), out); });
            },
            "r"_a.noconvert());
}

// (value, b, c, what is flipped), or None where it is better to sort.
using Selected = std::optional<std::tuple<double, std::size_t, std::size_t, Result>>;

template <class Loss>
Selected selected(const Loss& loss, const Flips& all, const Vector& gains, std::size_t n_pos) {
    check_length("gains", gains.size(), all.scores.size());
    if (n_pos > gains.size()) throw InputError("n_pos must be at most the number of gains");
    const std::span<const double> both = view(gains);
    Selection<Loss> selection(loss, both.first(n_pos), both.subspan(n_pos));
    if (!without_gil([&] { return selection.find(); })) return std::nullopt;
    const auto& [value, b, c] = selection.best();
    Result flipped = fresh(gains.size(), [&](std::span<double> out) {
        flip_from(all, selection.cut_pos(), selection.cut_neg(), out);
    });
    return std::tuple(value, b, c, std::move(flipped));
}

inline void bind_select(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def(
        "f_select",
        [](const Vector& scores, const Vector& y, const Vector& weights, const Vector& gains,
           std::size_t n_pos, double beta2) {
            return selected(FLoss{beta2, static_cast<double>(n_pos)}, flips(scores, y, weights), gains,
                            n_pos);
        },
        "scores"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert(), "gains"_a.noconvert(), "n_pos"_a,
        "beta2"_a);
    m.def(
        "gmean_select",
        [](const Vector& scores, const Vector& y, const Vector& weights, const Vector& gains,
           std::size_t n_pos) {
            const double m = static_cast<double>(n_pos), l = static_cast<double>(gains.size()) - m;
            return selected(GMeanLoss{m, l}, flips(scores, y, weights), gains, n_pos);
        },
        "scores"_a.noconvert(), "y"_a.noconvert(), "weights"_a.noconvert(), "gains"_a.noconvert(), "n_pos"_a);
}

inline void bind_multivariate(nanobind::module_& m) {
    using namespace nanobind::literals;
    bind_tree(m);
    bind_select(m);
    m.def(
        "swapped_pairs",
        [](const Vector& scores, const Vector& y) {
            const std::size_t n = scores.size();
            check_length("y", y.size(), n);
            const auto positive = [](double sign) { return sign > 0; };
            if (std::none_of(y.data(), y.data() + n, positive) ||
                std::all_of(y.data(), y.data() + n, positive))
                throw InputError("pairs need examples of both classes");
            auto memory = std::make_unique_for_overwrite<std::int64_t[]>(n);
            const std::span<std::int64_t> keys(memory.get(), n);
            without_gil([&] { PairKeys(view(scores), view(y)).fill(keys); });
            const nanobind::capsule owner(memory.release(),
                                          [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
            // NumPy sorts whole numbers with vector instructions
            nanobind::object array = nanobind::cast(
                nanobind::ndarray<nanobind::numpy, std::int64_t, nanobind::ndim<1>>(keys.data(), {n}, owner));
            array.attr("sort")();
            const Swapped found = without_gil([&] { return swapped_pairs(view(scores), view(y), keys); });
            return std::tuple(found.value, found.loss, nanobind::object(array.attr("view")("float64")));
        },
        "scores"_a.noconvert(), "y"_a.noconvert());
    m.def(
        "simplex_qp",
        [](const Matrix<double>& Q, const Vector& d, const Matrix<double>& A, const Vector& r,
           const Vector& start) {
            const std::size_t m = d.size();
            check_length("Q", Q.size(), m * m);
            check_length("A", A.size(), m * r.size());
            check_length("start", start.size(), m);
            Result nu = fresh(r.size(), [](std::span<double>) {});
            Result beta = fresh(m, [&](std::span<double> out) {
                std::copy_n(start.data(), m, out.begin());
                SimplexQp(view(Q), view(d), view(A), view(r)).maximize(out, std::span(nu.data(), r.size()));
            });
            return std::tuple(std::move(beta), std::move(nu));
        },
        "Q"_a.noconvert(), "d"_a.noconvert(), "A"_a.noconvert(), "r"_a.noconvert(), "start"_a.noconvert());
    m.def(
        "ranks",
        [](const Vector& x, const Vector& q, bool equal) {
            return fresh(q.size(), [&](std::span<double> out) { ranks(view(x), view(q), equal, out); });
        },
        "x"_a.noconvert(), "q"_a.noconvert(), "equal"_a);
    m.def(
        "couple_f",
        [](double beta2, double n_pos, double n_neg, double kappa, const Vector& p, double b_first,
           double b_center, double b_theta, const Vector& q, double c_first, double c_center, double c_theta,
           const Vector& covered) {
            return coupling(FRise{beta2, n_pos, n_neg, b_center, c_center}, kappa,
                            {view(p), b_first, b_center, b_theta}, {view(q), c_first, c_center, c_theta},
                            covered);
        },
        "beta2"_a, "n_pos"_a, "n_neg"_a, "kappa"_a, "p"_a.noconvert(), "b_first"_a, "b_center"_a, "b_theta"_a,
        "q"_a.noconvert(), "c_first"_a, "c_center"_a, "c_theta"_a, "covered"_a.noconvert());
    m.def(
        "couple_gmean",
        [](double n_pos, double n_neg, double kappa, const Vector& p, double b_first, double b_center,
           double b_theta, const Vector& q, double c_first, double c_center, double c_theta,
           const Vector& covered) {
            return coupling(GMeanRise{n_pos, n_neg, b_center, c_center}, kappa,
                            {view(p), b_first, b_center, b_theta}, {view(q), c_first, c_center, c_theta},
                            covered);
        },
        "n_pos"_a, "n_neg"_a, "kappa"_a, "p"_a.noconvert(), "b_first"_a, "b_center"_a, "b_theta"_a,
        "q"_a.noconvert(), "c_first"_a, "c_center"_a, "c_theta"_a, "covered"_a.noconvert());
    m.def(
        "count_positives",
        [](const Vector& scores, const Vector& y) {
            check_length("y", y.size(), scores.size());
            return without_gil([&] { return count_positives(view(scores), view(y)); });
        },
        "scores"_a.noconvert(), "y"_a.noconvert());
    m.def(
        "flip_gains",
        [](const Vector& scores, const Vector& y, const Vector& weights) {
            const Flips all = flips(scores, y, weights);
            return fresh(scores.size(), [&](std::span<double> out) { flip_gains(all, out); });
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
