"""Gumbel prior, the law of largest values (extreme value, type I): F(x) = exp(-exp(-(x - location) / scale)).

By `location` and `scale`, or by mean and std: mean = location + 0.5772 scale, std = pi scale / sqrt 6.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

EULER = 0.57721566490153286


class Gumbel(Prior):
    """Largest values, on the whole line."""

    kind: ClassVar[str] = "gumbel"
    summary: ClassVar[str] = "law of largest values, of location and scale or of mean and std, unbounded"
    roles: ClassVar[dict[str, Role]] = {"location": "value", "scale": "value", "mean": "value", "std": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("location", "scale"), ("mean", "std"))

    def faults(self) -> list[FieldFault]:
        return positive(self.fields, "scale", "std")

    def location_and_scale(self) -> tuple[float, float]:
        """Return location and scale, whichever form the prior has."""
        if "scale" in self.fields:
            return self.fields["location"], self.fields["scale"]
        scale = self.fields["std"] * math.sqrt(6) / math.pi
        return self.fields["mean"] - EULER * scale, scale

    def support(self) -> tuple[float, float]:
        return -math.inf, math.inf

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        location, scale = self.location_and_scale()
        with quiet():
            return np.asarray(location - scale * np.log(-np.log(np.asarray(u, float))))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        location, scale = self.location_and_scale()
        with quiet():
            return np.asarray(np.exp(-np.exp(-(np.asarray(x, float) - location) / scale)))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        location, scale = self.location_and_scale()
        z = (np.asarray(x, float) - location) / scale
        with quiet():
            return np.asarray(-z - np.exp(-z) - math.log(scale))

    def mean(self) -> float:
        location, scale = self.location_and_scale()
        return self.fields["mean"] if "mean" in self.fields else location + EULER * scale

    def std(self) -> float:
        return self.fields["std"] if "std" in self.fields else math.pi * self.fields["scale"] / math.sqrt(6)
