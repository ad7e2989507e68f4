"""Generalised extreme value prior: F(x) = exp(-(1 + shape (x - location) / scale)^(-1 / shape)).

A shape above zero has a heavy upper tail (Frechet), below zero an upper end (reversed Weibull), zero is Gumbel. The
standard deviation is finite for shapes below 1/2; others are refused. scipy's `genextreme` has the opposite sign.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.gumbel import EULER
from percuss.study.priors.prior import FieldFault, Prior, Role, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Shapes nearer to zero than this are Gumbel to rounding.
FLAT = 1e-8


class Gev(Prior):
    """Largest values of any of the three types."""

    kind: ClassVar[str] = "gev"
    summary: ClassVar[str] = "generalised extreme value of location, scale and shape (above 0: heavy tail)"
    roles: ClassVar[dict[str, Role]] = {"location": "value", "scale": "value", "shape": "plain"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("location", "scale", "shape"),)

    def faults(self) -> list[FieldFault]:
        if faults := positive(self.fields, "scale"):
            return faults
        shape = self.fields["shape"]
        if not -5 <= shape < 0.5:
            return [("shape", f"{shape!r} must lie from -5 to below 0.5: from there on the variance is infinite")]
        return []

    def _parameters(self) -> tuple[float, float, float]:
        shape = self.fields["shape"]
        return self.fields["location"], self.fields["scale"], 0.0 if abs(shape) < FLAT else shape

    def support(self) -> tuple[float, float]:
        location, scale, shape = self._parameters()
        if shape == 0:
            return -math.inf, math.inf
        end = location - scale / shape
        return (end, math.inf) if shape > 0 else (-math.inf, end)

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        location, scale, shape = self._parameters()
        with quiet():
            reduced = -np.log(-np.log(np.asarray(u, float)))
            z = reduced if shape == 0 else np.expm1(shape * reduced) / shape
        return np.asarray(np.clip(location + scale * z, *self.support()))

    def _reduced(self, x: ArrayLike) -> NDArray[Any]:
        """The Gumbel variable of each value; infinite at and beyond the end of the support."""
        import numpy as np

        location, scale, shape = self._parameters()
        z = (np.asarray(x, float) - location) / scale
        with quiet():
            return z if shape == 0 else np.asarray(np.log1p(np.maximum(shape * z, -1.0)) / shape)

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        with quiet():
            return np.asarray(np.exp(-np.exp(-self._reduced(x))))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        _, scale, shape = self._parameters()
        low, high = self.support()
        at = np.asarray(x, float)
        y = self._reduced(at)
        with quiet():
            log = -(1 + shape) * y - np.exp(-y) - math.log(scale)
        return np.where((at > low) & (at < high), log, -np.inf)

    def mean(self) -> float:
        location, scale, shape = self._parameters()
        if shape == 0:
            return location + EULER * scale
        return location + scale * math.expm1(math.lgamma(1 - shape)) / shape

    def std(self) -> float:
        _, scale, shape = self._parameters()
        if shape == 0:
            return math.pi * scale / math.sqrt(6)
        first = math.gamma(1 - shape)
        return (
            scale * first * math.sqrt(math.expm1(math.lgamma(1 - 2 * shape) - 2 * math.lgamma(1 - shape))) / abs(shape)
        )
