// Least squares with a squared norm from w = 0 to the certificate in one call. With Σ c_i = 1 and r = X w + b
// - y,
//
//     J(w, b) = λ/2 ‖w‖² + Σ c_i r_i² ,    D(α) = -⟨y, α⟩ - Σ α_i²/(4 c_i) - ‖Xᵀα‖²/(2λ),  Σ α_i = 0
//
// The best bias is known for every w, and leaves a system of the columns, with the means m = Xᵀc, or one of
// the examples, whichever is smaller:
//
//     (λ I + 2 Xᵀ C (X - 1 mᵀ)) w = 2 Xᵀ C (y - ȳ) ,        (X Xᵀ/λ + ½ C⁻¹) α = b 1 - y ,  w = -Xᵀα/λ
//
// The slopes α = 2 c r at any w prove J - D = ‖residual‖²/(2λ) by the residual of the first one, so conjugate
// gradients know the gap at every iteration. They go on for as long as they promise to cost less than
// Cholesky.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "cholesky.hpp"
#include "classifier.hpp"
#include "least_squares_passes.hpp"
#include "newton_rows.hpp"
#include "newton_system.hpp"
#include "parallel.hpp"
#include "room.hpp"

namespace minorant {

template <class Rows>
class LeastSquares {
  public:
    // `weights` may be empty: then all c_i are 1/n. What is found is left in w and alpha.
    LeastSquares(const Rows& X, std::span<const double> y, std::span<const double> weights, double lam,
                 bool bias, int threads, Room& room, std::span<double> w, std::span<double> alpha)
        : X_(X),
          y_(y),
          lam_(lam),
          bias_(bias),
          threads_(threads),
          room_(room),
          c_(weights.begin(), weights.end(), room),
          h_(y.size(), room),
          slopes_(y.size(), room),
          image_(y.size(), room),
          place_(y.size(), room),
          size_(w.size() + (bias ? 1 : 0)),
          w_(w.size()),
          v_(w.size()),
          residual_(size_),
          best_w_(w),
          best_alpha_(alpha) {
        if (c_.empty()) c_.assign(y.size(), 1 / static_cast<double>(y.size()));
        for (std::size_t i = 0; i < h_.size(); ++i) h_[i] = 2 * c_[i];
        rows_ = support(h_, place_, threads);
        std::fill(w.begin(), w.end(), 0.0);
        std::fill(alpha.begin(), alpha.end(), 0.0);
    }

    WholeFit run(double tol, double budget) {
        tol_ = tol;
        const double n = static_cast<double>(rows_.size()), volume = static_cast<double>(X_.volume()),
                     columns = static_cast<double>(w_.size());
        const double iteration = pass_cost(X_, Logistic{}) * volume + 10 * columns;
        double direct = by_examples() ? product_cost(X_) * (n * volume + n * n * n / 6)
                                      : direct_cost(X_, n, volume / n, static_cast<double>(size_));
        if (std::min(n, columns) > kLargest || direct > budget) direct = kNever;
        value_of_slopes();  // at w = 0
        first_bias_ = fit_.bias;
        if (!(fit_.primal > 0)) {
            look();
        } else if (direct <= kFew * iteration) {
            if (!by_examples()) adjoint(X_, negated(), columns_of(residual_), threads_);
            directly();
        } else if constexpr (kDense) {
            const double most = budget / iteration;
            if (by_examples() ? iterate_examples(direct / iteration, most)
                              : iterate(direct / iteration, most))
                directly();
        }
        return fit_;
    }

  private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    static constexpr double kLargest = 4000;  // system
    static constexpr double kFew = 12;        // iterations: Cholesky that costs no more comes first
    static constexpr double kTry = 0.1;     // of its cost is spent before what iterations promise is believed
    static constexpr double kSurely = 0.9;  // of the gap, for rounding
    static constexpr double kFall = 1e-6;   // of J: then what is left of it is rounding
    static constexpr std::size_t kStrip = 256;  // columns
    static constexpr int kRounds = 4;           // of refinement: more do not help

    static constexpr bool kDense = !requires(const Rows& rows) { rows.X.indices; };

    bool by_examples() const { return rows_.size() < w_.size(); }
    bool certified() const { return fit_.primal - fit_.dual <= tol_ * fit_.primal; }
    std::span<double> columns_of(std::vector<double>& z) const { return std::span(z).first(w_.size()); }

    template <std::size_t K, class F>
    std::array<double, K> sums(F&& block) const {
        return block_sums<K>(y_.size(), threads_, 8, block);
    }

    // The slopes at the image of w, at its best bias, which is kept with J if that is the smallest so far;
    // returns what there is of -D without Xᵀα.
    double value_of_slopes() {
        double b = 0;
        if (bias_)
            b = -sums<1>([&](std::size_t begin, std::size_t end) {
                return offset_block(image_.data(), y_.data(), c_.data(), begin, end);
            })[0];
        const auto [risk, off] = sums<2>([&](std::size_t begin, std::size_t end) {
            return slopes_block(image_.data(), y_.data(), c_.data(), b, slopes_.data(), begin, end);
        });
        value_ = 0.5 * lam_ * row_dot(w_.data(), w_.data(), w_.size()) + risk;
        if (!(value_ >= fit_.primal)) {  // also where it is not a number
            fit_.primal = value_, fit_.bias = b;
            std::copy(w_.begin(), w_.end(), best_w_.begin());
        }
        return onto_the_plane(off);
    }
    double onto_the_plane(double off) {
        if (!bias_) off = 0;
        return sums<1>([&](std::size_t begin, std::size_t end) {
            return bound_block(y_.data(), c_.data(), off, slopes_.data(), begin, end);
        })[0];
    }
    double total() const {
        return sums<1>([&](std::size_t begin, std::size_t end) {
            return lane_sums<1>(begin, end, [&](std::size_t i) { return std::array<double, 1>{slopes_[i]}; });
        })[0];
    }

    // v = Xᵀα of the slopes
    void offer_dual(double without) {
        adjoint(X_, slopes_, v_, threads_);
        ++fit_.products;
        const double value = -without - row_dot(v_.data(), v_.data(), v_.size()) / (2 * lam_);
        if (!(value > fit_.dual)) return;
        fit_.dual = value;
        std::copy(slopes_.begin(), slopes_.end(), best_alpha_.begin());
    }

    // J at w and D at its slopes, from products of their own, and the residual.
    void look() {
        product(X_, w_, image_, threads_);
        ++fit_.products;
        offer_dual(value_of_slopes());
        for (std::size_t j = 0; j < w_.size(); ++j) residual_[j] = -(lam_ * w_[j] + v_[j]);
    }

    std::span<const double> negated() {
        for (double& slope : slopes_) slope = -slope;
        return slopes_;
    }

    void directly() {
        if (by_examples()) return solve_examples();
        const auto L = std::make_unique_for_overwrite<double[]>(size_ * size_);
        gram(X_, h_, rows_, bias_, size_, std::span(L.get(), size_ * size_), threads_);
        for (std::size_t j = 0; j < w_.size(); ++j) L[j * size_ + j] += lam_;
        factorize(L.get(), size_, threads_);
        for (int round = 0; round < kRounds && !certified(); ++round) {
            if (bias_) residual_.back() = 0;
            substitute(L.get(), residual_.data(), size_);
            for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += residual_[j];
            look();
        }
    }

    void solve_examples() {
        const std::size_t size = rows_.size();
        std::vector<double> L = row_products(X_, rows_, w_.size()), a(size), ones(bias_ ? size : 0, 1.0);
        for (std::size_t k = 0; k < size; ++k) {
            for (std::size_t l = 0; l <= k; ++l) L[k * size + l] /= lam_;
            L[k * size + k] += 1 / h_[rows_[k]];
            a[k] = first_bias_ - y_[rows_[k]];
        }
        factorize(L.data(), size, threads_);
        substitute(L.data(), a.data(), size);
        double lift = 0;
        if (bias_) {
            substitute(L.data(), ones.data(), size);
            double of_a = 0, of_ones = 0;
            for (std::size_t k = 0; k < size; ++k) of_a += a[k], of_ones += ones[k];
            lift = of_ones > 0 ? -of_a / of_ones : 0.0;
        }
        for (std::size_t k = 0; bias_ && k < size; ++k) a[k] += lift * ones[k];
        look_from(a);
    }

    // D at those slopes, and J at their w = -Xᵀα/λ
    void look_from(std::span<const double> a) {
        std::fill(slopes_.begin(), slopes_.end(), 0.0);
        for (std::size_t k = 0; k < a.size(); ++k) slopes_[rows_[k]] = a[k];
        offer_dual(onto_the_plane(total()));
        for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = -v_[j] / lam_;
        product(X_, w_, image_, threads_);
        ++fit_.products;
        value_of_slopes();
    }

    // Conjugate gradients for the system of the examples, on the plane Σ α_i = 0 where there is a bias,
    // otherwise as `iterate`. There the gap is Σ c_i ρ_i² with the residual ρ at the best bias.
    bool iterate_examples(double direct, double most) {
        const std::size_t size = rows_.size();
        RoomVector<double> a(size, room_), rho(size, room_), scaled(size, room_), inverse(size, room_),
            direction(size, room_), image(size, room_), weight(size, room_);
        double total = 0;
        for (std::size_t k = 0; k < size; ++k) {
            const std::size_t i = rows_[k];
            rho[k] = first_bias_ - y_[i], weight[k] = c_[i];
            image[k] = row_dot(X_.X.row(i), X_.X.row(i), w_.size());
            inverse[k] = 1 / (image[k] / lam_ + 1 / h_[i]);
            total += inverse[k];
        }
        const auto precondition = [&] {
            const double lift = bias_ ? row_dot(inverse.data(), rho.data(), size) / total : 0.0;
            for (std::size_t k = 0; k < size; ++k) scaled[k] = inverse[k] * (rho[k] - lift);
            return row_dot(rho.data(), scaled.data(), size);
        };
        const auto gap = [&] {
            const double off = bias_ ? row_dot(weight.data(), rho.data(), size) : 0.0;
            double sum = 0;
            for (std::size_t k = 0; k < size; ++k) sum += weight[k] * (rho[k] - off) * (rho[k] - off);
            return sum;
        };
        const double first = gap();
        double energy = precondition(), now = first, dual = 0, done = 0;
        direction = scaled;
        while (now > kSurely * tol_ * (dual + now) && done < most) {
            rows_times_rows(direction, image);
            for (std::size_t k = 0; k < size; ++k) image[k] = image[k] / lam_ + direction[k] / h_[rows_[k]];
            const double along = row_dot(direction.data(), image.data(), size);
            if (!(along > 0)) break;
            const double step = energy / along, before = energy;
            for (std::size_t k = 0; k < size; ++k) a[k] += step * direction[k], rho[k] -= step * image[k];
            dual += 0.5 * step * energy;
            energy = precondition();
            for (std::size_t k = 0; k < size; ++k) direction[k] = scaled[k] + energy / before * direction[k];
            now = gap();
            fit_.products += 2;
            if (too_slow(++done, direct, first / now, now / (tol_ * (dual + now)))) return true;
        }
        look_from(a);
        return !certified() && direct < kNever;
    }

    // out = X Xᵀ a: a strip of columns at a time, which stays in the cache for the second product.
    void rows_times_rows(std::span<const double> a, std::span<double> out) {
        const std::size_t columns = w_.size(), strips = (columns + kStrip - 1) / kStrip,
                          blocks = std::min<std::size_t>(strips, 16);
        sum_partials(blocks, out, threads_, 4.0 * static_cast<double>(X_.volume()),
                     [&](std::size_t block, double* sum) {
                         const std::size_t end = strips * (block + 1) / blocks;
                         double z[kStrip];
                         for (std::size_t strip = strips * block / blocks; strip < end; ++strip) {
                             const std::size_t from = strip * kStrip,
                                               width = std::min(kStrip, columns - from);
                             std::fill_n(z, width, 0.0);
                             for (std::size_t k = 0; k < a.size(); ++k)
                                 add_row(X_.X.row(rows_[k]) + from, a[k], z, width);
                             for (std::size_t k = 0; k < a.size(); ++k)
                                 sum[k] += row_dot(X_.X.row(rows_[k]) + from, z, width);
                         }
                     });
    }

    // Whether so many iterations, which have made the gap so much smaller, leave more to do than Cholesky
    // costs.
    static bool too_slow(double done, double direct, double won, double left) {
        if (done < kTry * direct || !(left > 1)) return false;
        return !(done * std::log(left) <= direct * std::log(won));
    }

    // Conjugate gradients with the diagonal as preconditioner, until the gap is within tol or iterations are
    // too many; true where Cholesky, which costs so many, is cheaper.
    bool iterate(double direct, double most) {
        const std::size_t columns = w_.size();
        std::vector<double> mean, inverse = moments(mean), scaled(columns), direction(size_), image(size_);
        const auto precondition = [&] {
            for (std::size_t j = 0; j < columns; ++j) scaled[j] = inverse[j] * residual_[j];
            return row_dot(residual_.data(), scaled.data(), columns);
        };
        const auto gap = [&] { return row_dot(residual_.data(), residual_.data(), columns) / (2 * lam_); };
        const double first = gap();
        double done = 0;
        for (int round = 0; round < kRounds; ++round) {
            double energy = precondition(), now = gap();
            const double least = kFall * value_;
            std::copy(scaled.begin(), scaled.end(), direction.begin());
            while (now > kSurely * tol_ * value_ && value_ > least && done < most) {
                if (bias_) direction.back() = -row_dot(mean.data(), direction.data(), columns);
                curved(X_, h_, rows_, bias_, direction, image, threads_);
                for (std::size_t j = 0; j < columns; ++j) image[j] += lam_ * direction[j];
                const double along = row_dot(direction.data(), image.data(), columns);
                if (!(along > 0)) break;
                const double step = energy / along, before = energy;
                for (std::size_t j = 0; j < columns; ++j)
                    w_[j] += step * direction[j], residual_[j] -= step * image[j];
                value_ -= 0.5 * step * energy;
                energy = precondition();
                for (std::size_t j = 0; j < columns; ++j)
                    direction[j] = scaled[j] + energy / before * direction[j];
                now = gap();
                fit_.products += 2;
                if (too_slow(++done, direct, first / now, now / (tol_ * value_))) return true;
            }
            look();
            if (certified() || done >= most) break;
        }
        return false;
    }

    // The residual at w = 0, the means, and, which is returned, the inverse of the diagonal.
    std::vector<double> moments(std::vector<double>& mean) {
        const std::size_t columns = w_.size(), blocks = partial_count(X_.volume(), 3 * columns);
        std::vector<double> all(3 * columns), inverse(columns);
        sum_partials(blocks, all, threads_, 4.0 * static_cast<double>(X_.volume()),
                     [&](std::size_t block, double* sum) {
                         const std::size_t end = rows_.size() * (block + 1) / blocks;
                         for (std::size_t k = rows_.size() * block / blocks; k < end; ++k) {
                             const std::size_t i = rows_[k];
                             add_moments(X_, i, h_[i], slopes_[i], columns, sum);
                         }
                     });
        ++fit_.products;
        mean.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(columns));
        for (std::size_t j = 0; j < columns; ++j) {
            mean[j] *= 0.5;
            const double spread = all[columns + j] - (bias_ ? 2 * mean[j] * mean[j] : 0.0);
            inverse[j] = 1 / (lam_ + std::max(spread, 0.0));
            residual_[j] = -all[2 * columns + j];
        }
        return inverse;
    }

    const Rows& X_;
    const std::span<const double> y_;
    const double lam_;
    const bool bias_;
    const int threads_;
    Room& room_;
    RoomVector<double> c_, h_, slopes_, image_;
    RoomVector<std::uint32_t> place_;
    std::span<const std::uint32_t> rows_;  // with a weight
    const std::size_t size_;               // unknowns
    std::vector<double> w_, v_, residual_;
    std::span<double> best_w_, best_alpha_;
    double tol_ = 0, value_ = 0, first_bias_ = 0;
    WholeFit fit_{kNever, 0, 0, 0};  // D(0) = 0
};

}  // namespace minorant
