"""Quasi-Monte Carlo: scrambled Sobol points (Owen, 1995) in independent replicates, whose spread gives the interval.

With so few replicates the interval is that of Student's t. The sequences are doubled until the coefficient of variation
is reached. The spread of sixteen numbers is itself off by a fifth, and whoever stops at the first low one would be too
sure: it counts no less than that of half the points says, at the rate of independent draws.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri, stdtrit

from percuss.designs.sobol import scrambled_sobol
from percuss.errors import InputError
from percuss.reliability.estimate import Estimate, Samples, Settings, always_reached, never_reached, too_wide
from percuss.reliability.limit import Limit
from percuss.settings import Setting

DEFAULT_N = 65536
OPTIONS: dict[str, Setting] = {}
REPLICATES = 16
MOST_DIMENSIONS = 21201  # of the directions of Joe and Kuo (2008)
FIRST = 64  # points of a replicate


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Sixteen replicates, each doubled up to the largest power of two that `n` allows."""
    d = limit.dimension
    if not d:
        raise InputError("quasi-monte-carlo: there is no parameter to spread points of", hint="--method monte-carlo")
    if d > MOST_DIMENSIONS:
        raise InputError(f"quasi-monte-carlo: {d} variables, at most {MOST_DIMENSIONS}")
    most = 2 ** int(math.log2(max(settings.n // REPLICATES, 2)))
    points, values, size = [], [], 0
    p = error = spread = 0.0
    while size < most and not 0 < error <= settings.cv * p:
        added = size or min(FIRST, most)
        unit = np.concatenate(
            [scrambled_sobol(d, size, added, np.random.default_rng((settings.seed, r))) for r in range(REPLICATES)]
        )
        u = ndtri(np.clip(unit, 2.0**-54, 1 - 2.0**-53))
        points.append(u)
        noise = limit.fresh_noise(len(u), np.random.default_rng((settings.seed, REPLICATES, size)))
        values.append(limit(u, noise))
        size += added
        failing = sum((g <= 0).reshape(REPLICATES, -1).sum(axis=1) for g in values)
        shares = np.asarray(failing) / size
        before, spread = spread, float(shares.std(ddof=1)) / math.sqrt(REPLICATES)
        p, error = float(shares.mean()), max(spread, before / math.sqrt(2))
    n = size * REPLICATES
    if p == 0:
        raise never_reached(n, settings.level, independent=n)
    if p == 1:
        raise always_reached(n)
    half = float(stdtrit(REPLICATES - 1, 0.5 + settings.level / 2)) * error
    samples = Samples(np.concatenate(points), np.concatenate(values), np.full(n, 1.0 / n))
    reason = too_wide(error / p, settings.cv, n)
    return Estimate(p, (max(p - half, 0.0), min(p + half, 1.0)), error / p, reason, samples)
