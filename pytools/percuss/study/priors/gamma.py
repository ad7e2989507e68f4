"""Gamma prior, by `shape` and `scale` or by the mean and std of the variable: shape (m/s)^2, scale s^2/m."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Gamma(Prior):
    """Gamma distribution on the positive half line."""

    kind: ClassVar[str] = "gamma"
    summary: ClassVar[str] = "gamma of shape and scale, or of mean and std"
    roles: ClassVar[dict[str, Role]] = {"shape": "plain", "scale": "value", "mean": "value", "std": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("shape", "scale"), ("mean", "std"))

    def faults(self) -> list[FieldFault]:
        return positive(self.fields, *self.fields)

    def shape_and_scale(self) -> tuple[float, float]:
        """Return shape and scale, however the prior was given."""
        if "shape" in self.fields:
            return self.fields["shape"], self.fields["scale"]
        mean, std = self.fields["mean"], self.fields["std"]
        return (mean / std) ** 2, std * (std / mean)

    def support(self) -> tuple[float, float]:
        return 0.0, math.inf

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import gammainccinv, gammaincinv

        shape, scale = self.shape_and_scale()
        p = np.asarray(u, float)
        return np.asarray(scale * np.where(p > 0.5, gammainccinv(shape, 1.0 - p), gammaincinv(shape, p)))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import gammainc

        shape, scale = self.shape_and_scale()
        return np.asarray(gammainc(shape, np.maximum(np.asarray(x, float), 0.0) / scale))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import gammaln, xlogy

        shape, scale = self.shape_and_scale()
        at = np.asarray(x, float)
        y = np.maximum(at, 0.0) / scale
        with quiet():
            log = xlogy(shape - 1, y) - y - gammaln(shape) - math.log(scale)
        return np.where(at >= 0, log, -np.inf)

    def mean(self) -> float:
        shape, scale = self.shape_and_scale()
        return self.fields.get("mean", shape * scale)

    def std(self) -> float:
        shape, scale = self.shape_and_scale()
        return self.fields.get("std", math.sqrt(shape) * scale)
