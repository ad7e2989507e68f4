"""What is sampled: named parameters, their priors and a log-likelihood, seen from an unbounded space.

The density in the unbounded space is likelihood(x(z)) prior(x(z)) |dx/dz|: its integral is the evidence Z
(Gupta et al., 2023, Eq. C.12), whatever the transform. Everything takes n points at once: one call serves all chains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.transform import Transform
from percuss.study.joint import Joint
from percuss.study.priors.prior import Prior
from percuss.study.priors.tensor import refuse_tensors
from percuss.study.priors.uniform import Uniform

LogLikelihood = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Target:
    """A posterior up to its evidence. `log_likelihood` maps parameters (n, d), in SI, to (n,).

    A likelihood that is NaN or plus infinity counts as zero: the model failed there, and no chain may stay.
    `advance`, where given, is a compiled replacement of `adaptive_metropolis.advance` for this very density, and
    `glide` the trajectories that `hamiltonian_monte_carlo` takes along its gradient; `density` is that density alone,
    at unbounded points.
    """

    names: tuple[str, ...]
    priors: tuple[Prior, ...]
    log_likelihood: LogLikelihood = field(repr=False)
    advance: Callable[..., Any] | None = field(default=None, repr=False)
    glide: Callable[..., Any] | None = field(default=None, repr=False)
    density: Callable[[Floats], Floats] | None = field(default=None, repr=False)
    # A Markov move of unbounded points that leaves the posterior as it is, where random walks alone would be slow.
    move: Callable[[Floats, np.random.Generator], Floats] | None = field(default=None, repr=False)
    # Correlation of the normals behind the first parameters; None where all are independent.
    correlation: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.names:
            raise InputError("a posterior needs at least one parameter")
        refuse_tensors(self.priors, "a posterior")
        if len(self.names) != len(self.priors):
            raise InputError(f"{len(self.names)} parameters have {len(self.priors)} priors")
        if len(set(self.names)) != len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise InputError(f"parameter `{twice}` stands twice")

    @property
    def dimension(self) -> int:
        """Number of parameters."""
        return len(self.names)

    @cached_property
    def transform(self) -> Transform:
        """Between parameters and the unbounded space."""
        return Transform.of(self.priors)

    @cached_property
    def _sloped(self) -> tuple[list[tuple[int, Prior]], float]:
        """Priors whose density varies, and the constant log density of the uniform ones inside their bounds."""
        sloped = [(j, prior) for j, prior in enumerate(self.priors) if not isinstance(prior, Uniform)]
        flat = sum(float(p.logpdf(p.mean())) for p in self.priors if isinstance(p, Uniform))
        return sloped, flat

    def log_prior(self, x: Floats) -> Floats:
        """Log density of the prior at parameters (n, d), minus infinity outside the support."""
        log = np.asarray(sum(prior.logpdf(x[:, j]) for j, prior in enumerate(self.priors)))
        return log if self.correlation is None else log + self._log_copula(x)

    def log_parts(self, z: Floats) -> tuple[Floats, Floats]:
        """Log-likelihood and log prior density at unbounded points (n, d); the second with the Jacobian."""
        x = self.transform.values(z)
        return _possible(self.log_likelihood(x)), self._unbounded_log_prior(x, z)

    def log_density(self, z: Floats) -> Floats:
        """Log posterior density, up to the evidence, at unbounded points (n, d)."""
        likelihood, prior = self.log_parts(z)
        return likelihood + prior

    def quick_log_density(self, z: Floats) -> Floats:
        """The same, by the compiled density where there is one: equal but for rounding."""
        return self.density(z) if self.density else self.log_density(z)

    def _unbounded_log_prior(self, x: Floats, z: Floats) -> Floats:
        sloped, flat = self._sloped
        log = self.transform.log_jacobian(z) + flat
        for j, prior in sloped:
            log += prior.logpdf(x[:, j])
        if self.correlation is not None:
            log = log + self._log_copula(x)
        return _possible(log)

    @cached_property
    def joint(self) -> Joint:
        """The priors with their dependence; what belongs to the discrepancy is independent of all."""
        if self.correlation is None:
            return Joint(self.priors)
        whole = np.eye(self.dimension)
        size = len(self.correlation)
        whole[:size, :size] = self.correlation
        return Joint(self.priors, whole)

    def _log_copula(self, x: Floats) -> Floats:
        return self.joint.log_copula(x)

    def draw_prior(self, n: int, generator: np.random.Generator) -> Floats:
        """Draw n unbounded points from the prior."""
        u = generator.random((n, self.dimension))
        # Multiples of 2^-53: the centre of each cell, since a quantile of 0 may be infinite.
        return self.transform.unbounded(self.joint.from_unit(u + 2.0**-54))

    def start(self, n: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw n points of finite density from the prior, and that density: where chains begin."""
        z = np.empty((0, self.dimension))
        log_density = np.empty(0)
        for _ in range(100):
            drawn = self.draw_prior(n, generator)
            at = self.log_density(drawn)
            good = np.isfinite(at)
            z, log_density = np.concatenate([z, drawn[good]]), np.concatenate([log_density, at[good]])
            if len(z) >= n:
                return z[:n], log_density[:n]
        raise InputError(
            f"the likelihood is zero or undefined at all but {len(z)} of {100 * n} points drawn from the prior",
            hint="check that the forward model answers inside the priors, and that variances are above zero",
        )


def _possible(log: Floats) -> Floats:
    """Put minus infinity in place of NaN and of plus infinity; NaN compares false, as it should."""
    log = np.asarray(log, float)
    return np.where(log < np.inf, log, -np.inf)
