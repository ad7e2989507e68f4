"""Gamma prior, by `shape` and `scale`, by the mean m and std s of the variable, shape (m/s)^2, scale s^2/m, or by mean
and dispersion s/m.

The last form is that of a random mass: of all positive variables M with a given mean and finite E[log M] it has the
largest entropy (Batou and Soize, 2013, section 3.1.1). The response of a body has finite variance only if E[M^-2] is
finite, which a gamma has for a shape above 2: a dispersion at or above 1/sqrt 2 is refused.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Gamma(Prior):
    """Gamma distribution on the positive half line."""

    kind: ClassVar[str] = "gamma"
    summary: ClassVar[str] = "gamma of shape and scale, of mean and std, or of mean and dispersion"
    roles: ClassVar[dict[str, Role]] = {
        "shape": "plain",
        "scale": "value",
        "mean": "value",
        "std": "value",
        "dispersion": "plain",
    }
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("shape", "scale"), ("mean", "std"), ("mean", "dispersion"))

    def faults(self) -> list[FieldFault]:
        if faults := positive(self.fields, *self.fields):
            return faults
        if (dispersion := self.fields.get("dispersion", 0.0)) >= math.sqrt(0.5):
            why = "from there on E[M^-2] of a random mass is infinite, and with it the variance of the response"
            return [("dispersion", f"{dispersion!r} must be below 1/sqrt 2 = 0.70710...: {why}")]
        return []

    def shape_and_scale(self) -> tuple[float, float]:
        """Return shape and scale, however the prior was given."""
        if "shape" in self.fields:
            return self.fields["shape"], self.fields["scale"]
        mean, std = self.fields["mean"], self.std()
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
        return self.fields["mean"] if "mean" in self.fields else self.fields["shape"] * self.fields["scale"]

    def std(self) -> float:
        if "shape" in self.fields:
            return math.sqrt(self.fields["shape"]) * self.fields["scale"]
        return self.fields["std"] if "std" in self.fields else self.fields["mean"] * self.fields["dispersion"]
