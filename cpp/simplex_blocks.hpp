// The nearest point to each row c of an array with entries ≥ 0 that sum to the row's mass: x = [d + σ]_+ for
// d = c - max c, where the entries A above zero give σ = (mass - Σ_A d) / |A|.
//
// Newton's method from σ = mass, which is never below the root: A can only shrink. A step makes the product
// of excess and slope four times smaller at least, so the sweeps are few (about eight for ten thousand random
// entries) and never more than the digits of a float can tell apart.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "lanes.hpp"
#include "parallel.hpp"

namespace minorant {

// The sum of the entries with d + σ > 0, and their number.
struct Above {
    double sum, count;
};

MINORANT_CLONES inline Above entries_above(const double* d, std::size_t n, double sigma) {
    double sums[kLanes] = {}, counts[kLanes] = {};
    std::size_t k = 0;
    for (; k + kLanes <= n; k += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const bool above = d[k + lane] > -sigma;
            sums[lane] += above ? d[k + lane] : 0.0;
            counts[lane] += above ? 1.0 : 0.0;
        }
    for (std::size_t lane = 0; k + lane < n; ++lane) {
        const bool above = d[k + lane] > -sigma;
        sums[lane] += above ? d[k + lane] : 0.0;
        counts[lane] += above ? 1.0 : 0.0;
    }
    return {fold(sums), fold(counts)};
}

inline double simplex_shift(std::span<const double> d, double mass) {
    double sigma = mass, before = std::numeric_limits<double>::infinity();
    while (true) {
        const auto [sum, count] = entries_above(d.data(), d.size(), sigma);
        if (count == 0 || count >= before) return sigma;
        before = count;
        sigma = (mass - sum) / count;
    }
}

inline void project_simplex(std::span<const double> center, double mass, std::span<double> x) {
    const double most = *std::max_element(center.begin(), center.end());
    for (std::size_t k = 0; k < center.size(); ++k) x[k] = center[k] - most;
    const double sigma = simplex_shift(x, mass);
    for (double& value : x) value = std::max(value + sigma, 0.0);
}

inline void simplex_blocks(std::span<const double> centers, std::size_t columns, std::span<const double> mass,
                           std::span<double> x, int threads) {
    const std::size_t rows = mass.size(), height = std::max<std::size_t>(1, kBlock / columns);
    parallel_blocks((rows + height - 1) / height, threads, 16.0 * static_cast<double>(centers.size()),
                    [&](std::size_t block) {
                        const std::size_t last = std::min(rows, (block + 1) * height);
                        for (std::size_t i = block * height; i < last; ++i)
                            project_simplex(centers.subspan(i * columns, columns), mass[i],
                                            x.subspan(i * columns, columns));
                    });
}

}  // namespace minorant
