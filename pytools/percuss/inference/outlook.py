"""What a test that was not made yet would show at each draw of a posterior: a mixture of Gaussians.

At a draw the entries y of a test are the outputs of the forward models there, the error of these as the data leave it,
and the error of measurement. Where errors of forward models have a mixture of scales, so have the entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.inference.common_error import choose
from percuss.inference.discrepancies.discrepancy import LOG_2PI

# Numbers laid out at once.
NUMBERS = 4_000_000


@dataclass(frozen=True, eq=False)
class Outlook:
    """At n draws: log shares (n, c) of c components, means (n, c, k) of k entries, covariances (c, k, k), or
    (n, c, k, k) where they differ from draw to draw.
    """

    log_shares: Floats
    means: Floats
    covariances: Floats

    @classmethod
    def gaussian(cls, means: Floats, covariances: Floats) -> Outlook:
        """One component: means (n, k), covariances (k, k) or (n, k, k)."""
        shared = covariances.ndim == 2
        return cls(np.zeros((len(means), 1)), means[:, None], covariances[None] if shared else covariances[:, None])

    @property
    def entries(self) -> int:
        """How many numbers the test gives."""
        return int(self.means.shape[2])

    @cached_property
    def centre(self) -> Floats:
        """The mean of the entries at each draw: (n, k)."""
        return np.asarray(np.einsum("nc,nck->nk", np.exp(self.log_shares), self.means))

    @cached_property
    def spread(self) -> Floats:
        """The covariance of the entries at a draw, its mean over the draws: (k, k)."""
        shares = np.exp(self.log_shares)
        away = self.means - self.centre[:, None]
        between = np.einsum("nc,nci,ncj->ij", shares, away, away) / len(shares)
        if self.covariances.ndim == 3:
            return np.asarray(np.einsum("c,cij->ij", shares.mean(axis=0), self.covariances) + between)
        return np.asarray(np.einsum("nc,ncij->ij", shares, self.covariances) / len(shares) + between)

    @cached_property
    def _factors(self) -> Floats:
        return np.asarray(np.linalg.cholesky(self.covariances), float)

    @cached_property
    def _whiteners(self) -> Floats:
        return np.asarray(np.linalg.inv(self._factors), float)

    @cached_property
    def _log_sizes(self) -> Floats:
        """log sqrt det(2 pi covariance), (c,) or (n, c)."""
        diagonal = np.diagonal(self._factors, axis1=-2, axis2=-1)
        return np.asarray(np.log(diagonal).sum(axis=-1) + 0.5 * self.entries * LOG_2PI)

    def beside(self, other: Outlook) -> Outlook:
        """Both tests together, whose errors have nothing in common."""
        (n, c, k), (_, d, m) = self.means.shape, other.means.shape
        shares = (self.log_shares[:, :, None] + other.log_shares[:, None]).reshape(n, c * d)
        means = np.concatenate([np.repeat(self.means, d, axis=1), np.tile(other.means, (1, c, 1))], axis=2)
        one, two = self.covariances, other.covariances
        if one.ndim != two.ndim:
            one, two = (np.broadcast_to(part, (n, *part.shape[-3:])) for part in (one, two))
        joint = np.zeros((*one.shape[:-3], c * d, k + m, k + m))
        joint[..., :k, :k] = np.repeat(one, d, axis=-3)
        joint[..., k:, k:] = np.concatenate([two] * c, axis=-3)
        return Outlook(shares, means, joint)

    def draw(self, rows: NDArray[np.int64], generator: np.random.Generator) -> Floats:
        """Entries (len(rows), k) of the test at these draws, once each."""
        chosen = choose(self.log_shares[rows], generator)
        factors = self._factors[chosen] if self.covariances.ndim == 3 else self._factors[rows, chosen]
        normal = generator.standard_normal((len(rows), self.entries))
        return np.asarray(self.means[rows, chosen] + np.einsum("nij,nj->ni", factors, normal))

    def log_density(self, y: Floats, rows: NDArray[np.int64]) -> Floats:
        """Log density (a, p) of entries y, (a, 1, k) or (a, p, k), at the draws `rows`, (p,) or (a, p)."""
        shape = np.broadcast_shapes(y.shape[:2], np.atleast_2d(rows).shape)
        step = max(1, NUMBERS // (shape[1] * self.entries))
        if shape[0] > step:
            parts = [
                self.log_density(y[i : i + step], rows if rows.ndim == 1 else rows[i : i + step])
                for i in range(0, shape[0], step)
            ]
            return np.concatenate(parts)
        logs = []
        shared = self.covariances.ndim == 3
        for c in range(self.log_shares.shape[1]):
            away = y - self.means[rows, c]
            if self.entries == 1:
                white = away * (self._whiteners[c, 0] if shared else self._whiteners[rows, c, 0])
            elif shared:
                white = away @ self._whiteners[c].T
            else:
                white = np.einsum("...ij,...j->...i", self._whiteners[rows, c], away)
            size = self._log_sizes[c] if shared else self._log_sizes[rows, c]
            logs.append(self.log_shares[rows, c] - size - 0.5 * np.einsum("...i,...i->...", white, white))
        return _log_sum(logs)


def _log_sum(logs: list[Floats]) -> Floats:
    """log(sum(exp)) over a short list of large arrays."""
    if len(logs) == 1:
        return logs[0]
    top = reduce(np.maximum, logs)
    return np.asarray(top + np.log(sum(np.exp(log - top) for log in logs)))
