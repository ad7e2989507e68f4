"""Directional sampling (Bjerager, 1988): on each of `n` random directions the limit surface is searched for.

    p = mean over directions of sum of chi-square tails between the roots,   P(R > r) = 1 - chi2_d(r^2)

Exact along every direction, so that few variables and many branches are its field; with the number of variables the
share of directions that matter falls, and the coefficient of variation says so. A root between two neighbouring radii
of the scan is found, a region thinner than their distance can be missed.
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
HALVINGS = 12


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
    shares: list[Array] = []
    points: list[Array] = []
    values: list[Array] = []
    while cv > settings.cv and limit.runs - before < settings.n:
        directions = random.standard_normal((BLOCK, d))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        share, u, g = _block(limit, directions, radii, float(origin))
        shares.append(share)
        points.append(u)
        values.append(g)
        all_shares = np.concatenate(shares)
        mean = float(all_shares.mean())
        cv = float(all_shares.std(ddof=1)) / mean / math.sqrt(len(all_shares)) if mean > 0 else math.inf
    p, spent = float(np.concatenate(shares).mean()), limit.runs - before
    if p == 0:
        raise never_reached(spent, settings.level)
    u = np.concatenate(points)
    samples = Samples(u, np.concatenate(values), np.full(len(u), np.nan))
    facts = {"directions": float(len(all_shares))}
    interval = lognormal_interval(p, cv, settings.level)
    return Estimate(p, interval, cv, too_wide(cv, settings.cv, spent), samples, facts=facts)


def _block(limit: Limit, directions: Array, radii: Array, origin: float) -> tuple[Array, Array, Array]:
    """Probability (n,) along directions, with the points that were evaluated."""
    n, d = directions.shape
    scan = (radii[None, 1:, None] * directions[:, None, :]).reshape(-1, d)
    g = limit(scan)
    signs = np.concatenate([np.ones((n, 1)), np.where(g.reshape(n, -1) <= 0, -1.0, 1.0)], axis=1)
    which, piece = np.nonzero(signs[:, 1:] != signs[:, :-1])
    low, high = radii[piece], radii[piece + 1]
    found_u, found_g = [scan], [g]
    enters = signs[which, piece] > 0
    for _ in range(HALVINGS if len(which) else 0):
        middle = 0.5 * (low + high)
        u = middle[:, None] * directions[which]
        value = limit(u)
        found_u.append(u)
        found_g.append(value)
        before = (value > 0) == enters
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    tails = gammaincc(d / 2, 0.5 * (0.5 * (low + high)) ** 2)
    share = np.zeros(n)
    np.add.at(share, which, np.where(enters, tails, -tails))
    # What fails beyond the outermost radius is not known to go on: it is less than `OUTSIDE` anyway.
    return np.maximum(share, 0.0), np.concatenate(found_u), np.concatenate(found_g)
