"""Lognormal prior, by mean and std of the variable itself or by `mu` and `sigma` of its natural logarithm.

With m, s of the variable: sigma^2 = log(1 + (s/m)^2), mu = log m - sigma^2 / 2. `mu` is the mean of log(x /
unit): the number depends on the parameter's unit and is shifted to SI on reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.normal import LOG_SQRT_2PI
from percuss.study.priors.prior import FieldFault, Prior, Role, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Lognormal(Prior):
    """A positive variable whose logarithm is Gaussian."""

    kind: ClassVar[str] = "lognormal"
    summary: ClassVar[str] = "log is Gaussian; mean and std of the variable, or mu and sigma of its log"
    roles: ClassVar[dict[str, Role]] = {"mean": "value", "std": "value", "mu": "log", "sigma": "plain"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("mean", "std"), ("mu", "sigma"))

    def faults(self) -> list[FieldFault]:
        if faults := positive(self.fields, "mean", "std", "sigma"):
            return faults
        name = "sigma" if "sigma" in self.fields else "std"
        try:
            mean, std = self.mean(), self.std()
        except OverflowError:
            return [(name, "is so wide that mean or std overflow")]
        return [] if math.isfinite(mean) and math.isfinite(std) else [(name, "is so wide that mean or std overflow")]

    def log_parameters(self) -> tuple[float, float]:
        """Return mean and standard deviation of the logarithm."""
        if "mu" in self.fields:
            return self.fields["mu"], self.fields["sigma"]
        variance = math.log1p((self.fields["std"] / self.fields["mean"]) ** 2)
        return math.log(self.fields["mean"]) - variance / 2, math.sqrt(variance)

    def support(self) -> tuple[float, float]:
        return 0.0, math.inf

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import ndtri

        mu, sigma = self.log_parameters()
        with quiet():
            return np.asarray(np.exp(mu + sigma * ndtri(np.asarray(u, float))))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import ndtr

        mu, sigma = self.log_parameters()
        with quiet():
            return np.asarray(ndtr((np.log(np.maximum(np.asarray(x, float), 0.0)) - mu) / sigma))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        mu, sigma = self.log_parameters()
        at = np.asarray(x, float)
        with quiet():
            log = np.log(at)
            z = (log - mu) / sigma
            return np.where(at > 0, -0.5 * z * z - LOG_SQRT_2PI - math.log(sigma) - log, -np.inf)

    def mean(self) -> float:
        if "mean" in self.fields:
            return self.fields["mean"]
        mu, sigma = self.log_parameters()
        return math.exp(mu + sigma**2 / 2)

    def std(self) -> float:
        if "std" in self.fields:
            return self.fields["std"]
        return self.mean() * math.sqrt(math.expm1(self.fields["sigma"] ** 2))
