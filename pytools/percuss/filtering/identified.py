"""What weights say about the parameters: means, covariances, quantiles, densities, correlations with outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.study.priors.prior import Prior

Array = NDArray[Any]

# Sums of weights are known no better than this.
TIE = 1e-12


def means(weights: Array, theta: Array) -> Array:
    """Identified parameters (steps, d): weighted means of theta (samples, d)."""
    return np.asarray(weights @ theta)


def covariances(weights: Array, theta: Array) -> Array:
    """Weighted covariances (steps, d, d) about the weighted means."""
    matrices = np.empty((len(weights), theta.shape[1], theta.shape[1]))
    for t, (w, centre) in enumerate(zip(weights, means(weights, theta), strict=True)):
        off = theta - centre
        matrices[t] = (w[:, None] * off).T @ off
    return matrices


def quantiles(weights: Array, values: Array, shares: Array) -> Array:
    """Quantiles of values (samples,) under weights (samples,): of the very distribution that has the weighted mean and
    standard deviation, all of it on the values themselves.

    Between values a share of the ensemble has no weight, so nothing lies there: a line drawn from one heavy sample to
    the next light one would give a width that the standard deviation does not have. Where a share falls between two
    values, their middle is taken.
    """
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    reached = np.cumsum(weights[order])
    reached /= reached[-1]
    below = np.searchsorted(reached, shares - TIE)
    above = np.searchsorted(reached, shares + TIE)
    last = len(order) - 1
    ordered = values[order]
    return np.asarray(0.5 * (ordered[np.minimum(below, last)] + ordered[np.minimum(above, last)]))


def density(weights: Array, values: Array, prior: Prior, grid: Array) -> Array:
    """Kernel density at the points of a grid: Gaussian kernels mirrored at the ends of the prior's support."""
    width = bandwidth(weights, values, 1)
    total = _kernels(grid, values, width) @ weights
    for bound in prior.support():
        if np.isfinite(bound):
            total = total + _kernels(grid, 2 * bound - values, width) @ weights
    low, high = prior.support()
    return np.where((grid >= low) & (grid <= high), total, 0.0)


def pair_density(weights: Array, pair: Array, grids: tuple[Array, Array]) -> Array:
    """Kernel density of two parameters, pair (samples, 2), on the product of two grids: (first, second)."""
    first = _kernels(grids[0], pair[:, 0], bandwidth(weights, pair[:, 0], 2))
    second = _kernels(grids[1], pair[:, 1], bandwidth(weights, pair[:, 1], 2))
    return np.asarray((first * weights) @ second.T)


def bandwidth(weights: Array, values: Array, dimensions: int) -> float:
    """Scott's width for as many equal samples as the weights are worth; a thousandth of the range at the least."""
    centre = weights @ values
    std = np.sqrt(weights @ (values - centre) ** 2)
    effective = 1.0 / (weights**2).sum()
    least = 1e-3 * float(np.ptp(values)) or 1.0
    return max(float(std * effective ** (-1.0 / (dimensions + 4))), least)


def _kernels(grid: Array, values: Array, width: float) -> Array:
    z = (grid[:, None] - values[None, :]) / width
    return np.asarray(np.exp(-0.5 * z**2) / (np.sqrt(2 * np.pi) * width))


def grid_of(prior: Prior, count: int) -> Array:
    """Points over the support of a prior, cut at its outermost thousandths where it has no end."""
    low, high = prior.support()
    cut = prior.ppf([0.001, 0.999])
    return np.linspace(low if np.isfinite(low) else cut[0], high if np.isfinite(high) else cut[1], count)


def correlations(theta: Array, outputs: Array) -> tuple[Array, Array]:
    """Correlations (d, outputs) of values, and of their ranks; 0 where one of the two is constant."""
    return _correlation(theta, outputs), _correlation(_ranks(theta), _ranks(outputs))


def _ranks(columns: Array) -> Array:
    """Ranks from 1 within each column; equal values have the mean of theirs."""
    ranks = np.empty(columns.shape)
    for k, column in enumerate(columns.T):
        _, place, count = np.unique(column, return_inverse=True, return_counts=True)
        last = np.cumsum(count)
        ranks[:, k] = (last - 0.5 * (count - 1))[place]
    return ranks


def _correlation(a: Array, b: Array) -> Array:
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = np.outer(np.sqrt((a**2).sum(axis=0)), np.sqrt((b**2).sum(axis=0)))
    return np.asarray(np.divide(a.T @ b, size, out=np.zeros_like(size), where=size > 0))
