// A system of Newton's method made of some of its examples, which stands for the whole one as a
// preconditioner: with several times as many examples as unknowns, conjugate gradients take a handful of
// iterations, however ill-conditioned the columns are. A free bias is eliminated, as it is there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cholesky.hpp"
#include "newton_rows.hpp"
#include "newton_system.hpp"

namespace minorant {

class SampledSystem {
  public:
    static constexpr double kIterations = 10;  // that are left to be made, about

    static double examples(double size) { return 8 * size; }

    // There are more examples than that, and its two matrices are small beside the data.
    static bool fits(double size, double rows, double volume) {
        return rows >= 2 * examples(size) && 12 * size * size <= volume;
    }

    // `diagonal` is that of Zᵀ H Z: what the sample has too little of, in columns that are rare, is added.
    template <class Rows>
    SampledSystem(const Rows& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                  bool bordered, double lam, std::span<const double> diagonal, int threads)
        : columns_(diagonal.size() - (bordered ? 1 : 0)), L_(columns_ * columns_) {
        const std::size_t size = diagonal.size();
        const auto wanted = static_cast<std::size_t>(examples(static_cast<double>(size)));
        const std::size_t stride = std::max<std::size_t>(1, rows.size() / wanted);
        std::vector<std::uint32_t> some;
        double of_all = 0, of_some = 0;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            of_all += h[rows[k]];
            if (k % stride != 0) continue;
            some.push_back(rows[k]);
            of_some += h[rows[k]];
        }
        std::vector<double> M(size * size);
        gram(X, h, some, bordered, size, M, threads);
        const double scale = of_some > 0 ? of_all / of_some : 0.0;
        const double* const border = M.data() + columns_ * size;  // of a bias
        for (std::size_t i = 0; i < columns_; ++i) {
            const double off = bordered && of_some > 0 ? border[i] / of_some : 0.0;
            for (std::size_t j = 0; j <= i; ++j)
                L_[i * columns_ + j] = scale * (M[i * size + j] - (bordered ? off * border[j] : 0.0));
            const double missing = diagonal[i] - scale * M[i * size + i];
            L_[i * columns_ + i] += lam + std::max(missing, 0.0);
        }
        factorize(L_.data(), columns_, threads);
    }

    void operator()(std::span<const double> residual, std::span<double> out) const {
        std::copy_n(residual.begin(), columns_, out.begin());
        substitute(L_.data(), out.data(), columns_);
    }

  private:
    const std::size_t columns_;
    std::vector<double> L_;
};

// Overwrites g with d, up to a tenth, by conjugate gradients with that preconditioner or the diagonal;
// returns how many iterations it took.
template <class Rows>
int solve_by_iterations(const Rows& X, std::span<const double> h, std::span<const std::uint32_t> rows,
                        bool bordered, double lam, std::vector<double>& g, bool sampled, int threads) {
    constexpr double kAccuracy = 0.1;
    constexpr int kMost = 250;
    std::vector<double> diagonal(g.size()), d(g.size());
    for_parts_of(X, rows, 2.0, diagonal, threads, [&](std::span<const std::uint32_t> part, double* sum) {
        double total = 0;
        for (const std::uint32_t i : part) {
            add_squares(X, i, h[i], sum);
            total += h[i];
        }
        if (bordered) sum[g.size() - 1] = total;
    });
    Iterated done;
    if (sampled) {
        const SampledSystem part(X, h, rows, bordered, lam, diagonal, threads);
        done =
            conjugate_gradients(X, h, rows, bordered, lam, g, diagonal, kAccuracy, kMost, d, threads, part);
    } else {
        for (std::size_t j = 0; j < g.size(); ++j) {
            const double value = diagonal[j] + (bordered && j + 1 == g.size() ? 0.0 : lam);
            diagonal[j] = value > 0 ? 1 / value : 0.0;
        }
        done = conjugate_gradients(X, h, rows, bordered, lam, g, diagonal, kAccuracy, kMost, d, threads);
    }
    g.swap(d);
    return done.iterations;
}

}  // namespace minorant
