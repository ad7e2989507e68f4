"""Triangular prior: density rises from `low` to `mode` and falls to `high`, in straight lines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, ordered, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Triangular(Prior):
    """A triangle; the mode may be an end."""

    kind: ClassVar[str] = "triangular"
    summary: ClassVar[str] = "triangle over [low, high] with its top at mode"
    roles: ClassVar[dict[str, Role]] = {"low": "value", "mode": "value", "high": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("low", "mode", "high"),)

    def faults(self) -> list[FieldFault]:
        if faults := ordered(self.fields):
            return faults
        low, mode, high = self._corners()
        return (
            [] if low <= mode <= high else [("mode", f"{mode!r} (SI) must lie from low = {low!r} to high = {high!r}")]
        )

    def _corners(self) -> tuple[float, float, float]:
        return self.fields["low"], self.fields["mode"], self.fields["high"]

    def support(self) -> tuple[float, float]:
        return self.fields["low"], self.fields["high"]

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, mode, high = self._corners()
        p, width = np.asarray(u, float), high - low
        up = low + np.sqrt(p * width * (mode - low))
        down = high - np.sqrt((1 - p) * width * (high - mode))
        return np.clip(np.where(p * width < mode - low, up, down), low, high)

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, mode, high = self._corners()
        at, width = np.clip(np.asarray(x, float), low, high), high - low
        with quiet():
            up = (at - low) ** 2 / (width * (mode - low)) if mode > low else np.zeros_like(at)
            down = 1 - (high - at) ** 2 / (width * (high - mode)) if high > mode else np.ones_like(at)
        return np.asarray(np.where(at < mode, up, down))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, mode, high = self._corners()
        at = np.asarray(x, float)
        inside = np.clip(at, low, high)
        with quiet():
            rise = (inside - low) / (mode - low) if mode > low else np.ones_like(inside)
            fall = (high - inside) / (high - mode) if high > mode else np.ones_like(inside)
            log = np.log(np.where(inside < mode, rise, fall)) + math.log(2 / (high - low))
        return np.where((at >= low) & (at <= high), log, -np.inf)

    def mean(self) -> float:
        return sum(self._corners()) / 3

    def std(self) -> float:
        low, mode, high = self._corners()
        # Of the corners about low: no digits are lost far from zero.
        m, h = mode - low, high - low
        return math.sqrt((m * m + h * h - m * h) / 18)
