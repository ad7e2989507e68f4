"""Beta prior on [low, high], by its two shapes `alpha` and `beta`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, ordered, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Beta(Prior):
    """Beta distribution stretched to [low, high]."""

    kind: ClassVar[str] = "beta"
    summary: ClassVar[str] = "beta of shapes alpha and beta stretched to [low, high]"
    roles: ClassVar[dict[str, Role]] = {"alpha": "plain", "beta": "plain", "low": "value", "high": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("alpha", "beta", "low", "high"),)

    def faults(self) -> list[FieldFault]:
        return positive(self.fields, "alpha", "beta") + ordered(self.fields)

    def _shapes(self) -> tuple[float, float]:
        return self.fields["alpha"], self.fields["beta"]

    def support(self) -> tuple[float, float]:
        return self.fields["low"], self.fields["high"]

    def _from_high(self, x: NDArray[Any]) -> Any:
        """Tell which values lie nearer to the high bound: there the distance to it keeps the digits."""
        low, high = self.support()
        return x > low + (high - low) / 2

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import betaincinv

        alpha, beta = self._shapes()
        low, high = self.support()
        p = np.asarray(u, float)
        up = low + (high - low) * betaincinv(alpha, beta, p)
        down = high - (high - low) * betaincinv(beta, alpha, 1.0 - p)
        return np.asarray(np.clip(np.where(self._from_high(up), down, up), low, high))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import betainc

        alpha, beta = self._shapes()
        low, high = self.support()
        at = np.clip(np.asarray(x, float), low, high)
        up = betainc(alpha, beta, (at - low) / (high - low))
        down = 1.0 - betainc(beta, alpha, (high - at) / (high - low))
        return np.asarray(np.where(self._from_high(at), down, up))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import betaln, xlogy

        alpha, beta = self._shapes()
        low, high = self.support()
        at = np.asarray(x, float)
        width = high - low
        inside = np.clip(at, low, high)
        with quiet():
            log = xlogy(alpha - 1, (inside - low) / width) + xlogy(beta - 1, (high - inside) / width)
        log = log - betaln(alpha, beta) - math.log(width)
        return np.where((at >= low) & (at <= high), log, -np.inf)

    def mean(self) -> float:
        alpha, beta = self._shapes()
        low, high = self.support()
        return low + (high - low) * alpha / (alpha + beta)

    def std(self) -> float:
        alpha, beta = self._shapes()
        low, high = self.support()
        return (high - low) * math.sqrt(alpha * beta / (alpha + beta + 1)) / (alpha + beta)
