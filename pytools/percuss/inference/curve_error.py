"""Errors of a surrogate of curves that all samples share, integrated out of a Gaussian likelihood.

Samples y = m + L' (s + e) + r: L are the modes at the samples, s the scores of the surrogate, e ~ sum_k share_k
N(0, scale_k S) their error, r ~ N(0, D). With S = C C', P = L D^-1 L', b = L D^-1 (y - m - L's), M = I + scale C' P C,

    log N(y; m + L's, D + scale L'SL) = -1/2 (log det 2 pi D + log det M + |y - m - L's|^2_D - scale |M^(-1/2) C' b|^2)

(Woodbury, 1950). Unlike `percuss.inference.common_error`, which asks what the data know of each output, this holds
where samples do not see a mode at all, and D is never laid out: `NormalResiduals.whiten` and `solve` stand for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.common_error import CommonError, choose
from percuss.inference.discrepancies.discrepancy import (
    LOG_2PI,
    NormalResiduals,
    Pointwise,
    Unknowns,
    log_sum,
    mixed,
    normal,
)


class CurveShare(NamedTuple):
    """Samples of one curve at n points: residuals (n, m), the outputs (k,) that are its scores, loadings (k, m), and
    the variance known of each sample besides.
    """

    discrepancy: NormalResiduals
    residual: Floats
    outputs: NDArray[np.int64]
    loadings: Floats
    variance: Floats
    unknowns: Unknowns

    @property
    def vectors(self) -> tuple[Floats, Floats]:
        """Loadings and residuals as vectors of as many processes as there are: (1, k, m) and (1, n, m) where nothing
        but the residuals varies, otherwise (n, k, m) and (n, 1, m).
        """
        if self.discrepancy.unknowns() or self.variance.ndim == 2:
            n, m = self.residual.shape
            return np.broadcast_to(self.loadings, (n, len(self.loadings), m)), self.residual[:, None]
        return self.loadings[None], self.residual[None]


class Sums(NamedTuple):
    """P (p, u, u), b (n, u), squares of the residuals (n,), log det D (p,) and number of samples; p is 1 or n."""

    information: Floats
    pull: Floats
    square: Floats
    log_det: Floats
    size: int


@dataclass(frozen=True, eq=False)
class CurveJoint:
    """All samples of the curves of one surrogate at n points; `std` (outputs,) or (n, outputs) is that of scores."""

    error: CommonError
    std: Floats
    shares: tuple[CurveShare, ...]

    @cached_property
    def sums(self) -> Sums:
        """What the samples say of the scores, over all outputs."""
        outputs, n = len(self.error.names), len(self.shares[0].residual)
        information, pull = np.zeros((1, outputs, outputs)), np.zeros((n, outputs))
        square, log_det, size = np.zeros(n), np.zeros(1), 0
        for share in self.shares:
            loadings, residual = share.vectors
            both = np.concatenate([loadings, residual], axis=1)
            white, own_log_det = share.discrepancy.whiten(both, share.variance, share.unknowns)
            modes, left = white[:, : loadings.shape[1]], white[:, loadings.shape[1] :]
            own = np.zeros((len(white), outputs, outputs))
            own[:, share.outputs[:, None], share.outputs] = modes @ modes.swapaxes(1, 2)
            information = information + own
            pull[:, share.outputs] += (left @ modes.swapaxes(1, 2)).reshape(n, len(share.outputs))
            square += np.sum(left * left, axis=2).ravel()
            log_det = log_det + own_log_det
            size += share.residual.shape[1]
        return Sums(information, pull, square, log_det, size)

    @cached_property
    def _roots(self) -> list[Floats]:
        """C of each scale: (p, outputs, outputs)."""
        factor = np.linalg.cholesky(self.error.correlation)
        root = np.atleast_2d(self.std)[:, :, None] * factor
        return [np.sqrt(scale) * root for scale in self.error.scales]

    @cached_property
    def _factors(self) -> list[Floats]:
        """Lower factors of M, for each scale."""
        made = []
        for root in self._roots:
            inner = root.swapaxes(1, 2) @ self.sums.information @ root
            good = np.asarray(np.isfinite(inner).all(axis=(1, 2)))[:, None, None]
            whole = np.eye(inner.shape[-1]) + np.where(good, inner, 0.0)
            made.append(np.where(good, np.linalg.cholesky(whole), np.nan))
        return made

    @cached_property
    def _whitened(self) -> list[Floats]:
        """M^(-1/2) C' b, for each scale: (n, outputs)."""
        return [
            np.asarray(np.linalg.solve(factor, (root.swapaxes(1, 2) @ self.sums.pull[:, :, None]))[:, :, 0], float)
            for root, factor in zip(self._roots, self._factors, strict=True)
        ]

    @cached_property
    def log_components(self) -> Floats:
        """Log density of all samples with each scale, its share included: (n, scales)."""
        _, _, square, log_det, size = self.sums
        components = []
        for log_share, factor, white in zip(self.error.log_shares, self._factors, self._whitened, strict=True):
            spread = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
            misfit = square - np.sum(white * white, axis=1)
            components.append(log_share - 0.5 * (size * LOG_2PI + log_det + spread + misfit))
        return np.stack(components, axis=1)

    def log_density(self) -> Floats:
        """Log density of all samples together: (n,)."""
        return log_sum(self.log_components)

    def pointwise(self) -> list[Pointwise]:
        """Each sample given all others, curve by curve.

        With Q the inverse of the whole covariance a residual r_i has, given the others, variance 1 / Q_ii and error
        (Q r)_i / Q_ii.
        """
        curves = []
        for share in self.shares:
            loadings, residual = share.vectors
            solved, diagonal = share.discrepancy.solve(
                np.concatenate([loadings, residual], axis=1), share.variance, share.unknowns
            )
            modes = solved[:, : loadings.shape[1]]
            left = solved[:, loadings.shape[1] :].reshape(share.residual.shape)
            each = []
            for root, factor, white in zip(self._roots, self._factors, self._whitened, strict=True):
                # C M^(-T/2): what it makes of the modes is what the common error explains.
                gain = root @ np.linalg.inv(factor).swapaxes(1, 2)
                across = gain[:, share.outputs].swapaxes(1, 2) @ modes
                own = diagonal - np.sum(across * across, axis=1)
                each.append(normal(left - np.squeeze(white[:, None] @ across, axis=1), own))
            curves.append(mixed(self.log_components, each))
        return curves

    def draw(self, generator: np.random.Generator) -> Floats:
        """Errors of all scores (n, outputs) given the samples."""
        n, outputs = self.sums.pull.shape
        chosen = choose(self.log_components, generator)
        normal = generator.standard_normal((n, outputs))
        errors = np.empty((n, outputs))
        for k, (root, factor, white) in enumerate(zip(self._roots, self._factors, self._whitened, strict=True)):
            rows = np.flatnonzero(chosen == k)
            own_root = root[rows] if len(root) > 1 else root
            own = factor[rows] if len(factor) > 1 else factor
            inner = np.linalg.solve(own.swapaxes(1, 2), (white + normal)[rows][:, :, None])
            errors[rows] = (own_root @ inner)[:, :, 0]
        return errors
