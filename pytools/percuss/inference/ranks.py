"""Do ranks of truths among draws look uniform? The test behind simulation-based calibration.

A truth drawn from the prior has, among L independent draws of the posterior of data made with it, each rank from 0 to L
with the same probability (Talts, Betancourt, Simpson, Vehtari, Gelman, 2018, Theorem 1). N ranks are held against that
by their empirical distribution: at the edge of each rank the number of ranks below it is binomial, and the least of
all these two-sided probabilities is what is judged, at all edges at once (Säilynoja, Bürkner, Vehtari, 2022). Their
simultaneous probability is computed exactly, from edge to edge (their Algorithm 2), not simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats

Ranks = NDArray[np.int64]
# Probabilities of both tails that differ by rounding alone are the same.
TIED = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Envelope:
    """Between which numbers of ranks, `low` to `high`, the count below each of the `edges` (shares of the ranks) lies,
    at all of them at once, with the probability that was asked for.
    """

    edges: Floats
    low: NDArray[np.int64]
    high: NDArray[np.int64]


def ranks_of(truth: Floats, draws: Floats) -> Ranks:
    """How many of the draws (L, d) lie below the truth (d,), column by column."""
    ranks: Ranks = np.sum(draws < truth, axis=0)
    return ranks


def uniformity(ranks: Ranks, draws: int) -> float:
    """The p-value of ranks among so many draws: how likely uniform ranks stray at least as far, anywhere."""
    count = len(ranks)
    below = np.cumsum(np.bincount(ranks, minlength=draws + 1))[:-1]
    table = _two_sided(count, draws)
    least = float(np.min(table[np.arange(draws), below]))
    return 1.0 - _inside(table, least)


def envelope(count: int, draws: int, probability: float) -> Envelope:
    """The region that the counts below every edge leave with at most 1 - `probability`, for so many uniform ranks."""
    table = _two_sided(count, draws)
    # What is left out grows with the level in steps, at the values of the table: the largest that keeps the promise.
    levels = np.unique(table)
    first, last = 0, len(levels) - 1
    while first < last:
        middle = (first + last) // 2
        if _inside(table, float(levels[middle])) >= probability:
            first = middle + 1
        else:
            last = middle
    level = float(levels[first - 1]) if first else 0.0
    inside = table > level * TIED
    low = np.argmax(inside, axis=1)
    high = count - np.argmax(inside[:, ::-1], axis=1)
    return Envelope(np.arange(1, draws + 1) / (draws + 1), low, high)


def _two_sided(count: int, draws: int) -> Floats:
    """For each edge (draws) and number below it (0 to count): the two-sided binomial probability."""
    # Not by scipy.stats, which takes longer to load than a report to write.
    from scipy.special import betainc, betaincc

    share = (np.arange(1, draws + 1) / (draws + 1))[:, None]
    number = np.arange(count + 1)[None]
    at_most = np.where(number < count, betaincc(number + 1, np.maximum(count - number, 1), share), 1.0)
    at_least = np.where(number > 0, betainc(np.maximum(number, 1), count - number + 1, share), 1.0)
    table: Floats = 2 * np.minimum(at_most, at_least)
    return table


def _inside(table: Floats, level: float) -> float:
    """The probability that uniform ranks stay, at every edge, where the two-sided probability exceeds a level."""
    from scipy.special import gammaln

    edges, count = len(table), table.shape[1] - 1
    log_factorial = gammaln(np.arange(count + 1) + 1.0)
    reached, mass = np.array([0]), np.array([1.0])
    for k in range(edges):
        allowed = np.flatnonzero(table[k] > level * TIED)
        if not len(allowed):
            return 0.0
        # Of the ranks that are not below the last edge each falls below this one with the same probability.
        share = 1 / (edges + 1 - k)
        of, more = count - reached[None], allowed[:, None] - reached[None]
        fewer = np.clip(more, 0, of)
        log_ways = log_factorial[of] - log_factorial[fewer] - log_factorial[of - fewer]
        step = np.exp(log_ways + fewer * np.log(share) + (of - fewer) * np.log1p(-share))
        reached, mass = allowed, np.where(more == fewer, step, 0.0) @ mass
    return float(min(np.sum(mass), 1.0))
