"""Truncated exponential prior: on [low, high] with a given mean, the law of largest entropy.

Density c exp(-l x) (Batou and Soize, 2013, Eq. 1.9, one coordinate of a centre of mass in a box: the coordinates are
independent). With s = (x - low) / (high - low) and k = l (high - low) the mean of s is 1/k - 1/(exp(k) - 1), which
falls in k: the multiplier is its only root, zero (the uniform law) for a mean in the middle.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, ordered

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class TruncatedExponential(Prior):
    """Largest entropy between two bounds for a given mean."""

    kind: ClassVar[str] = "truncated-exponential"
    summary: ClassVar[str] = "largest entropy on [low, high] for the given mean"
    roles: ClassVar[dict[str, Role]] = {"mean": "value", "low": "value", "high": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("mean", "low", "high"),)

    def faults(self) -> list[FieldFault]:
        if faults := ordered(self.fields):
            return faults
        low, high = self.support()
        if not low < self.fields["mean"] < high:
            return [("mean", f"{self.fields['mean']!r} (SI) must lie between low = {low!r} and high = {high!r}")]
        # Nearer to a bound than this the law is narrower than the bound can be told.
        if not 1e-9 < self._share < 1 - 1e-9:
            return [("mean", f"{self.fields['mean']!r} (SI) lies within 1e-9 of the width of a bound")]
        return []

    def support(self) -> tuple[float, float]:
        return self.fields["low"], self.fields["high"]

    @cached_property
    def _share(self) -> float:
        low, high = self.support()
        return (self.fields["mean"] - low) / (high - low)

    @cached_property
    def _steepness(self) -> float:
        """The multiplier over the width, k: Newton's steps, halved back into the bracket where they leave it."""
        share = min(self._share, 1 - self._share)
        left, right = 0.0, 1.0 / share
        k = min(12.0 * (0.5 - share), right)
        for _ in range(200):
            mean, variance = _moments(k)
            left, right = (k, right) if mean > share else (left, k)
            step = (mean - share) / variance
            near = k + step if left < k + step < right else 0.5 * (left + right)
            if abs(near - k) <= 2.0**-52 * max(abs(k), 1e-16):
                break
            k = near
        return k if self._share <= 0.5 else -k

    def multiplier(self) -> float:
        """The multiplier l of the mean: the density falls as exp(-l x)."""
        low, high = self.support()
        return self._steepness / (high - low)

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        p, k = np.asarray(u, float), abs(self._steepness)
        from_low = p if self._steepness >= 0 else 1.0 - p
        # Distance from the end where the density is largest, in units of the width.
        away = from_low if k == 0 else -np.log1p(from_low * math.expm1(-k)) / k
        x = low + (high - low) * away if self._steepness >= 0 else high - (high - low) * away
        return np.clip(x, low, high)

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        at, k = np.clip(np.asarray(x, float), low, high), abs(self._steepness)
        away = (at - low if self._steepness >= 0 else high - at) / (high - low)
        part = away if k == 0 else np.expm1(-k * away) / math.expm1(-k)
        return np.asarray(np.clip(part if self._steepness >= 0 else 1.0 - part, 0.0, 1.0))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        at, k = np.asarray(x, float), abs(self._steepness)
        away = (at - low if self._steepness >= 0 else high - at) / (high - low)
        top = math.log(k / -math.expm1(-k)) if k else 0.0
        return np.where((at >= low) & (at <= high), top - k * away - math.log(high - low), -np.inf)

    def mean(self) -> float:
        return self.fields["mean"]

    def std(self) -> float:
        low, high = self.support()
        return (high - low) * math.sqrt(_moments(abs(self._steepness))[1])


def _moments(k: float) -> tuple[float, float]:
    """Mean and variance of the density k exp(-k s) / (1 - exp(-k)) on [0, 1], k >= 0."""
    if k < 0.05:  # the closed forms cancel
        square = k * k
        return (
            0.5 - k * (1 / 12 - square * (1 / 720 - square / 30240)),
            1 / 12 - square * (1 / 240 - square * (1 / 6048 - square / 172800)),
        )
    if k > 600:  # beyond the range of sinh
        return 1 / k, 1 / k**2
    return 1 / k - 1 / math.expm1(k), 1 / k**2 - 1 / (2 * math.sinh(k / 2)) ** 2
