"""A log density learnt from its own evaluations, where it is high: what an expensive density can be proposed by.

A Gaussian process with a quadratic trend over the unbounded space (`percuss.surrogates.kernel_process`) is fitted to
evaluated points, those where the density is high. The trend is what makes few points go far: a posterior of many data
is nearly Gaussian. Where the outputs behind the density are known, they are learnt instead
(`percuss.inference.learnt_outputs`). Outside an ellipsoid about its points a polynomial means nothing: there the
density is that of a Student-t fitted to what was learnt, which is mixed in everywhere with a small weight, so that
ratios of the true density to this one stay bounded by those to the Student-t (defensive mixture: Hesterberg, 1995).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.mixture import Mixture
from percuss.surrogates.kernel_process import Hyperparameters, fit_process

# The ellipsoid reaches so many times as far as the farthest of the points it is drawn about.
REACH = 1.2
# Where the process is unsure it is taken to be lower, by so many of its standard deviations.
DOUBT = 1.0
# Weight of the Student-t.
DEFENSIVE = 0.005
# Inner steps from one draw to the next, for each dimension: a random walk forgets by e in some one and a half.
STEPS_A_DIMENSION = 8
# Points at which the constant of the learnt density is found.
CONSTANT_POINTS = 2000


class Density(Protocol):
    """A log density, up to a constant, at unbounded points (n, d)."""

    def log_density(self, z: Floats) -> Floats: ...


def trend_terms(dimension: int) -> int:
    """Terms of the quadratic trend."""
    return (dimension + 1) * (dimension + 2) // 2


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learnt: `near` gives the log density at points (n, d) whose first coordinates w, z = centre + factor w,
    have |w| < reach.
    """

    near: Callable[[Floats], Floats]
    centre: Floats
    factor: Floats
    reach: float
    # The Student-t and the log of what the learnt density integrates to; None before draws of it are known.
    tails: Mixture | None = None
    log_constant: float = 0.0
    _inverse: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_inverse", np.linalg.inv(self.factor))

    def log_density(self, z: Floats) -> Floats:
        """Log density at points (n, d), up to a constant: minus infinity outside, while there is no Student-t."""
        w = np.einsum("ij,nj->ni", self._inverse, z[:, : len(self.centre)] - self.centre)
        inside = np.einsum("ni,ni->n", w, w) < self.reach**2
        log = np.full(len(z), -np.inf)
        if inside.any():
            log[inside] = self.near(z[inside])
        if self.tails is None:
            return log
        tails = math.log(DEFENSIVE) + self.tails.log_density(z)
        return np.logaddexp(log - self.log_constant + math.log1p(-DEFENSIVE), tails)

    def with_tails(self, draws: Floats, generator: np.random.Generator) -> Learnt:
        """The same with a Student-t about draws of it (n, d), and its constant by importance sampling from that."""
        factor = spread_of(draws)
        tails = Mixture(np.ones(1), draws.mean(axis=0)[None], factor[None])
        z = tails.draw(CONSTANT_POINTS, generator)
        log_weights = self.log_density(z) - tails.log_density(z)
        top = float(np.max(log_weights))
        constant = top + math.log(float(np.mean(np.exp(log_weights - top))))
        return replace(self, tails=tails, log_constant=constant)


def quadratic(w: Floats) -> Floats:
    """The constant, linear and quadratic terms at points (n, d)."""
    rows, columns = np.triu_indices(w.shape[1])
    return np.concatenate([np.ones((len(w), 1)), w, w[:, rows] * w[:, columns]], axis=1)


def standardised(z: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Points (n, d) in coordinates of about unit covariance, with centre, factor and how far the farthest lies out."""
    centre = z.mean(axis=0)
    factor = spread_of(z)
    w = np.linalg.solve(factor, (z - centre).T).T
    return w, centre, factor, float(np.sqrt(np.max(np.sum(w * w, axis=1))))


def learn(z: Floats, f: Floats, start: Hyperparameters | None = None) -> tuple[Learnt, Hyperparameters]:
    """Fit evaluated points (n, d) with finite log densities (n,); `start` are hyperparameters of nearly the same."""
    w, centre, factor, farthest = standardised(z)
    process = fit_process(w, f, quadratic(w), start).process
    inverse, top = np.linalg.inv(factor), float(np.max(f))

    def near(at: Floats) -> Floats:
        there = np.einsum("ij,nj->ni", inverse, at - centre)
        basis = quadratic(there)
        std = np.sqrt(process.prediction_variance(there, basis))
        # Above everything that was seen the process only guesses.
        return np.minimum(process.mean(there, basis) - DOUBT * std, top + 3.0)

    return Learnt(near, centre, factor, REACH * farthest), process.hyper


def walk(
    learnt: Density, z: Floats, factor: Floats, steps: int, generator: np.random.Generator, heat: float = 1.0
) -> tuple[Floats, float]:
    """Random-walk Metropolis on what was learnt, from points (n, d), all chains side by side: where they end, and the
    share of steps that were taken. `heat`: of the density to the power 1 / heat.
    """
    at, log = z.copy(), learnt.log_density(z) / heat
    length = 2.38 / math.sqrt(z.shape[1])
    taken = 0
    for _ in range(steps):
        normal = generator.standard_normal(z.shape)
        tried = at + length * np.einsum("ij,nj->ni", factor, normal)
        log_tried = learnt.log_density(tried) / heat
        with np.errstate(invalid="ignore"):
            take = np.log(generator.random(len(z))) < log_tried - log
        at[take], log[take] = tried[take], log_tried[take]
        taken += int(np.count_nonzero(take))
    return at, taken / max(steps * len(z), 1)


def spread_of(z: Floats) -> Floats:
    """Cholesky factor of the covariance of points (n, d)."""
    return np.asarray(np.linalg.cholesky(_covariance(z)))


def _covariance(z: Floats) -> Floats:
    """Covariance of points, never singular."""
    away = z - z.mean(axis=0)
    covariance = np.einsum("ni,nj->ij", away, away) / max(len(z) - 1, 1)
    floor = 1e-8 * max(float(np.trace(covariance)) / z.shape[1], 1e-20)
    return np.asarray(covariance + floor * np.eye(z.shape[1]))
