"""Correlations of Gaussian processes, with s the squared distance in units of the lengths.

matern    (1 + r + r^2 / 3) exp(-r),  r^2 = 5 s     twice differentiable: responses with kinks
gaussian  exp(-r^2 / 2),              r^2 = s       analytic: smooth responses, which it follows with fewer points
layered   a smooth layer of main effects and interactions, and a rough one of all parameters together, in
          `percuss.surrogates.layered`

Beside its lengths a kernel may have a shape: further numbers, all positive, that the likelihood finds as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from percuss.surrogates.layered import Layered

Array = NDArray[Any]
# From G the derivatives of tr(G R) / 2 by the logarithms of lengths and shape.
Pull = Callable[[Array], Array]
NO_SHAPE = np.empty(0)


class Kernel(Protocol):
    """`longest` is the longest length in standard deviations of the points, `least_nugget` relative to the variance,
    `climbs` the most starts from which the likelihood is climbed, `tolerance` the relative gain at which a climb ends.
    """

    @property
    def longest(self) -> float: ...
    @property
    def least_nugget(self) -> float: ...
    @property
    def climbs(self) -> int: ...
    @property
    def tolerance(self) -> float: ...

    def shapes(self, dimensions: int) -> tuple[Array, Array]:
        """Where a search starts, and bounds (numbers, 2) of the shape."""
        ...

    def penalty(self, shape: Array) -> tuple[float, Array]:
        """What the logarithm of the likelihood loses for a shape, and its derivatives by the logarithms."""
        ...

    def geometry(self, points: Array, scale: Array) -> Array:
        """What of the points, in units of a scale, all matrices are made from."""
        ...

    def matrix(self, geometry: Array, lengths: Array, shape: Array) -> tuple[Array, Pull]:
        """Correlations (n, n) of the points."""
        ...

    def between(self, left: Array, right: Array, shape: Array) -> Array:
        """Correlations (n, m) of points in units of the lengths."""
        ...

    def slope(self, away: Array, weights: Array, shape: Array) -> Array:
        """Derivatives (n, d) of sum_j k_j weights_j with respect to points, `away` (n, m, d) from the others."""
        ...


@dataclass(frozen=True)
class Radial:
    """r^2 = `reach` s; `of` gives k and f of r, with dk/dr = -r f / `divisor`."""

    reach: float
    divisor: float
    of: Callable[[Array], tuple[Array, Array]]
    longest: float
    least_nugget: float
    climbs: int = 2
    tolerance: float = 1e7 * float(np.finfo(float).eps)

    def shapes(self, dimensions: int) -> tuple[Array, Array]:
        return NO_SHAPE, np.empty((0, 2))

    def penalty(self, shape: Array) -> tuple[float, Array]:
        return 0.0, NO_SHAPE

    def geometry(self, points: Array, scale: Array) -> Array:
        away = (points[:, None, :] - points[None, :, :]) / scale
        return np.ascontiguousarray(np.moveaxis(away * away, 2, 0))

    def matrix(self, geometry: Array, lengths: Array, shape: Array) -> tuple[Array, Pull]:
        own, fall = self.of(np.sqrt(self.reach * np.tensordot(1.0 / lengths**2, geometry, axes=1)))

        def pull(inner: Array) -> Array:
            # dk/dlog l_k = f reach / divisor * squares_k / l_k^2.
            weight = inner * (fall * (self.reach / self.divisor))
            return np.asarray(0.5 * np.tensordot(geometry, weight, axes=([1, 2], [0, 1])) / lengths**2)

        return own, pull

    def between(self, left: Array, right: Array, shape: Array) -> Array:
        from scipy.spatial.distance import cdist

        return self.of(math.sqrt(self.reach) * cdist(left, right))[0]

    def slope(self, away: Array, weights: Array, shape: Array) -> Array:
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
LAYERED = "layered"
KERNELS: dict[str, Kernel] = {
    # As the first surrogates had it: nearly linear parameters would have longer lengths.
    MATERN: Radial(5.0, 3.0, _matern, longest=100.0, least_nugget=1e-9),
    "matern-wide": Radial(5.0, 3.0, _matern, longest=1000.0, least_nugget=1e-9),
    # With a smaller nugget weights grow until their rounding shows in predictions and slopes.
    "gaussian": Radial(1.0, 1.0, _gaussian, longest=1000.0, least_nugget=1e-11),
    LAYERED: Layered(),
    # One layer alone, for surrogates that are averaged with that of both: searched as quickly, and with its nugget.
    "rough": Radial(5.0, 3.0, _matern, longest=1000.0, least_nugget=1e-9, climbs=1, tolerance=1e-5),
    "smooth": Radial(1.0, 1.0, _gaussian, longest=1000.0, least_nugget=1e-13, climbs=1, tolerance=1e-5),
}
# The kernel of `gp`, and those of its other members in averages.
OFFERED = (LAYERED, "rough", "smooth")
# And what they choose from for a process under a trend of many terms, which has the main effects and interactions.
UNDER_A_TREND = ("matern-wide", "gaussian")


def kernels_of_gp(asked: tuple[str, ...]) -> tuple[str, ...]:
    """What a process is fitted with: the layered kernel, or the older ones of which the likelihood takes one."""
    return asked[:1] if asked[0] == LAYERED else asked


def kernels_beside(asked: tuple[str, ...]) -> tuple[str, ...]:
    """What processes are averaged with that of the layered kernel; older events have none."""
    return asked[1:] if asked[0] == LAYERED else ()


def kernels_under_a_trend(asked: tuple[str, ...]) -> tuple[str, ...]:
    """Kernels that an event older than the layered one names are those of both families."""
    return UNDER_A_TREND if asked[0] == LAYERED else asked
