"""What a discrepancy is: the distribution of the residuals of one data group.

Each kind has its own `std`, known or to be inferred; to its square comes, entry by entry, the variance the group knows
besides: of the measurement, and of a surrogate where its error is taken for one of each datum. Shapes: n points in
parameter space, m entries in the group; `variance` is (m,) or (n, m), `unknowns` maps names to columns (n,).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.settings import Setting, clean_setting
from percuss.study.priors.inferred import INFERRED
from percuss.study.priors.prior import Prior

Unknowns = Mapping[str, Floats]
# Where the measurement, or the surrogate, has an error of its own none need be said here.
STD = Setting(
    "std", "number", 0.0, low=0, unit_of="output", of=INFERRED, doc="standard deviation, in the unit of the output"
)


LOG_2PI = float(np.log(2 * np.pi))


class Pointwise(NamedTuple):
    """At n points, of m data, each given all others: log density and probability below what was measured, (n, m) each.

    The second is the probability integral transform (Dawid, 1984). Weighted by the posterior without the datum it is
    its leave-one-out transform, uniform if the model is right (Gelfand, Dey and Chang, 1992).
    """

    log_density: Floats
    below: Floats


@dataclass(frozen=True)
class Unknown:
    """A number of the discrepancy that is inferred with the parameters. Groups that name the same one share it."""

    name: str
    prior: Prior


@dataclass(frozen=True, eq=False)
class Discrepancy(ABC):
    """A distribution of residuals. `std`: one for all entries, one for each (m,), or inferred.

    Residuals that are not `independent` are correlated along the axis of one time history; those that are `systematic`
    are an error of the model, which the next measurement has as well. `settings` are the fields that a study may say;
    all others are filled in by the data.
    """

    independent: ClassVar[bool] = True
    systematic: ClassVar[bool] = False
    settings: ClassVar[Mapping[str, Setting]] = {}

    std: float | Floats | Unknown

    def __post_init__(self) -> None:
        for name, setting in self.settings.items():
            hold(setting, getattr(self, name))

    def unknowns(self) -> list[Unknown]:
        """List what is inferred, in the order of the fields."""
        values = (getattr(self, item.name) for item in fields(self))
        return [value for value in values if isinstance(value, Unknown)]

    def total(self, variance: Floats, unknowns: Unknowns) -> Floats:
        """Variance of each entry, (m,) or (n, m): its own and the given one."""
        own = at(self.std, unknowns)
        return np.asarray(own * own + variance)

    def log_density(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Floats:
        """Log density of all residuals of a group together: (n,)."""
        return np.asarray(self.log_pointwise(residual, variance, unknowns).sum(axis=1))

    @abstractmethod
    def log_pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Floats:
        """Log density of each residual given all others of the group: (n, m)."""

    @abstractmethod
    def pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Pointwise:
        """The same, and the probability of less than each residual."""

    @abstractmethod
    def draw(self, n: int, variance: Floats, unknowns: Unknowns, generator: np.random.Generator) -> Floats:
        """Draw residuals of n repetitions of the group: (n, m)."""


@dataclass(frozen=True, eq=False)
class NormalResiduals(Discrepancy):
    """Gaussian residuals: an error common to several of them can be integrated out."""

    @abstractmethod
    def precision(self, variance: Floats, unknowns: Unknowns) -> Floats:
        """Inverse of the covariance, (m, m) or (n, m, m); of independent residuals its diagonal, (m,) or (n, m)."""

    def whiten(self, vectors: Floats, variance: Floats, unknowns: Unknowns) -> tuple[Floats, Floats]:
        """Vectors (p or 1, c, m) made white, (p, c, m), and the log determinant (p,) of the covariance: p is n where
        that varies from point to point, else 1.
        """
        precision = self.precision(variance, unknowns)
        if self.independent:
            own = np.atleast_2d(precision)
            return np.asarray(vectors * np.sqrt(own)[:, None]), -np.log(own).sum(axis=1)
        own = precision.reshape(-1, *precision.shape[-2:])
        factor = np.linalg.cholesky(own)
        log_det = -2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        return np.asarray(vectors @ factor), log_det

    def solve(self, vectors: Floats, variance: Floats, unknowns: Unknowns) -> tuple[Floats, Floats]:
        """The inverse covariance times vectors (p or 1, c, m), (p, c, m), and its diagonal (p, m)."""
        precision = self.precision(variance, unknowns)
        if self.independent:
            own = np.atleast_2d(precision)
            return np.asarray(vectors * own[:, None]), own
        own = precision.reshape(-1, *precision.shape[-2:])
        return np.asarray(vectors @ own), np.diagonal(own, axis1=1, axis2=2)


def at(value: float | Floats | Unknown, unknowns: Unknowns) -> Any:
    """Return a known value as it is, an unknown one as a column (n, 1)."""
    return unknowns[value.name][:, None] if isinstance(value, Unknown) else value


def hold(setting: Setting, value: float | Floats | str | Unknown) -> None:
    """Refuse a field that its setting does not allow: numbers (in SI), each of several, or a prior that goes below."""
    if isinstance(value, Unknown):
        low = value.prior.support()[0]
        if low < setting.low:
            raise InputError(
                f"`{value.name}` cannot be below {setting.low:g}, but its {value.prior.kind} prior reaches down to "
                f"{low!r}",
                hint="take a prior on positive values: uniform, log-uniform, lognormal, gamma",
            )
        return
    plain = replace(setting, form="bare") if setting.form == "number" else setting
    for one in np.unique(value).tolist() if setting.numeric else [value]:
        try:
            clean_setting(plain, one)
        except InputError as fault:
            raise InputError(f"{setting.name} = {fault}: it takes {setting.allowed()}") from None


def normal(pull: Floats, precision: Floats) -> Pointwise:
    """Residuals that have, given all others, variance 1 / precision and error pull / precision."""
    from scipy.special import ndtr

    log_density = np.asarray(0.5 * (np.log(precision) - LOG_2PI - pull * pull / precision))
    return Pointwise(log_density, np.asarray(ndtr(pull / np.sqrt(precision))))


def mixed(log_components: Floats, each: list[Pointwise]) -> Pointwise:
    """Data of a mixture: log densities of all data with each component (n, k), and each datum with each of the k."""
    without = log_components[:, None, :] - np.stack([one.log_density for one in each], axis=2)
    total = log_sum(without)
    below = np.stack([one.below for one in each], axis=2)
    return Pointwise(
        log_sum(log_components)[:, None] - total, np.sum(np.exp(without - total[:, :, None]) * below, axis=2)
    )


def log_sum(logs: Floats) -> Floats:
    """log(sum(exp)) over the last axis."""
    top = np.max(logs, axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.sum(np.exp(logs - top), axis=-1)))
