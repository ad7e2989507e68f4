"""Estimates on a surrogate: its own error beside that of sampling, and what runs of the simulator say of both.

The limit is estimated three times with the same draws: by the surrogate's mean, and by its mean moved to each side by
z standard deviations of its error, as if it were wrong everywhere the same way. The two errors are put together on the
scale of the reliability index, where both are near to normal.

Verification (two-stage importance sampling): the samples i of the estimate, with weights w_i, are drawn with chances
q_i that are high near the limit surface, and run. With I the surrogate's verdict and J the simulator's,

    p = sum w_i I_i + mean over the draws of (J_i - I_i) w_i / q_i

is unbiased for what those samples would have given on the simulator, whatever the surrogate is worth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from percuss.errors import InputError
from percuss.reliability.estimate import Array, Estimate, OneSidedError, Samples, Settings, reliability_index
from percuss.reliability.limit import Limit
from percuss.reliability.methods import estimate_anyway, estimate_by

# Shares of the verification's draws: near the surface, among what fails, anywhere.
NEAR, FAILING, ANYWHERE = 0.5, 0.4, 0.1
# A surrogate may be more wrong than it says: the neighbourhood of the surface is taken this much wider.
WIDER = 2.0
# The least neighbourhood, over the depth at which half of the failures lie.
SURFACE = 0.25


@dataclass(frozen=True, eq=False)
class WithError:
    """The estimate by the mean, and the interval of the surrogate's error alone and of both errors."""

    estimate: Estimate
    surrogate: tuple[float, float]
    interval: tuple[float, float] | None


def estimate_with_error(
    limit_at: Callable[[float], Limit], method: str, settings: Settings, *, anyway: bool = False
) -> WithError:
    """Estimate with the surrogate moved by 0, z and -z standard deviations; `limit_at` gives the limit of a shift.

    `anyway`: by Monte Carlo where the medians fail already.
    """
    middle = (estimate_anyway if anyway else estimate_by)(method, limit_at(0.0), settings)
    z = float(ndtri(0.5 + settings.level / 2))
    low, high = (_shifted(limit_at, method, settings, shift) for shift in (z, -z))
    low, high = min(low, middle.probability), max(high, middle.probability)
    return WithError(middle, (low, high), joined_interval(middle.probability, middle.interval, (low, high)))


def _shifted(limit_at: Callable[[float], Limit], method: str, settings: Settings, shift: float) -> float:
    try:
        return estimate_anyway(method, limit_at(shift), settings).probability
    except OneSidedError as one_sided:
        return one_sided.probability


def joined_interval(
    probability: float, sampling: tuple[float, float] | None, surrogate: tuple[float, float]
) -> tuple[float, float] | None:
    """Both errors together, on the scale of the reliability index."""
    if sampling is None:
        return None
    beta = reliability_index(probability)
    ends = []
    for k in (0, 1):
        # The lower end of a probability is the upper one of the index.
        parts = [reliability_index(end[k]) - beta for end in (sampling, surrogate)]
        ends.append(float(ndtr(-(beta + (1 if k == 0 else -1) * math.hypot(*parts)))))
    return ends[0], ends[1]


@dataclass(frozen=True, eq=False)
class Verified:
    """What runs near the limit surface say: how many verdicts were wrong, and the estimate put right.

    `correction` is what was added to the estimate, between its ends; sampling is no part of it: both have the same
    samples.
    """

    rows: Array
    runs: int
    wrong: int
    expected_wrong: float
    probability: float
    interval: tuple[float, float]
    correction: tuple[float, float]


def verification_rows(samples: Samples, std: Array, count: int, seed: int) -> tuple[Array, Array, Array]:
    """Draw samples to be run: their rows, the chance q of each, and the surrogate's own doubt Phi(-U) of each."""
    weights = samples.weights
    if np.isnan(weights).any():
        raise InputError(
            "--verify: goes with methods that sample with weights",
            hint="--method monte-carlo, importance or subset",
        )
    finite = np.where(np.isfinite(samples.values), samples.values, -1e300)
    distance = np.abs(finite) / np.maximum(std, 1e-300)
    fails = samples.values <= 0
    # A surrogate that claims hardly any error has a surface all the same: near is near beside a typical failure.
    reach = SURFACE * float(np.median(np.abs(finite[fails]))) if fails.any() else 0.0
    near = np.abs(finite) / np.maximum(WIDER * std, max(reach, 1e-300))
    q = np.zeros(len(weights))
    for share, kind in ((NEAR, ndtr(-near)), (FAILING, fails.astype(float)), (ANYWHERE, np.ones(len(q)))):
        mass = weights * kind
        q += share * mass / mass.sum() if mass.sum() > 0 else share * weights / weights.sum()
    q /= q.sum()
    random = np.random.Generator(np.random.PCG64((seed, 6)))
    rows = random.choice(len(q), count, p=q)
    return rows, q, ndtr(-distance)


def corrected(
    samples: Samples, rows: Array, q: Array, doubt: Array, simulated: Array, estimate: Estimate, level: float
) -> Verified:
    """The estimate corrected by the simulator's limit function at `rows`, with the interval of both stages."""
    claims, truth = samples.values[rows] <= 0, simulated <= 0
    wrong = claims != truth
    ratio = samples.weights[rows] / q[rows]
    terms = (truth.astype(float) - claims.astype(float)) * ratio
    n = len(rows)
    # Without a wrong verdict there may still be one: a typical ratio over n. The median, as the few draws far from the
    # surface carry a thousand times the weight and would drown the rest.
    least = float(np.median(ratio)) / n
    error = max(float(terms.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf, least)
    p = max(estimate.probability + float(terms.mean()), 0.0)
    sampling = (estimate.cv or 0.0) * p
    z = float(ndtri(0.5 + level / 2))
    half = z * math.hypot(error, sampling)
    interval = (max(p - half, 0.0), min(p + half, 1.0))
    added = float(terms.mean())
    correction = (added - z * error, added + z * error)
    return Verified(rows, n, int(wrong.sum()), float(doubt[rows].sum()), p, interval, correction)
