"""Which priors the probability depends on: importance factors, and derivatives to their means and standard deviations.

By the samples of an estimate and the score of each prior (Rubinstein, 1986; Wu, 1994), for location and scale:

    dp/dmean = E[I s(x)],   dp/dstd = E[I ((x - mean) s(x) - 1)] / std,   s = -d log f / dx

No runs are needed. A prior whose density does not vanish at its bounds has no such score: its derivatives are NaN, and
so are those of correlated parameters. Importance factors sum to one: squares of the direction cosines of the nearest
design point, or without one E[u_i^2 | failure] - 1, which is the same for a plane and tells of all branches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from percuss.reliability.estimate import Array, Estimate
from percuss.study.joint import Joint
from percuss.study.priors.prior import Prior
from percuss.study.priors.tensor import Component


@dataclass(frozen=True)
class Slopes:
    """Of one parameter; NaN where there is none."""

    importance: float
    to_mean: float
    to_std: float


def slopes(estimate: Estimate, joint: Joint, theta: Array) -> list[Slopes]:
    """Of every parameter; `theta` are the parameters at the samples."""
    importance = _importance(estimate, joint)
    weights, failing = estimate.samples.weights, estimate.samples.values <= 0
    known = not np.isnan(weights).any() and joint.correlation is None
    rows = []
    for j, prior in enumerate(joint.priors):
        to_mean = to_std = float("nan")
        if known and has_score(prior):
            x, w = theta[failing, j], weights[failing]
            score = -_log_slope(prior, x)
            to_mean = float(w @ score)
            to_std = float(w @ ((x - prior.mean()) * score - 1.0)) / prior.std()
        rows.append(Slopes(float(importance[j]), to_mean, to_std))
    return rows


def _importance(estimate: Estimate, joint: Joint) -> Array:
    if estimate.design_points:
        nearest = min(estimate.design_points, key=lambda point: point.beta)
        direction = nearest.alpha
    else:
        failing = estimate.samples.values <= 0
        weights = np.nan_to_num(estimate.samples.weights, nan=1.0)[failing]
        normals = joint.normals(estimate.samples.u[failing])
        square = np.maximum(weights @ normals**2 / max(weights.sum(), 1e-300) - 1.0, 0.0)
        return np.asarray(square / square.sum()) if square.sum() > 0 else np.full(len(square), np.nan)
    # Correlated normals: the part of each parameter is that of its own normal (Der Kiureghian, 2005, eq. 14.24).
    through = direction if joint.correlation is None else np.linalg.solve(joint.factor.T, direction)
    return np.asarray(through**2 / (through @ through))


def has_score(prior: Prior) -> bool:
    """Whether the density of a prior goes to zero at the finite ends of its support."""
    if isinstance(prior, Component):
        return False
    low, high = prior.support()
    middle = float(prior.logpdf(np.array([float(prior.ppf(0.5))]))[0])
    ends = [end for end in (low, high) if np.isfinite(end)]
    return all(float(prior.logpdf(np.array([end]))[0]) < middle - 30 for end in ends)


def _log_slope(prior: Prior, x: Array) -> Array:
    low, high = prior.support()
    step = 1e-5 * prior.std()
    up, down = np.minimum(x + step, high), np.maximum(x - step, low)
    rise = np.asarray(prior.logpdf(up)) - np.asarray(prior.logpdf(down))
    return np.asarray(np.where(up > down, rise / np.maximum(up - down, 1e-300), 0.0))
