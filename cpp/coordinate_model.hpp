// The quadratic model that coordinate descent minimizes over the columns of a working set, for h ≥ 0:
//
//     Q(w, b) = ½ Σ h_i (ρ_i + ⟨x_i, w⟩ + b)² + l1 ‖w‖₁ + (l2/2) ‖w‖²
//
// The state is w and e_i = h_i (ρ_i + ⟨x_i, w⟩ + b), the gradient by example: ∂Q/∂w_j = ⟨x_j, e⟩ + l2 w_j. A
// free bias is always at its best, Σ e = 0: a step δ of w_j moves it by -δ m_j with m_j = Σ h x_j / Σ h, kept
// as one number `shift` so that sparse columns stay sparse. Steps along a direction d minimize Q exactly: it
// is a parabola with kinks.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "coordinate_columns.hpp"

namespace minorant {

// Where t ≥ 0 minimizes rise·t + bend·t²/2 + Σ jump·[t - at]_+ over the kinks (at, jump).
inline double kinked_step(double rise, double bend, std::vector<std::pair<double, double>>& kinks) {
    if (!(rise < 0)) return 0;
    std::sort(kinks.begin(), kinks.end());
    double t = bend > 0 ? -rise / bend : kinks.empty() ? 0.0 : kinks.back().first;
    for (const auto& [at, jump] : kinks) {
        if (bend > 0 && -rise / bend <= at) return -rise / bend;
        rise += jump;
        t = bend > 0 ? -rise / bend : kinks.back().first;
        if (rise + at * bend >= 0) return at;
    }
    return t;
}

template <class B>
struct Model {
    const B& X;
    double l1, l2;
    bool bias;
    std::vector<double> w;                 // one for each column
    std::vector<double> h, e;              // one for each example; the gradient is e + shift·h
    std::vector<double> mean, curvature;   // m_j, and Σ h (x_j - m_j)²
    double shift = 0, mass = 0, same = 0;  // Σ h; the common value of h, or 0 where they differ
    double work = 0;                       // multiplications so far

    Model(const B& X, double l1, double l2, bool bias)
        : X(X),
          l1(l1),
          l2(l2),
          bias(bias),
          w(X.size()),
          h(X.rows()),
          e(X.rows()),
          mean(X.size()),
          curvature(X.size()) {}

    // h and e have been set: the rest of the state.
    void begin() {
        mass = 0;
        double total = 0;
        same = h.empty() ? 0 : h[0];
        for (std::size_t i = 0; i < h.size(); ++i) {
            mass += h[i];
            total += e[i];
            if (h[i] != same) same = 0;
        }
        const bool centered = bias && mass > 0;
        for (std::size_t j = 0; j < X.size(); ++j) {
            mean[j] = centered ? X.dot(j, h.data()) / mass : 0.0;
            curvature[j] = X.squares(j, h.data(), mean[j], centered ? mass : 0.0);
            if (centered && curvature[j] <= 1e-24 * mass * mean[j] * mean[j])
                curvature[j] = 0;  // a constant column
            work += 2 * B::kCost * static_cast<double>(X.count(j));
        }
        shift = centered ? -total / mass : 0.0;
    }

    double slope(std::size_t j) {
        work += B::kCost * static_cast<double>(X.count(j));
        return X.dot(j, e.data()) + shift * mean[j] * mass;
    }

    // Minimizes over w_j; what Q falls by, at least.
    double step(std::size_t j) {
        const double q = curvature[j] + l2, old = w[j];
        if (curvature[j] <= 0) {  // the column cannot help
            if (old != 0) change(j, -old);
            w[j] = 0;
            return 0;
        }
        const double u = q * old - (slope(j) + l2 * old);
        const double next = u > l1 ? (u - l1) / q : u < -l1 ? (u + l1) / q : 0.0;
        if (next == old) return 0;
        change(j, next - old);
        w[j] = next;
        return 0.5 * q * (next - old) * (next - old);
    }

    // X d for a d on some of the columns
    std::vector<double> image(std::span<const std::size_t> set, std::span<const double> d) {
        std::vector<double> v(X.rows(), 0.0);
        for (std::size_t s = 0; s < set.size(); ++s) {
            if (d[s] == 0) continue;
            X.add(set[s], d[s], v.data());
            work += B::kCost * static_cast<double>(X.count(set[s]));
        }
        return v;
    }

    // Minimizes Q along d, which lives on the columns of `set`, from here on; the step.
    double search(std::span<const std::size_t> set, std::span<const double> d) {
        return search(set, d, image(set, d));
    }
    double search(std::span<const std::size_t> set, std::span<const double> d, std::span<const double> v) {
        double ev = 0, hv = 0, hvv = 0;
        for (std::size_t i = 0; i < v.size(); ++i) {
            ev += e[i] * v[i];
            hv += h[i] * v[i];
            hvv += h[i] * v[i] * v[i];
        }
        work += 3.0 * static_cast<double>(v.size());
        const bool centered = bias && mass > 0;
        double rise = ev + shift * hv, bend = hvv - (centered ? hv * hv / mass : 0.0);
        std::vector<std::pair<double, double>>
            kinks;  // where a weight becomes 0, and by how much the slope jumps
        for (std::size_t s = 0; s < set.size(); ++s) {
            const double x = w[set[s]];
            if (d[s] == 0) continue;
            rise += l2 * x * d[s] + (x == 0 ? l1 * std::abs(d[s]) : x > 0 ? l1 * d[s] : -l1 * d[s]);
            bend += l2 * d[s] * d[s];
            if (x != 0 && (x > 0) != (d[s] > 0)) kinks.emplace_back(-x / d[s], 2 * l1 * std::abs(d[s]));
        }
        const double t = kinked_step(rise, bend, kinks);
        if (t == 0) return 0;
        for (std::size_t s = 0; s < set.size(); ++s) {
            double& x = w[set[s]];
            const double next = x + t * d[s];
            x = std::abs(next) <= 1e-14 * std::abs(x) ? 0.0 : next;
        }
        if (same != 0) {
            for (std::size_t i = 0; i < v.size(); ++i) e[i] += t * same * v[i];
        } else {
            for (std::size_t i = 0; i < v.size(); ++i) e[i] += t * h[i] * v[i];
        }
        if (centered) shift -= t * hv / mass;
        return t;
    }

    std::vector<std::size_t> support() const {
        std::vector<std::size_t> set;
        for (std::size_t j = 0; j < w.size(); ++j)
            if (w[j] != 0) set.push_back(j);
        return set;
    }

  private:
    void change(std::size_t j, double by) {
        if (same != 0) {
            X.add(j, by * same, e.data());
        } else {
            X.add(j, by, h.data(), e.data());
        }
        work += B::kCost * static_cast<double>(X.count(j));
        shift -= by * mean[j];  // mean is 0 where there is no bias
    }
};

}  // namespace minorant
