"""Moment-independent indices: how far knowing a parameter moves the whole distribution of an output.

    delta_i = E_x [ 1/2 int |f_Y(y) - f_{Y | x_i = x}(y)| dy ]                        (Borgonovo, 2007)

0 for a parameter that the output does not depend on, 1 for one that determines it; the same for any monotonic function
of the output. Estimated from points and outputs as they are (Plischke, Borgonovo and Smith, 2013): runs in classes of
equal probability of the parameter, densities of all runs and of each class by the same Gaussian kernel. The output is
replaced by the normal scores of its ranks, which changes no delta and leaves no long tail to smooth.

Noise in the densities of the classes makes every distance too large: with no dependence at all by 0.05 at 512 runs.
Where the noise outweighs the distance it grows with the root of the variance, elsewhere hardly. A design drawn with
replacement has that variance twice, so that

    delta^2 = 2 d^2 - mean of d*^2

takes off all of the bias in the first case and as much as the 2 d - mean d* of the paper in the second, which leaves
three fifths of it in the first. What smoothing and classes of finite width take away is not corrected: strong
dependence comes out too small (see the table in docs/surrogates.md).

Of few runs there are twice as many classes as in the paper. With four of them, which it takes for 128 runs, the x2 of
Ishigami's function, on which its output depends most (0.36), would have a delta of 0.04: each class has a whole period.

Intervals are those of the resampled runs in delta^2, whose noise does not depend on delta. They reach to 0 where
outputs dealt to the points at random come out as far apart. Their upper end has back what classes and smoothing take
from two normals of that delta, for which it is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from percuss.errors import InputError
from percuss.sensitivity.given_data import FEWEST_RUNS, rank_index
from percuss.sensitivity.indices import Array, Indices, Measure, bare, with_interval

METHOD = "borgonovo"
RESAMPLES = 100
# How often outputs are dealt to the points at random.
DEALT = 40
# Normal scores at which densities are taken: beyond four there is one run in 30 000.
GRID = np.linspace(-4.5, 4.5, 91)
# Correlations of the two normals that say what smoothing takes away, and points of the parameter in each class.
CORRELATIONS = np.array([*np.linspace(0.0, 0.9, 10), 0.95, 0.98, 0.99, 0.998])
IN_CLASS = 8
MOST_CLASSES, FEW_CLASSES, FEWEST_IN_CLASS = 48, 16, 8


def moment_independent_indices(
    theta: Array, values: Array, names: Sequence[tuple[str, str]], level: float, seed: int
) -> list[Indices]:
    """delta, and first-order indices by ranks beside it, of every (case, output), from points (n, d)."""
    n, d = theta.shape
    if n < FEWEST_RUNS:
        raise InputError(f"case {names[0][0]}: {n} finished runs are too few for delta, at least {FEWEST_RUNS}")
    rng = np.random.default_rng([seed, n, 31])
    counts = np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(RESAMPLES)]).astype(float)
    dealt = np.stack([rng.permutation(n) for _ in range(DEALT)])
    indices = []
    for j, (case, output) in enumerate(names):
        y = values[:, j]
        variance = float(y.var())
        if variance > 0:
            measures = {
                "delta": _measure([delta(theta[:, k], y, counts, dealt) for k in range(d)], level),
                "rank": bare(np.array([rank_index(theta[:, k], y) for k in range(d)])),
            }
        else:
            measures = dict.fromkeys(("delta", "rank"), bare(np.full(d, np.nan)))
        indices.append(Indices(case, output, METHOD, float(y.mean()), variance, measures))
    return indices


class Distance(NamedTuple):
    """delta of one parameter, those of resampled runs moved to lie about it, the same with what smoothing takes away,
    and the share of random deals below it.
    """

    value: float
    again: Array
    restored: Array
    above: float


def _measure(distances: Sequence[Distance], level: float) -> Measure:
    values = np.array([one.value for one in distances])
    measure = with_interval(values, np.stack([one.again for one in distances], axis=1), level)
    measure.high[:] = with_interval(values, np.stack([one.restored for one in distances], axis=1), level).high
    measure.low[np.array([one.above for one in distances]) <= level] = 0.0
    return measure


def delta(x: Array, y: Array, counts: Array, dealt: Array) -> Distance:
    """delta of one parameter; rows of `counts` are resampled runs, rows of `dealt` orders of the outputs."""
    n = len(y)
    order = np.argsort(x, kind="stable")
    scores = normal_scores(y)[order]
    starts = np.linspace(0, n, class_count(n) + 1).astype(int)
    spreads = [scores[a:b].std(ddof=1) for a, b in pairwise(starts)]
    # Three quarters of the width for one density (Silverman, 1986): too wide a kernel hides differences.
    width = max(0.75 * float(np.median(spreads)) * (n / len(spreads)) ** -0.2, GRID[1] - GRID[0])
    kernel = np.exp(-0.5 * ((GRID[:, None] - scores) / width) ** 2) / (width * np.sqrt(2.0 * np.pi))
    once = _distance(kernel, np.ones(n), starts[:-1])
    again = np.array([_distance(kernel, count[order], starts[:-1]) for count in counts])
    by_chance = [_distance(kernel[:, rows], np.ones(n), starts[:-1]) for rows in dealt]
    squared = max(2.0 * once**2 - (again**2).mean(), 0.0)
    about = np.sqrt(np.clip(squared + again**2 - (again**2).mean(), 0.0, 1.0))
    restored = np.interp(about, _smoothed_normals(len(spreads), width), _normals())
    return Distance(float(np.sqrt(squared)), about, restored, float(np.mean(np.less(by_chance, once))))


@cache
def _normals() -> Array:
    """delta of two standard normals of each correlation."""
    from scipy.special import ndtri

    y, x = np.linspace(-8.0, 8.0, 1601), ndtri((np.arange(64) + 0.5) / 64)
    rest = np.sqrt(1.0 - CORRELATIONS**2)
    return np.array(
        [
            0.5 * (y[1] - y[0]) * np.abs(_density(y, 0.0, 1.0)[:, None] - _density(y[:, None], r * x, s)).sum(0).mean()
            for r, s in zip(CORRELATIONS, rest, strict=True)
        ]
    )


def _smoothed_normals(classes: int, width: float) -> Array:
    """The same by classes and a kernel of that width, without noise; rises with the correlation."""
    from scipy.special import ndtri

    x = ndtri((np.arange(classes * IN_CLASS) + 0.5) / (classes * IN_CLASS))
    whole = _density(GRID, 0.0, np.sqrt(1.0 + width**2))[:, None]
    distances = []
    for r in CORRELATIONS:
        each = _density(GRID[:, None], r * x, np.sqrt(1.0 - r * r + width**2))
        apart = np.abs(each.reshape(len(GRID), classes, IN_CLASS).mean(axis=2) - whole)
        distances.append(0.5 * (GRID[1] - GRID[0]) * apart.sum(axis=0).mean())
    return np.array(distances)


def _density(y: Array, mean: Array | float, std: float) -> Array:
    return np.asarray(np.exp(-0.5 * ((y - mean) / std) ** 2) / (std * np.sqrt(2.0 * np.pi)))


def _distance(kernel: Array, weights: Array, starts: Array) -> float:
    """Mean over the classes of half the area between their density and that of all runs."""
    sums = np.add.reduceat(kernel * weights, starts, axis=1)
    counts = np.add.reduceat(weights, starts)
    apart = np.abs(sums / np.maximum(counts, 1.0) - sums.sum(axis=1, keepdims=True) / counts.sum())
    return float(0.5 * (GRID[1] - GRID[0]) * (apart.sum(axis=0) @ counts) / counts.sum())


def normal_scores(y: Array) -> Array:
    """Quantiles of the standard normal at the ranks; equal values have equal scores."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return np.asarray(ndtri((rankdata(y) - 0.5) / len(y)))


def published_class_count(n: int) -> int:
    """Classes for n runs, as Plischke, Borgonovo and Smith (2013) have them."""
    return int(min(np.ceil(n ** (2.0 / (7.0 + np.tanh((1500.0 - n) / 500.0)))), MOST_CLASSES))


def class_count(n: int) -> int:
    """Classes for n runs: twice as many of few runs, as long as some are left for each."""
    published = published_class_count(n)
    return max(published, min(2 * published, FEW_CLASSES, n // FEWEST_IN_CLASS))
