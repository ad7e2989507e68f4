"""Uniform prior on [low, high]."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, ordered

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Uniform(Prior):
    """Equal density between two bounds."""

    kind: ClassVar[str] = "uniform"
    summary: ClassVar[str] = "equal density on [low, high]"
    roles: ClassVar[dict[str, Role]] = {"low": "value", "high": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("low", "high"),)

    def faults(self) -> list[FieldFault]:
        low, high = self.fields["low"], self.fields["high"]
        if math.isinf(high - low):
            return [("high", "lies too far from low")]
        return ordered(self.fields)

    def support(self) -> tuple[float, float]:
        return self.fields["low"], self.fields["high"]

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        return np.minimum(low + (high - low) * np.asarray(u, float), high)

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        return np.clip((np.asarray(x, float) - low) / (high - low), 0.0, 1.0)

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        at = np.asarray(x, float)
        return np.where((at >= low) & (at <= high), -math.log(high - low), -np.inf)

    def mean(self) -> float:
        low, high = self.support()
        return low + (high - low) / 2

    def std(self) -> float:
        low, high = self.support()
        return (high - low) / math.sqrt(12)
