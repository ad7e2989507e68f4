"""What sensitivity comes to: measures of every parameter, with intervals where they are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Name of the case in which the cases of an output are taken together.
ALL_CASES = "all"


class Measure(NamedTuple):
    """One number a parameter, and the ends of its interval (NaN where there is none)."""

    values: Array
    low: Array
    high: Array


def bare(values: Array) -> Measure:
    """A measure without intervals."""
    low, high = np.full((2, *np.shape(values)), np.nan)
    return Measure(np.asarray(values, float), low, high)


def with_interval(values: Array, replicates: Array, level: float) -> Measure:
    """A measure with the percentile interval of its replicates (rows); none where no replicate has a value.

    Of few or skewed rows the percentiles can all lie to one side of the estimate: an interval reaches to it.
    """
    measure = bare(values)
    known = ~np.isnan(replicates).all(axis=0)
    if known.any():
        low, high = np.nanquantile(replicates[:, known], [(1 - level) / 2, (1 + level) / 2], axis=0)
        measure.low[known] = np.fmin(low, measure.values[known])
        measure.high[known] = np.fmax(high, measure.values[known])
    return measure


@dataclass(frozen=True)
class Indices:
    """Sensitivity of one output: `measures` by name over the parameters, second-order indices where they are known.

    Names: first, total, shapley (shares of the variance); rank, binning (first order, from given runs); mu_star, mu,
    sigma (elementary effects over the unit of probability, in the output's SI unit); delta (distance of distributions).
    """

    case: str
    output: str
    method: str
    mean: float
    variance: float
    measures: Mapping[str, Measure]
    second: Array | None = None
    groups: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def over_cases(indices: list[Indices]) -> list[Indices]:
    """Indices of each output with its cases taken together: shares of the variance summed over the cases.

    These are the generalised indices of a vector output (Lamboni, Monod and Makowski, 2011): cases count by variance.
    """
    together = []
    for output in dict.fromkeys(item.output for item in indices):
        parts = [item for item in indices if item.output == output and item.variance > 0]
        if len(parts) < 2 or len({item.method for item in parts}) > 1:
            continue
        weights = np.array([item.variance for item in parts])
        weights = weights / weights.sum()
        # Distances of distributions do not add up over outputs.
        if "delta" in parts[0].measures:
            continue
        names = [name for name in ("first", "total", "shapley", "rank", "binning") if name in parts[0].measures]
        measures = {
            name: bare(sum(w * item.measures[name].values for w, item in zip(weights, parts, strict=True)))
            for name in names
        }
        second = None
        if all(item.second is not None for item in parts):
            second = np.sum([w * item.second for w, item in zip(weights, parts, strict=True)], axis=0)
        groups = {
            group: tuple(
                float(sum(w * item.groups[group][k] for w, item in zip(weights, parts, strict=True))) for k in (0, 1)
            )
            for group in parts[0].groups
        }
        total = float(sum(item.variance for item in parts))
        together.append(Indices(ALL_CASES, output, parts[0].method, float("nan"), total, measures, second, groups))  # type: ignore[arg-type]
    return together
