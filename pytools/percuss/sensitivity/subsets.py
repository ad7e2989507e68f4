"""Shares of the variance that sets of parameters explain, independent or not, by sampling a surrogate.

For a set u of parameters closed_u = var E[y | x_u] / var y. With B a sample of all parameters, and B' one that has the
columns u of B and the others drawn again from what they are given these (Kucherenko, Tarantola and Annoni, 2012),

    closed_u = 1 - mean (y(B) - y(B'))^2 / 2 V

From these, with d parameters,

    first_i   = closed_i                     what x_i tells, alone: counts what it shares with others
    total_i   = 1 - closed_{all but i}       what is still open once all others are known: leaves out what it shares
    shapley_i = sum over u without i of (closed_{u+i} - closed_u) |u|! (d - |u| - 1)! / d!     (Song et al., 2016)

Of independent parameters first <= shapley <= total. Of correlated ones total may be less than first; Shapley effects
still add up to one, and what parameters share is shared out among them (Owen and Prieur, 2017).

Under a Gaussian copula a draw given x_u is any draw, moved by the regression on what differs in u (Matheron's rule).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from percuss.sensitivity.indices import Array, Indices, Measure
from percuss.sensitivity.sampling import (
    METHOD,
    MOST_FOR_SHAPLEY,
    SCRAMBLES,
    Function,
    draw_pair,
    shapley_of,
)

Subset = tuple[int, ...]
# Evaluations of the surrogate over all subsets: with many of these, fewer points each.
MOST_EVALUATIONS = 2**21
FEWEST_POINTS = 1024


@dataclass(frozen=True)
class Dependent:
    """A sample space: `draw` takes points of the unit cube to it, `correlation` is that of its Gaussian columns.

    Columns that depend on no other may have any law; `correlation` has ones and zeros there.
    """

    draw: Callable[[Array], Array]
    correlation: Array

    @property
    def dimensions(self) -> int:
        """Number of parameters."""
        return len(self.correlation)


def conditioned(at: Array, drawn: Array, subset: Sequence[int], correlation: Array) -> Array:
    """Points with the columns `subset` of `at`, and the others drawn as they are given these."""
    kept = list(subset)
    rest = [j for j in range(at.shape[-1]) if j not in subset]
    moved = drawn.copy()
    moved[..., kept] = at[..., kept]
    if kept and rest:
        gain = np.linalg.solve(correlation[np.ix_(kept, kept)], correlation[np.ix_(kept, rest)])
        moved[..., rest] += (at[..., kept] - drawn[..., kept]) @ gain
    return moved


def subset_indices(
    function: Function,
    space: Dependent,
    names: Sequence[tuple[str, str]],
    n: int,
    seed: int,
    level: float,
    groups: Mapping[str, Sequence[int]],
) -> list[Indices]:
    """First-order and total indices, Shapley effects and groups of every output of a function of the space.

    Intervals are the scatter between independently scrambled samples.
    """
    d = space.dimensions
    everyone = tuple(range(d))
    single = [(i,) for i in everyone]
    others = [tuple(j for j in everyone if j != i) for i in everyone]
    subsets = {*single, *others, *_of_groups(groups, everyone)}
    if d <= MOST_FOR_SHAPLEY:
        subsets |= {u for size in range(1, d) for u in itertools.combinations(everyone, size)}
    closed, mean, variance = closed_shares(function, space, subsets, n, seed)
    measures = {
        "first": np.stack([closed[u] for u in single], axis=-1),
        "total": 1.0 - np.stack([closed[u] for u in others], axis=-1),
    }
    if d <= MOST_FOR_SHAPLEY:
        scrambled = [{u: values[k] for u, values in closed.items()} for k in range(SCRAMBLES)]
        measures["shapley"] = np.stack([shapley_of(one, d) for one in scrambled])
    shares = group_shares(closed, groups, everyone)
    return [
        Indices(
            case,
            output,
            METHOD,
            float(mean[j]),
            float(variance[j]),
            {name: _between(values[:, j], level) for name, values in measures.items()},
            groups={name: (float(pair[0][j]), float(pair[1][j])) for name, pair in shares.items()},
        )
        for j, (case, output) in enumerate(names)
    ]


def closed_shares(
    function: Function, space: Dependent, subsets: Iterable[Subset], n: int, seed: int
) -> tuple[dict[Subset, Array], Array, Array]:
    """closed_u of each subset in each scramble (scrambles, outputs), mean and variance of the outputs."""
    chosen = sorted(set(subsets), key=lambda u: (len(u), u))
    rows = max(min(n, MOST_EVALUATIONS // max(len(chosen), 1)), min(n, FEWEST_POINTS))
    d = space.dimensions
    pairs = [draw_pair(math.ceil(rows / SCRAMBLES), d, 1_000_003 * (k + 1) + seed) for k in range(SCRAMBLES)]
    drawn = [(space.draw(pair.a), space.draw(pair.b)) for pair in pairs]
    at = [function(b) for _, b in drawn]
    every = np.concatenate([*at, *(function(a) for a, _ in drawn)])
    variance = every.var(axis=0)
    scale = np.where(variance > 0, 2.0 * variance, np.nan)
    nothing = np.zeros((SCRAMBLES, every.shape[1]))
    closed = {(): nothing, tuple(range(d)): nothing + 1.0}
    for u in chosen:
        again = [function(conditioned(b, a, u, space.correlation)) for a, b in drawn]
        closed[u] = np.stack([1.0 - ((y - z) ** 2).mean(axis=0) / scale for y, z in zip(at, again, strict=True)])
    return closed, every.mean(axis=0), variance


def group_shares(
    closed: Mapping[Subset, Array], groups: Mapping[str, Sequence[int]], everyone: Subset
) -> dict[str, tuple[Array, Array]]:
    """Closed and total share (outputs,) of each group."""
    pairs = zip(groups, _pairs(groups, everyone), strict=True)
    return {name: (closed[u].mean(axis=0), 1.0 - closed[v].mean(axis=0)) for name, (u, v) in pairs}


def _pairs(groups: Mapping[str, Sequence[int]], everyone: Subset) -> list[tuple[Subset, Subset]]:
    members = [tuple(sorted(set(group))) for group in groups.values()]
    return [(u, tuple(j for j in everyone if j not in u)) for u in members]


def _of_groups(groups: Mapping[str, Sequence[int]], everyone: Subset) -> set[Subset]:
    return {u for pair in _pairs(groups, everyone) for u in pair}


def _between(scrambles: Array, level: float) -> Measure:
    """The mean over the scrambles, (scrambles, parameters), with an interval from their scatter."""
    from scipy.special import stdtrit

    mean = scrambles.mean(axis=0)
    half = stdtrit(SCRAMBLES - 1, (1 + level) / 2) * scrambles.std(axis=0, ddof=1) / math.sqrt(SCRAMBLES)
    return Measure(mean, mean - half, mean + half)
