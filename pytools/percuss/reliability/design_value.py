"""Reliability-based design: the smallest value of an input at which the probability of failure meets a target.

The input is held at values between the ends of its prior, the probability of each is estimated on the surrogate with
the same draws, and the place where it falls to the target is crossings by bisection. The uncertainty of the probability
becomes one of the value: where the ends of the interval meet the target, interpolated on the scale of the index.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from percuss.errors import AnswerIsNo
from percuss.reliability.estimate import reliability_index

# Probability and its interval at a value of the input.
Curve = Callable[[float], tuple[float, tuple[float, float]]]
SCAN = 9
HALVINGS = 8
# Indices beyond this are those of no failure at all.
FARTHEST = 9.0


@dataclass(frozen=True)
class Designed:
    """The value that meets the target, its interval, and what was computed on the way: value, p, low, high."""

    value: float
    interval: tuple[float, float]
    levels: tuple[tuple[float, float, float, float], ...]


def design_value(curve: Curve, low: float, high: float, target: float) -> Designed:
    """Scan from low to high, then halve the first piece in which the target is met."""
    levels: dict[float, tuple[float, float, float]] = {}

    def at(value: float) -> float:
        probability, interval = curve(value)
        levels[value] = (probability, *interval)
        return probability

    places = [float(v) for v in np.linspace(low, high, SCAN)]
    met = [at(value) <= target for value in places]
    if not any(met):
        least = min(levels.values())[0]
        raise AnswerIsNo(
            f"no value from {low:g} to {high:g} (SI) meets the target {target:g}: the least probability is {least:.2g}",
            hint="a prior with wider bounds, and runs there",
        )
    if met[0]:
        raise AnswerIsNo(
            f"the target {target:g} is met already at the least value {low:g} (SI) of its prior",
            hint="a prior with a lower bound, and runs there",
        )
    first = met.index(True)
    a, b = places[first - 1], places[first]
    for _ in range(HALVINGS):
        middle = 0.5 * (a + b)
        a, b = (a, middle) if at(middle) <= target else (middle, b)
    order = sorted(levels)
    rows = tuple((value, *levels[value]) for value in order)
    ends = sorted(_crossing(order, [levels[value][k] for value in order], target, b) for k in (1, 2))
    return Designed(b, (min(ends[0], b), max(ends[1], b)), rows)


def _crossing(values: list[float], probabilities: list[float], target: float, near: float) -> float:
    """Where an end of the interval meets the target, nearest to the value crossings; an end of the scan if nowhere."""
    target_index = reliability_index(target)
    index = np.clip([reliability_index(p) for p in probabilities], -FARTHEST, FARTHEST)
    crossings = []
    for i in range(len(values) - 1):
        if index[i] < target_index <= index[i + 1]:
            share = (target_index - index[i]) / (index[i + 1] - index[i])
            crossings.append(values[i] + share * (values[i + 1] - values[i]))
    if crossings:
        return float(min(crossings, key=lambda value: abs(value - near)))
    return values[0] if index[0] >= target_index else values[-1]
