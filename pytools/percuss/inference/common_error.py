"""Errors of a forward model that all data of an output share, integrated out of a Gaussian likelihood.

Data y = f + A s + e: A says of which output a datum is, s ~ sum_k share_k N(0, scale_k S), S = diag(std) R diag(std),
is the error of the forward model, e ~ N(0, D) measurement and discrepancy. With P = A' D^-1 A, and m the residual of
each output by its data, P^-1 A' D^-1 (y - f),

    log p(y) = log N(y - f - A m; 0, D) + 1/2 log det(2 pi P^-1) + log sum_k share_k N(m; 0, scale_k S + P^-1)

since m is all that the data know of s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import (
    LOG_2PI,
    NormalResiduals,
    Pointwise,
    Unknowns,
    log_sum,
    mixed,
    normal,
)


@dataclass(frozen=True, eq=False)
class CommonError:
    """How errors of the outputs of a forward model go together: `correlation` (outputs, outputs), a mixture of scales,
    and names of the outputs, which unknowns are called by.
    """

    correlation: Floats
    scales: Floats
    shares: Floats
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        size = len(self.names)
        if self.correlation.shape != (size, size) or self.scales.shape != self.shares.shape:
            raise InputError(f"a common error of {size} outputs has a correlation of {self.correlation.shape}")

    @classmethod
    def independent(cls, names: Sequence[str]) -> CommonError:
        """Gaussian errors that have nothing to do with each other."""
        return cls(np.eye(len(names)), np.ones(1), np.ones(1), tuple(names))

    @cached_property
    def log_shares(self) -> Floats:
        """Logarithms of the shares."""
        return np.log(self.shares)

    def log_tails(self, normal: Floats) -> Floats:
        """Log density of standard numbers (n, u) under the mixture, over that under N(0, I)."""
        square = np.sum(normal * normal, axis=1)[:, None]
        return log_sum(self._log_scaled(square, normal.shape[1]) + 0.5 * square)

    def draw(self, n: int, std: Floats, generator: np.random.Generator) -> Floats:
        """Errors (n, outputs) of n points, as they are before any data."""
        scale = self.scales[generator.choice(len(self.scales), n, p=self.shares)]
        return self._spread(np.sqrt(scale)[:, None] * generator.standard_normal((n, len(self.names))), std)

    def before(self, columns: NDArray[np.int64], std: Floats) -> tuple[Floats, Floats]:
        """Before any data: shares (n or 1, scales) and covariances (n or nothing, scales, k, k) of the errors of some
        columns.
        """
        own = std[..., columns]
        covariance = own[..., :, None] * self.correlation[np.ix_(columns, columns)] * own[..., None, :]
        scales = self.scales[:, None, None]
        return self.log_shares[None], np.asarray(scales * covariance[..., None, :, :])

    def spread_used(self, normal: Floats, used: NDArray[np.int64], std: Floats) -> Floats:
        """Errors (n, u) of the outputs `used` from standard numbers (n, u)."""
        factor = np.linalg.cholesky(self.correlation[np.ix_(used, used)])
        return np.asarray(normal @ factor.T * std[..., used])

    def draw_others(
        self, normal: Floats, used: NDArray[np.int64], std: Floats, generator: np.random.Generator
    ) -> Floats:
        """Errors of all outputs (n, outputs), where the standard numbers (n, u) of those `used` are known."""
        order = np.concatenate([used, np.setdiff1d(np.arange(len(self.names)), used)])
        square = np.sum(normal * normal, axis=1)[:, None]
        scale = self.scales[choose(self._log_scaled(square, len(used)), generator)]
        rest = np.sqrt(scale)[:, None] * generator.standard_normal((len(normal), len(order) - len(used)))
        factor = np.linalg.cholesky(self.correlation[np.ix_(order, order)])
        drawn = np.empty((len(normal), len(order)))
        drawn[:, order] = np.concatenate([normal, rest], axis=1) @ factor.T
        return drawn * std

    def _log_scaled(self, square: Floats, size: int) -> Floats:
        return np.asarray(self.log_shares - 0.5 * (size * np.log(self.scales) + square / self.scales))

    def _spread(self, normal: Floats, std: Floats) -> Floats:
        return np.asarray(normal @ np.linalg.cholesky(self.correlation).T * std)


class Share(NamedTuple):
    """A data group at n points: residuals (n, m), the outputs they belong to, variance known of each besides."""

    discrepancy: NormalResiduals
    residual: Floats
    outputs: NDArray[np.int64]
    variance: Floats
    unknowns: Unknowns


@dataclass(frozen=True, eq=False)
class Joint:
    """All data of one forward model at n points. `std` (outputs,) or (n, outputs) is that of its own error."""

    error: CommonError
    std: Floats
    shares: tuple[Share, ...]

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """Outputs that have data."""
        return np.unique(np.concatenate([share.outputs for share in self.shares]))

    @cached_property
    def _maps(self) -> list[Floats]:
        return [(share.outputs[:, None] == self.used).astype(float) for share in self.shares]

    @cached_property
    def _precisions(self) -> list[Floats]:
        return [share.discrepancy.precision(share.variance, share.unknowns) for share in self.shares]

    @cached_property
    def _information(self) -> Floats:
        """P: (u, u) or (n, u, u)."""
        information = np.zeros((len(self.used), len(self.used)))
        for share, own, belongs in zip(self.shares, self._precisions, self._maps, strict=True):
            if share.discrepancy.independent:
                information = information + diagonal(own @ belongs)
            else:
                information = information + belongs.T @ own @ belongs
        return information

    @cached_property
    def _pull(self) -> Floats:
        """A' D^-1 (y - f): (n, u)."""
        pull: Floats = np.zeros((len(self.shares[0].residual), len(self.used)))
        for share, own, belongs in zip(self.shares, self._precisions, self._maps, strict=True):
            pull = pull + _times(share, own, share.residual) @ belongs
        return pull

    @cached_property
    def _known(self) -> Floats:
        """P^-1."""
        return np.asarray(np.linalg.inv(self._information), float)

    @cached_property
    def residual(self) -> Floats:
        """m, the residual of each output by its data: (n, u)."""
        return np.asarray((self._known @ self._pull[:, :, None])[:, :, 0])

    @cached_property
    def covariances(self) -> list[Floats]:
        """scale S + P^-1, those of the residual of the outputs that have data, for each scale."""
        std = self.std[..., self.used]
        covariance = std[..., :, None] * self.error.correlation[np.ix_(self.used, self.used)] * std[..., None, :]
        return [scale * covariance + self._known for scale in self.error.scales]

    @cached_property
    def _factors(self) -> list[Floats]:
        """Lower factors of these."""
        return [_factor(covariance) for covariance in self.covariances]

    @cached_property
    def log_components(self) -> Floats:
        """Log density of all data with each scale, its share included: (n, scales)."""
        rest = 0.5 * (len(self.used) * LOG_2PI - np.linalg.slogdet(self._information)[1])
        for share, own, belongs in zip(self.shares, self._precisions, self._maps, strict=True):
            left = share.residual - self.residual @ belongs.T
            size = np.log(own).sum(axis=-1) if share.discrepancy.independent else np.linalg.slogdet(own)[1]
            rest = rest + 0.5 * (size - left.shape[1] * LOG_2PI - np.sum(left * _times(share, own, left), axis=1))
        components = []
        for log_share, factor in zip(self.error.log_shares, self._factors, strict=True):
            white = _solve(factor, self.residual)
            size = 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1) + len(self.used) * LOG_2PI
            components.append(rest + log_share - 0.5 * (size + np.sum(white * white, axis=1)))
        return np.stack(components, axis=1)

    def log_density(self) -> Floats:
        """Log density of all data together: (n,)."""
        return log_sum(self.log_components)

    def pointwise(self) -> list[Pointwise]:
        """Each datum given all others, group by group.

        Of a Gaussian with precision Q a residual r_i has, given the others, variance 1 / Q_ii and error (Q r)_i / Q_ii.
        """
        conditional = []
        for factor in self._factors:
            # G = P^-1 - P^-1 C^-1 P^-1, so that Q = D^-1 - D^-1 A G A' D^-1.
            white = np.linalg.solve(factor, np.broadcast_to(self._known, factor.shape))
            gain = self._known - np.swapaxes(white, -1, -2) @ white
            pulled = (gain @ self._pull[:, :, None])[:, :, 0]
            conditional.append([self._conditional(i, gain, pulled) for i in range(len(self.shares))])
        return [mixed(self.log_components, list(each)) for each in zip(*conditional, strict=True)]

    def _conditional(self, number: int, gain: Floats, pulled: Floats) -> Pointwise:
        share, own, belongs = self.shares[number], self._precisions[number], self._maps[number]
        if share.discrepancy.independent:
            diagonal = own - own * own * (np.diagonal(gain, axis1=-2, axis2=-1) @ belongs.T)
        else:
            across = own @ belongs
            diagonal = np.diagonal(own, axis1=-2, axis2=-1) - np.sum(across @ gain * across, axis=-1)
        # (Q r)_i, r less what the common error explains of it.
        return normal(_times(share, own, share.residual - pulled @ belongs.T), diagonal)

    def draw(self, generator: np.random.Generator) -> Floats:
        """Errors of all outputs (n, outputs) given the data: a draw from before, moved by what the data say."""
        n, m = len(self.residual), len(self.error.names)
        chosen = choose(self.log_components, generator)
        scale = self.error.scales[chosen]
        std = np.sqrt(scale)[:, None] * self.std
        before = generator.standard_normal((n, m)) @ np.linalg.cholesky(self.error.correlation).T * std
        noise = np.linalg.cholesky(self._known) @ generator.standard_normal((n, len(self.used), 1))
        surprise = self.residual - before[:, self.used] - noise[:, :, 0]
        pull = np.empty_like(surprise)
        for k, factor in enumerate(self._factors):
            rows = np.flatnonzero(chosen == k)
            some = factor if factor.ndim == 2 else factor[rows]
            pull[rows] = _solve(np.swapaxes(some, -1, -2), _solve(some, surprise[rows]))
        return np.asarray(before + (pull * std[:, self.used]) @ self.error.correlation[self.used] * std)

    def after_data(self, columns: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
        """Errors of some columns given the data: log shares (n, scales), means (n, scales, k) and covariances
        (scales, k, k), or (n, scales, k, k).
        """
        std = self.std[..., columns]
        across = std[..., :, None] * self.error.correlation[np.ix_(columns, self.used)] * self.std[..., None, self.used]
        _, before = self.error.before(columns, self.std)
        means, covariances = [], []
        for k, (scale, factor) in enumerate(zip(self.error.scales, self._factors, strict=True)):
            white = np.linalg.solve(factor, scale * np.swapaxes(across, -1, -2))
            means.append(
                np.einsum("uk,nu->nk" if white.ndim == 2 else "nuk,nu->nk", white, _solve(factor, self.residual))
            )
            covariances.append(before[..., k, :, :] - np.swapaxes(white, -1, -2) @ white)
        shares = self.log_components - log_sum(self.log_components)[:, None]
        return shares, np.stack(means, axis=1), np.stack(covariances, axis=-3)


def choose(logs: Floats, generator: np.random.Generator) -> NDArray[np.intp]:
    """A column for every row, drawn by the exponentials of the logs."""
    share = np.cumsum(np.exp(logs - log_sum(logs)[:, None]), axis=1)
    return np.asarray(np.sum(generator.random((len(logs), 1)) > share[:, :-1], axis=1), np.intp)


def diagonal(values: Floats) -> Floats:
    """Diagonal matrices (..., k, k) of values (..., k)."""
    return np.asarray(values[..., None] * np.eye(values.shape[-1]))


def _times(share: Share, precision: Floats, residual: Floats) -> Floats:
    """D^-1 r."""
    if share.discrepancy.independent:
        return precision * residual
    return np.asarray((precision @ residual[:, :, None])[:, :, 0])


def _solve(matrix: Floats, vectors: Floats) -> Floats:
    """Solutions (n, u) for vectors (n, u), of one matrix or of one for each."""
    if matrix.ndim == 2:
        return np.asarray(np.linalg.solve(matrix, vectors.T).T)
    return np.asarray(np.linalg.solve(matrix, vectors[:, :, None])[:, :, 0])


def _factor(covariance: Floats) -> Floats:
    """Lower Cholesky factors; NaN where a covariance is not a number."""
    good = np.asarray(np.isfinite(covariance).all(axis=(-2, -1)))[..., None, None]
    factor = np.linalg.cholesky(np.where(good, covariance, np.eye(covariance.shape[-1])))
    return np.where(good, factor, np.nan)
