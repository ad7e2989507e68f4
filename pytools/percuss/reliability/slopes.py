"""Which priors the probability depends on: importance factors, and derivatives to their means and standard deviations.

By the samples of an estimate and the score of each prior (Rubinstein, 1986; Wu, 1994), for location and scale:

    dp/dmean = E[I s(x)],   dp/dstd = E[I ((x - mean) s(x) - 1)] / std,   s = -d log f / dx

No runs are needed. A prior whose density does not vanish at its bounds has no such score: its derivatives are NaN, and
so are those of correlated parameters. Importance factors sum to one: squares of the direction cosines of the nearest
design point, or without one what failure moves of the normal law of each variable,

    E[u_i | failure]^2 + |var[u_i | failure] - 1|

(or where failure is the likelier, what its absence moves), which is the same for a plane at any distance and tells of
all branches: where they lie opposite to each other, the mean stays and the variance grows.
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


def slopes(estimate: Estimate, joint: Joint, theta: Array, *, by_moments: bool = True) -> list[Slopes]:
    """Of every parameter; `theta` are the parameters at the samples. Without `by_moments` as older estimates have it:
    E[u_i^2 | failure] - 1, which tells nothing where most fail.
    """
    importance = _importance(estimate, joint, by_moments)
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


def _importance(estimate: Estimate, joint: Joint, by_moments: bool) -> Array:
    if estimate.design_points:
        nearest = min(estimate.design_points, key=lambda point: point.beta)
        direction = nearest.alpha
    else:
        failing = estimate.samples.values <= 0
        # Where most fail, those that do not are the rare ones, which tell more; of a plane they tell the same.
        own = failing if not by_moments or estimate.probability <= 0.5 or failing.all() else ~failing
        weights = np.nan_to_num(estimate.samples.weights, nan=1.0)[own]
        normals = joint.normals(estimate.samples.u[own])
        if not by_moments:
            square = np.maximum(weights @ normals**2 / max(weights.sum(), 1e-300) - 1.0, 0.0)
            return np.asarray(square / square.sum()) if square.sum() > 0 else np.full(len(square), np.nan)
        shares = weights / max(float(weights.sum()), 1e-300)
        mean = shares @ normals
        moved = mean**2 + np.abs(shares @ (normals - mean) ** 2 - 1.0)
        return np.asarray(moved / moved.sum()) if shares.size and moved.sum() > 0 else np.full(len(moved), np.nan)
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
