// The projections, with the signatures of src/minorant/kernels/_numpy_projections.py.
#pragma once

#include <span>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "box_plane.hpp"
#include "elastic_net_ball.hpp"
#include "entropic_cap.hpp"
#include "simplex_blocks.hpp"

namespace minorant {

inline void bind_projections(nanobind::module_& m) {
    using namespace nanobind::literals;
    m.def(
        "box_plane",
        [](const Vector& center, const Vector& lower, const Vector& upper, const Vector& normal,
           double offset, const Vector& weights) {
            const std::size_t n = center.size();
            check_length("lower", lower.size(), n);
            check_length("upper", upper.size(), n);
            check_length("normal", normal.size(), n);
            check_length("weights", weights.size(), n);
            const BoxPlane problem{view(center), view(lower),   view(upper),
                                   view(normal), view(weights), offset};
            double multiplier = 0;
            std::size_t work = 0;
            Result x = fresh(n, [&](std::span<double> out) { multiplier = box_plane(problem, out, work); });
            return std::tuple(std::move(x), multiplier, work);
        },
        "center"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "normal"_a.noconvert(),
        "offset"_a, "weights"_a.noconvert());
    m.def(
        "elastic_net_ball",
        [](const Vector& center, double radius, double gamma) {
            double multiplier = 0;
            std::size_t work = 0;
            Result x = fresh(center.size(), [&](std::span<double> out) {
                multiplier = elastic_net_ball(view(center), radius, gamma, out, work);
            });
            return std::tuple(std::move(x), multiplier, work);
        },
        "center"_a.noconvert(), "radius"_a, "gamma"_a);
    m.def(
        "entropic_cap",
        [](const Vector& log_weights, double cap) {
            const std::size_t n = log_weights.size();
            std::size_t work = 0;
            Result log_x = fresh(n, [](std::span<double>) {});
            Result x = fresh(n, [&](std::span<double> out) {
                entropic_cap(view(log_weights), cap, out, std::span(log_x.data(), n), work);
            });
            return std::tuple(std::move(x), std::move(log_x), work);
        },
        "log_weights"_a.noconvert(), "cap"_a);
    m.def(
        "simplex_blocks",
        [](const Matrix<double>& centers, const Vector& mass, int threads) {
            const std::size_t rows = centers.shape(0), columns = centers.shape(1);
            check_length("mass", mass.size(), rows);
            if (columns == 0) throw InputError("centers must have at least one column");
            return fresh<2>({rows, columns}, [&](std::span<double> out) {
                simplex_blocks(view(centers), columns, view(mass), out, threads);
            });
        },
        "centers"_a.noconvert(), "mass"_a.noconvert(), "threads"_a);
}

}  // namespace minorant
