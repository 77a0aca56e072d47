// How much the bias of sweeps of dual coordinates gives way to one example: `Examples.rho` explains it, and
// is what runs on larger data.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "classifier.hpp"
#include "dense.hpp"

namespace minorant {

// The constants of `solvers/examples.py`.
struct BiasRules {
    int some;
    double apart, pace, hurry, fast, late;
    double many, steady, least;
};

template <class Rows, class Loss>
class BiasPace {
  public:
    // `size` = Σ c_i ‖x_i‖². Without a bias it is 0 throughout. `zeros`, one for each column, are
    // overwritten.
    BiasPace(const Classifier<Rows, Loss>& p, const BiasRules& rules, std::span<const double> norm2,
             double size, std::span<double> zeros)
        : p_(p), rules_(rules), norm2_(norm2), size_(size), mean2_(p.bias ? mean_squared(zeros) : 0.0) {}

    // Before the first sweep
    double at_rest() const {
        const double n = static_cast<double>(norm2_.size()), bend = size_ / (p_.lam * n);
        const double hurry = bend > 0 ? std::clamp(1 / std::sqrt(bend), 1.0, rules_.hurry) : 1.0;
        const double rho = rules_.pace * hurry * std::max(mean2_, rules_.apart * size_);
        return bounded(std::max(rho, std::min(0.1, rules_.late / n) * size_));
    }

    // After some
    double operator()(std::span<const double> t) const {
        if (!p_.bias) return 0;
        double response = 0;
        for (std::size_t i = 0; i < t.size(); ++i) {
            if (p_.c[i] > 0) response += response_of(i, t[i], p_.c[i] / p_.lam);
        }
        return bounded(rules_.many / response + rules_.steady * mean2_);
    }

  private:
    double bounded(double rho) const {
        if (!p_.bias) return 0;
        const double found = std::min(rho, rules_.fast * size_);
        return found > 0 ? found : 1;
    }

    double response_of(std::size_t i, double t, double scale) const {
        const double q = scale * std::max(norm2_[i], rules_.least * size_);
        if constexpr (std::is_same_v<Loss, Logistic>) {
            const double h = t * (1 - t);
            return scale * h / (1 + q * h);
        } else {
            const bool free = t > p_.loss.low && t < p_.loss.high && (t != 0 || p_.loss.tube == 0);
            return free && p_.loss.kappa + q > 0 ? scale / (p_.loss.kappa + q) : 0.0;
        }
    }

    // ‖m‖² of the mean of some rows, less what chance adds to it
    double mean_squared(std::span<double> mean) const {
        const std::size_t n = norm2_.size(), some = static_cast<std::size_t>(rules_.some),
                          stride = (n + some - 1) / some;
        double total = 0, chance = 0;
        for (std::size_t i = 0; i < n; i += stride) total += p_.c[i];
        if (total == 0) total = 1;
        for (std::size_t i = 0; i < n; i += stride) {
            const double share = p_.c[i] / total;
            p_.X.add(i, share, mean.data());
            chance += share * share * norm2_[i];
        }
        return std::max(row_dot(mean.data(), mean.data(), mean.size()) - chance, 0.0);
    }

    const Classifier<Rows, Loss>& p_;
    const BiasRules rules_;
    const std::span<const double> norm2_;
    const double size_, mean2_;
};

}  // namespace minorant
