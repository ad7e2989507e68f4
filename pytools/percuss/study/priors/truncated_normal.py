"""Truncated normal prior: a Gaussian of `mean` and `std`, cut to [low, high] (either may be left out).

`mean` and `std` are those of the uncut Gaussian; `Prior.mean` and `Prior.std` give the moments of the cut
one. Everything is done with logarithms of tail probabilities, so that a cut far out in a tail costs no
accuracy; an interval right of the mean is mirrored into the left tail, where those logarithms are accurate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.normal import LOG_SQRT_2PI
from percuss.study.priors.prior import FieldFault, Prior, Role, ordered, positive, quiet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class TruncatedNormal(Prior):
    """A Gaussian cut to an interval."""

    kind: ClassVar[str] = "truncated-normal"
    summary: ClassVar[str] = "Gaussian of mean and std cut to [low, high]"
    roles: ClassVar[dict[str, Role]] = {"mean": "value", "std": "value", "low": "value", "high": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("mean", "std"),)
    optional: ClassVar[tuple[str, ...]] = ("low", "high")

    def faults(self) -> list[FieldFault]:
        if faults := positive(self.fields, "std") or ordered(self.fields):
            return faults
        if "low" not in self.fields and "high" not in self.fields:
            return [("", "a truncated-normal prior takes low, high or both")]
        a, b = self._bounds()
        # Beyond 1e5 standard deviations the width of the cut density is below the resolution of the bound.
        if min(abs(a), abs(b)) > 1e5 and a * b > 0:
            return [("low" if a > 0 else "high", "lies more than 1e5 standard deviations from mean")]
        return []

    def support(self) -> tuple[float, float]:
        return self.fields.get("low", -math.inf), self.fields.get("high", math.inf)

    def _bounds(self) -> tuple[float, float]:
        low, high = self.support()
        return (low - self.fields["mean"]) / self.fields["std"], (high - self.fields["mean"]) / self.fields["std"]

    def _left(self) -> tuple[float, float, float]:
        """Return sign and standard bounds of the interval, mirrored when it lies right of the mean."""
        a, b = self._bounds()
        return (-1.0, -b, -a) if a > 0 else (1.0, a, b)

    def _log_mass(self) -> float:
        from scipy.special import log_ndtr

        _, a, b = self._left()
        below, above = float(log_ndtr(a)), float(log_ndtr(b))
        return above + math.log(-math.expm1(below - above))

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import log_ndtr, ndtri_exp

        sign, a, b = self._left()
        p = np.asarray(u, float)
        with quiet():
            from_a, from_b = (np.log1p(-p), np.log(p)) if sign > 0 else (np.log(p), np.log1p(-p))
            # The tail probability at the quantile is a mean of those at the bounds, weighted by p.
            z = sign * ndtri_exp(np.minimum(np.logaddexp(from_a + log_ndtr(a), from_b + log_ndtr(b)), 0.0))
            x = np.clip(self.fields["mean"] + self.fields["std"] * z, *self.support())
        # The bounds themselves, to the last bit.
        low, high = self.support()
        return np.where(p <= 0, low, np.where(p >= 1, high, x))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import log_ndtr

        sign, a, b = self._left()
        z = sign * (np.clip(np.asarray(x, float), *self.support()) - self.fields["mean"]) / self.fields["std"]
        z = np.clip(z, a, b)
        with quiet():
            at, below, above = log_ndtr(z), log_ndtr(a), log_ndtr(b)
            if sign > 0:
                part = np.exp(at - above) * np.expm1(below - at) / np.expm1(below - above)
            else:
                part = np.expm1(at - above) / np.expm1(below - above)
        return np.clip(np.where(z <= a, 0.0 if sign > 0 else 1.0, part), 0.0, 1.0)

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        low, high = self.support()
        at = np.asarray(x, float)
        z = (at - self.fields["mean"]) / self.fields["std"]
        inside = -0.5 * z * z - LOG_SQRT_2PI - math.log(self.fields["std"]) - self._log_mass()
        return np.where((at >= low) & (at <= high), inside, -np.inf)

    def _moments(self) -> tuple[float, float]:
        """Integrate by Gauss-Legendre about the highest density: the closed forms cancel in the tails."""
        import numpy as np

        sign, a, b = self._left()
        # The density falls by exp(-40) over this reach from its highest point in the interval.
        top = min(max(a, 0.0), b)
        reach = min(9.0, 40.0 / max(abs(top), 1e-300))
        left, right = max(a, top - reach), min(b, top + reach)
        nodes, weights = np.polynomial.legendre.leggauss(160)
        z = 0.5 * (left + right) + 0.5 * (right - left) * nodes
        away = z - top
        density = weights * np.exp(-0.5 * away * (away + 2 * top))
        first = float(density @ away / density.sum())
        spread = math.sqrt(float(density @ (away - first) ** 2 / density.sum()))
        return sign * (top + first), spread

    def mean(self) -> float:
        return self.fields["mean"] + self.fields["std"] * self._moments()[0]

    def std(self) -> float:
        return self.fields["std"] * self._moments()[1]
