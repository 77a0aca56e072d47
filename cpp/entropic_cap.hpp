// Minimize Σ x_i (log x_i - a_i) over 0 ≤ x ≤ ν, Σ x = 1, in linear time: x = min(ν, θ e^a).
//
// An entry p stays below the cap if those of at most its weight can take what is left when all others are
// capped, Σ_{a_i ≤ p} exp(a_i - p) ≥ (1 - kν)/ν with k the number of the others; then so do all smaller ones.
// Differences of log-weights alone enter, so their size does not matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "sum.hpp"
#include "top_set.hpp"

namespace minorant {

// 1 - kν without cancellation, as (whole - k)ν + left.
struct CappedMass {
    double cap, whole, left;

    explicit CappedMass(double cap_) : cap(cap_), whole(std::floor(1 / cap_)) {
        left = std::fma(-whole, cap, 1.0);
        if (left < 0) left = std::fma(-(--whole), cap, 1.0);
        if (left >= cap) left = std::fma(-(++whole), cap, 1.0);
    }
    double after(std::size_t capped) const { return (whole - static_cast<double>(capped)) * cap + left; }
    double caps_after(std::size_t capped) const { return (whole - static_cast<double>(capped)) + left / cap; }
};

// Entries below the cap, by their keys -a: Σ exp(a_i - a) for the largest a among them.
struct FreeEntries {
    double pivot = 0;
    Sum total;
    std::size_t count = 0;

    void look_from(double key) {
        const double seen = count == 0 ? 0.0 : total.value() * std::exp(key - pivot);
        total = {};
        total.add(seen);
        pivot = key;
    }
    void add(double key) {
        total.add(std::exp(pivot - key));
        ++count;
    }
};

// Writes the solution and its logarithm, adds the elements visited to `work`.
inline void entropic_cap(std::span<const double> a, double cap, std::span<double> x, std::span<double> log_x,
                         std::size_t& work) {
    const std::size_t n = a.size();
    const double size = static_cast<double>(n);
    cap = std::min(cap, 1.0);
    work += n;
    if (size * cap <= 1) {
        std::fill(x.begin(), x.end(), 1 / size);
        std::fill(log_x.begin(), log_x.end(), -std::log(size));
        return;
    }
    const CappedMass mass(cap);
    std::vector<double> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = -a[i];
    FreeEntries free;
    if (cap < 1) {
        free = top_set(
            std::span(keys), free,
            [&](const FreeEntries& trial, double) {
                return trial.total.value() >= mass.caps_after(n - trial.count);
            },
            work);
    } else {
        free.pivot = *std::min_element(keys.begin(), keys.end());
        free.count = n;
    }

    const double largest = -free.pivot, log_cap = std::log(cap);
    Sum total;
    for (std::size_t i = 0; i < n; ++i) {
        if (a[i] > largest) continue;
        x[i] = std::exp(a[i] - largest);
        total.add(x[i]);
    }
    const double shared = mass.after(n - free.count);
    const double scale = shared / total.value(), log_scale = std::log(shared) - std::log(total.value());
    for (std::size_t i = 0; i < n; ++i) {
        const bool capped = a[i] > largest;
        x[i] = capped ? cap : std::min(x[i] * scale, cap);
        log_x[i] = capped ? log_cap : std::min((a[i] - largest) + log_scale, log_cap);
    }
    work += 2 * n;
}

}  // namespace minorant
