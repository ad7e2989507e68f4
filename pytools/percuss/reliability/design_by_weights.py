"""Reliability-based design on a simulator: few estimates, the first of which is weighted for all values of the input.

The input is a variable like the others at first. With z its standard normal and N(m, s^2) fitted to z of the failing
samples by their weights, Bayes' rule gives the probability at every value from that one estimate (Au, 2005):

    P(F | z) = P(F) f(z | F) / f(z)

It says where to look. Estimates with the input held there say what the probability is, and the place is moved along
the line through the last two of them on the scale of the index, until the target lies within the interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from percuss.errors import AnswerIsNo
from percuss.reliability.design_value import Designed
from percuss.reliability.estimate import Estimate, OneSidedError, Samples, reliability_index

MOST_ESTIMATES = 6
# Differences of z over which the first estimate is sloped.
STEP = 0.1


@dataclass(frozen=True)
class _Seen:
    """An estimate with the input held: z, and the index with its ends."""

    z: float
    index: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class DesignedByRuns:
    """The value, and the last estimate with the input held, which it depends on."""

    designed: Designed
    estimate: Estimate


def design_by_weights(
    free: Estimate,
    column: int,
    estimate_at: Callable[[float], Estimate],
    value_of: Callable[[float], float],
    ends: tuple[float, float],
    target: float,
) -> DesignedByRuns:
    """`free`: the estimate with the input as variable `column`; `estimate_at` holds it at z, within `ends` of z."""
    goal = reliability_index(target)
    index_at = _index_curve(free.samples, column)
    grid = np.linspace(*ends, 201)
    guess = np.array([index_at(z) for z in grid])
    z = float(grid[int(np.argmin(np.abs(guess - goal)))])
    slope = (index_at(z + STEP) - index_at(z - STEP)) / (2 * STEP)
    if slope <= 0:
        raise AnswerIsNo(
            "the probability does not fall with the input where the target is looked for: no least value meets it",
            hint="--design takes an input that makes failure rarer as it grows",
        )
    rows: list[tuple[float, float, float, float]] = []
    seen: list[_Seen] = []
    last = free
    for _ in range(MOST_ESTIMATES):
        try:
            last = estimate_at(z)
        except OneSidedError as one_sided:
            at_end = z == (ends[1] if one_sided.probability else ends[0])
            if at_end:
                raise _not_within(value_of, ends, target, met=not one_sided.probability) from None
            # Beyond what can be told from here: back to half way to where something was.
            z = 0.5 * (z + (seen[-1].z if seen else (ends[0] if not one_sided.probability else ends[1])))
            continue
        low, high = last.interval or (last.probability, last.probability)
        rows.append((value_of(z), last.probability, low, high))
        seen.append(_Seen(z, reliability_index(last.probability), reliability_index(high), reliability_index(low)))
        if len(seen) > 1 and seen[-1].z != seen[-2].z:
            through = (seen[-1].index - seen[-2].index) / (seen[-1].z - seen[-2].z)
            slope = through if through > 0 else slope
        if seen[-1].low <= goal <= seen[-1].high:
            break
        moved = float(np.clip(z + (goal - seen[-1].index) / slope, *ends))
        if moved == z:
            raise _not_within(value_of, ends, target, met=seen[-1].index > goal)
        z = moved
    if not seen:
        raise AnswerIsNo(f"no value was found at which the probability is near the target {target:g}", hint="more --n")
    at = seen[-1]
    place, near, far = (float(np.clip(at.z + (goal - index) / slope, *ends)) for index in (at.index, at.high, at.low))
    reason = last.reason
    if not at.low <= goal <= at.high:
        reason = reason or f"after {len(seen)} estimates the target is not within the interval of the last one"
    if reason:
        raise AnswerIsNo(f"the value that meets {target:g} is not known well enough: {reason}", hint="more --n")
    designed = Designed(value_of(place), (value_of(near), value_of(far)), tuple(sorted(rows)))
    return DesignedByRuns(designed, last)


def _index_curve(samples: Samples, column: int) -> Callable[[float], float]:
    """The index over z by the weights of what fails: Phi^-1 of P(F) N(z; m, s^2) / N(z; 0, 1)."""
    failing = samples.values <= 0
    weights, z = samples.weights[failing], samples.u[failing, column]
    total = float(weights.sum())
    if not np.isfinite(total):
        raise AnswerIsNo("--design: goes with methods that sample with weights", hint="--method monte-carlo or subset")
    mean = float(weights @ z) / total
    spread = float(np.sqrt(weights @ (z - mean) ** 2 / total)) or 1.0

    def index(at: float) -> float:
        log_ratio = 0.5 * at * at - 0.5 * ((at - mean) / spread) ** 2 - np.log(spread)
        return reliability_index(float(np.clip(total * np.exp(min(log_ratio, 700.0)), 1e-300, 1 - 1e-12)))

    return index


def _not_within(
    value_of: Callable[[float], float], ends: tuple[float, float], target: float, *, met: bool
) -> AnswerIsNo:
    low, high = (value_of(end) for end in ends)
    if met:
        return AnswerIsNo(
            f"the target {target:g} is met already at the least value {low:g} (SI) of its prior",
            hint="a prior with a lower bound",
        )
    return AnswerIsNo(
        f"no value from {low:g} to {high:g} (SI) meets the target {target:g}", hint="a prior with wider bounds"
    )
