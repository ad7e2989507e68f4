"""Log-uniform prior: the logarithm is uniform between log(low) and log(high)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, ordered, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class LogUniform(Prior):
    """Density proportional to 1/x between two positive bounds."""

    kind: ClassVar[str] = "log-uniform"
    summary: ClassVar[str] = "density 1/x on [low, high], 0 < low"
    roles: ClassVar[dict[str, Role]] = {"low": "value", "high": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("low", "high"),)

    def faults(self) -> list[FieldFault]:
        return positive(self.fields, "low", "high") or ordered(self.fields)

    def support(self) -> tuple[float, float]:
        return self.fields["low"], self.fields["high"]

    def _span(self) -> float:
        low, high = self.support()
        # log1p of the relative width: two close bounds lose nothing.
        return math.log1p((high - low) / low) if high < 2 * low else math.log(high) - math.log(low)

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        p, span = np.asarray(u, float), self._span()
        # Counted from the nearer end, so that both ends are exact.
        return np.clip(np.where(p > 0.5, high * np.exp(span * (p - 1)), low * np.exp(span * p)), low, high)

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        at, span = np.clip(np.asarray(x, float), low, high), self._span()
        up, down = np.log(at / low) / span, np.log(high / at) / span
        return np.asarray(np.clip(np.where(up > 0.5, 1.0 - down, up), 0.0, 1.0))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        at = np.asarray(x, float)
        with quiet():
            return np.where((at >= low) & (at <= high), -np.log(at) - math.log(self._span()), -np.inf)

    def mean(self) -> float:
        low, high = self.support()
        return (high - low) / self._span()

    def std(self) -> float:
        low, high = self.support()
        span, mean = self._span(), self.mean()
        if span < 1e-3:  # the two terms below cancel; the density is uniform to 1e-7 of its width
            return (high - low) / math.sqrt(12)
        return mean * math.sqrt((high + low) * span / (2 * (high - low)) - 1)
