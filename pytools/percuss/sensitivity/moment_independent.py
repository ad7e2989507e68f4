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
dependence comes out too small (see the table in docs/surrogates.md). Intervals are those of the resampled runs; they
reach to 0 where outputs dealt to the points at random come out as far apart.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """delta of one parameter, those of resampled runs moved to lie about it, and the share of random deals below it."""

    value: float
    again: Array
    above: float


def _measure(distances: Sequence[Distance], level: float) -> Measure:
    measure = with_interval(
        np.array([one.value for one in distances]), np.stack([one.again for one in distances], axis=1), level
    )
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
    estimate = float(np.sqrt(max(2.0 * once**2 - (again**2).mean(), 0.0)))
    return Distance(
        estimate, np.clip(again - again.mean() + estimate, 0.0, 1.0), float(np.mean(np.less(by_chance, once)))
    )


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


def class_count(n: int) -> int:
    """Classes for n runs, as Plischke, Borgonovo and Smith (2013) have them."""
    return int(min(np.ceil(n ** (2.0 / (7.0 + np.tanh((1500.0 - n) / 500.0)))), 48))
