// Minimize ½ Σ d_i (x_i - m_i)² over l ≤ x ≤ u, ⟨s, x⟩ = z, in linear time.
//
// x_i(λ) = clip(m_i + λ s_i/d_i, l_i, u_i), and the multiplier λ is the root of F(λ) = ⟨s, x(λ)⟩ - z, which
// does not decrease. Each s_i x_i(λ) is a ramp: constant, rising between two kinks, constant. The search
// keeps a bracket F(lo) ≤ 0 ≤ F(hi) and the ramps with a kink strictly inside it. A pivot is itself such a
// kink, near the median of all of them (duplicates count), so a constant share of the ramps leaves in every
// round, whatever the input.
//
// Rounding: λ alone may be too coarse for x (large |m|, small d), so x is moved to m + λ s/d and what is
// still missing from ⟨s, x⟩ = z is found relative to that point.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "error.hpp"
#include "sum.hpp"

namespace minorant {

// low for λ ≤ first, high for λ ≥ last, middle + rate·λ between; first and last may be infinite.
struct Ramp {
    double first, last, low, high, middle, rate;

    double at(double lambda) const {
        if (lambda <= first) return low;
        if (lambda >= last) return high;
        return std::clamp(middle + rate * lambda, low, high);
    }
};

// The lower median of kinks in (lo, hi): of all where the ramps are few, else of a sample drawn without
// regard to the values (so that no order of the input can defeat it), by a fixed sequence (so that it can be
// repeated).
inline double pivot(std::span<const Ramp> ramps, double lo, double hi, std::uint64_t& state) {
    constexpr std::size_t kSample = 64;
    double kinks[2 * kSample];
    std::size_t count = 0;
    const auto collect = [&](const Ramp& ramp) {
        if (lo < ramp.first && ramp.first < hi) kinks[count++] = ramp.first;
        if (lo < ramp.last && ramp.last < hi) kinks[count++] = ramp.last;
    };
    if (ramps.size() <= kSample) {
        for (const Ramp& ramp : ramps) collect(ramp);
    } else {
        for (std::size_t k = 0; k < kSample; ++k) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            collect(ramps[(state >> 33) % ramps.size()]);
        }
    }
    double* const middle = kinks + (count - 1) / 2;
    std::nth_element(kinks, middle, kinks + count);
    return *middle;
}

// The root λ of constant + Σ ramps(λ) = 0, or the nearest λ where rounding leaves none. Consumes `ramps`;
// adds the ramps visited to `work`.
inline double balance(std::vector<Ramp>& ramps, double constant_term, std::size_t& work) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double lo = -infinity, hi = infinity, slope = 0;
    Sum constant;
    constant.add(constant_term);
    // Keeps the ramps with a kink in (lo, hi); on that interval the others are constant or linear.
    const auto settle = [&] {
        work += ramps.size();
        std::size_t kept = 0;
        for (const Ramp& ramp : ramps) {
            if ((lo < ramp.first && ramp.first < hi) || (lo < ramp.last && ramp.last < hi)) {
                ramps[kept++] = ramp;
            } else if (ramp.first >= hi) {
                constant.add(ramp.low);
            } else if (ramp.last <= lo) {
                constant.add(ramp.high);
            } else {
                constant.add(ramp.middle);
                slope += ramp.rate;
            }
        }
        ramps.resize(kept);
    };
    std::uint64_t state = 1;
    for (settle(); !ramps.empty(); settle()) {
        const double lambda = pivot(ramps, lo, hi, state);
        work += ramps.size();
        double sum = 0;
        for (const Ramp& ramp : ramps) sum += ramp.at(lambda);
        sum += constant.value() + slope * lambda;
        if (sum == 0) return lambda;
        (sum > 0 ? hi : lo) = lambda;
    }
    if (slope > 0) return std::clamp(-constant.value() / slope, lo, hi);
    return std::isfinite(lo) ? lo : std::isfinite(hi) ? hi : 0.0;
}

struct BoxPlane {
    std::span<const double> center, lower, upper, normal, weights;
    double offset;

    double clip(std::size_t i, double x) const { return std::min(std::max(x, lower[i]), upper[i]); }
};

// The offset, moved into the range of ⟨s, x⟩ over the box where it is outside by rounding alone.
inline double feasible_offset(const BoxPlane& problem) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto& [center, lower, upper, normal, weights, z] = problem;
    Sum finite_least, finite_most, size;
    bool no_least = false, no_most = false;
    for (std::size_t i = 0; i < center.size(); ++i) {
        if (normal[i] == 0) continue;
        const double a = normal[i] * lower[i], b = normal[i] * upper[i];
        const double low = std::min(a, b), high = std::max(a, b);
        std::isinf(low) ? void(no_least = true) : finite_least.add(low);
        std::isinf(high) ? void(no_most = true) : finite_most.add(high);
        if (std::isfinite(low)) size.add(std::abs(low));
        if (std::isfinite(high)) size.add(std::abs(high));
    }
    const double least = no_least ? -infinity : finite_least.value();
    const double most = no_most ? infinity : finite_most.value();
    const double slack = 1e-12 * std::max({1.0, std::abs(z), size.value()});
    if (!(least - slack <= z && z <= most + slack))
        throw InputError("no point of the box has ⟨normal, x⟩ = " + number(z) + ": it ranges over [" +
                         number(least) + ", " + number(most) + "]");
    return std::min(std::max(z, least), most);
}

// Writes the solution to x, adds the elements visited to `work`, returns the multiplier.
inline double box_plane(const BoxPlane& problem, std::span<double> x, std::size_t& work) {
    const auto& [center, lower, upper, normal, weights, offset] = problem;
    const std::size_t n = center.size();
    const double z = feasible_offset(problem);
    std::copy(center.begin(), center.end(), x.begin());
    work += 2 * n;

    struct Excess {
        double value, slope, noise;
    };
    // ⟨s, clip(x + step s/d)⟩ - z, its slope in step, and what rounding may make of a zero.
    const auto excess = [&](double step) {
        work += n;
        Sum sum, size;
        double slope = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double s = normal[i];
            if (s == 0) continue;
            const double moved = x[i] + step * (s / weights[i]), inside = problem.clip(i, moved);
            sum.add(s * inside);
            size.add(std::abs(s * inside));
            if (lower[i] < moved && moved < upper[i]) slope += s * s / weights[i];
        }
        sum.add(-z);
        const double noise = 4 * std::numeric_limits<double>::epsilon() * (std::abs(z) + size.value());
        return Excess{sum.value(), slope, noise};
    };
    double multiplier = 0;
    const auto move = [&](double step) {
        work += n;
        multiplier += step;
        for (std::size_t i = 0; i < n; ++i)
            if (normal[i] != 0) x[i] += step * (normal[i] / weights[i]);
    };

    std::vector<Ramp> ramps;
    ramps.reserve(n);
    for (int round = 0; round < 2; ++round) {
        Sum fixed;
        fixed.add(-z);
        work += n;
        ramps.clear();
        for (std::size_t i = 0; i < n; ++i) {
            const double s = normal[i], rate = s * s / weights[i];
            if (s == 0) continue;
            if (rate == 0) {  // too small to move anything
                fixed.add(s * problem.clip(i, x[i]));
                continue;
            }
            const double per_unit = weights[i] / s;
            double first = per_unit * (lower[i] - x[i]), last = per_unit * (upper[i] - x[i]);
            double low = s * lower[i], high = s * upper[i];
            if (s < 0) std::swap(first, last), std::swap(low, high);
            ramps.push_back({first, last, low, high, s * x[i], rate});
        }
        move(balance(ramps, fixed.value(), work));
        const Excess found = excess(0);
        if (!(std::abs(found.value) > found.noise)) break;
        if (!(found.slope > 0)) continue;
        const double newton = -found.value / found.slope;
        const Excess polished = excess(newton);
        if (std::abs(polished.value) < std::abs(found.value)) move(newton);
        if (!(std::abs(polished.value) > polished.noise)) break;
    }
    for (std::size_t i = 0; i < n; ++i) x[i] = problem.clip(i, x[i]);
    work += n;
    return multiplier;
}

}  // namespace minorant
