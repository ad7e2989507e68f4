"""Regions that hold curves y_i(t), i = 1 ... n, of independent runs, and how well so many runs tell them.

pointwise      at every instant the quantiles (1 - level)/2 and (1 + level)/2 of the runs: a run leaves the region
               at some instant far more often than at a given one
simultaneous   the pointwise region widened by one factor about the median, m - f (m - l) to m + f (u - m), so that
               the share `level` of the runs lies in it at all instants (sup-t band; Montiel Olea and
               Plagborg-Moller, 2019, with quantiles in place of standard errors, since histories are skew)
convergence    c(k) = sqrt(1/k sum_{i <= k} 1/T int y_i^2 dt): the mean-square norm of the first k runs, with its
               standard error (Batou and Soize, 2012)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Instants at which the runs spread by less than this share of the widest spread are known, not random.
NARROW = 1e-9
# Numbers of runs at which the convergence is told.
STEPS = 60


@dataclass(frozen=True)
class Region:
    """Mean, standard deviation, pointwise and simultaneous region over the axis; `factor` widens one to the other."""

    mean: Array
    std: Array
    low: Array
    median: Array
    high: Array
    factor: float
    low_whole: Array
    high_whole: Array


def region_of(values: Array, level: float) -> Region:
    """The region of curves (n, t)."""
    low, median, high = np.quantile(values, [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0)
    below, above = median - low, high - median
    wide = (high - low) > NARROW * (high - low).max(initial=0.0)
    factor = 1.0
    if wide.any():
        away = values[:, wide] - median[wide]
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(away > 0, away / above[wide], -away / below[wide])
        furthest = np.sort(np.nan_to_num(reach, nan=0.0).max(axis=1))
        # The order statistic that a further run lies below with at least this probability.
        factor = float(furthest[min(math.ceil(level * (len(values) + 1)), len(values)) - 1])
    return Region(
        values.mean(axis=0),
        values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1]),
        low,
        median,
        high,
        factor,
        median - factor * below,
        median + factor * above,
    )


def convergence(axis: Array, values: Array) -> tuple[Array, Array, Array]:
    """Numbers of runs, the mean-square norm of the first so many, and its standard error."""
    energy = np.trapezoid(values**2, axis, axis=1) / (axis[-1] - axis[0])
    counts = np.unique(np.geomspace(min(10, len(energy)), len(energy), STEPS).astype(int))
    mean = np.cumsum(energy)[counts - 1] / counts
    square = np.cumsum(energy**2)[counts - 1] / counts
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0) / np.maximum(counts - 1, 1))
    norm = np.sqrt(mean)
    return counts, norm, np.divide(deviation, 2 * norm, out=np.zeros_like(norm), where=norm > 0)


def split(a: Array, b: Array, mixed: Array) -> tuple[Array, Array, Array]:
    """First-order and total indices (groups, t) at every instant, and the variance (t,), by Jansen's estimators.

    From y(A), y(B) (n, t) and y(A with one group of B) (groups, n, t).
    """
    variance = np.concatenate([a, b]).var(axis=0)
    known = variance > NARROW * variance.max(initial=0.0)
    scale = np.where(known, 2 * variance, np.nan)
    first = 1.0 - ((b - mixed) ** 2).mean(axis=1) / scale
    total = ((a - mixed) ** 2).mean(axis=1) / scale
    return first, total, variance
