// The small quadratic program of a bundle, by an active set:
//
//     max over β of  ⟨d, β⟩ - ½ ⟨β, Q β⟩     with  β ≥ 0,  A β = r
//
// for a positive semidefinite Q and few equations. From a feasible β; every β on the way is feasible. On a
// support S the equality problem is solved by a Cholesky factor of H = Q_SS + ρ A_Sᵀ A_S, which has the
// solutions of Q_SS and is definite where they are unique; an index that enters appends a row to the factor,
// one that leaves rotates rows. The first index that blocks leaves; where none does, the one with the largest
// d_j - (Q β)_j - (Aᵀν)_j enters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "dense.hpp"

namespace minorant {

// The lower factor L of a positive definite matrix that grows and shrinks, row after row.
class GrowingFactor {
  public:
    std::size_t size() const { return rows_.size(); }

    // `row` holds the new row of the matrix, the diagonal entry last.
    void append(std::vector<double> row, double least) {
        const std::size_t k = size();
        for (std::size_t i = 0; i < k; ++i)
            row[i] = (row[i] - dot(rows_[i].data(), row.data(), i)) / rows_[i][i];
        row[k] = std::sqrt(std::max(row[k] - dot(row.data(), row.data(), k), least));
        rows_.push_back(std::move(row));
    }

    void remove(std::size_t i) {
        std::vector<double> x;  // the column below what is removed: a rank-one update of what follows
        for (std::size_t j = i + 1; j < size(); ++j) x.push_back(rows_[j][i]);
        rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
        for (std::size_t j = i; j < size(); ++j)
            rows_[j].erase(rows_[j].begin() + static_cast<std::ptrdiff_t>(i));
        for (std::size_t j = i; j < size(); ++j) {
            const double old = rows_[j][j], other = x[j - i], now = std::hypot(old, other);
            const double c = now / old, s = other / old;
            rows_[j][j] = now;
            for (std::size_t k = j + 1; k < size(); ++k) {
                rows_[k][j] = (rows_[k][j] + s * x[k - i]) / c;
                x[k - i] = c * x[k - i] - s * rows_[k][j];
            }
        }
    }

    // ⟨b, (L Lᵀ)⁻¹ b⟩
    double square(std::vector<double> b) const {
        forward(b);
        return dot(b.data(), b.data(), b.size());
    }

    void solve(std::vector<double>& b) const {
        forward(b);
        for (std::size_t i = size(); i-- > 0;) {
            b[i] /= rows_[i][i];
            for (std::size_t j = 0; j < i; ++j) b[j] -= rows_[i][j] * b[i];
        }
    }

  private:
    void forward(std::vector<double>& b) const {
        for (std::size_t i = 0; i < size(); ++i)
            b[i] = (b[i] - dot(rows_[i].data(), b.data(), i)) / rows_[i][i];
    }

    std::vector<std::vector<double>> rows_;
};

class SimplexQp {
  public:
    SimplexQp(std::span<const double> Q, std::span<const double> d, std::span<const double> A,
              std::span<const double> r)
        : Q_(Q), d_(d), A_(A), r_(r), m_(d.size()), e_(r.size()) {
        double curved = 1e-300, straight = 1e-300;
        for (std::size_t j = 0; j < m_; ++j) curved = std::max(curved, Q[j * m_ + j]);
        for (const double value : d) straight = std::max(straight, std::abs(value));
        curved = std::max(curved, 1e-16 * straight);       // less is rounding of d, and nothing to divide by
        scale_ = std::sqrt(curved) * std::sqrt(straight);  // of either size alone, it would hide the other
    }

    // β is feasible, before and after; ν receives the multipliers of the equations.
    void maximize(std::span<double> beta, std::span<double> nu) {
        for (std::size_t j = 0; j < m_; ++j)
            if (beta[j] > 0) enter(j);
        for (std::size_t step = 0; step < 3 * m_ + 50; ++step) {  // rounding alone can make a cycle
            const std::vector<double> target = equality(nu);
            std::size_t first = support_.size();
            double room = HUGE_VAL;
            for (std::size_t i = 0; i < support_.size(); ++i) {
                if (target[i] >= 0) continue;
                const double old = beta[support_[i]], its = old / (old - target[i]);
                if (its < room) room = its, first = i;
            }
            if (first < support_.size()) {
                for (std::size_t i = 0; i < support_.size(); ++i) {
                    double& value = beta[support_[i]];
                    value = i == first ? 0 : std::max(value + room * (target[i] - value), 0.0);
                }
                leave(first);
                continue;
            }
            for (std::size_t i = 0; i < support_.size(); ++i) beta[support_[i]] = target[i];
            const Violation worst = worst_violation(beta, nu);
            if (worst.index == m_) break;
            if (!exchange(worst, beta)) enter(worst.index);
        }
        double total = 0;
        for (const double value : beta) total += value;
        for (double& value : beta) value /= total;
    }

  private:
    struct Violation {
        std::size_t index;
        double excess;
    };

    double equation(std::size_t i, std::size_t j) const { return A_[i * m_ + j]; }
    double entry(std::size_t i, std::size_t j) const {  // of H
        double value = Q_[i * m_ + j];
        for (std::size_t k = 0; k < e_; ++k) value += scale_ * equation(k, i) * equation(k, j);
        return value;
    }
    std::vector<double> row(std::size_t j) const {
        std::vector<double> values;
        for (const std::size_t i : support_) values.push_back(entry(j, i));
        values.push_back(entry(j, j));
        return values;
    }
    void enter(std::size_t j) {
        std::vector<double> values = row(j);
        const double least = 1e-13 * values.back();
        factor_.append(std::move(values), least);
        support_.push_back(j);
    }
    void leave(std::size_t i) {
        factor_.remove(i);
        support_.erase(support_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    // A column that depends on those of S takes their place until the first is used up: there is next to no
    // curvature on the way, and the equality problem with all of them would be decided by rounding.
    bool exchange(const Violation& worst, std::span<double> beta) {
        std::vector<double> share = row(worst.index);
        const double whole = share.back();
        share.pop_back();
        const double curvature = whole - factor_.square(share);
        if (curvature > 1e-9 * whole) return false;
        factor_.solve(share);
        std::size_t first = support_.size();
        double room = HUGE_VAL;
        for (std::size_t i = 0; i < share.size(); ++i)
            if (share[i] > 0 && beta[support_[i]] < room * share[i])
                first = i, room = beta[support_[i]] / share[i];
        if (first == support_.size() || room * curvature > worst.excess) return false;
        for (std::size_t i = 0; i < share.size(); ++i) {
            double& value = beta[support_[i]];
            value = i == first ? 0 : std::max(value - room * share[i], 0.0);
        }
        beta[worst.index] = room;
        leave(first);
        enter(worst.index);
        return true;
    }

    // Q_SS β + A_Sᵀ ν = d_S,  A_S β = r,  refined.
    std::vector<double> equality(std::span<double> nu) const {
        const std::size_t k = support_.size();
        std::vector<std::vector<double>> rows(e_, std::vector<double>(k));
        for (std::size_t q = 0; q < e_; ++q)
            for (std::size_t i = 0; i < k; ++i) rows[q][i] = equation(q, support_[i]);
        std::vector<std::vector<double>> columns = rows;
        for (auto& column : columns) factor_.solve(column);
        std::vector<double> beta(k, 0.0);
        std::fill(nu.begin(), nu.end(), 0.0);
        for (int round = 0; round < 3; ++round) {
            std::vector<double> first(k), second(r_.begin(), r_.end());
            double left = 0, size = 0, off = 0;  // the residual, what it is a difference of; of the equations
            for (std::size_t i = 0; i < k; ++i) {
                const double* row = Q_.data() + support_[i] * m_;
                double sum = 0;
                for (std::size_t j = 0; j < k; ++j) sum += row[support_[j]] * beta[j];
                first[i] = d_[support_[i]] - sum;
                for (std::size_t q = 0; q < e_; ++q) first[i] -= rows[q][i] * nu[q];
                left = std::max(left, std::abs(first[i]));
                size = std::max({size, std::abs(d_[support_[i]]), std::abs(sum)});
            }
            for (std::size_t q = 0; q < e_; ++q) {
                second[q] -= dot(rows[q].data(), beta.data(), k);
                off = std::max(off, std::abs(second[q]));
            }
            if (round > 0 && left <= 1e-15 * size && off <= 1e-15) break;
            correct(rows, columns, first, second, beta, nu);
        }
        return beta;
    }

    // Adds the solution of  H x + A_Sᵀ y = first + ρ A_Sᵀ second,  A_S x = second.
    void correct(const std::vector<std::vector<double>>& rows,
                 const std::vector<std::vector<double>>& columns, std::vector<double>& first,
                 const std::vector<double>& second, std::vector<double>& beta, std::span<double> nu) const {
        const std::size_t k = support_.size();
        for (std::size_t q = 0; q < e_; ++q)
            for (std::size_t i = 0; i < k; ++i) first[i] += scale_ * rows[q][i] * second[q];
        factor_.solve(first);
        std::vector<double> S(e_ * e_), y(e_);  // (A H⁻¹ Aᵀ) y = A H⁻¹ first - second
        for (std::size_t q = 0; q < e_; ++q) {
            y[q] = dot(rows[q].data(), first.data(), k) - second[q];
            for (std::size_t p = 0; p < e_; ++p) S[q * e_ + p] = dot(rows[q].data(), columns[p].data(), k);
        }
        std::vector<double> whole(e_);
        for (std::size_t q = 0; q < e_; ++q) whole[q] = S[q * e_ + q];
        for (std::size_t q = 0; q < e_; ++q)
            for (std::size_t p = q + 1; p < e_; ++p) {
                const double share = S[p * e_ + q] / S[q * e_ + q];
                for (std::size_t c = q; c < e_; ++c) S[p * e_ + c] -= share * S[q * e_ + c];
                y[p] -= share * y[q];
            }
        for (std::size_t q = e_; q-- > 0;) {
            for (std::size_t p = q + 1; p < e_; ++p) y[q] -= S[q * e_ + p] * y[p];
            // On one column, or where slopes are equal, the second equation is a multiple of the first.
            y[q] = S[q * e_ + q] > 1e-12 * whole[q] ? y[q] / S[q * e_ + q] : 0;
            nu[q] += y[q];
        }
        for (std::size_t i = 0; i < k; ++i) {
            beta[i] += first[i];
            for (std::size_t q = 0; q < e_; ++q) beta[i] -= y[q] * columns[q][i];
        }
    }

    Violation worst_violation(std::span<const double> beta, std::span<const double> nu) const {
        // With the size of what is added, which says how much of it is rounding.
        std::vector<double> excess(d_.begin(), d_.end()), size(m_);
        for (std::size_t j = 0; j < m_; ++j) size[j] = std::abs(d_[j]);
        const auto subtract = [&](std::size_t j, double term) {
            excess[j] -= term;
            size[j] += std::abs(term);
        };
        for (const std::size_t i : support_)
            for (std::size_t j = 0; j < m_; ++j) subtract(j, beta[i] * Q_[i * m_ + j]);
        for (std::size_t q = 0; q < e_; ++q)
            for (std::size_t j = 0; j < m_; ++j) subtract(j, nu[q] * equation(q, j));
        for (const std::size_t i : support_) excess[i] = -HUGE_VAL;
        std::size_t best = m_;
        for (std::size_t j = 0; j < m_; ++j)
            if (excess[j] > 1e-14 * size[j] && (best == m_ || excess[j] > excess[best])) best = j;
        return {best, best == m_ ? 0.0 : excess[best]};
    }

    std::span<const double> Q_, d_, A_, r_;
    std::size_t m_, e_;
    double scale_;  // ρ
    std::vector<std::size_t> support_;
    GrowingFactor factor_;
};

}  // namespace minorant
