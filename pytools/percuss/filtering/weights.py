"""Sequential importance sampling: the weights of an ensemble, one update after another, in logarithms.

With w_0 the weights of the ensemble before any data and M_t the covariance of the observation error at step t,

    p(y_t | x_t^i) = (2 pi)^(-m/2) |M_t|^(-1/2) exp(-1/2 (y_t - x_t^i)' M_t^-1 (y_t - x_t^i))
    w_t^i = p(y_t | x_t^i) w_(t-1)^i / sum_j p(y_t | x_t^j) w_(t-1)^j

(Cheng et al., 2018, Eqs. 9-14; their Eq. 13 lacks the square root of the determinant, their Eq. 9 has a factor 1/N too
many). The product of the denominators is the evidence of the model. Covariances come as their triangular roots F,
M = F F': a standard deviation whose square underflows is still a number. Squares are kept in a unit of their own and
scaled by powers of two, and the least of them is taken off before they become exponents, so that one sample always has
weight and no covariance, however small, gives NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Misfits:
    """Summed over the steps up to each: squared misfits `squares` (steps, samples), in units of 4^`exponent`, the
    logarithms of the Gaussian's factors `log_norms` (steps,), and how many values were observed, `counts` (steps,).
    """

    squares: Array
    exponent: int
    log_norms: Array
    counts: Array

    def last(self) -> Misfits:
        """After the last step only."""
        return Misfits(self.squares[-1:], self.exponent, self.log_norms[-1:], self.counts[-1:])


@dataclass(frozen=True, eq=False)
class Filtered:
    """Weights (steps, samples) after each step, their effective numbers (steps,), the log evidence (steps,), the
    logarithms of the last weights (samples,), which tell apart what is zero as a number, and the squared misfit of the
    best sample over all steps, in variances, with the number of values it is of.
    """

    weights: Array
    effective: Array
    log_evidence: Array
    log_last: Array
    least: float
    count: int


def misfits(observed: Sequence[Array], predicted: Sequence[Array], roots: Sequence[Array]) -> Misfits:
    """Squared misfits of every sample: observed (m,), predicted (samples, m), root of the covariance (m, m), a step.

    Raises InputError when a root is singular or not finite.
    """
    diagonals = [np.abs(np.diag(root)) for root in roots]
    least = min((float(d.min()) for d in diagonals), default=1.0)
    if not (least > 0 and all(np.isfinite(root).all() for root in roots)):
        raise InputError("the covariance of the observations: must be positive definite and finite")
    power = math.frexp(least)[1]
    squares, norms = [], []
    for y, x, root, diagonal in zip(observed, predicted, roots, diagonals, strict=True):
        # Twice by half the power: the power alone may be beyond what a number holds.
        scaled = np.ldexp(np.ldexp(root, -(power // 2)), -(power - power // 2))
        white = solve_lower(scaled, (np.asarray(x, float) - y).T)
        squares.append((white**2).sum(axis=0))
        norms.append(-0.5 * len(y) * math.log(2 * math.pi) - float(np.log(diagonal).sum()))
    counts = np.cumsum([len(y) for y in observed])
    return Misfits(np.cumsum(squares, axis=0), -power, np.cumsum(norms), counts)


def solve_lower(roots: Array, right: Array) -> Array:
    """Solutions (..., m, n) of triangular systems, roots (..., m, m): row by row, for all right-hand sides at once.

    Of two or three rows that is a few operations; a library's solver takes longer to be called.
    """
    solved = np.empty(right.shape)
    for row in range(right.shape[-2]):
        known = (roots[..., row, :row, None] * solved[..., :row, :]).sum(axis=-2)
        solved[..., row, :] = (right[..., row, :] - known) / roots[..., row, row, None]
    return solved


def filter_weights(misfits_of_samples: Misfits, log_start: Array, scale: float = 1.0) -> Filtered:
    """Update weights whose logarithms (samples,) are `log_start`, with every standard deviation times `scale`.

    `log_start` is made to sum to one. -inf there leaves a sample out.
    """
    start = log_start - _log_sum(log_start)
    alive = np.isfinite(start)
    weights = np.empty(misfits_of_samples.squares.shape)
    evidence = np.empty(len(weights))
    logs = np.full(len(start), -np.inf)
    misfit = 0.0
    for t, squares in enumerate(misfits_of_samples.squares):
        least = squares[alive].min()
        exponents = start[alive] - 0.5 * _scaled(squares[alive] - least, misfits_of_samples.exponent, scale)
        total = _log_sum(exponents)
        logs[alive] = exponents - total
        weights[t] = np.exp(logs)
        misfit = float(_scaled(np.array([least]), misfits_of_samples.exponent, scale)[0])
        evidence[t] = (
            total - 0.5 * misfit + misfits_of_samples.log_norms[t] - misfits_of_samples.counts[t] * math.log(scale)
        )
    return Filtered(weights, 1.0 / (weights**2).sum(axis=1), evidence, logs, misfit, int(misfits_of_samples.counts[-1]))


def _scaled(squares: Array, exponent: int, scale: float) -> Array:
    """Squares over scale^2, in plain units: beyond the largest number infinity, of which exp(-x) is zero."""
    with np.errstate(over="ignore", under="ignore"):
        half = np.ldexp(squares, exponent)
        return np.ldexp(half, exponent) / scale / scale


def _log_sum(logs: Array) -> float:
    top = float(logs.max())
    if not math.isfinite(top):
        raise InputError("no sample has any weight: the ensemble lies outside the prior")
    return top + math.log(float(np.exp(logs - top).sum()))
