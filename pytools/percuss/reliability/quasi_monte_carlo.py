"""Quasi-Monte Carlo: scrambled Sobol points (Owen, 1995) in independent replicates, whose spread gives the interval.

With so few replicates the interval is that of Student's t.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri, stdtrit

from percuss.errors import InputError
from percuss.reliability.estimate import Estimate, Samples, Settings, always_reached, never_reached, too_wide
from percuss.reliability.limit import Limit

DEFAULT_N = 65536
OPTIONS: dict[str, str] = {}
REPLICATES = 16
MOST_DIMENSIONS = 21201  # of the directions of Joe and Kuo (2008)


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Sixteen replicates of the largest power of two that `n` allows."""
    from scipy.stats import qmc

    if limit.dimension > MOST_DIMENSIONS:
        raise InputError(f"quasi-monte-carlo: {limit.dimension} variables, at most {MOST_DIMENSIONS}")
    size = 2 ** int(math.log2(max(settings.n // REPLICATES, 2)))
    points, values, shares = [], [], np.empty(REPLICATES)
    for r in range(REPLICATES):
        rng = np.random.default_rng((settings.seed, r))
        unit = qmc.Sobol(limit.dimension, scramble=True, rng=rng).random(size)
        u = ndtri(np.clip(unit, 2.0**-54, 1 - 2.0**-53))
        g = limit(u)
        points.append(u)
        values.append(g)
        shares[r] = (g <= 0).mean()
    n, p = size * REPLICATES, float(shares.mean())
    if p == 0:
        raise never_reached(n, settings.level)
    if p == 1:
        raise always_reached(n)
    error = float(shares.std(ddof=1)) / math.sqrt(REPLICATES)
    half = float(stdtrit(REPLICATES - 1, 0.5 + settings.level / 2)) * error
    samples = Samples(np.concatenate(points), np.concatenate(values), np.full(n, 1.0 / n))
    reason = too_wide(error / p, settings.cv, n)
    return Estimate(p, (max(p - half, 0.0), min(p + half, 1.0)), error / p, reason, samples)
