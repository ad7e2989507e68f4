"""Subset simulation (Au and Beck, 2001) by moves that keep the normal law (`level_moves`), accepted where they stay in
the level.

    p = p0^(m - 1) P(F_m | F_(m-1))

The number of variables does not enter, so that thousands of them do. Most moves draw the depth of a sample within its
level again where that is likely to be accepted; every fifth, and all where it is not, are steps of conditional sampling
(Papaioannou, Betz, Zwirglmaier and Straub, 2015). Their spread s is adapted to an acceptance of 0.44.

The variance is that of lineages (Chan and Lai, 2013; Lee and Whiteley, 2018): each failing sample of the last level
descends, through the seeds, from one of the n independent draws of the first. With f_i failing descendants of draw i,

    cv^2 = sum f_i^2 / (sum f_i)^2 - 1 / n

counts at once the correlation along the chains of a level and that of levels, whose seeds are samples of the one
before, and has no constant to be chosen. The sum over levels of Au and Beck (eqs. 29 and 30), which takes them for
independent, gives three quarters of the variance for a plane at 1e-7 and 0.6 of it for RP28.

A first pass of `per_level` samples a level says how many are needed; a larger one follows where the coefficient of
variation asked for was not reached, and another where that was misjudged. Passes are averaged by their samples a level.
The interval has as many degrees of freedom as lineages carry the estimate, 1 / cv^2.

A limit that is random beyond u (a motion of its own in every run) is sampled rightly as well. Where its noise can be
given (`Limit.on_noise`), the chains walk through it as through u, by steps of conditional sampling in all variables,
thousands of them for a ground motion. Where it cannot, it is drawn again with every proposal, and of what is rare not
for the parameters but for the noise hardly any proposal is accepted.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from percuss.reliability.estimate import (
    Array,
    Estimate,
    Samples,
    Settings,
    TooFewError,
    always_reached,
    lognormal_interval,
    never_reached,
    too_wide,
)
from percuss.reliability.level_moves import WORTH, Depth, depth_of_level, stepped
from percuss.reliability.limit import Limit
from percuss.reliability.noise import Noise, joined
from percuss.settings import Setting, table_of
from percuss.spelling import counted

DEFAULT_N = 100_000
OPTIONS = table_of(Setting("per_level", "integer", 1000, low=10, doc="samples of a level in the first pass"))
CONDITIONAL = 0.1  # p0
ACCEPTANCE = 0.44
# Of moves that renew the depth, every so many is a step: it also moves samples that lie below all others.
STEPS_EVERY = 5
MOST_LEVELS = 30
# A pass is so much larger than the passes before say is needed: they may have been lucky.
SPARE = 1.1
# Numbers of a level that are held at a time: a pass is no larger.
MOST_NUMBERS = 20_000_000


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass: probability, its squared coefficient of variation, samples a level, thresholds and all samples, those
    of the last level last.
    """

    probability: float
    square: float
    per_level: int
    thresholds: list[float]
    samples: Samples


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Passes until the coefficient of variation is reached."""
    size = settings.option(OPTIONS["per_level"])
    before = limit.runs
    passes: list[Pass] = []
    cv = math.inf
    while size:
        random = np.random.Generator(np.random.PCG64((settings.seed, len(passes))))
        passed = one_pass(limit, size, random, settings.n - (limit.runs - before))
        if passed is None:
            break
        passes.append(passed)
        cv = _together(passes)
        size = _next_size(passes, cv, limit.runs - before, settings, limit.dimension)
    spent = limit.runs - before
    if not passes:
        raise TooFewError(
            f"subset: {settings.n} evaluations end before the limit, after {spent} with {size} samples of a level",
            hint=f"more evaluations (--n), or fewer samples of a level: --set per_level={max(size // 4, 10)}",
        )
    shares = _shares(passes)
    p = float(shares @ [item.probability for item in passes])
    if p == 0:
        raise never_reached(spent, settings.level, independent=sum(item.per_level for item in passes))
    facts = {"levels": float(shares @ [len(item.thresholds) for item in passes]), "passes": float(len(passes))}
    samples = Samples(
        np.concatenate([item.samples.u for item in passes]),
        np.concatenate([item.samples.values for item in passes]),
        np.concatenate([share * item.samples.weights for share, item in zip(shares, passes, strict=True)]),
    )
    interval = lognormal_interval(p, cv, settings.level, dof=1 / cv**2 if cv > 0 else math.inf)
    notes: tuple[str, ...] = ()
    if limit.on_noise:
        notes = (
            f"the chains walk through {counted(limit.noise_variables, 'standard normal variable')} of what is random "
            f"in a run beside its parameters",
        )
    return Estimate(p, interval, cv, too_wide(cv, settings.cv, spent), samples, facts=facts, notes=notes)


def _next_size(passes: list[Pass], cv: float, spent: int, settings: Settings, dimension: int) -> int:
    """Samples a level of one more pass: what is missing, within what may be spent; 0 where there is none."""
    if cv <= settings.cv:
        return 0
    done = sum(item.per_level for item in passes)
    # Nothing has failed yet: three times as many may.
    missing = 3 * done if math.isinf(cv) else math.ceil(SPARE * done * (cv / settings.cv) ** 2) - done
    affordable = int((settings.n - spent) / (spent / done))
    size = min(max(missing, passes[0].per_level), affordable, MOST_NUMBERS // max(dimension, 1))
    return size if size >= passes[0].per_level else 0


def _shares(passes: list[Pass]) -> Array:
    sizes = np.array([item.per_level for item in passes], float)
    return np.asarray(sizes / sizes.sum())


def _together(passes: list[Pass]) -> float:
    """Coefficient of variation of the mean of passes; one without failures has no part in it."""
    parts = _shares(passes) * [item.probability for item in passes]
    if not parts.any():
        return math.inf
    squares = [item.square if item.probability else 0.0 for item in passes]
    return math.sqrt(float((parts**2) @ squares)) / float(parts.sum())


def one_pass(limit: Limit, per_level: int, random: np.random.Generator, most: int = sys.maxsize) -> Pass | None:
    """One pass through the levels; None where it would take more evaluations than `most`."""
    length = round(1 / CONDITIONAL)
    chains = max(per_level // length, 2)
    n = chains * length
    before = limit.runs
    if n > most:
        return None
    u = random.standard_normal((n, limit.dimension))
    noise = limit.fresh_noise(n, random)
    g = limit(u, noise)
    if (g <= 0).all():
        raise always_reached(n)
    points, values = [u], [g]
    thresholds: list[float] = []
    first = np.arange(n)  # from which draw of the first level a sample descends
    spread = 0.6
    for level in range(MOST_LEVELS):
        threshold = max(float(np.partition(g, chains - 1)[chains - 1]), 0.0)
        thresholds.append(threshold)
        failing = g <= threshold
        share = float(failing.mean())
        if share == 0 or (level and threshold > 0 and threshold >= thresholds[-2]):
            break  # nothing lies lower: the limit is a step, or is never reached
        if threshold == 0:
            weighted = _weighted(points, values, thresholds)
            return Pass(CONDITIONAL**level * share, lineage_variance(first[failing], n), n, thresholds, weighted)
        if limit.runs - before + n - chains > most:
            return None
        # Ties at the threshold would make more seeds than chains: the first of them by value and place are taken.
        seeds = random.permutation(np.argsort(g, kind="stable")[:chains])
        depth = depth_of_level(u, g, seeds, CONDITIONAL ** (level + 1)) if limit.dimension else None
        started = None if noise is None else noise[seeds]
        u, g, noise, spread = _chains(limit, u[seeds], g[seeds], started, threshold, length, spread, depth, random)
        first = np.repeat(first[seeds], length)
        points.append(u)
        values.append(g)
    return Pass(0.0, math.inf, n, thresholds, _weighted(points, values, thresholds))


def lineage_variance(ancestors: Array, n: int) -> float:
    """Squared coefficient of variation from the first draw, of n, that each failing sample descends from."""
    counts = np.bincount(ancestors, minlength=n).astype(float)
    return float((counts @ counts) / counts.sum() ** 2) - 1 / n


def _weighted(points: list[Array], values: list[Array], thresholds: list[float]) -> Samples:
    """All samples; those of a level stand for what lies in it and not in the next one, so that the weights sum to 1."""
    weights = []
    for level, g in enumerate(values):
        # The last level may have no threshold: there were as many levels as there may be.
        own = True if level == len(values) - 1 else g > thresholds[level]
        weights.append(np.where(own, np.full(len(g), CONDITIONAL**level / len(g)), 0.0))
    return Samples(np.concatenate(points), np.concatenate(values), np.concatenate(weights))


def _chains(
    limit: Limit,
    u: Array,
    g: Array,
    noise: Noise | None,
    threshold: float,
    length: int,
    spread: float,
    depth: Depth | None,
    random: np.random.Generator,
) -> tuple[Array, Array, Noise | None, float]:
    """Samples of a level, chain by chain: (chains * length, d), from seeds that lie in it, on noise of their own."""
    chains, d = u.shape
    points, values = np.empty((chains, length, d)), np.empty((chains, length))
    points[:, 0], values[:, 0] = u, g
    own = u.std(axis=0)
    own = np.where(own > 0, own, 1.0)
    widest = 1.0 / own.min() if d else 1.0
    scales = [spread, spread]
    noises = [noise] if noise else []
    for step in range(1, length):
        points[:, step], values[:, step] = points[:, step - 1], values[:, step - 1]
        renews = depth is not None and step % STEPS_EVERY > 0
        s = np.minimum(scales[renews] * own, 1.0)
        moving = np.arange(chains)
        if depth is not None and renews:
            moving = np.flatnonzero(depth.of(points[:, step], moving) > depth.least)
            proposed = depth.proposed(points[moving, step], moving, s, random)
        else:
            proposed = stepped(points[:, step], s, random)
        moved = noises[-1].stepped(min(scales[renews], 1.0), random) if noises else None
        value = limit(proposed, moved[moving] if moved else None)
        accepted = value <= threshold
        points[moving[accepted], step], values[moving[accepted], step] = proposed[accepted], value[accepted]
        if moved:
            noises.append(moved.where(np.isin(np.arange(chains), moving[accepted]), noises[-1]))
        share = float(accepted.mean())
        scales[renews] = min(math.exp(math.log(scales[renews]) + (share - ACCEPTANCE) / math.sqrt(step)), widest)
        if renews and share < WORTH:
            depth = None
    chain_by_chain = np.arange(length * chains).reshape(length, chains).T.ravel()
    reached = joined(noises)[chain_by_chain] if noises else None
    return points.reshape(chains * length, d), values.reshape(-1), reached, scales[0]
