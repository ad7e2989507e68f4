"""AK-SS (Huang, Chen and Zhu, 2016): subset simulation on a Gaussian process that is taught where it is in doubt.

For what is too rare for a population of plain draws. Each round runs subset simulation on the mean of the process less
twice its standard deviation: on all that may fail by what is known, so that a branch that no run has seen yet is looked
for as well. The next run is the candidate of the last level whose sign is least certain, until too little of the
probability is in doubt (`learning`). `n` is the number of runs at most; the coefficient of variation is that of subset
simulation on the mean.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from percuss.reliability import subset
from percuss.reliability.estimate import Array, Estimate, Settings, lognormal_interval, too_wide
from percuss.reliability.learning import STEADY, TOLERANCE, Learner, doubt, first_points
from percuss.reliability.limit import Limit
from percuss.settings import Setting, table_of

DEFAULT_N = 300
OPTIONS = table_of(Setting("per_level", "integer", 2000, low=10, doc="samples of a level while learning"), TOLERANCE)
# Evaluations of the process for the last estimate: they cost nothing beside a run.
CHEAP = 2_000_000


def estimate(limit: Limit, settings: Settings) -> Estimate:
    """Learn on the last levels, then estimate once more with many samples."""
    tolerance = settings.option(TOLERANCE)
    per_level = settings.option(OPTIONS["per_level"])
    learner = Learner.begun(limit, first_points(limit, settings.seed))
    cheap = Limit.of(limit.dimension, learner.mean)
    possible = Limit.of(limit.dimension, lambda u: learner.mean(u) - 2 * learner.std(u))
    steady, rounds = 0, 0
    while True:
        random = np.random.Generator(np.random.PCG64((settings.seed, 5, rounds)))
        passed = subset.one_pass(possible, per_level, random)
        assert passed is not None  # evaluations of the process are not counted
        rounds += 1
        candidates, weights = _last_level(passed, per_level)
        seen = doubt(learner, candidates, weights)
        steady = steady + 1 if passed.probability > 0 and seen.share <= tolerance else 0
        if steady >= STEADY or len(learner.u) >= settings.n:
            break
        learner.add(learner.least_sure(candidates, seen.u_function))
    final = subset.estimate(cheap, replace(settings, n=CHEAP, options={"per_level": 5 * per_level}))
    p = final.probability
    assert final.cv is not None
    reason = "" if steady >= STEADY else f"after {len(learner.u)} runs {seen.share:.2g} of the probability may be wrong"
    reason = reason or too_wide(final.cv, settings.cv, len(final.samples.u))
    cv = math.hypot(final.cv, seen.expected_wrong / p)
    facts = {"wrong_expected": seen.expected_wrong, "wrong_at_most": seen.wrong_at_most}
    return Estimate(p, lognormal_interval(p, cv, settings.level), cv, reason, final.samples, facts=facts)


def _last_level(passed: subset.Pass, per_level: int) -> tuple[Array, Array]:
    """Samples of the last level; where it was not reached, the lowest there are."""
    u, weights = passed.samples.u[-per_level:], passed.samples.weights[-per_level:]
    return u, weights if weights.any() else np.full(len(u), 1.0 / len(u))
