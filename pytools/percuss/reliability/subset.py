"""Subset simulation (Au and Beck, 2001) by conditional sampling (Papaioannou, Betz, Zwirglmaier and Straub, 2015).

    p = p0^(m - 1) P(F_m | F_(m-1)),   v = sqrt(1 - s^2) u + s xi,   accepted where it stays in the level

The number of variables does not enter, so that thousands of them do. The spread s of the proposals is adapted to an
acceptance of 0.44. The coefficient of variation of a level counts the correlation along its chains (eq. 29 of Au and
Beck). Levels are not independent, as the seeds of one are samples of the one before: to the sum of squares (eq. 30)
neighbours add 2 * 0.3 of their product, which `tests/bench/reliability.py` holds against the spread of many passes;
without it the coefficient of variation at 1e-7 is told as four fifths of what it is. Where one pass of `per_level`
samples a level does not reach the coefficient of variation asked for, independent passes are averaged until it does or
`n` evaluations are spent; from the fifth pass on their spread counts where it is larger.

A limit that is random beyond u (a motion of its own in every run) is sampled rightly as well: what else is random is
drawn anew with every proposal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from percuss.reliability.estimate import (
    Array,
    Estimate,
    Samples,
    Settings,
    always_reached,
    lognormal_interval,
    never_reached,
    too_wide,
)
from percuss.reliability.limit import Limit

DEFAULT_N = 100_000
OPTIONS = {"per_level": "samples of a level; 1000"}
CONDITIONAL = 0.1  # p0
ACCEPTANCE = 0.44
MOST_LEVELS = 30
ENOUGH_PASSES = 5
NEIGHBOURS = 0.3  # correlation of the shares of two levels that follow each other


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass: probability, its coefficient of variation, thresholds and all samples, those of the last level last."""

    probability: float
    cv: float
    thresholds: list[float]
    samples: Samples


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Passes until the coefficient of variation is reached."""
    per_level = int(settings.options.get("per_level", 1000))
    before = limit.runs
    passes: list[Pass] = []
    cv = math.inf
    while not passes or (cv > settings.cv and _another(limit.runs - before, len(passes), settings.n)):
        random = np.random.Generator(np.random.PCG64((settings.seed, len(passes))))
        passes.append(one_pass(limit, per_level, random))
        cv = _together(passes)
    p = float(np.mean([item.probability for item in passes]))
    spent = limit.runs - before
    if p == 0:
        raise never_reached(spent, settings.level)
    facts = {"levels": float(np.mean([len(item.thresholds) for item in passes])), "passes": float(len(passes))}
    samples = Samples(
        np.concatenate([item.samples.u for item in passes]),
        np.concatenate([item.samples.values for item in passes]),
        np.concatenate([item.samples.weights for item in passes]) / len(passes),
    )
    interval = lognormal_interval(p, cv, settings.level)
    return Estimate(p, interval, cv, too_wide(cv, settings.cv, spent), samples, facts=facts)


def _another(spent: int, passes: int, most: int) -> bool:
    """Whether one more pass, as dear as those before, stays within what may be spent."""
    return spent * (passes + 1) <= most * passes


def _together(passes: list[Pass]) -> float:
    p = np.array([item.probability for item in passes])
    mean = float(p.mean())
    if mean == 0:
        return math.inf
    own = math.sqrt(float(((p * [item.cv for item in passes]) ** 2).sum())) / (len(p) * mean)
    if len(p) < ENOUGH_PASSES:
        return own
    return max(own, float(p.std(ddof=1)) / (math.sqrt(len(p)) * mean))


def one_pass(limit: Limit, per_level: int, random: np.random.Generator) -> Pass:
    """One pass through the levels."""
    length = round(1 / CONDITIONAL)
    chains = max(per_level // length, 2)
    n = chains * length
    u = random.standard_normal((n, limit.dimension))
    g = limit(u)
    if (g <= 0).all():
        raise always_reached(n)
    points, values = [u], [g]
    thresholds: list[float] = []
    levels: list[float] = []
    spread, chain = 0.6, 1
    for level in range(MOST_LEVELS):
        threshold = max(float(np.partition(g, chains - 1)[chains - 1]), 0.0)
        thresholds.append(threshold)
        failing = g <= threshold
        share = float(failing.mean())
        if share == 0 or (level and threshold > 0 and threshold >= thresholds[-2]):
            break  # nothing lies lower: the limit is a step, or is never reached
        levels.append(math.sqrt(_relative_variance(failing, chain, share)))
        if threshold == 0:
            probability = CONDITIONAL**level * share
            return Pass(probability, _of_levels(levels), thresholds, _weighted(points, values, thresholds))
        # Ties at the threshold would make more seeds than chains: the first of them by value and place are taken.
        seeds = random.permutation(np.argsort(g, kind="stable")[:chains])
        u, g, spread = _chains(limit, u[seeds], g[seeds], threshold, length, spread, random)
        chain = length
        points.append(u)
        values.append(g)
    return Pass(0.0, math.inf, thresholds, _weighted(points, values, thresholds))


def _of_levels(levels: list[float]) -> float:
    """Coefficient of variation of the product of the shares of all levels."""
    squares = sum(cv * cv for cv in levels)
    return math.sqrt(squares + 2 * NEIGHBOURS * sum(a * b for a, b in pairwise(levels)))


def _weighted(points: list[Array], values: list[Array], thresholds: list[float]) -> Samples:
    """All samples; those of a level stand for what lies in it and not in the next one, so that the weights sum to 1."""
    weights = []
    for level, g in enumerate(values):
        last = level == len(values) - 1
        weights.append(np.where(last | (g > thresholds[level]), CONDITIONAL**level / len(g), 0.0))
    return Samples(np.concatenate(points), np.concatenate(values), np.concatenate(weights))


def _chains(
    limit: Limit, u: Array, g: Array, threshold: float, length: int, spread: float, random: np.random.Generator
) -> tuple[Array, Array, float]:
    """Samples of a level, chain by chain: (chains * length, d), from seeds that lie in it."""
    chains, d = u.shape
    points, values = np.empty((chains, length, d)), np.empty((chains, length))
    points[:, 0], values[:, 0] = u, g
    own = u.std(axis=0)
    own = np.where(own > 0, own, 1.0)
    scale = spread
    for step in range(1, length):
        s = np.minimum(scale * own, 1.0)
        proposed = np.sqrt(1 - s * s) * points[:, step - 1] + s * random.standard_normal((chains, d))
        value = limit(proposed)
        accepted = value <= threshold
        points[:, step] = np.where(accepted[:, None], proposed, points[:, step - 1])
        values[:, step] = np.where(accepted, value, values[:, step - 1])
        scale = min(math.exp(math.log(scale) + (accepted.mean() - ACCEPTANCE) / math.sqrt(step)), 1.0 / own.min())
    return points.reshape(-1, d), values.reshape(-1), scale


def _relative_variance(failing: Array, chain: int, share: float) -> float:
    """Squared coefficient of variation of a level's share, with the correlation along its chains."""
    n = len(failing)
    plain = (1 - share) / (share * n)
    if chain == 1 or share == 1:
        return plain
    centred = failing.reshape(-1, chain).astype(float) - share
    variance = share * (1 - share)
    gamma = sum(
        2 * (1 - lag / chain) * float((centred[:, :-lag] * centred[:, lag:]).mean()) / variance
        for lag in range(1, chain)
    )
    return plain * max(1 + gamma, 1.0)
