"""Monte Carlo: independent draws until the coefficient of variation is reached, or `n` of them.

Blocks are as long as the draws before say is needed. The interval is Jeffreys' of the share that fails. Stopping when
enough have failed leaves a bias of the order cv^2.
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
from percuss.settings import Setting

DEFAULT_N = 100_000
OPTIONS: dict[str, Setting] = {}
FIRST = 1000
# A block is at least this part of what was drawn before: a look costs nothing, and few looks bias little.
GROWTH = 0.25


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Draw block by block."""
    random = np.random.Generator(np.random.PCG64(settings.seed))
    points, values = [], []
    n, failures, cv = 0, 0, math.inf
    while n < settings.n and cv > settings.cv:
        block = _next_block(n, failures, settings.cv)
        u = random.standard_normal((min(block, settings.n - n), limit.dimension))
        g = limit(u, limit.fresh_noise(len(u), random))
        points.append(u)
        values.append(g)
        n += len(u)
        failures += int((g <= 0).sum())
        cv = math.sqrt((1 - failures / n) / failures) if 0 < failures < n else math.inf
    if not failures:
        raise never_reached(n, settings.level, independent=n)
    if failures == n:
        raise always_reached(n)
    samples = Samples(np.concatenate(points), np.concatenate(values), np.full(n, 1.0 / n))
    interval = binomial_interval(failures, n, settings.level)
    return Estimate(failures / n, interval, cv, too_wide(cv, settings.cv, n), samples)


def _next_block(n: int, failures: int, cv: float) -> int:
    """Draws that are missing by the share that failed so far; three times as many as so far where none did."""
    if not n:
        return FIRST
    if not 0 < failures < n:
        return 3 * n
    needed = (n / failures - 1) / (cv * cv)
    return max(math.ceil(min(needed - n, 3 * n)), math.ceil(GROWTH * n))
