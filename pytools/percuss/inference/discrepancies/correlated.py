"""Gaussian discrepancy whose errors are correlated along an axis, most often time.

Sigma_ij = std_i std_j k(|t_i - t_j| / length) + (given variance)_i delta_ij, with k a Matern function (exponential:
smoothness 1/2). The exponential one is an Ornstein-Uhlenbeck process: its density costs a time linear in the entries,
on any clock. Of the others Sigma is laid out, and factorised once where nothing in it is inferred or varies with the
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from percuss._core import ornstein_uhlenbeck_solve, ornstein_uhlenbeck_whiten
from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import (
    LOG_2PI,
    STD,
    NormalResiduals,
    Pointwise,
    Unknown,
    Unknowns,
    at,
    normal,
)
from percuss.settings import Setting, table_of
from percuss.study.priors.inferred import INFERRED

EXPONENTIAL = "exponential"
ROOT_3, ROOT_5 = 3**0.5, 5**0.5
KERNELS: dict[str, Callable[[Floats], Floats]] = {
    EXPONENTIAL: lambda h: np.exp(-h),
    "matern-3/2": lambda h: (1 + ROOT_3 * h) * np.exp(-ROOT_3 * h),
    "matern-5/2": lambda h: (1 + ROOT_5 * h + 5 / 3 * h * h) * np.exp(-ROOT_5 * h),
}

NOT_DEFINITE = "the covariance of a correlated discrepancy is not positive definite"
NOT_DEFINITE_HINT = "two entries at the same place need a measurement error; a shorter length helps too"


@dataclass(frozen=True, eq=False)
class Correlated(NormalResiduals):
    """Normal residuals at `places` (m,) along the axis; `length` is in the unit of the places."""

    independent: ClassVar[bool] = False
    settings: ClassVar[Mapping[str, Setting]] = table_of(
        replace(STD, default=None, required=True, low_open=True),
        Setting(
            "length",
            "number",
            required=True,
            low=0,
            low_open=True,
            unit_of="axis",
            of=INFERRED,
            doc="how far along the axis errors are alike",
        ),
        Setting("kernel", "text", EXPONENTIAL, choices=tuple(KERNELS), doc="how correlation falls with distance"),
    )

    places: Floats
    length: float | Unknown
    kernel: str = EXPONENTIAL

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.places).all():
            raise InputError("places of a correlated discrepancy must be finite")

    @property
    def in_linear_time(self) -> bool:
        """Whether Sigma is never laid out."""
        return self.kernel == EXPONENTIAL

    def log_density(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Floats:
        if self.in_linear_time:
            white, log_det = self.whiten(self._vectors(residual, variance), variance, unknowns)
            square = (white * white).sum(axis=2).ravel()
            return np.asarray(-0.5 * (square + log_det + residual.shape[1] * LOG_2PI))
        whitening = self._whitening(variance, unknowns)
        white = np.einsum("...ij,...j->...i", whitening, residual)
        log_det = np.log(np.diagonal(whitening, axis1=-2, axis2=-1)).sum(axis=-1)
        return np.asarray(log_det - 0.5 * ((white * white).sum(axis=1) + residual.shape[1] * LOG_2PI))

    def log_pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Floats:
        return self.pointwise(residual, variance, unknowns).log_density

    def pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Pointwise:
        """Each given the others: variance 1 / Q_ii, error (Q r)_i / Q_ii with Q the inverse of Sigma."""
        if self.in_linear_time:
            pull, diagonal = self.solve(self._vectors(residual, variance), variance, unknowns)
            return normal(pull.reshape(residual.shape), diagonal)
        precision = self.precision(variance, unknowns)
        diagonal = np.diagonal(precision, axis1=-2, axis2=-1)
        return normal(np.einsum("...ij,...j->...i", precision, residual), diagonal)

    def precision(self, variance: Floats, unknowns: Unknowns) -> Floats:
        whitening = self._whitening(variance, unknowns)
        return np.asarray(np.einsum("...ki,...kj->...ij", whitening, whitening))

    def whiten(self, vectors: Floats, variance: Floats, unknowns: Unknowns) -> tuple[Floats, Floats]:
        if not self.in_linear_time:
            return super().whiten(vectors, variance, unknowns)
        white, log_det = ornstein_uhlenbeck_whiten(*self._process(vectors, variance, unknowns))
        if len(log_det) == 1 and not np.isfinite(log_det[0]):
            raise InputError(NOT_DEFINITE, hint=NOT_DEFINITE_HINT)
        return white, log_det + 2 * np.log(self._sizes).sum()

    def solve(self, vectors: Floats, variance: Floats, unknowns: Unknowns) -> tuple[Floats, Floats]:
        if not self.in_linear_time:
            return super().solve(vectors, variance, unknowns)
        solved, diagonal = ornstein_uhlenbeck_solve(*self._process(vectors, variance, unknowns))
        back = np.argsort(self._order)
        return solved[..., back] / self._sizes, diagonal[..., back] / self._sizes**2

    def draw(self, n: int, variance: Floats, unknowns: Unknowns, generator: np.random.Generator) -> Floats:
        if self.in_linear_time:
            return self._draw_along(n, variance, unknowns, generator)
        normal = generator.standard_normal((n, len(self.places)))
        factor = np.linalg.inv(self._whitening(variance, unknowns))
        return np.asarray(np.einsum("...ij,...j->...i", factor, normal))

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """The entries by their places, which need not rise."""
        return np.argsort(self.places, kind="stable")

    def _vectors(self, residual: Floats, variance: Floats) -> Floats:
        """Residuals (n, m) as one vector of each of n processes, or as n vectors of one."""
        return residual[:, None] if self.unknowns() or variance.ndim == 2 else residual[None]

    def _process(
        self, vectors: Floats, variance: Floats, unknowns: Unknowns
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Places, std, length, variance and vectors as the core takes them: entries in the order of their places, and
        over their own std where each has another.
        """
        order = self._order
        std = 1.0 if np.ndim(self._sizes) else at(self.std, unknowns)
        length = at(self.length, unknowns)
        count = max(np.size(std), np.size(length), len(variance) if variance.ndim == 2 else 1)
        return (
            np.ascontiguousarray(self.places[order], float),
            np.ascontiguousarray(np.broadcast_to(np.ravel(std), count), float),
            np.ascontiguousarray(np.broadcast_to(np.ravel(length), count), float),
            np.ascontiguousarray(np.atleast_2d(variance / np.square(self._sizes))[:, order]),
            np.ascontiguousarray(vectors if self._plain else (vectors / self._sizes)[..., order]),
        )

    @cached_property
    def _plain(self) -> bool:
        """Whether entries rise along the axis and have one std: vectors can be taken as they are."""
        return np.ndim(self._sizes) == 0 and bool((np.diff(self._order) == 1).all())

    @cached_property
    def _sizes(self) -> Floats:
        """The std of each entry where they differ, else 1."""
        several = not isinstance(self.std, Unknown) and np.ndim(self.std) == 1
        return np.asarray(self.std if several else 1.0, float)

    def _draw_along(self, n: int, variance: Floats, unknowns: Unknowns, generator: np.random.Generator) -> Floats:
        """Entry after entry: each keeps exp(-apart / length) of the one before it."""
        places, order = self.places[self._order], self._order
        std = np.broadcast_to(at(self.std, unknowns), (n, len(places)))
        length = np.broadcast_to(np.ravel(at(self.length, unknowns)), n)
        normal = generator.standard_normal((n, len(places)))
        apart = np.diff(places)[None] / length[:, None]
        kept, new = np.exp(-apart), np.sqrt(-np.expm1(-2 * apart))
        drawn = np.empty((n, len(places)))
        state = normal[:, 0]
        drawn[:, order[0]] = state
        for i in range(1, len(places)):
            state = kept[:, i - 1] * state + new[:, i - 1] * normal[:, i]
            drawn[:, order[i]] = state
        return np.asarray(std * drawn + np.sqrt(variance) * generator.standard_normal(drawn.shape))

    def covariance(self, variance: Floats, unknowns: Unknowns) -> Floats:
        """Sigma: (m, m), or (n, m, m) where it depends on inferred numbers or on the point."""
        length = at(self.length, unknowns)
        apart = np.abs(self.places[:, None] - self.places[None, :])
        correlation = KERNELS[self.kernel](apart / (length[..., None] if np.ndim(length) else length))
        std = at(self.std, unknowns) + np.zeros(len(self.places))
        scaled = std[..., :, None] * correlation * std[..., None, :]
        noise = np.zeros((*variance.shape, variance.shape[-1]))
        np.einsum("...ii->...i", noise)[...] = variance
        return np.asarray(scaled + noise)

    def _whitening(self, variance: Floats, unknowns: Unknowns) -> Floats:
        """Inverse of the lower Cholesky factor of Sigma; NaN where Sigma is not positive definite."""
        if not self.unknowns() and variance.ndim == 1:
            return _fixed_whitening(self, variance.tobytes())
        sigma = self.covariance(variance, unknowns)
        try:
            return np.linalg.inv(np.linalg.cholesky(sigma))
        except np.linalg.LinAlgError:
            return np.stack([_inverse_factor(one) for one in sigma])


@lru_cache(maxsize=64)
def _fixed_whitening(discrepancy: Correlated, variance: bytes) -> Floats:
    whitening = _inverse_factor(discrepancy.covariance(np.frombuffer(variance), {}))
    if not np.isfinite(whitening).all():
        raise InputError(NOT_DEFINITE, hint=NOT_DEFINITE_HINT)
    return whitening


def _inverse_factor(sigma: Floats) -> Floats:
    try:
        return np.linalg.inv(np.linalg.cholesky(sigma))
    except np.linalg.LinAlgError:
        return np.full_like(sigma, np.nan)
