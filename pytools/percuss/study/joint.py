"""The parameters of a study as a function of independent standard normals, and back.

    z = L u,   x_i = F_i^-1(Phi(z_i)),   L L' = R

R is the correlation of the normals behind the parameters (`percuss.study.correlations`), the identity where they are
independent. A tensor is drawn as a whole, from its six coordinates; it has no way back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from percuss.study.correlations import normal_correlation, normal_to_value
from percuss.study.priors.lognormal import Lognormal
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior
from percuss.study.priors.tensor import Component, refuse_tensors
from percuss.study.study import Study

Array = NDArray[Any]
# How far from 0 and 1 a probability is kept before it goes through a quantile.
SMALLEST, LARGEST = 1e-300, 1.0 - 2.0**-53


@dataclass(frozen=True, eq=False)
class Joint:
    """Priors in the order of the parameters, correlation of their normals (None: independent), seed of tensors."""

    priors: tuple[Prior, ...]
    correlation: Array | None = None
    seed: int = 0

    @classmethod
    def of(cls, study: Study, seed: int = 0) -> Joint:
        """Of all parameters of a study."""
        return cls(tuple(p.prior for p in study.parameters.values()), normal_correlation(study), seed)

    @cached_property
    def factor(self) -> Array:
        """L, the lower factor of the correlation."""
        size = len(self.priors)
        return np.eye(size) if self.correlation is None else np.linalg.cholesky(self.correlation)

    def normals(self, u: Array) -> Array:
        """Correlated normals (n, d) of independent ones."""
        return u if self.correlation is None else np.asarray(u @ self.factor.T)

    def values(self, u: Array) -> Array:
        """Parameters (n, d) in SI at independent standard normals (n, d)."""
        z = self.normals(np.asarray(u, float))
        values = np.empty_like(z)
        for j, prior in enumerate(self.priors):
            if not isinstance(prior, Component):
                values[:, j] = normal_to_value(prior, z[:, j], ndtr)
            elif prior.index == 0:
                values[:, j : j + 6] = prior.law.draw(self.seed, ndtr(z[:, j : j + 6]))
        return values

    def from_unit(self, unit: Array) -> Array:
        """Parameters (n, d) at points of the unit cube: the quantiles of the priors, made dependent where they are."""
        values = np.empty_like(np.asarray(unit, float))
        z = None if self.correlation is None else self.normals(ndtri(np.clip(unit, SMALLEST, LARGEST)))
        for j, prior in enumerate(self.priors):
            if isinstance(prior, Component):
                if prior.index == 0:
                    values[:, j : j + 6] = prior.law.draw(self.seed, unit[:, j : j + 6])
            elif z is not None and j in self.dependent:
                values[:, j] = normal_to_value(prior, z[:, j], ndtr)
            else:
                values[:, j] = prior.ppf(unit[:, j])
        return values

    def to_unit(self, theta: Array) -> Array:
        """Points of the unit cube at parameters (n, d); of a tensor each component by its marginal law."""
        unit = np.empty_like(np.asarray(theta, float))
        for j, prior in enumerate(self.priors):
            unit[:, j] = prior.cdf(theta[:, j])
        if self.correlation is None:
            return unit
        z = np.zeros_like(unit)
        for j in self.dependent:
            z[:, j] = value_to_normal(self.priors[j], theta[:, j])
        u = np.linalg.solve(self.factor, z.T).T
        unit[:, self.dependent] = ndtr(u[:, self.dependent])
        return unit

    @cached_property
    def dependent(self) -> list[int]:
        """Columns that have a correlation with another."""
        if self.correlation is None:
            return []
        return [int(j) for j in np.flatnonzero((self.correlation != np.eye(len(self.priors))).any(axis=1))]

    def points(self, theta: Array) -> Array:
        """Independent standard normals (n, d) of parameters (n, d): the inverse of `values`."""
        refuse_tensors(self.priors, "the way back to standard normals")
        z = np.column_stack([value_to_normal(prior, theta[:, j]) for j, prior in enumerate(self.priors)])
        if self.correlation is None:
            return z
        return np.asarray(np.linalg.solve(self.factor, z.T).T)

    def log_copula(self, theta: Array) -> Array:
        """What dependence adds to the sum of the log densities of the priors: zero where there is none."""
        log = np.zeros(len(theta))
        if self.correlation is None:
            return log
        z = np.zeros((len(theta), len(self.priors)))
        for j in self.dependent:
            z[:, j] = value_to_normal(self.priors[j], theta[:, j])
        u = np.linalg.solve(self.factor, z.T).T
        log += 0.5 * np.einsum("ij,ij->i", z, z) - 0.5 * np.einsum("ij,ij->i", u, u)
        return np.asarray(log - float(np.log(np.diag(self.factor)).sum()))


def value_to_normal(prior: Prior, x: Array) -> Array:
    """Standard normals behind the values of one prior; those of normals and lognormals keep all their digits."""
    if isinstance(prior, Normal):
        return np.asarray((x - prior.fields["mean"]) / prior.fields["std"])
    if isinstance(prior, Lognormal):
        mu, sigma = prior.log_parameters()
        return np.asarray((np.log(np.maximum(x, 1e-300)) - mu) / sigma)
    return np.asarray(ndtri(np.clip(prior.cdf(x), SMALLEST, LARGEST)))
