"""Sobol indices by sampling: from a surrogate, or from the runs of a `saltelli` design of the model itself.

Two independent samples A and B of n points; A_B^u is A with the columns u from B (Saltelli et al., 2010). With Jansen's
estimators (1999), whose bias is smaller than that of the products of outputs:

    V = variance of y over A and B together
    first_i = 1 - mean (y(B) - y(A_B^i))^2 / 2 V,    total_i = mean (y(A) - y(A_B^i))^2 / 2 V
    closed_u = 1 - mean (y(B) - y(A_B^u))^2 / 2 V,   second_ij = closed_ij - first_i - first_j
    shapley_i = sum over u without i of (closed_{u+i} - closed_u) |u|! (d - |u| - 1)! / d!

Intervals of runs are percentiles over resampled rows. A surrogate is sampled at SCRAMBLES independently scrambled Sobol
sets, and the scatter between these is the error of the sampling (Owen, 1997): resampled rows would not know that such
points fill the cube evenly, and give wider intervals than need be.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.designs.sobol import scrambled_sobol
from percuss.errors import InputError
from percuss.sensitivity.indices import Array, Indices, Measure, bare, with_interval

METHOD = "sampling"
SCRAMBLES = 4
RESAMPLES = 200
# All subsets of more parameters than this are too many to evaluate.
MOST_FOR_SHAPLEY = 8
SHAPLEY_ROWS = 1024

Function = Callable[[Array], Array]


class Pair(NamedTuple):
    """Two independent samples of the unit cube."""

    a: Array
    b: Array


def draw_pair(n: int, dimensions: int, seed: int) -> Pair:
    """A and B from one scrambled Sobol sequence of twice the dimension."""
    power = max(math.ceil(math.log2(n)), 1)
    points = scrambled_sobol(2 * dimensions, 0, 2**power, np.random.default_rng([seed, 13]))
    # Open ends: unbounded priors have no quantile at 0 or 1.
    points = np.clip(points, 2.0**-53, 1.0 - 2.0**-53)
    return Pair(points[:, :dimensions], points[:, dimensions:])


def mixed(pair: Pair, columns: Sequence[int]) -> Array:
    """A with these columns from B."""
    points = pair.a.copy()
    points[:, list(columns)] = pair.b[:, list(columns)]
    return points


def sample_indices(
    function: Function, dimensions: int, names: Sequence[tuple[str, str]], n: int, seed: int, level: float
) -> list[Indices]:
    """Indices of every output of a function of the unit cube, (n, d) to (n, m)."""
    pair = _scrambled(n, dimensions, seed)
    a, b = function(pair.a), function(pair.b)
    single = [function(mixed(pair, [k])) for k in range(dimensions)]
    second = _second_order(function, pair, b, single, np.concatenate([a, b]).var(axis=0))
    shapley = _shapley(function, dimensions, seed)
    indices = []
    for j, (case, output) in enumerate(names):
        measures = _between_scrambles(a[:, j], b[:, j], np.stack([y[:, j] for y in single], axis=1), level)
        if shapley is not None:
            measures["shapley"] = Measure(shapley[j], np.full(dimensions, np.nan), np.full(dimensions, np.nan))
        both = np.concatenate([a[:, j], b[:, j]])
        indices.append(Indices(case, output, METHOD, float(both.mean()), float(both.var()), measures, second[j]))
    return indices


def _scrambled(n: int, dimensions: int, seed: int) -> Pair:
    """Pairs of the same size from each scramble, one after the other: n points in all, or a few more."""
    pairs = [draw_pair(math.ceil(n / SCRAMBLES), dimensions, 1_000_003 * (k + 1) + seed) for k in range(SCRAMBLES)]
    return Pair(np.concatenate([pair.a for pair in pairs]), np.concatenate([pair.b for pair in pairs]))


def _between_scrambles(a: Array, b: Array, single: Array, level: float) -> dict[str, Measure]:
    """First-order and total indices, with intervals from their scatter between the scrambles."""
    from scipy.special import stdtrit

    variance = np.concatenate([a, b]).var()
    if variance == 0:
        nothing = np.full(single.shape[1], np.nan)
        return {"first": bare(nothing), "total": bare(nothing)}
    blocks = [np.array_split(y, SCRAMBLES) for y in (a, b, single)]
    every = np.array([_jansen(*part, variance) for part in zip(blocks[0], blocks[1], blocks[2], strict=True)])
    mean = every.mean(axis=0)
    half = stdtrit(SCRAMBLES - 1, (1 + level) / 2) * every.std(axis=0, ddof=1) / math.sqrt(SCRAMBLES)
    names = ("first", "total")
    return {name: Measure(mean[i], mean[i] - half[i], mean[i] + half[i]) for i, name in enumerate(names)}


def jansen(a: Array, b: Array, single: Array, level: float, seed: int) -> dict[str, Measure]:
    """First-order and total indices of one output from y(A), y(B) and y(A_B^i) (n, d), with intervals."""
    first, total = _jansen(a, b, single, np.concatenate([a, b]).var())
    rng = np.random.default_rng([seed, len(a), 17])
    drawn = rng.integers(0, len(a), (RESAMPLES, len(a)))
    every = np.array([_jansen(a[r], b[r], single[r], np.concatenate([a[r], b[r]]).var()) for r in drawn])
    return {
        "first": with_interval(first, every[:, 0], level),
        "total": with_interval(total, every[:, 1], level),
    }


def _jansen(a: Array, b: Array, single: Array, variance: float) -> tuple[Array, Array]:
    if variance == 0:
        nothing = np.full(single.shape[1], np.nan)
        return nothing, nothing
    first = 1.0 - ((b[:, None] - single) ** 2).mean(axis=0) / (2.0 * variance)
    total = ((a[:, None] - single) ** 2).mean(axis=0) / (2.0 * variance)
    return first, total


def _second_order(function: Function, pair: Pair, b: Array, single: list[Array], variance: Array) -> Array:
    dimensions = len(single)
    scale = np.where(variance > 0, 2.0 * variance, np.nan)
    first = [1.0 - ((b - y) ** 2).mean(axis=0) / scale for y in single]
    second = np.zeros((b.shape[1], dimensions, dimensions))
    for i, j in itertools.combinations(range(dimensions), 2):
        closed = 1.0 - ((b - function(mixed(pair, [i, j]))) ** 2).mean(axis=0) / scale
        second[:, i, j] = second[:, j, i] = closed - first[i] - first[j]
    return second


def _shapley(function: Function, dimensions: int, seed: int) -> Array | None:
    """Shapley effects (outputs, parameters) over all subsets; None where there are too many."""
    if dimensions > MOST_FOR_SHAPLEY:
        return None
    pair = draw_pair(SHAPLEY_ROWS, dimensions, seed + 1)
    b = function(pair.b)
    variance = np.concatenate([function(pair.a), b]).var(axis=0)
    scale = np.where(variance > 0, 2.0 * variance, np.nan)
    everyone = tuple(range(dimensions))
    closed = {(): np.zeros(b.shape[1]), everyone: np.ones(b.shape[1])}
    for size in range(1, dimensions):
        for subset in itertools.combinations(everyone, size):
            closed[subset] = 1.0 - ((b - function(mixed(pair, subset))) ** 2).mean(axis=0) / scale
    return shapley_of(closed, dimensions)


def shapley_of(closed: dict[tuple[int, ...], Array], dimensions: int) -> Array:
    """Shapley effects (outputs, parameters) from the closed indices of all subsets."""
    effects = np.zeros((len(closed[()]), dimensions))
    for subset, value in closed.items():
        weight = 1.0 / (dimensions * math.comb(dimensions - 1, len(subset))) if len(subset) < dimensions else 0.0
        for i in set(range(dimensions)) - set(subset):
            effects[:, i] += weight * (closed[tuple(sorted((*subset, i)))] - value)
    return effects


def design_indices(
    values: Array,
    failed: NDArray[np.bool_],
    dimensions: int,
    case: str,
    outputs: Sequence[str],
    level: float,
    seed: int,
) -> tuple[list[Indices], int]:
    """Indices from the runs of a `saltelli` design, (n (d + 2), m) in its order; and how many rows holes cost.

    A base row counts only if all its d + 2 runs finished.
    """
    n = len(values) // (dimensions + 2)
    blocks = values.reshape(dimensions + 2, n, -1)
    whole = ~failed.reshape(dimensions + 2, n).any(axis=0)
    if whole.sum() < 2:
        raise InputError(f"case {case}: only {int(whole.sum())} of {n} base points have all their runs")
    blocks = blocks[:, whole]
    indices = []
    for j, output in enumerate(outputs):
        a, b, single = blocks[0, :, j], blocks[1, :, j], blocks[2:, :, j].T
        both = np.concatenate([a, b])
        measures = jansen(a, b, single, level, seed)
        indices.append(Indices(case, output, METHOD, float(both.mean()), float(both.var()), measures))
    return indices, int(n - whole.sum())
