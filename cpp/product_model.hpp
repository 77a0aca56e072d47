// The quadratic model of a proximal Newton step in terms of the products G = XᵀHX of a few columns:
//
//     ½ ⟨Δ, G Δ⟩ + ⟨v, Δ⟩ + l1 ‖w + Δ‖₁ + (l2/2) ‖w + Δ‖²
//
// With a free bias G is centered: products of x_j - m_j, m_j = Σ h x_j / Σ h. Sweeps of coordinates find the
// support, Newton steps on it the weights, followed by an exact search that drops weights that reach 0. Where
// that cuts a step short, the slopes at the end of the whole of it may still prove how good w is.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "cholesky.hpp"
#include "coordinate_loss.hpp"
#include "coordinate_newton.hpp"
#include "row_products.hpp"

namespace minorant {

// About the duality gap, from the slopes v = Xᵀe at w: exact but for the square of how much the dual point
// must be shrunk.
inline double slopes_gap(std::span<const double> w, std::span<const double> v, double l1, double l2,
                         const Level& at) {
    double most = 0, gap = 0, product = 0;
    for (std::size_t j = 0; j < w.size(); ++j) {
        const double size = std::abs(v[j]);
        most = std::max(most, size);
        product += w[j] * v[j];
        gap += l1 * std::abs(w[j]) + 0.5 * l2 * w[j] * w[j];
        if (l2 > 0 && size > l1) gap += 0.5 * (size - l1) * (size - l1) / l2;
    }
    if (l2 > 0) return gap + product;
    const double shrink = most > l1 ? l1 / most : 1.0;
    return gap + shrink * product + (1 - shrink) * (at.clipped + (1 - shrink) * at.loss);
}

class ProductModel {
  public:
    template <class Rows>
    ProductModel(const Rows& X, std::span<const double> h, std::vector<std::size_t> columns, bool bias,
                 double l1, double l2, std::span<const double> w, std::span<const double> slopes)
        : columns_(std::move(columns)),
          size_(columns_.size()),
          l1_(l1),
          l2_(l2),
          G_(size_ * size_),
          mean_(size_),
          w_(size_),
          v_(size_) {
        X.products(h, columns_, G_);
        if (bias) {
            double mass = 0;
            for (const double x : h) mass += x;
            std::vector<double> sums(X.columns());
            X.gradient(h, sums);
            for (std::size_t j = 0; j < size_; ++j) mean_[j] = mass > 0 ? sums[columns_[j]] / mass : 0.0;
            for (std::size_t j = 0; j < size_; ++j)
                for (std::size_t k = 0; k < size_; ++k) G_[j * size_ + k] -= mass * mean_[j] * mean_[k];
            for (std::size_t j = 0; j < size_; ++j)  // a constant column cannot help
                if (G_[j * size_ + j] <= 1e-13 * mass * mean_[j] * mean_[j]) G_[j * size_ + j] = 0;
        }
        restart(w, slopes);
    }

    bool has(std::span<const std::size_t> columns) const {
        return std::includes(columns_.begin(), columns_.end(), columns.begin(), columns.end());
    }

    // The weights and slopes where the model begins.
    void restart(std::span<const double> w, std::span<const double> slopes) {
        for (std::size_t j = 0; j < size_; ++j) {
            w_[j] = w[columns_[j]];
            v_[j] = slopes[columns_[j]];
        }
    }

    // Until the gap of the model is `enough`; true: with the slopes of the weights `ahead`, where the model
    // is the loss. A Newton step costs as much as many sweeps: it comes after these.
    bool minimize(double enough, const Level& at, bool exact) {
        double work = 0;
        for (int round = 0, quiet = 0; round < 1000 && quiet < 3; ++round) {
            double fall = 0;
            for (std::size_t j = 0; j < size_; ++j) fall += step(j, work);
            work += static_cast<double>(size_);
            if (fall <= enough && gap(at) <= enough) return false;
            quiet = fall <= 1e-16 * at.loss ? quiet + 1 : 0;
            const std::vector<std::size_t> set = support();
            const auto size = static_cast<double>(set.size());
            if (quiet == 0 && work < size * size * (size / kFaster + 4)) continue;
            if (newton(set, exact ? enough : 0.0, at)) return true;
            work = 0;
        }
        return false;
    }

    // Of all columns, 0 for those that are not in the model.
    std::vector<double> weights(std::size_t columns) const { return spread(w_, columns); }
    std::vector<double> ahead(std::size_t columns) const { return spread(ahead_, columns); }

    // By how much the bias goes along.
    double shift(std::span<const double> from, std::span<const double> to) const {
        double sum = 0;
        for (std::size_t j = 0; j < size_; ++j) sum -= mean_[j] * (to[columns_[j]] - from[columns_[j]]);
        return sum;
    }

  private:
    static constexpr double kFaster =
        24;  // than sweeps, a factorization of n³/6 multiplications by as much of 6

    double step(std::size_t j, double& work) {
        const double curvature = G_[j * size_ + j], q = curvature + l2_, old = w_[j];
        const double u = q * old - (v_[j] + l2_ * old);
        const double next = curvature <= 0 ? 0.0 : u > l1_ ? (u - l1_) / q : u < -l1_ ? (u + l1_) / q : 0.0;
        if (next == old) return 0;
        add_column(next - old, G_.data() + j * size_, v_.data(), size_);
        w_[j] = next;
        work += static_cast<double>(size_);
        return 0.5 * q * (next - old) * (next - old);
    }

    double gap(const Level& at) const { return slopes_gap(w_, v_, l1_, l2_, at); }

    std::vector<std::size_t> support() const {
        std::vector<std::size_t> set;
        for (std::size_t j = 0; j < size_; ++j)
            if (w_[j] != 0) set.push_back(j);
        return set;
    }

    std::vector<double> spread(std::span<const double> of, std::size_t columns) const {
        std::vector<double> w(columns, 0.0);
        for (std::size_t j = 0; j < size_; ++j) w[columns_[j]] = of[j];
        return w;
    }

    // True where the gap is `enough` with the slopes at the end of the whole step.
    bool newton(std::span<const std::size_t> set, double enough, const Level& at) {
        const std::vector<double> d = direction(set);
        std::vector<double> image(size_, 0.0);
        for (std::size_t s = 0; s < set.size(); ++s)
            add_column(d[s], G_.data() + set[s] * size_, image.data(), size_);
        if (gap_ahead(set, d, image, at) <= enough) return true;
        search(set, d, image);
        return false;
    }

    // The system takes the place of G, whose lower triangle is kept beside it: half of the room of another
    // matrix.
    std::vector<double> direction(std::span<const std::size_t> set) {
        const std::size_t size = set.size();
        std::vector<double> kept, d(size);
        kept.reserve(size_ * (size_ + 1) / 2);
        for (std::size_t j = 0; j < size_; ++j)
            kept.insert(kept.end(), G_.data() + j * size_, G_.data() + j * size_ + j + 1);
        double* const A = G_.data();
        for (std::size_t s = 0; s < size; ++s) {  // to where nothing is read any more
            const std::size_t j = set[s];
            for (std::size_t r = 0; r <= s; ++r) A[s * size + r] = A[j * size_ + set[r]];
            A[s * size + s] = A[s * size + s] * (1 + 1e-12) + l2_;
            d[s] = -rise(j);
        }
        factorize(A, size);
        substitute(A, d.data(), size);
        const double* from = kept.data();
        for (std::size_t j = 0; j < size_; from += ++j) std::copy_n(from, j + 1, A + j * size_);
        mirror(G_, size_);
        return d;
    }

    double rise(std::size_t j) const { return v_[j] + l2_ * w_[j] + (w_[j] > 0 ? l1_ : -l1_); }

    // That of w and the slopes at w + d, which become those of `ahead`. Where columns depend on each other, d
    // may be so long that rounding is all there is to see of ⟨d, G d⟩.
    double gap_ahead(std::span<const std::size_t> set, std::span<const double> d,
                     std::span<const double> image, const Level& at) {
        std::vector<double> slopes = v_;
        add_column(1.0, image.data(), slopes.data(), size_);
        ahead_ = w_;
        double bend = 0;
        for (std::size_t s = 0; s < set.size(); ++s) {
            ahead_[set[s]] += d[s];
            bend += d[s] * image[set[s]];
        }
        return bend < 0 ? INFINITY : slopes_gap(w_, slopes, l1_, l2_, at) + 0.5 * bend;
    }

    // To the minimum along d, past weights that reach 0 where that is lower.
    void search(std::span<const std::size_t> set, std::span<const double> d, std::span<const double> image) {
        std::vector<std::pair<double, double>> kinks;
        double slope = 0, bend = 0;
        for (std::size_t s = 0; s < set.size(); ++s) {
            const std::size_t j = set[s];
            slope += d[s] * rise(j);
            bend += d[s] * (image[j] + l2_ * d[s]);
            if (d[s] * w_[j] < 0) kinks.emplace_back(-w_[j] / d[s], 2 * l1_ * std::abs(d[s]));
        }
        const double t = kinked_step(slope, bend, kinks);
        if (t == 0) return;
        for (std::size_t s = 0; s < set.size(); ++s) {
            double& x = w_[set[s]];
            const double next = x + t * d[s];
            x = std::abs(next) <= 1e-14 * std::abs(x) ? 0.0 : next;
        }
        add_column(t, image.data(), v_.data(), size_);
    }

    std::vector<std::size_t> columns_;
    std::size_t size_;
    double l1_, l2_;
    std::vector<double> G_, mean_, w_, v_, ahead_;
};

}  // namespace minorant
