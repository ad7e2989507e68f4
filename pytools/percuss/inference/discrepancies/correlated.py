"""Gaussian discrepancy whose errors are correlated along an axis, most often time.

Sigma_ij = std_i std_j k(|t_i - t_j| / length) + (given variance)_i delta_ij, with k a Matern function (exponential:
smoothness 1/2). Where nothing in Sigma is inferred or varies with the parameters it is factorised once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import NormalResiduals, Unknown, Unknowns, at, check
from percuss.inference.discrepancies.gaussian import LOG_2PI
from percuss.spelling import did_you_mean

ROOT_3, ROOT_5 = 3**0.5, 5**0.5
KERNELS: dict[str, Callable[[Floats], Floats]] = {
    "exponential": lambda h: np.exp(-h),
    "matern-3/2": lambda h: (1 + ROOT_3 * h) * np.exp(-ROOT_3 * h),
    "matern-5/2": lambda h: (1 + ROOT_5 * h + 5 / 3 * h * h) * np.exp(-ROOT_5 * h),
}


@dataclass(frozen=True, eq=False)
class Correlated(NormalResiduals):
    """Normal residuals at `places` (m,) along the axis; `length` is in the unit of the places."""

    independent: ClassVar[bool] = False
    of_data: ClassVar[frozenset[str]] = frozenset({"places"})

    places: Floats
    length: float | Unknown
    kernel: str = "exponential"

    def __post_init__(self) -> None:
        check("std", self.std)
        check("length", self.length)
        if self.kernel not in KERNELS:
            raise InputError(f"unknown kernel `{self.kernel}`: {did_you_mean(self.kernel, KERNELS)}")
        if not np.isfinite(self.places).all():
            raise InputError("places of a correlated discrepancy must be finite")

    def log_density(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Floats:
        whitening = self._whitening(variance, unknowns)
        white = np.einsum("...ij,...j->...i", whitening, residual)
        log_det = np.log(np.diagonal(whitening, axis1=-2, axis2=-1)).sum(axis=-1)
        return np.asarray(log_det - 0.5 * ((white * white).sum(axis=1) + residual.shape[1] * LOG_2PI))

    def log_pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Floats:
        """Each given the others: variance 1 / Q_ii, error (Q r)_i / Q_ii with Q the inverse of Sigma."""
        precision = self.precision(variance, unknowns)
        diagonal = np.diagonal(precision, axis1=-2, axis2=-1)
        pull = np.einsum("...ij,...j->...i", precision, residual)
        return np.asarray(0.5 * (np.log(diagonal) - LOG_2PI - pull * pull / diagonal))

    def precision(self, variance: Floats, unknowns: Unknowns) -> Floats:
        whitening = self._whitening(variance, unknowns)
        return np.asarray(np.einsum("...ki,...kj->...ij", whitening, whitening))

    def draw(self, n: int, variance: Floats, unknowns: Unknowns, generator: np.random.Generator) -> Floats:
        normal = generator.standard_normal((n, len(self.places)))
        factor = np.linalg.inv(self._whitening(variance, unknowns))
        return np.asarray(np.einsum("...ij,...j->...i", factor, normal))

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
        raise InputError(
            "the covariance of a correlated discrepancy is not positive definite",
            hint="two entries at the same place need a measurement error; a shorter length helps too",
        )
    return whitening


def _inverse_factor(sigma: Floats) -> Floats:
    try:
        return np.linalg.inv(np.linalg.cholesky(sigma))
    except np.linalg.LinAlgError:
        return np.full_like(sigma, np.nan)
