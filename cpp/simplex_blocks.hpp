// The nearest point to each row c of an array with entries ≥ 0 that sum to the row's mass: x = [d + σ]_+ for
// d = c - max c, where the entries A above zero give σ = (mass - Σ_A d) / |A|. Linear time in a row.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "parallel.hpp"
#include "sum.hpp"
#include "top_set.hpp"

namespace minorant {

struct PositiveEntries {
    double mass;
    Sum below;
    std::size_t count = 0;

    void look_from(double) {}
    void add(double d) {
        below.add(d);
        ++count;
    }
    double sigma() const { return count == 0 ? 0.0 : (mass - below.value()) / static_cast<double>(count); }
};

inline void project_simplex(std::span<const double> center, double mass, std::span<double> x,
                            std::span<double> keys) {
    const double most = *std::max_element(center.begin(), center.end());
    for (std::size_t k = 0; k < center.size(); ++k) x[k] = keys[k] = center[k] - most;
    std::size_t work = 0;
    const double sigma =
        top_set(
            keys, PositiveEntries{mass, {}},
            [](const PositiveEntries& trial, double d) { return d + trial.sigma() > 0; }, work)
            .sigma();
    for (double& value : x) value = std::max(value + sigma, 0.0);
}

inline void simplex_blocks(std::span<const double> centers, std::size_t columns, std::span<const double> mass,
                           std::span<double> x, int threads) {
    const std::size_t rows = mass.size(), height = std::max<std::size_t>(1, kBlock / columns);
    parallel_blocks((rows + height - 1) / height, threads, 16.0 * static_cast<double>(centers.size()),
                    [&](std::size_t block) {
                        std::vector<double> keys(columns);
                        const std::size_t last = std::min(rows, (block + 1) * height);
                        for (std::size_t i = block * height; i < last; ++i)
                            project_simplex(centers.subspan(i * columns, columns), mass[i],
                                            x.subspan(i * columns, columns), keys);
                    });
}

}  // namespace minorant
