"""The correlation `layered`: a smooth layer of main effects and interactions, and a rough one under it.

    k = (S + m M) / (1 + m)
    S = (prod_k (1 + a_k g_k) - 1) / (prod_k (1 + a_k) - 1),   g_k = exp(-s_k / 2)
    M = (1 + r + r^2 / 3) exp(-r),   r^2 = 5 sum_k s_k / c^2

with s_k the squared distance along parameter k in units of its length. S is the ANOVA kernel (Stitson and others, 1999;
Durrande, Ginsbourger and Roustant, 2012): with small a_k a sum of functions of one parameter each, with large ones
a product, the squared exponential, and any order of interactions between. The constant is taken off, since the trend
has it. M, a Matern kernel 5/2, is for what no analytic function follows. Both kernels that were offered before are
limits of this one, so that the likelihood weighs what was a choice.

The a_k of parameters that tell nothing of theirs are near those of the others: as drawn from a lognormal distribution
about their common median with a standard deviation SPREAD of the logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SPREAD = 2.0
# Bounds of the weights a_k, of the rough layer's m, and of its lengths over those of the smooth one, c.
WEIGHTS = (1e-3, 1e3)
ROUGH = (1e-8, 1e2)
RATIO = (0.3, 3.0)
# Distances that are evaluated at a time, so that they stay near the processor.
BLOCK = 20_000


@dataclass(frozen=True)
class Layered:
    """Its shape is a_1 to a_d, m, c."""

    longest: float = 1000.0
    # Rounding of predictions is then some 1e-8 of the spread; smaller ones leave few digits to the matrix.
    least_nugget: float = 1e-13
    climbs: int = 1
    # Of the likelihood's logarithm, a few hundred: what is gained beyond is far below what tells two fits apart.
    tolerance: float = 1e-5

    def shapes(self, dimensions: int) -> tuple[Array, Array]:
        start = np.array([1.0] * dimensions + [1e-2, 1.0])
        return start, np.array([WEIGHTS] * dimensions + [ROUGH, RATIO])

    def penalty(self, shape: Array) -> tuple[float, Array]:
        weights = np.log(shape[:-2])
        apart = weights - weights.mean()
        return float(apart @ apart) / (2.0 * SPREAD**2), np.append(apart / SPREAD**2, [0.0, 0.0])

    def geometry(self, points: Array, scale: Array) -> Array:
        """Squared distances (d, pairs): each pair once."""
        first, second = np.triu_indices(len(points), 1)
        away = (points[first] - points[second]) / scale
        return np.ascontiguousarray((away * away).T)

    def matrix(self, geometry: Array, lengths: Array, shape: Array) -> tuple[Array, Callable[[Array], Array]]:
        layers = _Layers.of(geometry / (lengths**2)[:, None], shape)
        n = (1 + math.isqrt(1 + 8 * geometry.shape[1])) // 2
        pairs = np.triu_indices(n, 1)
        whole = np.eye(n)
        whole[pairs] = layers.total
        whole.T[pairs] = layers.total
        return whole, lambda inner: layers.pull(inner[pairs])

    def between(self, left: Array, right: Array, shape: Array) -> Array:
        whole = np.empty((len(left), len(right)))
        weights, share, ratio = shape[:-2], shape[-2], shape[-1]
        shares, nothing = _shares(weights)
        # One parameter after the other and in place: here most of the time of an evaluation is spent.
        for rows in _blocks(len(left), len(right)):
            varying, squares = np.zeros((2, len(left[rows]), len(right)))
            for k, (weight, part) in enumerate(zip(weights, shares, strict=True)):
                along = left[rows, k, None] - right[:, k]
                along *= along
                squares += along
                along *= -0.5
                np.exp(along, out=along)
                varying *= (1.0 + weight * along) / (1.0 + weight)
                along *= part
                varying += along
            rough, _ = _rough(squares, ratio)
            whole[rows] = (varying / (1.0 - nothing) + share * rough) / (1.0 + share)
        return whole

    def slope(self, away: Array, weights: Array, shape: Array) -> Array:
        slopes = np.empty((len(away), away.shape[2]))
        for rows in _blocks(len(away), away[0].size):
            apart = np.moveaxis(away[rows], 2, 0)
            # Half of dk/ds_k is what the distance along k is multiplied by.
            slopes[rows] = 2.0 * np.einsum("kij,kij,j->ik", _Layers.of(apart**2, shape).by_square(), apart, weights)
        return slopes


def _shares(weights: Array) -> tuple[Array, float]:
    """With b_k = 1 / (1 + a_k): a_k b_k ... b_1 of every parameter, and b_d ... b_1, what is left far away.

    prod b_k (1 + a_k g_k) without the latter is summed up from the former, since the difference would lose the digits
    of small a_k.
    """
    left = np.cumprod(1.0 / (1.0 + weights))
    return weights * left, float(left[-1])


def _rough(squares: Array, ratio: float) -> tuple[Array, Array]:
    """M and -c^2 dM/ds."""
    r = np.sqrt(5.0 * squares) / ratio
    tail = np.exp(-r)
    return (1.0 + r + r * r / 3.0) * tail, 5.0 / 6.0 * (1.0 + r) * tail


def _blocks(rows: int, each: int) -> list[slice]:
    step = max(BLOCK // max(each, 1), 1)
    return [slice(start, start + step) for start in range(0, rows, step)]


@dataclass(frozen=True)
class _Layers:
    """Both layers at squared distances s (d, ...), in units of the lengths, and what their derivatives need.

    With f_k = (1 + a_k g_k) / (1 + a_k) the product P has dP/ds_k = -P (1 - 1 / ((1 + a_k) f_k)) / 2 and
    dP/dlog a_k = P (1 - 1 / f_k) / (1 + a_k).
    """

    squares: Array
    weights: Array
    inverse: Array  # 1 / f_k
    product: Array
    smooth: Array
    rough: Array
    # dM/ds = -fall / c^2, the same along every parameter.
    fall: Array
    nothing: float
    share: float
    ratio: float

    @classmethod
    def of(cls, squares: Array, shape: Array) -> _Layers:
        weights, share, ratio = shape[:-2], float(shape[-2]), float(shape[-1])
        shares, nothing = _shares(weights)
        inverse = np.empty_like(squares)
        varying = np.zeros(squares.shape[1:])
        # One parameter after the other, whose distances stay near the processor.
        for k, (weight, part) in enumerate(zip(weights, shares, strict=True)):
            bell = np.exp(-0.5 * squares[k])
            factor = (1.0 + weight * bell) / (1.0 + weight)
            varying *= factor
            bell *= part
            varying += bell
            np.divide(1.0, factor, out=inverse[k])
        rough, fall = _rough(squares.sum(axis=0), ratio)
        smooth = varying / (1.0 - nothing)
        return cls(squares, weights, inverse, varying + nothing, smooth, rough, fall, nothing, share, ratio)

    @property
    def total(self) -> Array:
        return np.asarray((self.smooth + self.share * self.rough) / (1.0 + self.share))

    def by_square(self) -> Array:
        """Derivatives by every s_k."""
        a = self.weights.reshape((-1,) + (1,) * (self.squares.ndim - 1))
        common = self.product / ((1.0 - self.nothing) * (1.0 + self.share))
        smooth = -0.5 * common * (1.0 - self.inverse / (1.0 + a))
        return np.asarray(smooth - self.fall * (self.share / ((1.0 + self.share) * self.ratio**2)))

    def pull(self, inner: Array) -> Array:
        """Derivatives of tr(G R) / 2 by the logarithms of lengths and shape, at distances (d, pairs); `inner` is G."""
        a = self.weights
        common = 1.0 / ((1.0 - self.nothing) * (1.0 + self.share))
        along = inner * self.product * common
        under = inner * self.fall * (self.share / ((1.0 + self.share) * self.ratio**2))
        # ds_k/dlog l_k = -2 s_k.
        less = np.einsum("kp,kp,p->k", self.inverse, self.squares, along) / (1.0 + a)
        lengths = self.squares @ (along + 2.0 * under) - less
        # The constant that is taken off moves with a_k as well.
        moved = float((inner * (1.0 - self.smooth)).sum()) * self.nothing * common
        weights = (along.sum() - self.inverse @ along + moved * a) / (1.0 + a)
        share = float((inner * (self.rough - self.total)).sum()) * self.share / (1.0 + self.share)
        ratio = 2.0 * float((self.squares.sum(axis=0) * under).sum())
        return np.concatenate([lengths, weights, [share, ratio]])
