"""Weibull prior, the law of smallest values above zero: F(x) = 1 - exp(-(x / scale)^shape).

By `shape` and `scale`, or by mean and std: the shape k solves Gamma(1 + 2/k) / Gamma(1 + 1/k)^2 = 1 + (std / mean)^2.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Shapes beyond these have a std of more than sixteen million means, or of less than a thousandth of one.
LEAST, LARGEST = 0.05, 1e3


class Weibull(Prior):
    """Smallest values, above zero."""

    kind: ClassVar[str] = "weibull"
    summary: ClassVar[str] = "law of smallest values above zero, of shape and scale or of mean and std"
    roles: ClassVar[dict[str, Role]] = {"shape": "plain", "scale": "value", "mean": "value", "std": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("shape", "scale"), ("mean", "std"))

    def faults(self) -> list[FieldFault]:
        if faults := positive(self.fields, *self.fields):
            return faults
        if "shape" in self.fields:
            shape = self.fields["shape"]
            return [] if LEAST <= shape <= LARGEST else [("shape", f"{shape!r} must lie from {LEAST:g} to {LARGEST:g}")]
        spread = self.fields["std"] / self.fields["mean"]
        if not _dispersion(LARGEST) < spread < _dispersion(LEAST):
            return [("std", f"is {spread:.3g} of the mean, which no shape from {LEAST:g} to {LARGEST:g} has")]
        return []

    @cached_property
    def _shape_and_scale(self) -> tuple[float, float]:
        if "shape" in self.fields:
            return self.fields["shape"], self.fields["scale"]
        from scipy.optimize import brentq

        spread = self.fields["std"] / self.fields["mean"]
        log = brentq(
            lambda t: math.log(_dispersion(math.exp(t)) / spread), math.log(LEAST), math.log(LARGEST), xtol=1e-14
        )
        shape = math.exp(log)
        return shape, self.fields["mean"] / math.gamma(1 + 1 / shape)

    def support(self) -> tuple[float, float]:
        return 0.0, math.inf

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        shape, scale = self._shape_and_scale
        with quiet():
            return np.asarray(scale * (-np.log1p(-np.asarray(u, float))) ** (1 / shape))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        shape, scale = self._shape_and_scale
        with quiet():
            return np.asarray(-np.expm1(-((np.maximum(np.asarray(x, float), 0.0) / scale) ** shape)))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import xlogy

        shape, scale = self._shape_and_scale
        at = np.asarray(x, float)
        y = np.maximum(at, 0.0) / scale
        with quiet():
            log = math.log(shape / scale) + xlogy(shape - 1, y) - y**shape
        return np.where(at >= 0, log, -np.inf)

    def mean(self) -> float:
        shape, scale = self._shape_and_scale
        return self.fields["mean"] if "mean" in self.fields else scale * math.gamma(1 + 1 / shape)

    def std(self) -> float:
        return self.fields["std"] if "std" in self.fields else self.mean() * _dispersion(self.fields["shape"])


def _dispersion(shape: float) -> float:
    """std / mean."""
    return math.sqrt(math.expm1(math.lgamma(1 + 2 / shape) - 2 * math.lgamma(1 + 1 / shape)))
