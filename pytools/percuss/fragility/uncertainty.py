"""How well curves are known: by the bootstrap, and by Bayes.

The bootstrap draws motions with replacement (runs, where every run has a motion of its own) and fits again. The
posterior has flat priors on ln m and ln b ~ N(ln 0.4, 0.6^2), wide about the dispersions of structures (FEMA P-58: 0.3
to 0.6); it is drawn by importance resampling from a Student-t with 5 degrees of freedom about the maximum, with the
curvature there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from percuss.errors import InputError
from percuss.fragility.curves import Array, Curves, Observed

PRIOR_DISPERSION = (0.4, 0.6)
FREEDOM = 5.0


def bootstrap(observed: Observed, fit: Callable[[Observed], Curves], count: int, seed: int) -> tuple[list[Curves], int]:
    """Curves of resampled motions, and how many of the resamples could not be fitted."""
    motions = np.unique(observed.group)
    members = [np.flatnonzero(observed.group == motion) for motion in motions]
    generator = np.random.Generator(np.random.PCG64(seed))
    fits: list[Curves] = []
    failed = 0
    for _ in range(count):
        drawn = generator.integers(len(motions), size=len(motions))
        rows = np.concatenate([members[i] for i in drawn])
        # A motion that is drawn twice stays two motions.
        labels = np.repeat(np.arange(len(drawn)), [len(members[i]) for i in drawn])
        again = observed.take(rows)
        try:
            fits.append(fit(Observed(again.intensity, again.demand, labels)))
        except InputError:
            failed += 1
    return fits, failed


def posterior_draws(
    log_likelihood: Callable[[Curves], float], best: Curves, count: int, seed: int, *, common: bool
) -> tuple[list[Curves], float]:
    """Draws of the posterior, and the effective number of them."""
    states = len(best.median)
    dispersions = 1 if common else states

    def curves_at(point: Array) -> Curves:
        wide = np.exp(point[states:])
        return Curves(np.exp(point[:states]), np.full(states, wide[0]) if common else wide)

    def density(point: Array) -> float:
        if np.abs(point[states:]).max() > 10:
            return -np.inf
        value = log_likelihood(curves_at(point))
        middle, spread = PRIOR_DISPERSION
        return value - 0.5 * float((((point[states:] - np.log(middle)) / spread) ** 2).sum())

    centre = np.concatenate([np.log(best.median), np.log(best.dispersion[:dispersions])])
    root = np.linalg.cholesky(_covariance(density, centre))
    generator = np.random.Generator(np.random.PCG64(seed))
    size = 4 * count
    normal = generator.standard_normal((size, len(centre)))
    stretch = np.sqrt(FREEDOM / generator.chisquare(FREEDOM, size))
    steps = normal * stretch[:, None]
    points = centre + steps @ root.T
    proposal = -0.5 * (FREEDOM + len(centre)) * np.log1p((steps**2).sum(axis=1) / FREEDOM)
    weights = np.array([density(point) for point in points]) - proposal
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    # Systematic resampling: one uniform number, the least noise.
    places = np.searchsorted(np.cumsum(weights), (generator.uniform() + np.arange(count)) / count)
    return [curves_at(points[min(i, size - 1)]) for i in places], float(1 / (weights**2).sum())


def _covariance(density: Callable[[Array], float], centre: Array) -> Array:
    """Minus the inverse of the second derivatives, by differences; positive definite in any case."""
    n = len(centre)
    h = 1e-3
    middle = density(centre)
    second = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            e, f = np.eye(n)[i] * h, np.eye(n)[j] * h
            if i == j:
                second[i, i] = (density(centre + e) - 2 * middle + density(centre - e)) / h**2
            else:
                corners = density(centre + e + f) - density(centre + e - f) - density(centre - e + f)
                second[i, j] = second[j, i] = (corners + density(centre - e - f)) / (4 * h**2)
    values, vectors = np.linalg.eigh(-np.nan_to_num(second, nan=-1.0, posinf=-1.0, neginf=-1.0))
    return np.asarray((vectors / np.maximum(values, 1e-2)) @ vectors.T)
