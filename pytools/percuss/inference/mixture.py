"""A mixture of Student-t's about the modes of a posterior: proposals that reach all of them, and what each weighs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.loo import smooth

if TYPE_CHECKING:
    from percuss.inference.target import Target

DEGREES_OF_FREEDOM = 5.0
# Draws for each component in each of the rounds; the last one weighs.
ROUNDS = (500, 500, 1000)
# No component gets less than this part of an equal share of the draws.
LEAST = 0.2
# Above this shape of the tail of the weights their sums mean little (Vehtari et al., 2024).
TRUSTED_K = 0.7


@dataclass(frozen=True, eq=False)
class Mixture:
    """Weights (k,), centres (k, d) and lower Cholesky factors of the scales (k, d, d)."""

    weights: Floats
    centres: Floats
    factors: Floats

    @classmethod
    def equal(cls, centres: Floats, factors: Floats) -> Mixture:
        """All components of one weight."""
        return cls(np.full(len(centres), 1 / len(centres)), centres, factors)

    def __len__(self) -> int:
        return len(self.weights)

    def log_parts(self, z: Floats) -> Floats:
        """Log of weight times density of each component at points (n, d): (n, k)."""
        d, nu = z.shape[1], DEGREES_OF_FREEDOM
        constant = math.lgamma((nu + d) / 2) - math.lgamma(nu / 2) - 0.5 * d * math.log(nu * math.pi)
        parts = np.empty((len(z), len(self)))
        for k, (centre, factor) in enumerate(zip(self.centres, self.factors, strict=True)):
            w = np.einsum("ij,nj->ni", np.linalg.inv(factor), z - centre)
            parts[:, k] = -0.5 * (nu + d) * np.log1p(np.einsum("ni,ni->n", w, w) / nu)
            parts[:, k] += constant - float(np.sum(np.log(np.diag(factor)))) + math.log(self.weights[k])
        return parts

    def log_density(self, z: Floats) -> Floats:
        """Log density at points (n, d)."""
        return np.asarray(np.logaddexp.reduce(self.log_parts(z), axis=1))

    def nearest(self, z: Floats) -> NDArray[np.int64]:
        """The component that most probably gave each of the points (n, d)."""
        return np.asarray(np.argmax(self.log_parts(z), axis=1))

    def draw(self, n: int, generator: np.random.Generator) -> Floats:
        """Draw n points."""
        which = np.searchsorted(np.cumsum(self.weights)[:-1], generator.random(n), side="right")
        normal = generator.standard_normal((n, self.centres.shape[1]))
        normal /= np.sqrt(generator.chisquare(DEGREES_OF_FREEDOM, n) / DEGREES_OF_FREEDOM)[:, None]
        return np.asarray(self.centres[which] + np.einsum("nij,nj->ni", self.factors[which], normal))


@dataclass(frozen=True, eq=False)
class Weighed:
    """A mixture fitted to a posterior, what share of the posterior is nearest to each component, the error of that,
    whether the weights can be trusted at all; the draws (n, d) with log density and weights (of sum 1); evaluations.
    """

    mixture: Mixture
    shares: Floats
    errors: Floats
    reliable: bool
    draws: Floats
    log_density: Floats
    weights: Floats
    evaluations: int

    def start(self, n: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw n points by weight, each mode in proportion to what it weighs, and their log density."""
        order = np.argsort(self.mixture.nearest(self.draws), kind="stable")
        marks = (np.arange(n) + generator.random()) / n
        chosen = np.minimum(np.searchsorted(np.cumsum(self.weights[order]), marks), len(order) - 1)
        picked = order[chosen]
        return self.draws[picked].copy(), self.log_density[picked].copy()


def weigh(target: Target, mixture: Mixture, generator: np.random.Generator) -> Weighed:
    """Draw from the mixture, fit it to the weighted draws, again, and weigh the components."""
    used = 0
    for last, each in zip((False, False, True), ROUNDS, strict=True):
        z = mixture.draw(each * len(mixture), generator)
        log_density = target.log_density(z)
        used += len(z)
        log_weights = log_density - mixture.log_density(z)
        # Without one finite weight nothing is fitted: the components stay as the Hessians made them.
        top = np.max(log_weights) if np.isfinite(np.max(log_weights)) else 0.0
        weights = np.exp(log_weights - top)
        weights /= max(float(np.sum(weights)), 1e-300)
        nearest = mixture.nearest(z)
        shares: Floats = np.asarray(np.bincount(nearest, weights, len(mixture)), float)
        if not last:
            mixture = _fitted(mixture, z, weights, nearest, shares)
    # Errors of ratios of sums: each draw's part in the residual of its own share.
    inside = (nearest[:, None] == np.arange(len(mixture))) - shares
    errors = np.sqrt(np.sum((weights[:, None] * inside) ** 2, axis=0))
    finite = log_weights[np.isfinite(log_weights)]
    reliable = len(finite) > 0 and bool(smooth(finite)[1] < TRUSTED_K)
    return Weighed(mixture, shares, errors, reliable, z, log_density, weights, used)


def _fitted(mixture: Mixture, z: Floats, weights: Floats, nearest: NDArray[np.int64], shares: Floats) -> Mixture:
    """The mixture with centres and scales of the weighted draws; the fewer they effectively are, the more as before."""
    d = z.shape[1]
    centres, factors = mixture.centres.copy(), mixture.factors.copy()
    for k in range(len(mixture)):
        own = weights[nearest == k]
        if shares[k] <= 0:
            continue
        effective = shares[k] ** 2 / float(np.sum(own * own))
        if effective < 2 * (d + 1):
            continue
        own = own / shares[k]
        inside = z[nearest == k]
        centre = np.einsum("n,ni->i", own, inside)
        away = inside - centre
        covariance = np.einsum("n,ni,nj->ij", own, away, away)
        # einsum, not matmul: the bits do not depend on the threads of a BLAS.
        before = np.einsum("ij,kj->ik", factors[k], factors[k])
        covariance = (effective * covariance + d * before) / (effective + d)
        centres[k], factors[k] = centre, np.linalg.cholesky(covariance)
    floor = LEAST / len(mixture)
    new = np.maximum(shares, floor)
    return Mixture(new / np.sum(new), centres, factors)
