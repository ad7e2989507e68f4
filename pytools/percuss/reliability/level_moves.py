"""Moves within a level of subset simulation: proposals that leave the standard normal law as it is, accepted where they
stay in the level.

    step      v = sqrt(1 - s^2) u + s xi      (Papaioannou, Betz, Zwirglmaier and Straub, 2015), s adapted
    slide     the depth t = a.u redrawn from the normal law beyond c, what is across a as in a step
    stretch   the depth r = |u| redrawn from the chi law beyond c, the direction as in a step

The depth of a sample within its level decides whether the next level is reached, and steps forget it slowly. Slide and
stretch redraw it. They leave the normal law beyond c as it is for any a and c, so that these need only be near what
is right: a is the slope of a linear regression of the limit function, c a low quantile of the seeds. Chains of one half
of the samples move along the slope of the other half: along their own they would lie deeper than others do, the more
the more variables there are, and drift that way. A sample below c stays where it is until the next step, and costs
nothing.

How often such a move is accepted is known beforehand: the probability of the level over that of all that lies beyond c.
The likelier of the two is taken, and none that is seldom accepted, as for a sample far from any plane and any sphere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc, gammainccinv, ndtr, ndtri

from percuss.reliability.estimate import Array

# Of the seeds, those that may lie below c.
BELOW = 0.05
# A move that is accepted less often is no better than a step.
WORTH = 0.2
# Rows of the regression, for each of its coefficients: at least, at most.
FEWEST_ROWS, MOST_ROWS = 2, 10


@dataclass(frozen=True, eq=False)
class Depth:
    """A depth of points of chains (n,): `of` points (n, d) -> (n,), `at` gives them the depth of an upper tail q (n,).

    Beyond `least` lies the probability `tail`. `accepted`: how often a move that renews the depth will be.
    """

    of: Callable[[Array, Array], Array]
    at: Callable[[Array, Array, Array], Array]
    least: float
    tail: float
    accepted: float

    def proposed(self, u: Array, chains: Array, s: Array, random: np.random.Generator) -> Array:
        """A step of all but the depth, and a new depth beyond `least`; for points that lie there themselves.

        The step starts from a depth of the whole law, so that nothing of the old one comes through.
        """
        free = self.at(u, chains, random.random(len(u)))
        return self.at(stepped(free, s, random), chains, self.tail * random.random(len(u)))


def stepped(u: Array, s: Array, random: np.random.Generator) -> Array:
    """v = sqrt(1 - s^2) u + s xi."""
    return np.asarray(np.sqrt(1 - s * s) * u + s * random.standard_normal(u.shape))


def depth_of_level(u: Array, g: Array, seeds: Array, probability: float) -> Depth | None:
    """The depth to renew in a level of that probability, by the samples (n, d) before it, chain after chain, and which
    of them begin its chains.
    """
    choices = (_along_slope(u, g, seeds, probability), _from_origin(u[seeds], probability))
    best = max(choices, key=lambda depth: depth.accepted)
    return best if best.accepted >= WORTH else None


def _along_slope(u: Array, g: Array, seeds: Array, probability: float) -> Depth:
    middle = len(u) // 2
    second = (seeds >= middle).astype(int)
    halves = (slice(middle, None), slice(None, middle))  # the other half of each
    axes = np.array([_downhill(u[half], g[half], g[seeds].max()) for half in halves])

    def of(v: Array, chains: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->i", v, axes[second[chains]]))

    def at(v: Array, chains: Array, q: Array) -> Array:
        return np.asarray(v + (-ndtri(_inside(q)) - of(v, chains))[:, None] * axes[second[chains]])

    least = _least(of(u[seeds], np.arange(len(seeds))))
    tail = float(ndtr(-least))
    return Depth(of, at, least, tail, (1 - BELOW) * probability / tail)


def _from_origin(seeds: Array, probability: float) -> Depth:
    half = seeds.shape[1] / 2

    def of(v: Array, chains: Array) -> Array:
        return np.asarray(np.linalg.norm(v, axis=1))

    def at(v: Array, chains: Array, q: Array) -> Array:
        radius = np.sqrt(2 * gammainccinv(half, _inside(q)))
        return np.asarray(v * (radius / np.linalg.norm(v, axis=1))[:, None])

    least = _least(np.linalg.norm(seeds, axis=1))
    tail = float(gammaincc(half, 0.5 * least**2))
    return Depth(of, at, least, tail, (1 - BELOW) * probability / tail)


def _least(depths: Array) -> float:
    """The m-th depth of n: a share m / n does not lie beyond it, as m / (n + 1) of the law does in the mean."""
    place = max(round(BELOW * len(depths)), 1) - 1
    return float(np.partition(depths, place)[place])


def _inside(q: Array) -> Array:
    """Tails whose quantiles are finite."""
    return np.asarray(np.clip(q, 1e-300, 1 - 1e-16))


def _downhill(u: Array, g: Array, threshold: float) -> Array:
    """Unit vector down the regression of g over its lower half; with too few samples, to where g is low."""
    d = u.shape[1]
    lower = np.argsort(g, kind="stable")[: len(g) // 2]
    lower = lower[np.isfinite(g[lower])]
    rows = lower[:: max(len(lower) // (MOST_ROWS * (d + 1)), 1)]
    downhill = u[g <= threshold].sum(axis=0)
    if len(rows) >= FEWEST_ROWS * (d + 1):
        columns = np.column_stack([np.ones(len(rows)), u[rows]])
        downhill = -np.linalg.lstsq(columns, g[rows], rcond=None)[0][1:]
    size = float(np.linalg.norm(downhill))
    return np.asarray(downhill / size) if size > 0 else np.eye(d)[0]
