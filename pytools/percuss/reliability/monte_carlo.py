"""Monte Carlo: independent draws until the coefficient of variation is reached, or `n` of them.

The interval is Jeffreys' of the share that fails. Stopping when enough have failed leaves a bias of the order cv^2.
"""

from __future__ import annotations

import math

import numpy as np

from percuss.reliability.estimate import (
    Estimate,
    Samples,
    Settings,
    always_reached,
    binomial_interval,
    never_reached,
    too_wide,
)
from percuss.reliability.limit import Limit

DEFAULT_N = 100_000
OPTIONS: dict[str, str] = {}
# Draws between two looks at the coefficient of variation: a share of all, so that looking costs nothing.
LOOKS = 20


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Draw in blocks of fixed size."""
    random = np.random.Generator(np.random.PCG64(settings.seed))
    block = max(settings.n // LOOKS, 1)
    points, values = [], []
    n, failures, cv = 0, 0, math.inf
    while n < settings.n and cv > settings.cv:
        u = random.standard_normal((min(block, settings.n - n), limit.dimension))
        g = limit(u)
        points.append(u)
        values.append(g)
        n += len(u)
        failures += int((g <= 0).sum())
        cv = math.sqrt((1 - failures / n) / failures) if 0 < failures < n else math.inf
    if not failures:
        raise never_reached(n, settings.level)
    if failures == n:
        raise always_reached(n)
    samples = Samples(np.concatenate(points), np.concatenate(values), np.full(n, 1.0 / n))
    interval = binomial_interval(failures, n, settings.level)
    return Estimate(failures / n, interval, cv, too_wide(cv, settings.cv, n), samples)
