"""Directional sampling (Bjerager, 1988): on random directions the limit surface is searched for.

    p = mean over directions of sum of chi-square tails between the roots,   P(R > r) = 1 - chi2_d(r^2)

Exact along every direction, so that few variables and many branches are its field; with the number of variables the
share of directions that matter falls, and the coefficient of variation says so.

Along a direction the outermost radius of the scan is looked at first. Where it fails the direction is scanned, and
roots between neighbouring radii are found by the rule of Illinois (Dowell and Jarratt, 1971). Where it does not fail,
and the blocks before have found next to nothing along such directions, one in `THINNED` is scanned and counts as often,
which leaves the mean as it is.

A region thinner than the distance of the radii shows no change of sign. So at one more radius of each direction
scanned the limit I is compared with what the roots say of it, I_0. Its tail q is drawn evenly, or evenly in its
logarithm, one as often as the other:

    correction (I - I_0) / f(q),   f(q) = 1/2 + 1 / (2 q ln(1 / q_outermost))

has the mean of what the scan has missed: the estimate is right however thin a region is, and its spread tells of it.
The even half bounds a correction by two. By the logarithm alone it may be ln(1 / q_outermost) = 23: a few directions
then carry much, and a search that stops when its spread is small stops before it has met them.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaincc, gammainccinv

from percuss.reliability.estimate import (
    Array,
    Estimate,
    MediansFailError,
    Samples,
    Settings,
    lognormal_interval,
    never_reached,
    next_block,
    too_wide,
)
from percuss.reliability.limit import Limit
from percuss.settings import Setting, table_of

DEFAULT_N = 100_000
OPTIONS = table_of(Setting("radii", "integer", 6, low=2, doc="radii of the scan along a direction"))
# Beyond the outermost radius lies this much probability.
OUTSIDE = 1e-10
# Half of the probability lies within the innermost radius of the scan; roots there are found as well.
INSIDE = 0.5
BLOCK = 100
# One direction in so many is scanned whose outermost point does not fail, once those are known to carry less than this
# share of the estimate.
THINNED, HARDLY = 4, 0.02
# A root is known when its radius is known to this, or its limit is as small beside that at the origin.
ROOT, SMALL = 1e-3, 1e-4
MOST_STEPS, FEW_STEPS = 20, 4
# How many times the share of the heaviest direction the coefficient of variation is at least, as in `importance`.
SHARES = 4.0


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Blocks of directions until the coefficient of variation is reached or `n` evaluations are spent."""
    d = limit.dimension
    origin = limit(np.zeros((1, d)))[0]
    if not origin > 0:
        raise MediansFailError
    inner, outer = (math.sqrt(2 * gammainccinv(d / 2, q)) for q in (INSIDE, OUTSIDE))
    radii = np.concatenate([[0.0], np.linspace(inner, outer, settings.option(OPTIONS["radii"]))])
    random = np.random.Generator(np.random.PCG64(settings.seed))
    before, cv = limit.runs, math.inf
    every, seen, carried, size = 1, 0.0, 0.0, BLOCK
    shares: list[Array] = []
    points: list[Array] = []
    values: list[Array] = []
    while cv > settings.cv and limit.runs - before < settings.n:
        directions = random.standard_normal((size, d))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        share, hidden, u, g = _block(limit, directions, radii, float(origin), every, random)
        shares.append(share)
        points.append(u)
        values.append(g)
        seen, carried = seen + float(np.abs(share).sum()), carried + hidden
        every = THINNED if seen > 0 and carried <= HARDLY * seen else 1
        all_shares = np.concatenate(shares)
        cv = _cv(all_shares)
        # No more than the evaluations that are left suffice for, scans and a few steps to a root.
        left = (settings.n - limit.runs + before) // (len(radii) + FEW_STEPS)
        size = max(min(next_block(len(all_shares), cv, settings.cv), left), BLOCK)
    p, spent = float(all_shares.mean()), limit.runs - before
    if p <= 0:
        raise never_reached(spent, settings.level, independent=len(all_shares))
    u = np.concatenate(points)
    samples = Samples(u, np.concatenate(values), np.full(len(u), np.nan))
    facts = {"directions": float(len(all_shares))}
    carrying = float(all_shares.sum() ** 2 / (all_shares @ all_shares))
    interval = lognormal_interval(p, cv, settings.level, dof=max(carrying - 1, 1.0))
    return Estimate(p, interval, cv, too_wide(cv, settings.cv, spent), samples, facts=facts)


def _cv(shares: Array) -> float:
    """Coefficient of variation of the mean of shares; as long as one carries much, no better than some of such."""
    mean, n = float(shares.mean()), len(shares)
    if not mean > 0:
        return math.inf
    return max(float(shares.std(ddof=1)) / mean / math.sqrt(n), SHARES * float(np.abs(shares).max()) / (n * mean))


def _block(
    limit: Limit, directions: Array, radii: Array, origin: float, every: int, random: np.random.Generator
) -> tuple[Array, float, Array, Array]:
    """Probability (n,) along directions, how much of it where the outermost point does not fail, and the points that
    were evaluated.
    """
    n, d = directions.shape
    outer = radii[-1] * directions
    g_outer = limit(outer)
    drawn = random.random(n) * every < 1
    scanned = np.flatnonzero((g_outer <= 0) | drawn)
    along = directions[scanned]
    counts = np.where(g_outer <= 0, 1.0, float(every))[scanned]
    tail = random.random(len(scanned))
    tail = np.maximum(np.where(random.random(len(scanned)) < 0.5, tail, OUTSIDE**tail), OUTSIDE)
    chosen = np.sqrt(2 * gammainccinv(d / 2, tail))
    inner = np.concatenate([(radii[None, 1:-1, None] * along[:, None, :]).reshape(-1, d), chosen[:, None] * along])
    g_inner = limit(inner) if len(inner) else np.zeros(0)
    scan, g_chosen = np.split(g_inner, [len(g_inner) - len(scanned)])
    g = np.column_stack([np.full(len(scanned), origin), scan.reshape(len(scanned), -1), g_outer[scanned]])
    fails = g <= 0
    which, piece = np.nonzero(fails[:, 1:] != fails[:, :-1])
    roots, u, value = _roots(
        limit, along[which], (radii[piece], radii[piece + 1]), (g[which, piece], g[which, piece + 1])
    )
    # What fails beyond the outermost radius is not known to go on: it is less than `OUTSIDE` anyway.
    own = np.zeros(len(scanned))
    np.add.at(own, which, np.where(fails[which, piece], -1.0, 1.0) * gammaincc(d / 2, 0.5 * roots**2))
    below = np.zeros(len(scanned))
    np.add.at(below, which, np.where(roots <= chosen[which], 1.0, 0.0))
    own += ((g_chosen <= 0).astype(float) - below % 2) / (0.5 - 0.5 / (tail * math.log(OUTSIDE)))
    share = np.zeros(n)
    share[scanned] = counts * own
    hidden = float(np.abs(share[g_outer > 0]).sum())
    points, values = np.concatenate([outer, inner, u]), np.concatenate([g_outer, g_inner, value])
    return share, hidden, points, values


def _roots(
    limit: Limit, directions: Array, ends: tuple[Array, Array], values: tuple[Array, Array]
) -> tuple[Array, Array, Array]:
    """Radii (n,) where the limit changes sign between two ends, with the points that were evaluated.

    False position, the value at an end that stays being halved; by halves where a value is not finite.
    """
    (a, b), (f, h) = (np.array(x, float) for x in ends), (np.array(x, float) for x in values)
    small = SMALL * np.maximum(np.abs(f), np.abs(h))
    open_ = np.arange(len(a))
    roots = 0.5 * (a + b)
    seen_u, seen_g = [np.zeros((0, directions.shape[1]))], [np.zeros(0)]
    last = np.zeros(len(a))  # which end stayed in the step before
    for _ in range(MOST_STEPS if len(a) else 0):
        with np.errstate(invalid="ignore", divide="ignore"):
            at = b - h * (b - a) / (h - f)
        at = np.where(np.isfinite(at) & (at > np.minimum(a, b)) & (at < np.maximum(a, b)), at, 0.5 * (a + b))
        u = at[open_, None] * directions[open_]
        value = np.asarray(limit(u))
        seen_u.append(u)
        seen_g.append(value)
        moved = np.abs(at - roots)[open_]
        roots[open_] = at[open_]
        # a keeps the sign of its own value, b that of the other.
        left = (value <= 0) == (f[open_] <= 0)
        i, j = open_[left], open_[~left]
        h[i] = np.where(last[i] > 0, 0.5 * h[i], h[i])
        f[j] = np.where(last[j] < 0, 0.5 * f[j], f[j])
        a[i], f[i], last[i] = at[i], value[left], 1.0
        b[j], h[j], last[j] = at[j], value[~left], -1.0
        done = (np.abs(value) <= small[open_]) | (np.abs(b - a)[open_] <= ROOT) | (moved <= 0.1 * ROOT)
        open_ = open_[~done]
        if not len(open_):
            break
    return roots, np.concatenate(seen_u), np.concatenate(seen_g)
