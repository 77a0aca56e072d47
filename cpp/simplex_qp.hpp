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

    void solve(std::vector<double>& b) const {
        for (std::size_t i = 0; i < size(); ++i)
            b[i] = (b[i] - dot(rows_[i].data(), b.data(), i)) / rows_[i][i];
        for (std::size_t i = size(); i-- > 0;) {
            b[i] /= rows_[i][i];
            for (std::size_t j = 0; j < i; ++j) b[j] -= rows_[i][j] * b[i];
        }
    }

  private:
    std::vector<std::vector<double>> rows_;
};

class SimplexQp {
  public:
    SimplexQp(std::span<const double> Q, std::span<const double> d, std::span<const double> A,
              std::span<const double> r)
        : Q_(Q), d_(d), A_(A), r_(r), m_(d.size()), e_(r.size()) {
        double largest = 0;
        for (std::size_t j = 0; j < m_; ++j) largest = std::max(largest, Q[j * m_ + j]);
        for (const double value : d) largest = std::max(largest, std::abs(value));
        scale_ = std::max(largest, 1e-300);
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
                factor_.remove(first);
                support_.erase(support_.begin() + static_cast<std::ptrdiff_t>(first));
                continue;
            }
            for (std::size_t i = 0; i < support_.size(); ++i) beta[support_[i]] = target[i];
            const std::size_t best = worst_violation(beta, nu);
            if (best == m_) break;
            enter(best);
        }
        double total = 0;
        for (const double value : beta) total += value;
        for (double& value : beta) value /= total;
    }

  private:
    double equation(std::size_t i, std::size_t j) const { return A_[i * m_ + j]; }
    double entry(std::size_t i, std::size_t j) const {  // of H
        double value = Q_[i * m_ + j];
        for (std::size_t k = 0; k < e_; ++k) value += scale_ * equation(k, i) * equation(k, j);
        return value;
    }
    void enter(std::size_t j) {
        std::vector<double> row;
        for (const std::size_t i : support_) row.push_back(entry(j, i));
        row.push_back(entry(j, j));
        factor_.append(std::move(row), 1e-13 * scale_);
        support_.push_back(j);
    }

    // Q_SS β + A_Sᵀ ν = d_S,  A_S β = r,  refined once.
    std::vector<double> equality(std::span<double> nu) const {
        const std::size_t k = support_.size();
        std::vector<std::vector<double>> rows(e_, std::vector<double>(k));
        for (std::size_t q = 0; q < e_; ++q)
            for (std::size_t i = 0; i < k; ++i) rows[q][i] = equation(q, support_[i]);
        std::vector<std::vector<double>> columns = rows;
        for (auto& column : columns) factor_.solve(column);
        std::vector<double> beta(k, 0.0);
        std::fill(nu.begin(), nu.end(), 0.0);
        for (int round = 0; round < 2; ++round) {
            std::vector<double> first(k), second(r_.begin(), r_.end());
            for (std::size_t i = 0; i < k; ++i) {
                const double* row = Q_.data() + support_[i] * m_;
                first[i] = d_[support_[i]];
                for (std::size_t j = 0; j < k; ++j) first[i] -= row[support_[j]] * beta[j];
                for (std::size_t q = 0; q < e_; ++q) first[i] -= rows[q][i] * nu[q];
            }
            for (std::size_t q = 0; q < e_; ++q) second[q] -= dot(rows[q].data(), beta.data(), k);
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

    std::size_t worst_violation(std::span<const double> beta, std::span<const double> nu) const {
        std::vector<double> excess(d_.begin(), d_.end());
        for (const std::size_t i : support_)
            for (std::size_t j = 0; j < m_; ++j) excess[j] -= beta[i] * Q_[i * m_ + j];
        for (std::size_t q = 0; q < e_; ++q)
            for (std::size_t j = 0; j < m_; ++j) excess[j] -= nu[q] * equation(q, j);
        for (const std::size_t i : support_) excess[i] = -HUGE_VAL;
        const auto best = std::max_element(excess.begin(), excess.end());
        return *best > 1e-13 * scale_ ? static_cast<std::size_t>(best - excess.begin()) : m_;
    }

    std::span<const double> Q_, d_, A_, r_;
    std::size_t m_, e_;
    double scale_;
    std::vector<std::size_t> support_;
    GrowingFactor factor_;
};

}  // namespace minorant
