"""The error of a surrogate at one point: one number for each output, the same for all data of that output.

s ~ sum_k share_k N(0, scale_k diag(std) R diag(std)), with std the surrogate's own and R, scales and shares from its
nested residuals: R their correlation, shrunk towards none as far as few points demand;
the mixture of scales their long tails. Scales below one are left out:
outputs go wild together, but are not calm together, and a likelihood that takes one output's calm for another's is too
sure (60 twins of the rockfall wall, 50 repetitions: 90 % intervals hold 77 % with them, 84 % without).

R is a mean over the prior, and the errors at one point are not those of the mean: a surrogate that smooths or misplaces
a steep part is off by its own slope times a shift. Such errors look like a change of parameters, more so than errors
dealt to the points at random. `alignment` measures by how much, and the scales grow by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from percuss.surrogates.model import Array

if TYPE_CHECKING:
    import polars as pl

SCALES = 4.0 ** np.arange(4)
STEPS = 500
SHRINKAGES = 25
# A point that has all the say in a direction of R: what is left without it.
LEAST_LEFT = 0.05


class Tails(NamedTuple):
    """Scales of the covariance, and the share of points that have each."""

    scales: Array
    shares: Array


class Residuals(NamedTuple):
    """Nested residuals of a surrogate: its points, the root mean square of each column, and residuals (points, columns)
    over it; 0 where a run failed.
    """

    points: pl.DataFrame
    size: Array
    standard: Array


def standard_residuals(table: pl.DataFrame, columns: int) -> Residuals:
    """Residuals from the table of a surrogate. Without folds leave-one-out residuals take their place."""
    import polars as pl

    seen = pl.coalesce("nested", "left_out")
    misses = table.select("column", "design", "sample", miss=pl.col("value") - seen)
    points = misses.select("design", "sample").unique(maintain_order=True).with_row_index("point")
    placed = misses.join(points, on=["design", "sample"], how="left")
    standardised = np.zeros((points.height, columns))
    standardised[placed["point"].to_numpy(), placed["column"].to_numpy()] = placed["miss"].to_numpy()
    count = np.bincount(placed["column"].to_numpy(), minlength=columns)
    size = np.sqrt(np.sum(standardised**2, axis=0) / np.maximum(count, 1))
    standard = np.divide(standardised, size, out=np.zeros_like(standardised), where=size > 0)
    return Residuals(points, size, np.asarray(standard))


def alignment(residuals: Array, slopes: Array, together: Array, spread: Array) -> float:
    """How many times larger errors are, squared, in the directions of the slopes at their own point than at any other.

    `residuals` (points, outputs) and `slopes` (points, outputs, parameters) are in units of the errors' size, `spread`
    is the prior variance of the parameters. B_i is the form by which an error at point i, under a Gaussian likelihood
    and prior, becomes a squared distance in parameters. The mean of r_i' B_i r_i is divided by that of r_j' B_i r_j
    over all pairs: the ratio of the two sides of the information identity, by which a likelihood with a wrong
    covariance is corrected in magnitude (Pauli, Racugno and Ventura, 2011). Never below one.
    """
    # B_i through an orthonormal basis: where there is next to no error, slopes over its size are beyond any inverse.
    root = np.linalg.cholesky(together)
    white = np.linalg.solve(root, residuals.T).T
    n, k, _ = slopes.shape
    stacked = np.concatenate([np.linalg.solve(root, slopes), np.tile(np.diag(spread**-0.5), (n, 1, 1))], axis=1)
    basis = np.linalg.qr(stacked)[0][:, :k]
    own = np.sum(np.einsum("nkd,nk->nd", basis, white) ** 2, axis=1)
    moment = white.T @ white / n
    anywhere = np.einsum("nkd,kl,nld->n", basis, moment, basis, optimize=True)
    total = float(anywhere.sum())
    return max(1.0, float(own.sum()) / total) if total > 0 else 1.0


def correlation(residuals: Array) -> tuple[Array, float]:
    """R of standard residuals (points, columns), and by how much it was shrunk; columns without error go alone.

    Shrunk so far that residuals are likeliest, each under the R of the other points.
    """
    n = len(residuals)
    norm = np.sqrt(np.sum(residuals**2, axis=0))
    unit = residuals / np.where(norm > 0, norm, 1.0)
    varies = np.flatnonzero(norm)
    values, axes = np.linalg.eigh(unit[:, varies].T @ unit[:, varies])
    squares = n * (unit[:, varies] @ axes) ** 2
    best, shrunk = -np.inf, 1.0
    for share in np.geomspace(1.0 / n, 1.0, SHRINKAGES):
        kept = (1.0 - share) * np.maximum(values, 0.0) + share
        distance, left = without_itself(squares @ (1.0 / kept), share, n)
        log = float(np.sum(np.log(left) - distance) - n * np.sum(np.log(kept)))
        if log > best:
            best, shrunk = log, float(share)
    shrunk_correlation = (1.0 - shrunk) * (unit.T @ unit)
    np.fill_diagonal(shrunk_correlation, 1.0)
    return shrunk_correlation, shrunk


def without_itself(distance: Array, shrunk: float, n: int) -> tuple[Array, Array]:
    """Squared distances of points with R found without each, and by what factor the inverse of det R grows then."""
    left = np.maximum(1.0 - (1.0 - shrunk) * distance / n, LEAST_LEFT)
    return distance / left, 1.0 / left


def tails(residuals: Array, columns: Sequence[int], shrunk: float, together: Array) -> Tails:
    """The mixture of scales that the residuals of some columns have, of largest likelihood among `SCALES`.

    Each point is judged by a covariance found without it: with few points it would be judged by itself.
    """
    used = [j for j in columns if residuals[:, j].any()]
    if not used:
        return Tails(np.ones(1), np.ones(1))
    own = residuals[:, used]
    n = len(own)
    distance = np.einsum("ij,ij->i", own, np.linalg.solve(together[np.ix_(used, used)], own.T).T)
    without, _ = without_itself(distance, shrunk, n)
    logs = -0.5 * (without[:, None] / SCALES + len(used) * np.log(SCALES))
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = np.full(len(SCALES), 1.0 / len(SCALES))
    for _ in range(STEPS):
        weights = likelihood * shares
        shares = np.mean(weights / weights.sum(axis=1, keepdims=True), axis=0)
    # Less than half a point is no tail.
    kept = shares > 0.5 / n
    return Tails(SCALES[kept], shares[kept] / shares[kept].sum())
