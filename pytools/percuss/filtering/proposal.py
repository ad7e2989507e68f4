"""The next ensemble: a Gaussian mixture fitted to the weighted one, and weights that undo the choice.

Everything happens in normal scores z = Phi^-1(F(theta)), F the prior: there every prior is the standard Gaussian and no
point falls outside its support. The proposal is

    q(z) = PRIOR_SHARE phi(z) + (1 - PRIOR_SHARE) sum_k pi_k N(z; mu_k, S_k)

The part of the prior bounds the weights. Points are a Halton sequence in one dimension more than there are parameters:
the first coordinate chooses the component, the others go through its Gaussian.

Samples of all ensembles count together, each as if drawn from the mixture of all proposals (Owen and Zhou, 2000):

    w_0(z) = phi(z) / sum_j (n_j / n) q_j(z)

so that data are used once, however many ensembles there were: without this factor the posterior narrows with every
iteration by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.filtering.weights import solve_lower

Array = NDArray[Any]

PRIOR_SHARE = 0.1
MOST_COMPONENTS = 5
ROUNDS = 200
# Points at the very end of a support have no finite normal score.
EDGE = 1e-9


@dataclass(frozen=True, eq=False)
class Mixture:
    """Shares (k,), means (k, d) and covariances (k, d, d) of Gaussians, in normal scores. Without any: the prior."""

    shares: Array
    means: Array
    covariances: Array

    def log_density(self, z: Array) -> Array:
        """Logarithm of q at points (n, d)."""
        if not len(self.shares):
            return log_standard(z)
        parts = np.log(self.shares) + _log_gaussians(z, self.means, self.covariances)
        inside = np.logaddexp.reduce(parts, axis=1)
        return np.asarray(np.logaddexp(np.log(PRIOR_SHARE) + log_standard(z), np.log1p(-PRIOR_SHARE) + inside))

    def points(self, n: int, seed: int) -> Array:
        """Points (n, d) of a scrambled Halton sequence through q."""
        from scipy.special import ndtri
        from scipy.stats import qmc

        d = self.means.shape[1]
        unit = qmc.Halton(d + 1, scramble=True, rng=np.random.default_rng(seed)).random(n)
        z = ndtri(np.clip(unit[:, 1:], EDGE, 1 - EDGE))
        bounds = np.cumsum([PRIOR_SHARE, *((1 - PRIOR_SHARE) * self.shares)])
        chosen = np.minimum(np.searchsorted(bounds, unit[:, 0], side="right"), len(self.shares))
        for k, (centre, covariance) in enumerate(zip(self.means, self.covariances, strict=True), start=1):
            z[chosen == k] = centre + z[chosen == k] @ np.linalg.cholesky(covariance).T
        return np.asarray(z)


def prior_only(d: int) -> Mixture:
    """The proposal of an ensemble that was drawn from the prior."""
    return Mixture(np.empty(0), np.empty((0, d)), np.empty((0, d, d)))


def log_standard(z: Array) -> Array:
    """Log density of the standard Gaussian."""
    return np.asarray(-0.5 * (z**2).sum(axis=1) - 0.5 * z.shape[1] * np.log(2 * np.pi))


def log_start(z: Array, proposals: Sequence[Mixture], counts: Sequence[int]) -> Array:
    """Log weights before any data of samples z of all ensembles; `counts` is the size of each."""
    total = sum(counts)
    parts = [np.log(n / total) + q.log_density(z) for q, n in zip(proposals, counts, strict=True)]
    return np.asarray(log_standard(z) - np.logaddexp.reduce(parts, axis=0))


def fit_mixture(z: Array, weights: Array, seed: int) -> Mixture:
    """A Gaussian mixture of weighted samples: the number of components by the Bayesian information criterion.

    Covariances are widened by the kernel width of as many samples as the weights are worth.
    """
    effective = 1.0 / (weights**2).sum()
    d = z.shape[1]
    centre = weights @ z
    whole = (weights[:, None] * (z - centre)).T @ (z - centre)
    width = effective ** (-2.0 / (d + 4)) * (whole + 1e-4 * np.eye(d))
    best, score = None, np.inf
    for count in range(1, MOST_COMPONENTS + 1):
        free = count * (1 + d + d * (d + 1) // 2) - 1
        if count > 1 and effective < 2 * free:
            break
        fitted, likelihood = _expectation_maximisation(z, weights, count, width, seed)
        criterion = -2 * effective * likelihood + free * np.log(max(effective, 2.0))
        if criterion < score:
            best, score = fitted, criterion
    assert best is not None
    return best


def tempered(log_weights: Array, dimensions: int) -> Array:
    """Weights to the largest power, at most 1, at which they are worth as many samples as a Gaussian needs, d + 1.

    A mixture fitted to an ensemble that came down to fewer proposes around its best samples and not on top of them.
    """
    logs = np.maximum(log_weights - log_weights.max(), -1e300)
    least = min(dimensions + 1.0, 0.5 * len(logs))

    def raised(power: float) -> Array:
        weights = np.exp(power * logs)
        return np.asarray(weights / weights.sum())

    def worth(power: float) -> float:
        return float(1.0 / (raised(power) ** 2).sum())

    if worth(1.0) >= least:
        return raised(1.0)
    low, high = 0.0, 1.0
    while high - low > 1e-3 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if worth(middle) >= least else (low, middle)
    return raised(low)


def _expectation_maximisation(z: Array, weights: Array, count: int, width: Array, seed: int) -> tuple[Mixture, float]:
    """The mixture and its weighted mean log likelihood."""
    rng = np.random.default_rng([seed, count])
    centres = z[rng.choice(len(z), size=count, p=weights)]
    shares = np.full(count, 1.0 / count)
    spread = np.cov(z.T, aweights=weights, bias=True).reshape(z.shape[1], z.shape[1])
    covariances = np.repeat((spread + width)[None], count, axis=0)
    last = -np.inf
    for _ in range(ROUNDS):
        parts = np.log(shares) + _log_gaussians(z, centres, covariances)
        totals = np.logaddexp.reduce(parts, axis=1)
        likelihood = float(weights @ totals)
        if likelihood - last < 1e-8:
            break
        last = likelihood
        belongs = np.exp(parts - totals[:, None]) * weights[:, None]
        mass = np.maximum(belongs.sum(axis=0), 1e-12)
        shares = mass / mass.sum()
        centres = (belongs.T @ z) / mass[:, None]
        off = z.T[None] - centres[:, :, None]
        covariances = (belongs.T[:, None, :] * off) @ off.transpose(0, 2, 1) / mass[:, None, None] + width
    return Mixture(shares, centres, covariances), likelihood


def _log_gaussians(z: Array, centres: Array, covariances: Array) -> Array:
    """Log densities (n, k) of k Gaussians."""
    roots = np.linalg.cholesky(covariances)
    white = solve_lower(roots, z.T[None] - centres[:, :, None])
    log_roots = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    constants = -log_roots - 0.5 * z.shape[1] * np.log(2 * np.pi)
    return np.asarray((-0.5 * (white**2).sum(axis=1) + constants[:, None]).T)
