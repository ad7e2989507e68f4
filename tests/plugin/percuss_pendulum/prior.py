"""The prior `raised-cosine`: a bell between two bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from percuss.study.priors.prior import FieldFault, Prior, Role, ordered

HALVINGS = 60


class RaisedCosine(Prior):
    """Density (1 + cos(pi s)) / 2 over s in (-1, 1), from `low` to `high`."""

    kind: ClassVar[str] = "raised-cosine"
    summary: ClassVar[str] = "a bell between two bounds"
    roles: ClassVar[Mapping[str, Role]] = {"low": "value", "high": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("low", "high"),)

    @property
    def _centre(self) -> float:
        return 0.5 * (self.fields["low"] + self.fields["high"])

    @property
    def _half(self) -> float:
        return 0.5 * (self.fields["high"] - self.fields["low"])

    def faults(self) -> list[FieldFault]:
        """Bounds in order."""
        return ordered(self.fields)

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        """Probability below."""
        s = np.clip((np.asarray(x, float) - self._centre) / self._half, -1, 1)
        return np.asarray(0.5 * (1 + s + np.sin(np.pi * s) / np.pi))

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        """Quantiles, by bisection."""
        wanted = np.asarray(u, float)
        low, high = np.full(wanted.shape, -1.0), np.full(wanted.shape, 1.0)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            below = 0.5 * (1 + middle + np.sin(np.pi * middle) / np.pi) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(self._centre + self._half * 0.5 * (low + high))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        """Log density."""
        s = (np.asarray(x, float) - self._centre) / self._half
        with np.errstate(divide="ignore"):
            inside = np.log1p(np.cos(np.pi * s)) - math.log(2 * self._half)
        return np.where(np.abs(s) <= 1, inside, -np.inf)

    def mean(self) -> float:
        """Expectation."""
        return self._centre

    def std(self) -> float:
        """Standard deviation."""
        return self._half * math.sqrt(1 / 3 - 2 / math.pi**2)

    def support(self) -> tuple[float, float]:
        """Bounds."""
        return self.fields["low"], self.fields["high"]
