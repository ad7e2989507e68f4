"""From bounded parameters to an unbounded space, and back, with the exact Jacobian.

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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from percuss.inference.arrays import Floats
from percuss.study.priors.prior import Prior

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
