"""Correlations of Gaussian processes, with s the squared distance in units of the lengths.

matern    (1 + r + r^2 / 3) exp(-r),  r^2 = 5 s     twice differentiable: responses with kinks
gaussian  exp(-r^2 / 2),              r^2 = s       analytic: smooth responses, which it follows with fewer points
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Kernel:
    """r^2 = `reach` s; `of` gives k and f of r, with dk/dr = -r f / `divisor`.

    `longest` is the longest length in standard deviations of the points, `least_nugget` relative to the variance.
    """

    reach: float
    divisor: float
    of: Callable[[Array], tuple[Array, Array]]
    longest: float
    least_nugget: float

    def between(self, left: Array, right: Array) -> Array:
        """Correlations (n, m) of points in units of the lengths."""
        from scipy.spatial.distance import cdist

        return self.of(math.sqrt(self.reach) * cdist(left, right))[0]

    def slope(self, away: Array, weights: Array) -> Array:
        """Derivatives (n, d) of sum_j k_j weights_j with respect to points, `away` (n, m, d) from the others."""
        scaled = math.sqrt(self.reach) * away
        _, fall = self.of(np.sqrt(np.einsum("ijk,ijk->ij", scaled, scaled)))
        common = -fall / self.divisor * weights
        return np.asarray(np.einsum("ij,ijk->ik", common, scaled) * math.sqrt(self.reach))


def _matern(r: Array) -> tuple[Array, Array]:
    tail = np.exp(-r)
    return np.asarray((1.0 + r + r * r / 3.0) * tail), np.asarray((1.0 + r) * tail)


def _gaussian(r: Array) -> tuple[Array, Array]:
    k = np.exp(-0.5 * r * r)
    return k, k


MATERN = "matern"
KERNELS: dict[str, Kernel] = {
    # As the first surrogates had it: nearly linear parameters would have longer lengths.
    MATERN: Kernel(5.0, 3.0, _matern, longest=100.0, least_nugget=1e-9),
    "matern-wide": Kernel(5.0, 3.0, _matern, longest=1000.0, least_nugget=1e-9),
    # With a smaller nugget weights grow until their rounding shows in predictions and slopes.
    "gaussian": Kernel(1.0, 1.0, _gaussian, longest=1000.0, least_nugget=1e-11),
}
# What surrogates choose from, the most forgiving first.
OFFERED = ("matern-wide", "gaussian")
