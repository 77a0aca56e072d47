"""The excessive gap technique: smoothing that decreases at every step, at a rate known beforehand.

Both sides are smoothed (`saddle.py`). Every step keeps J_mu2(w) ≤ D_mu1(α), so that the gap is at most the error of
the smoothing, J(w) - D(α) ≤ mu1 max Δ₁ + mu2 max Δ₂, and makes one mu smaller. With κ₁, κ₂ the strong convexities of
Ω and g, and N ≥ ‖A‖²/(σ₁σ₂), the step that shrinks mu2 is (the one for mu1 is its mirror image)

    τ²/(1-τ) = (mu1 + κ₁)(mu2 + κ₂)/N;     m = α_mu2(w),   h = α + τ (m - α),   v = w_mu1(h)
    t = argmax ⟨A v, α⟩ - g(α) - ((1-τ)/τ)(mu2 + κ₂) Δ₂(α, m);     w += τ (v - w),  α += τ (t - α),  mu2 *= 1 - τ

κ₁ > 0 (EGT-1): mu1 = 0 and mu2 ≤ 4N/(κ₁(k+2)²), geometric if κ₂ > 0 too. Only κ₂ > 0: the mirror image.
Neither (EGT-2): mu1·mu2 ≤ 4N/(k+2)², and each step shrinks the mu whose smoothing errs more.
The proof needs N along t - m alone, ‖K(t - m)‖² ≤ 2σN Δ(t, m): adaptive N is tried from below, and never exceeds the
proven bound. A step costs three products, and two more for each N that is rejected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from math import sqrt
from typing import TYPE_CHECKING

from minorant.errors import InputError
from minorant.views import Candidates

if TYPE_CHECKING:
    from minorant.minorants import Point
    from minorant.solvers.saddle import Player, Saddle

__all__ = ["ExcessiveGap", "GapState"]


@dataclass(frozen=True)
class GapState:
    """A pair with J_mu2(w) ≤ D_mu1(α): w with A w, α with -Aᵀα.

    `spread1` and `spread2` are the largest errors of the smoothing met so far, in units of mu1 and mu2: they stand for
    max Δ₁ and max Δ₂ when one mu is weighed against the other.
    """

    w: Point
    alpha: Point
    mu1: float
    mu2: float
    N: float
    trials: int
    spread1: float = 0.0
    spread2: float = 0.0

    @property
    def candidates(self) -> Candidates:
        """What the pair offers to the certificate."""
        return Candidates(((self.w.x, self.w.image),), ((self.alpha.x, -self.alpha.image),))


@dataclass(frozen=True)
class ExcessiveGap:
    """Smoothing that decreases at every step.

    Parameters
    ----------
    adaptive : bool
        Search for N from below instead of using the proven bound.
    grow, shrink : float
        A rejected N is multiplied by `grow`; each step first tries the last N divided by `shrink`.
    restart : bool
        Begin anew, centered at the best pair, once the gap has fallen to ½ (to ⅛ where one of Ω and g is curved).
        Without it the number of steps to a given gap is known beforehand. With it there are fewer where neither is
        curved or the gap is to be small: a tenth for small problems with a norm.
    """

    adaptive: bool = True
    grow: float = 2.0
    shrink: float = 1.1
    restart: bool = True

    def __post_init__(self) -> None:
        if not (self.grow > 1 and self.shrink >= 1):
            raise InputError(f"need grow > 1 and shrink ≥ 1; got {self.grow}, {self.shrink}")

    def init(self, saddle: Saddle) -> GapState:
        """The first pair."""
        primal, dual = saddle.primal, saddle.dual
        N = saddle.coupling / 8 if self.adaptive else saddle.coupling
        mirrored = primal.curvature == 0 and dual.curvature > 0
        mine, other = (primal, dual) if mirrored else (dual, primal)
        c = mine.centered()
        for trials in count(1):  # noqa: B007 - reported after the loop
            # Any mu_other will do for EGT-2, the steps restore the balance: this one is right for max Δ₁ = 1.
            mu_other = 0.0 if other.curvature > 0 else sqrt(N * saddle.problem.loss.radius)
            mu = N / (mu_other + other.curvature)
            y = other.answer(c, mu_other)
            x = mine.answer(y, mu)
            if saddle.coupling <= N or _within(N, mine, other, x, c):
                break
            N = min(self.grow * N, saddle.coupling)
        if mirrored:
            return GapState(x, y, mu, mu_other, N, trials)
        return GapState(y, x, mu_other, mu, N, trials)

    def step(self, saddle: Saddle, state: GapState) -> GapState:
        """The next pair."""
        s = _weighed(saddle, state) if state.mu1 and state.mu2 else state
        if s.mu2 == 0 or (s.mu1 > 0 and s.mu1 * s.spread1 > s.mu2 * s.spread2):
            w, alpha, mu1, N, trials = self._shrink(saddle, s, saddle.primal, s.w, s.mu1, saddle.dual, s.alpha, s.mu2)
            return replace(s, w=w, alpha=alpha, mu1=mu1, N=N, trials=trials)
        alpha, w, mu2, N, trials = self._shrink(saddle, s, saddle.dual, s.alpha, s.mu2, saddle.primal, s.w, s.mu1)
        return replace(s, w=w, alpha=alpha, mu2=mu2, N=N, trials=trials)

    def _shrink(
        self, saddle: Saddle, s: GapState, mine: Player, x: Point, mu: float, other: Player, y: Point, mu_other: float
    ) -> tuple[Point, Point, float, float, int]:
        """The step that makes mu smaller, on the side of x: the next x, y and mu, with the N and the trials it took."""
        N = s.N / self.shrink if self.adaptive else s.N
        m = mine.answer(y, mu)
        for trials in count(1):  # noqa: B007 - reported after the loop
            r = (mu + mine.curvature) * (mu_other + other.curvature) / N
            tau = 2 * r / (r + sqrt(r * r + 4 * r))
            h = x + tau * (m - x)
            v = other.answer(h, mu_other)
            t = mine.answer(v, (1 - tau) / tau * (mu + mine.curvature), m)
            if saddle.coupling <= N or _within(N, mine, other, t, m):
                break
            N = min(self.grow * N, saddle.coupling)
        return x + tau * (t - x), y + tau * (v - y), (1 - tau) * mu, N, trials


def _within(N: float, mine: Player, other: Player, t: Point, m: Point) -> bool:
    """N bounds the coupling along t - m."""
    width = other.geometry.dual_norm(t.image - m.image)
    return width**2 <= 2 * other.geometry.sigma * N * mine.geometry.divergence(t.x, m.x, m.mirror)


def _weighed(saddle: Saddle, s: GapState) -> GapState:
    """The state with the errors of its smoothing, J - J_mu2 and D_mu1 - D, taken into account."""
    problem = saddle.problem
    exact = problem.dual(*problem.dual_point(s.alpha.x, -s.alpha.image))
    error1 = saddle.smoothed_dual(s.alpha, s.mu1) - exact
    error2 = problem.primal(s.w.x, s.w.image) - saddle.smoothed_primal(s.w, s.mu2)
    return replace(s, spread1=max(s.spread1, error1 / s.mu1), spread2=max(s.spread2, error2 / s.mu2))
