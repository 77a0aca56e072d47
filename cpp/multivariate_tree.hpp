// The law of the number of heads B among independent coins, P(coin i) = σ(x_i), and of each coin given B.
//
// Coins meet in leaves, leaves in a product tree: the law of a node is the convolution of its children's.
// Each node keeps the window of counts outside which its law has less than `trim` mass; what all windows drop
// together is `dropped`, and no probability is too large by more than rounding: laws are sums of products of
// positives. Downwards goes the adjoint r of a weight r(B): E[coin_i r(B)] is linear in r, and a child's
// adjoint is the correlation of its parent's with the law of its sibling. A level has 2^l nodes of width w
// 2^(-l/2), w that of the root: all convolutions cost O(w² log n), and the leaves O(n) times their widths.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "lanes.hpp"
#include "sum.hpp"

namespace minorant {

// out[j] = Σ_k p[k] x[j + k] for j < size. Four terms at a time: out is read and written a quarter as often.
MINORANT_CLONES inline void correlate(const double* p, std::size_t terms, const double* x, double* out,
                                      std::size_t size) {
    std::fill(out, out + size, 0.0);
    std::size_t k = 0;
    for (; k + 4 <= terms; k += 4) {
        const double a = p[k], b = p[k + 1], c = p[k + 2], d = p[k + 3];
        const double* at = x + k;
        for (std::size_t j = 0; j < size; ++j)
            out[j] += (a * at[j] + b * at[j + 1]) + (c * at[j + 2] + d * at[j + 3]);
    }
    for (; k < terms; ++k)
        for (std::size_t j = 0; j < size; ++j) out[j] += p[k] * x[k + j];
}

// One more coin: out[v] = tail * law[v] + head * law[v - 1] for 1 ≤ v ≤ size.
MINORANT_CLONES inline void toss(const double* law, double tail, double head, double* out, std::size_t size) {
    for (std::size_t v = 1; v <= size; ++v) out[v] = tail * law[v] + head * law[v - 1];
}

// One coin less: returns Σ law[v] weight[v + 1], and weight[v] becomes its mean over that coin.
MINORANT_CLONES inline double untoss(const double* law, double tail, double head, double* weight,
                                     std::size_t size) {
    double lanes[kLanes] = {};
    std::size_t v = 0;
    for (; v + kLanes <= size; v += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += law[v + lane] * weight[v + lane + 1];
    for (std::size_t lane = 0; v + lane < size; ++lane) lanes[lane] += law[v + lane] * weight[v + lane + 1];
    for (v = 0; v < size; ++v) weight[v] = tail * weight[v] + head * weight[v + 1];
    return fold(lanes);
}

class PoissonTree {
  public:
    PoissonTree(std::span<const double> logits, double trim) : trim_(trim), coins_(logits.size()) {
        const double sure = 20 - std::log(trim);  // beyond it a coin has one side
        Sum linear, log_part;
        double product = 1;
        std::size_t factors = 0, fixed = 0;
        for (std::size_t i = 0; i < logits.size(); ++i) {
            const double x = logits[i], e = std::exp(-std::abs(x));
            if (x > 0) linear.add(x);
            product *= 1 + e;
            if (++factors == 512) {
                log_part.add(std::log(product));
                product = 1;
                factors = 0;
            }
            coins_[i] = x > 0 ? Coin{1 / (1 + e), e / (1 + e)} : Coin{e / (1 + e), 1 / (1 + e)};
            if (std::abs(x) <= sure) {
                drawn_.push_back(i);
            } else {
                dropped_ += e;
                fixed += x > 0;
            }
        }
        log_part.add(std::log(product));
        log_partition_ = linear.value() + log_part.value();
        grow();
        levels_.back()[0].first += fixed;
        fixed_ = fixed;
    }

    std::size_t first() const { return levels_.back()[0].first; }
    std::span<const double> law() const { return levels_.back()[0].law; }
    double dropped() const { return dropped_; }
    double log_partition() const { return log_partition_; }  // Σ log(1 + e^x)
    std::size_t size() const { return coins_.size(); }

    // E[coin_i r(B)], for r given on the window.
    void marginals(std::span<const double> r, std::span<double> out) const {
        double total = 0;
        for (std::size_t k = 0; k < r.size(); ++k) total += law()[k] * r[k];
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = coins_[i].head > 0.5 ? total : 0.0;
        std::vector<std::vector<double>> above(1, std::vector<double>(r.begin(), r.end()));
        for (std::size_t level = levels_.size() - 1; level-- > 0;) {
            const auto& nodes = levels_[level];
            const auto& parents = levels_[level + 1];
            const bool root = level + 2 == levels_.size();
            std::vector<std::vector<double>> below(nodes.size());
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                const std::size_t sibling = i ^ 1;
                const Node& parent = parents[i / 2];
                std::vector<double>& mine = above[i / 2];
                if (sibling >= nodes.size()) {
                    below[i] = std::move(mine);
                    continue;
                }
                const std::size_t start =
                    parent.first - (root ? fixed_ : 0) - nodes[i].first - nodes[sibling].first;
                padded_resize(nodes[i].law.size() + nodes[sibling].law.size() - 1);
                std::copy(mine.begin(), mine.end(), padded_.begin() + static_cast<std::ptrdiff_t>(start));
                below[i].resize(nodes[i].law.size());
                const auto& other = nodes[sibling].law;
                correlate(other.data(), other.size(), padded_.data(), below[i].data(), below[i].size());
                if (i & 1) std::vector<double>().swap(mine);
            }
            above = std::move(below);
        }
        Leaf leaf;
        for (std::size_t k = 0; k < levels_[0].size(); ++k) {
            const std::size_t begin = k * kLeaf, count = std::min(kLeaf, drawn_.size() - begin);
            if (count == 0) break;
            fill(leaf, begin, count);
            double weight[kLeaf + 2] = {};
            const std::size_t offset = levels_[0][k].first - (levels_.size() == 1 ? fixed_ : 0);
            std::copy(above[k].begin(), above[k].end(), weight + offset);
            for (std::size_t j = count; j-- > 0;) {
                const std::size_t low = leaf.low[j];
                const Coin& coin = coins_[drawn_[begin + j]];
                out[drawn_[begin + j]] = coin.head * untoss(leaf.law[j] + 1 + low, coin.tail, coin.head,
                                                            weight + low, leaf.high[j] - low + 1);
            }
        }
    }

  private:
    static constexpr std::size_t kLeaf = 64;
    struct Coin {
        double head, tail;
    };
    struct Node {
        std::size_t first;
        std::vector<double> law;
    };
    // Laws of the first j coins of a leaf, each on low[j], ..., high[j], behind one 0.
    struct Leaf {
        double law[kLeaf + 1][kLeaf + 3];
        std::size_t low[kLeaf + 1], high[kLeaf + 1];
    };

    // Returns what the windows of the leaf drop.
    double fill(Leaf& leaf, std::size_t begin, std::size_t count) const {
        const double least = 1e-6 * trim_;
        double dropped = 0;
        leaf.low[0] = leaf.high[0] = 0;
        leaf.law[0][0] = leaf.law[0][2] = 0;
        leaf.law[0][1] = 1;
        for (std::size_t j = 0; j < count; ++j) {
            const Coin& coin = coins_[drawn_[begin + j]];
            double* law = leaf.law[j + 1] + 1;
            std::size_t low = leaf.low[j], high = leaf.high[j] + 1;
            toss(leaf.law[j] + low, coin.tail, coin.head, law + low - 1, high - low + 1);
            while (low < high && law[high] < least) dropped += law[high--];
            while (low < high && law[low] < least) dropped += law[low++];
            if (low > 0) law[low - 1] = 0;
            leaf.law[j + 1][0] = 0;
            law[high + 1] = 0;
            leaf.low[j + 1] = low;
            leaf.high[j + 1] = high;
        }
        return dropped;
    }

    Node trimmed(std::size_t first, const double* law, std::size_t size) {
        std::size_t low = 0, high = size;
        double lost = 0;
        while (low + 1 < high && lost + law[low] < trim_) lost += law[low++];
        dropped_ += lost;
        lost = 0;
        while (low + 1 < high && lost + law[high - 1] < trim_) lost += law[--high];
        dropped_ += lost;
        return {first + low, std::vector<double>(law + low, law + high)};
    }

    void grow() {
        std::vector<Node> leaves;
        Leaf leaf;
        std::size_t begin = 0;
        do {
            const std::size_t count = std::min(kLeaf, drawn_.size() - begin);
            dropped_ += fill(leaf, begin, count);
            const std::size_t low = leaf.low[count];
            leaves.push_back(trimmed(low, leaf.law[count] + 1 + low, leaf.high[count] - low + 1));
            begin += kLeaf;
        } while (begin < drawn_.size());
        levels_.push_back(std::move(leaves));
        std::vector<double> flipped, product;
        while (levels_.back().size() > 1) {
            const auto& nodes = levels_.back();
            std::vector<Node> parents;
            for (std::size_t i = 0; i < nodes.size(); i += 2) {
                if (i + 1 == nodes.size()) {
                    parents.push_back(nodes[i]);
                    continue;
                }
                const auto& wide =
                    nodes[i].law.size() >= nodes[i + 1].law.size() ? nodes[i].law : nodes[i + 1].law;
                const auto& slim = &wide == &nodes[i].law ? nodes[i + 1].law : nodes[i].law;
                padded_resize(wide.size() + 2 * (slim.size() - 1));
                std::copy(wide.begin(), wide.end(),
                          padded_.begin() + static_cast<std::ptrdiff_t>(slim.size() - 1));
                flipped.assign(slim.rbegin(), slim.rend());
                product.resize(wide.size() + slim.size() - 1);
                correlate(flipped.data(), flipped.size(), padded_.data(), product.data(), product.size());
                parents.push_back(
                    trimmed(nodes[i].first + nodes[i + 1].first, product.data(), product.size()));
            }
            levels_.push_back(std::move(parents));
        }
    }

    void padded_resize(std::size_t size) const { padded_.assign(size, 0.0); }

    double trim_, dropped_ = 0, log_partition_ = 0;
    std::size_t fixed_ = 0;
    std::vector<Coin> coins_;
    std::vector<std::size_t> drawn_;
    std::vector<std::vector<Node>> levels_;
    mutable std::vector<double> padded_;
};

}  // namespace minorant
