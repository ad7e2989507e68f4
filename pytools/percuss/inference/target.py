"""What is sampled: named parameters, their priors and a log-likelihood, seen from an unbounded space.

The density in the unbounded space is likelihood(x(z)) prior(x(z)) |dx/dz|: its integral is the evidence Z
(Gupta et al., 2023, Eq. C.12), whatever the transform. Everything takes n points at once: one call serves all chains.

From bounded parameters to an unbounded space, and back, with the exact Jacobian.

By the support of the prior alone, column by column:

    all of R        x = low + scale z
    (low, inf)      x = low + scale exp(z)
    (-inf, high)    x = high - scale exp(-z)
    (low, high)     x = low + (high - low) / (1 + exp(-z))

and not through the prior's quantiles: those stall eight standard deviations out (the probability rounds to 1), while
data that contradict a prior may well put the posterior there. All four increase, so that ranks, and with
them rank diagnostics, are the same on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.study.joint import Joint
from percuss.study.priors.prior import Prior
from percuss.study.priors.tensor import refuse_tensors
from percuss.study.priors.uniform import Uniform

AFFINE, ABOVE, BELOW, BETWEEN = 0, 1, 2, 3
# exp(-z) and the distance from a bound stay normal numbers; no prior holds probability farther out.
FARTHEST = 690.0


@dataclass(frozen=True, eq=False)
class Transform:
    """Plain arrays, one entry a parameter: which of the four, `origin` (the finite bound, or the centre), `scale`."""

    kind: NDArray[np.int64]
    origin: Floats
    scale: Floats

    @classmethod
    def of(cls, priors: Sequence[Prior]) -> Transform:
        """Choose by the support of each prior; centre and scale by its quantiles, so that z is of order one."""
        kinds, origins, scales = [], [], []
        for prior in priors:
            low, high = prior.support()
            first, middle, third = (float(q) for q in prior.ppf([0.25, 0.5, 0.75]))
            if np.isinf(low) and np.isinf(high):
                kind, origin, scale = AFFINE, middle, (third - first) / 1.349  # a standard deviation, if normal
            elif np.isinf(high):
                kind, origin, scale = ABOVE, low, middle - low
            elif np.isinf(low):
                kind, origin, scale = BELOW, high, high - middle
            else:
                kind, origin, scale = BETWEEN, low, high - low
            kinds.append(kind)
            origins.append(origin)
            scales.append(scale)
        return cls(np.array(kinds, np.int64), np.array(origins), np.array(scales))

    def values(self, z: Floats) -> Floats:
        """Parameters at unbounded points (n, d)."""
        from scipy.special import expit

        x = np.empty_like(z)
        for kind, columns in self._columns:
            at, origin, scale = z[:, columns], self.origin[columns], self.scale[columns]
            if kind == AFFINE:
                x[:, columns] = origin + scale * at
            elif kind == ABOVE:
                x[:, columns] = origin + scale * np.exp(np.clip(at, -FARTHEST, FARTHEST))
            elif kind == BELOW:
                x[:, columns] = origin - scale * np.exp(np.clip(-at, -FARTHEST, FARTHEST))
            else:
                # Never beyond the high bound by rounding.
                x[:, columns] = np.minimum(origin + scale * expit(at), origin + scale)
        return x

    def stated(self, z: Floats) -> Floats:
        """Parameters at unbounded points (..., d), but logarithms of those with one bound, whose tails may be so heavy
        that a standard deviation says nothing.
        """
        x = self.values(z.reshape(-1, z.shape[-1])).reshape(z.shape)
        one_bound = (self.kind == ABOVE) | (self.kind == BELOW)
        return np.where(one_bound, z, x) if one_bound.any() else x

    def unbounded(self, x: Floats) -> Floats:
        """Unbounded points of parameters (n, d); values on a bound go as far out as the numbers do."""
        z = np.empty_like(x)
        with np.errstate(divide="ignore"):
            for kind, columns in self._columns:
                at = (x[:, columns] - self.origin[columns]) / self.scale[columns]
                if kind == AFFINE:
                    z[:, columns] = at
                elif kind == ABOVE:
                    z[:, columns] = np.log(np.maximum(at, 0.0))
                elif kind == BELOW:
                    z[:, columns] = -np.log(np.maximum(-at, 0.0))
                else:
                    inside = np.clip(at, 0.0, 1.0)
                    # Half a spacing of numbers below 1 stands for the bound itself.
                    z[:, columns] = np.log(inside) - np.log(np.maximum(1.0 - inside, 2.0**-54))
        return np.clip(z, -FARTHEST, FARTHEST)

    def log_jacobian(self, z: Floats) -> Floats:
        """log |dx/dz| at unbounded points (n, d), summed over the parameters: (n,)."""
        total = np.full(len(z), float(np.sum(np.log(self.scale))))
        for kind, columns in self._columns:
            at = z[:, columns]
            if kind == ABOVE:
                total += at.sum(axis=1)
            elif kind == BELOW:
                total -= at.sum(axis=1)
            elif kind == BETWEEN:
                size = np.abs(at)
                total -= (size + 2.0 * np.log1p(np.exp(-size))).sum(axis=1)
        return total

    @cached_property
    def _columns(self) -> list[tuple[int, slice]]:
        """Neighbours of one kind, as slices: no copies."""
        ends = [*(np.flatnonzero(np.diff(self.kind)) + 1), len(self.kind)]
        return [(int(self.kind[i]), slice(i, j)) for i, j in zip([0, *ends[:-1]], ends, strict=True)]


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
