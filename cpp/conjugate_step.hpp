// What conjugate gradients would do with sweeps of dual coordinates as their preconditioner.
//
// With w = -Σ s_i (c_i/λ) t_i x_i, a change of t makes one of w. On the plane that the change of the last
// sweeps and the last step of this kind span, the dual is quadratic as long as no slope meets a bound (nearly
// so for the logistic loss), and its maximum is that of two equations. On the way there slopes that meet
// their bound stay, and the others go on as long as the dual rises. Slopes that drift together at a constant
// pace, as those of nearly equal examples do, so reach their bounds in a few steps instead of thousands of
// sweeps.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dense.hpp"
#include "dual_step.hpp"
#include "lanes.hpp"
#include "room.hpp"

namespace minorant {

// One vector for the slopes or for w: how it was after the last step, and what that changed.
struct StepPast {
    explicit StepPast(Room& room) : last(room), step(room) {}

    void begin(std::span<const double> now) {
        last.assign(now.begin(), now.end());
        step.assign(now.size(), 0.0);
    }

    RoomVector<double> last, step;
};

// ⟨u, u⟩, ⟨u, s⟩, ⟨s, s⟩, ⟨w, u⟩, ⟨w, s⟩ for the change u = w - last, and the last step s
MINORANT_CLONES inline std::array<double, 5> plane_products(const double* w, const double* last,
                                                            const double* s, std::size_t size) {
    return lane_sums<5>(0, size, [=](std::size_t j) {
        const double u = w[j] - last[j];
        return std::array{u * u, u * s[j], s[j] * s[j], w[j] * u, w[j] * s[j]};
    });
}

// change u + step s, in the place of s
MINORANT_CLONES inline void combine(const double* w, const double* last, double change, double step,
                                    double* s, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) s[j] = change * (w[j] - last[j]) + step * s[j];
}
MINORANT_CLONES inline void go_along(double way, double* s, double* w, double* last, std::size_t size) {
    for (std::size_t j = 0; j < size; ++j) {
        s[j] *= way;
        w[j] += s[j];
        last[j] = w[j];
    }
}

template <class Rows, class Steps>
class ConjugateStep {
  public:
    ConjugateStep(const Rows& X, const CoordinateProblem& p, Room& room)
        : X_(X), p_(p), t_(room), w_(room), moving_(room) {}

    void begin(std::span<const double> t, std::span<const double> w) {
        t_.begin(t);
        w_.begin(w);
        moving_.resize(t.size());
        blur_ = 0;
    }

    // From where sweeps have led t, w and the balance Σ s_i (c_i/λ) t_i, with b₀ held.
    void operator()(Steps& steps, double b0, std::span<double> t, std::span<double> w, double& balance) {
        const std::span<const std::uint32_t> moving = find_moving(t);
        const auto [change, step] = best_of_plane(steps, b0 - p_.rho * balance, t, w, moving);
        stops_.clear();
        stopped_.clear();
        for (const std::uint32_t i : moving) {
            const double pace = change * (t[i] - t_.last[i]) + step * t_.step[i];
            t_.step[i] = pace;
            if (pace == 0) continue;
            const double at = steps.way(t[i], pace);
            if (at < kFar) stops_.push_back({at, i});
        }
        combine(w.data(), w_.last.data(), change, step, w_.step.data(), w.size());
        const double way = go(steps, b0, t, w, balance, moving);
        for (const std::uint32_t i : moving) {
            if (t_.step[i] != 0) {
                const double to = steps.near(t[i] + way * t_.step[i], t[i]);
                t_.step[i] = to - t[i];
                t[i] = to;
                steps.moved(i, to);
            }
            t_.last[i] = t[i];
        }
        go_along(way, w_.step.data(), w.data(), w_.last.data(), w.size());
        for (const auto& [i, moved] : stopped_) {
            X_.add(i, -p_.sign[i] * p_.scale[i] * moved, w_.step.data());
            t_.step[i] = moved;
        }
    }

  private:
    static constexpr double kFar = 2;  // times the way to the best point of the plane

    struct Stop {
        double at;
        std::uint32_t row;
        bool operator<(const Stop& other) const { return at > other.at; }
    };
    struct Stopped {
        std::uint32_t row;
        double moved;
    };

    // The rows whose slopes are not at rest, most often few; without branches, which would be mispredicted.
    std::span<const std::uint32_t> find_moving(std::span<const double> t) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < t.size(); ++i) {
            moving_[count] = static_cast<std::uint32_t>(i);
            count += static_cast<std::size_t>((t[i] != t_.last[i]) | (t_.step[i] != 0));
        }
        return std::span(moving_).first(count);
    }

    // How much of the change of the last sweeps, u, and of the last step, s.
    std::array<double, 2> best_of_plane(const Steps& steps, double bias, std::span<const double> t,
                                        std::span<const double> w, std::span<const std::uint32_t> moving) {
        auto [uu, us, ss, wu, ws] = plane_products(w.data(), w_.last.data(), w_.step.data(), w.size());
        double slope_u = -wu, slope_s = -ws, balance_u = 0, balance_s = 0;
        for (const std::uint32_t i : moving) {
            const double u = t[i] - t_.last[i], s = t_.step[i];
            const double scale = p_.scale[i], weight = p_.sign[i] * scale, bend = scale * steps.bend(t[i]);
            const double force = weight * bias - scale * (p_.offset[i] + steps.bent(i, t[i]));
            slope_u += force * u, slope_s += force * s;
            balance_u += weight * u, balance_s += weight * s;
            uu += bend * u * u, us += bend * u * s, ss += bend * s * s;
        }
        uu += p_.rho * balance_u * balance_u;
        us += p_.rho * balance_u * balance_s;
        ss += p_.rho * balance_s * balance_s;
        // Two directions may be one, but for rounding, and w may hardly see a change of t. What it sees of it
        // is rounding then, which must not grow from step to step: the last one is forgotten, and a change is
        // taken so many times at most.
        constexpr double kSame = 1e-8, kMost = 1e4;
        const double area = uu * ss - us * us;
        const double change = (ss * slope_u - us * slope_s) / area,
                     step = (uu * slope_s - us * slope_u) / area;
        const double blur = 1 + std::abs(change) + std::abs(step) * blur_;
        if (area > kSame * uu * ss && blur <= kMost) {
            blur_ = blur;
            return {change, step};
        }
        const double alone = uu > 0 ? std::clamp(slope_u / uu, -kMost, kMost) : 0.0;
        blur_ = 1 + std::abs(alone);
        return {alone, 0.0};
    }

    // How far it goes. A slope that stops is taken out of the direction u, and what it has moved is added to
    // w, so that w + way u is where w would be at any time.
    double go(Steps& steps, double b0, std::span<double> t, std::span<double> w, double& balance,
              std::span<const std::uint32_t> moving) {
        double* const u = w_.step.data();
        double slope = 0, bend = 0, beta = 0, way = 0;
        for (const std::uint32_t i : moving) {
            const double pace = t_.step[i], move = p_.scale[i] * pace;
            slope -= move * (p_.offset[i] + steps.bent(i, t[i]));
            bend += move * pace * steps.bend(t[i]);
            beta += p_.sign[i] * move;
        }
        slope += beta * (b0 - p_.rho * balance) - row_dot(w.data(), u, w.size());
        bend += p_.rho * beta * beta + row_dot(u, u, w.size());
        std::make_heap(stops_.begin(), stops_.end());
        while (bend > 0 && way < kFar) {
            if (stops_.empty() || stops_.front().at > way) {
                if (!(slope > 0)) break;
                const double at = stops_.empty() ? kFar : stops_.front().at, most = slope / bend;
                const double step = std::min(most, at - way);
                way = most < at - way ? way + most : at;
                slope -= step * bend;
                balance += step * beta;
                if (way < at) break;
                continue;
            }
            const std::uint32_t i = stops_.front().row;
            std::pop_heap(stops_.begin(), stops_.end());
            stops_.pop_back();

            const double pace = t_.step[i], sign = p_.sign[i], move = p_.scale[i] * pace;
            const double along = X_.dot(i, u), score = X_.dot(i, w.data()) + way * along;
            const double its_bend = steps.bend(t[i]), its_slope = steps.bent(i, t[i]) + way * pace * its_bend;
            slope -= move * (sign * (score + b0 - p_.rho * balance) - p_.offset[i] - its_slope);
            bend -= move * (pace * its_bend - 2 * sign * along - move * p_.norm2[i]);
            bend -= p_.rho * sign * move * (2 * beta - sign * move);
            beta -= sign * move;
            X_.add(i, sign * move, u);

            const double to = steps.stop(t[i], pace), moved = to - t[i];
            X_.add(i, -sign * p_.scale[i] * moved, w.data());
            t[i] = to;
            steps.moved(i, to);
            t_.step[i] = 0;
            stopped_.push_back({i, moved});
        }
        return way;
    }

    const Rows& X_;
    const CoordinateProblem& p_;
    StepPast t_, w_;
    RoomVector<std::uint32_t> moving_;
    double blur_ = 0;  // rounding in the last step of w, in units of that of w
    std::vector<Stop> stops_;
    std::vector<Stopped> stopped_;
};

}  // namespace minorant
