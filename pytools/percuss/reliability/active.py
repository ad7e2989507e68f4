"""AK-MCS (Echard, Gayton and Lemaire, 2011): Monte Carlo on a Gaussian process that is taught where it is in doubt.

`n` is the number of runs at most. The population is drawn until the coefficient of variation is reached with it, at
most `population` candidates. The interval counts the draws and what the process may have on the wrong side; when
learning stops is in `learning`.
"""

from __future__ import annotations

import math

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
from percuss.reliability.learning import STEADY, TOLERANCE, Learner, doubt, first_points
from percuss.reliability.limit import Limit
from percuss.settings import Setting, table_of

DEFAULT_N = 300
OPTIONS = table_of(Setting("population", "integer", 1_000_000, low=2, doc="candidates at most"), TOLERANCE)
FIRST_POPULATION = 20_000
# Candidates that are looked at for the next run: those least sure, and enough others.
LOOKED_AT = 20_000


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Learn, and enlarge the population until it is large enough."""
    random = np.random.Generator(np.random.PCG64((settings.seed, 4)))
    most = settings.option(OPTIONS["population"])
    tolerance = settings.option(TOLERANCE)
    learner = Learner.begun(limit, first_points(limit, settings.seed))
    candidates = random.standard_normal((min(FIRST_POPULATION, most), limit.dimension))
    while True:
        learnt = _learn(learner, candidates[:LOOKED_AT], settings.n, tolerance)
        failing = int((learner.mean(candidates) <= 0).sum())
        cv = math.sqrt((1 - failing / len(candidates)) / failing) if failing else math.inf
        if cv <= settings.cv or len(candidates) >= most or not learnt:
            break
        # The process is cheap: draw what the coefficient of variation needs, by what is known of the probability.
        needed = most if not failing else int(1.1 * len(candidates) * (cv / settings.cv) ** 2) + 1
        size = min(max(needed, 2 * len(candidates)), most)
        candidates = np.concatenate([candidates, random.standard_normal((size - len(candidates), limit.dimension))])
    return _estimate(learner, candidates, settings, learnt, tolerance)


def _learn(learner: Learner, candidates: Array, most: int, tolerance: float) -> bool:
    """Run where the sign is in doubt until too little is; whether that came to be within `most` runs."""
    weights = np.full(len(candidates), 1.0 / len(candidates))
    steady = 0
    while True:
        seen = doubt(learner, candidates, weights)
        # A population without failures is no reason to stop before its least certain member is certain.
        calm = seen.share <= tolerance if seen.probability > 0 else seen.u_function.min() >= 2
        steady = steady + 1 if calm else 0
        if steady >= STEADY:
            return True
        if len(learner.u) >= most:
            return False
        learner.add(learner.least_sure(candidates, seen.u_function))


def _estimate(learner: Learner, candidates: Array, settings: Settings, learnt: bool, tolerance: float) -> Estimate:
    n = len(candidates)
    weights = np.full(n, 1.0 / n)
    mean = learner.mean(candidates)
    seen = doubt(learner, candidates, weights)
    if seen.probability == 0:
        raise never_reached(n, settings.level)
    if seen.probability == 1:
        raise always_reached(n)
    p = seen.probability
    sampling = math.sqrt((1 - p) / (p * n))
    cv = math.hypot(sampling, seen.expected_wrong / p)
    reason = ""
    if not learnt:
        reason = (
            f"after {len(learner.u)} runs {seen.share:.2g} of the probability may be on the wrong side, "
            f"{tolerance:g} is allowed"
        )
    reason = reason or too_wide(sampling, settings.cv, n)
    facts = {"population": float(n), "wrong_expected": seen.expected_wrong, "wrong_at_most": seen.wrong_at_most}
    interval = lognormal_interval(p, cv, settings.level)
    return Estimate(p, interval, cv, reason, Samples(candidates, mean, weights), facts=facts)
