// For scores v_i of k classes, biases b and P_i = softmax((v_i + b)/T), what the search for the best biases
// asks for, in one pass:
//
//     Σ c_i T log Σ_z exp((v_iz + b_z)/T) ,     Σ c_i P_i ,     Σ c_i P_i P_iᵀ
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "exponential.hpp"
#include "lanes.hpp"
#include "logarithm.hpp"

namespace minorant {

// Adds those of some rows to `sums` and `squares`; P has room for one.
MINORANT_WIDE_CLONES inline double add_softmax_sums(const double* V, const double* c, std::size_t rows,
                                                    std::size_t k, double temperature, const double* b,
                                                    double* P, double* sums, double* squares) {
    double value = 0;
    for (std::size_t i = 0; i < rows; ++i, V += k) {
        for (std::size_t l = 0; l < k; ++l) P[l] = (V[l] + b[l]) / temperature;
        double top = P[0];
        for (std::size_t l = 1; l < k; ++l) top = P[l] > top ? P[l] : top;
        for (std::size_t l = 0; l < k; ++l) P[l] = exp_negative(P[l] - top);
        double total = 0;
        for (std::size_t l = 0; l < k; ++l) total += P[l];
        const double share = 1 / total;
        for (std::size_t l = 0; l < k; ++l) P[l] *= share;
        value += c[i] * (top + log_positive(total));
        for (std::size_t l = 0; l < k; ++l) {
            const double weight = c[i] * P[l];
            sums[l] += weight;
            MINORANT_INDEPENDENT
            for (std::size_t m = 0; m < k; ++m) squares[l * k + m] += weight * P[m];
        }
    }
    return temperature * value;
}

// The value; block by block, so that rounding does not grow with the number of rows.
inline double softmax_sums(std::span<const double> V, std::span<const double> c, double temperature,
                           std::span<const double> b, std::span<double> sums, std::span<double> squares) {
    constexpr std::size_t kSome = 1024;
    const std::size_t k = b.size();
    std::vector<double> P(k), part(k + k * k);
    double value = 0;
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(squares.begin(), squares.end(), 0.0);
    for (std::size_t begin = 0; begin < c.size(); begin += kSome) {
        std::fill(part.begin(), part.end(), 0.0);
        const std::size_t rows = std::min(kSome, c.size() - begin);
        value += add_softmax_sums(V.data() + begin * k, c.data() + begin, rows, k, temperature, b.data(),
                                  P.data(), part.data(), part.data() + k);
        for (std::size_t l = 0; l < k; ++l) sums[l] += part[l];
        for (std::size_t l = 0; l < k * k; ++l) squares[l] += part[k + l];
    }
    return value;
}

}  // namespace minorant
