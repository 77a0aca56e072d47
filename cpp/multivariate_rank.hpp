// How many of many sorted numbers are below each of many others: a table of equal steps leads to a short
// range, and bisection ends the search there, so that numbers in any order cost about as much as sorted ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace minorant {

// out[i] = the number of x < q_i, or x ≤ q_i where `equal`.
inline void ranks(std::span<const double> x, std::span<const double> q, bool equal, std::span<double> out) {
    const std::size_t m = x.size(), steps = m / 2 + 1;
    if (m == 0) {
        std::fill(out.begin(), out.end(), 0.0);
        return;
    }
    const double low = x.front(), width = x.back() - low;
    const double scale = width > 0 && std::isfinite(width) ? static_cast<double>(steps - 1) / width : 0.0;
    // Rounding is monotone, so what is in a lower step is less.
    const auto step = [&](double v) {
        return static_cast<std::size_t>(std::clamp((v - low) * scale, 0.0, static_cast<double>(steps - 1)));
    };
    std::vector<std::size_t> starts(steps + 1);
    std::size_t next = 0;
    for (std::size_t k = 0; k < m; ++k)
        for (const std::size_t its = step(x[k]); next <= its; ++next) starts[next] = k;
    for (; next <= steps; ++next) starts[next] = m;
    for (std::size_t i = 0; i < q.size(); ++i) {
        const std::size_t its = step(q[i]);
        const double *begin = x.data() + starts[its], *end = x.data() + starts[its + 1];
        out[i] = static_cast<double>(
            (equal ? std::upper_bound(begin, end, q[i]) : std::lower_bound(begin, end, q[i])) - x.data());
    }
}

}  // namespace minorant
