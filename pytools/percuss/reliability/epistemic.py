"""Failure given what data have told: the probability over aleatory parameters at each draw of the others.

    predictive  P = mean over the draws of p(theta_e),   p(theta_e) = P(g(theta_e, theta_a) <= 0)

The predictive probability is what decides; the spread of p over the draws is what more data could change, and is told
apart. Its error counts the finite number of draws and, by the mean of their coefficients of variation, the estimates at
each. With no aleatory parameters p is 0 or 1, or by the surrogate's error anything between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from percuss.reliability.estimate import (
    Array,
    OneSidedError,
    Samples,
    Settings,
    lognormal_interval,
    never_reached,
    too_wide,
)
from percuss.reliability.limit import Limit
from percuss.reliability.methods import estimate_anyway
from percuss.reliability.state_function import StateFunction

# Draws that stand for a draw of the posterior at which nothing fails, or everything, when the pool is verified.
PLAIN = 64


@dataclass(frozen=True, eq=False)
class Predictive:
    """The predictive probability, and the probability at every draw.

    `samples` are those of the first draw that has some, in standard normals (parameters where nothing is aleatory);
    `pooled` those of all draws, where they were asked for, at parameters in SI.
    """

    probability: float
    interval: tuple[float, float]
    cv: float
    reason: str
    at_draws: Array
    samples: Samples
    evaluations: int
    pooled: Samples | None = None


def predictive(
    function: StateFunction,
    draws: Array,
    names: tuple[str, ...],
    method: str,
    settings: Settings,
    *,
    pool: bool = False,
) -> Predictive:
    """`draws` (n, k) of the epistemic parameters `names`. `pool`: keep the samples of all of them."""
    if set(names) == set(function.names):
        return _without_aleatory(function, draws, names, settings)
    at_draws, squares = np.zeros(len(draws)), np.zeros(len(draws))
    reasons: list[str] = []
    samples: list[Samples] = []
    pooled: list[Samples] = []
    evaluations = 0
    for i, draw in enumerate(draws):
        held = dict(zip(names, draw.tolist(), strict=True))
        limit = function.limit(held=held)
        try:
            estimate = estimate_anyway(method, limit, settings)
        except OneSidedError as one_sided:
            # Never or always at this draw: both are answers here.
            at_draws[i] = one_sided.probability
            own = _plain_samples(limit, (settings.seed, i)) if pool else None
        else:
            at_draws[i], squares[i] = estimate.probability, (estimate.cv or 0.0) ** 2
            reasons += [estimate.reason] if estimate.reason else []
            samples.append(estimate.samples)
            own = estimate.samples
        if pool and own is not None:
            pooled.append(Samples(function.parameters(own.u, held), own.values, own.weights / len(draws)))
        evaluations += limit.runs
    probability = float(at_draws.mean())
    if probability == 0:
        raise never_reached(evaluations, settings.level)
    within = math.sqrt(float((at_draws**2 * squares).sum())) / (len(draws) * probability)
    between = float(at_draws.std(ddof=1)) / math.sqrt(len(draws)) / probability
    cv = math.hypot(within, between)
    # At draws where failure is rare the estimate may be rough without mattering: the sum is what is judged.
    reason = too_wide(cv, settings.cv, evaluations)
    interval = lognormal_interval(probability, cv, settings.level)
    empty = Samples(np.zeros((0, 0)), np.zeros(0), np.zeros(0))
    return Predictive(
        probability,
        interval,
        cv,
        reason,
        at_draws,
        samples[0] if samples else empty,
        evaluations,
        _together(pooled) if pool else None,
    )


def _plain_samples(limit: Limit, seed: tuple[int, int]) -> Samples:
    """A few independent draws of a limit that is never reached, or always: the surrogate may be wrong about that."""
    u = np.random.Generator(np.random.PCG64((*seed, 7))).standard_normal((PLAIN, limit.dimension))
    return Samples(u, limit(u), np.full(PLAIN, 1.0 / PLAIN))


def _together(parts: list[Samples]) -> Samples:
    return Samples(
        np.concatenate([part.u for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def _without_aleatory(function: StateFunction, draws: Array, names: tuple[str, ...], settings: Settings) -> Predictive:
    """All parameters are known in distribution alone: each draw fails or not, as far as the surrogate can tell."""
    theta = draws[:, [names.index(name) for name in function.names]]
    margins, errors = function.margins(theta)
    values = np.asarray(function.state.combine(margins))
    deciding = np.argmin(np.abs(margins - values[:, None]), axis=1)
    error = errors[np.arange(len(values)), deciding]
    at_draws = np.where(error > 0, ndtr(-values / np.maximum(error, 1e-300)), (values <= 0).astype(float))
    probability, n = float(at_draws.mean()), len(draws)
    if probability == 0:
        raise never_reached(n, settings.level, independent=n)
    cv = float(at_draws.std(ddof=1)) / math.sqrt(n) / probability
    samples = Samples(theta, values, np.full(n, 1.0 / n))
    interval = lognormal_interval(probability, cv, settings.level)
    return Predictive(probability, interval, cv, too_wide(cv, settings.cv, n), at_draws, samples, n, samples)
