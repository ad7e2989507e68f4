"""Truncated forms: any unbounded prior cut to [low, high] (either may be left out), as `truncated-gumbel`.

Fields are those of the uncut prior, and so are `mean` and `std` among them; `Prior.mean` and `Prior.std` give the
moments of the cut one, by quadrature over its quantiles. A cut that leaves less than a millionth is refused: in a tail
the probabilities of the uncut prior have lost too many digits. (`truncated-normal` has a file of its own, good there.)
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, ordered

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LEAST_MASS = 1e-6


class Truncated(Prior):
    """A prior of the kind `base` cut to an interval; `truncated` makes a class of it for every base."""

    base: ClassVar[type[Prior]]
    optional: ClassVar[tuple[str, ...]] = ("low", "high")

    @cached_property
    def uncut(self) -> Prior:
        """The prior that is cut."""
        return self.base({name: value for name, value in self.fields.items() if name not in self.optional})

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """Probabilities of the uncut prior below the two bounds."""
        low, high = self.support()
        return tuple(float(p) for p in self.uncut.cdf([low, high]))  # type: ignore[return-value]  # two of them

    def faults(self) -> list[FieldFault]:
        if faults := self.uncut.faults() or ordered(self.fields):
            return faults
        if not any(name in self.fields for name in self.optional):
            return [("", f"a {self.kind} prior takes low, high or both")]
        below, above = self._ends
        if above - below < LEAST_MASS:
            return [
                ("low" if "low" in self.fields else "high", f"leaves {above - below:.2g} of the {self.base.kind} prior")
            ]
        return []

    def support(self) -> tuple[float, float]:
        low, high = self.uncut.support()
        return max(low, self.fields.get("low", low)), min(high, self.fields.get("high", high))

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        below, above = self._ends
        low, high = self.support()
        p = np.asarray(u, float)
        x = np.clip(self.uncut.ppf(below + (above - below) * p), low, high)
        return np.where(p <= 0, low, np.where(p >= 1, high, x))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        below, above = self._ends
        return np.clip((self.uncut.cdf(x) - below) / (above - below), 0.0, 1.0)

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        below, above = self._ends
        low, high = self.support()
        at = np.asarray(x, float)
        return np.where((at >= low) & (at <= high), self.uncut.logpdf(at) - math.log(above - below), -np.inf)

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and standard deviation: Gauss-Legendre over the quantiles, in pieces that shrink towards both ends."""
        import numpy as np

        nodes, weights = np.polynomial.legendre.leggauss(32)
        edges = np.concatenate([[0.0], np.logspace(-14, -1, 40), 1 - np.logspace(-1, -14, 40), [1.0]])
        points = np.concatenate([0.5 * (b - a) * nodes + 0.5 * (a + b) for a, b in pairwise(edges)])
        mass = np.concatenate([0.5 * (b - a) * weights for a, b in pairwise(edges)])
        x = np.asarray(self.ppf(np.minimum(points, 1 - 2.0**-53)))
        mean = float(mass @ x)
        return mean, math.sqrt(float(mass @ (x - mean) ** 2))

    def mean(self) -> float:
        return self._moments[0]

    def std(self) -> float:
        return self._moments[1]


def truncated(base: type[Prior]) -> type[Prior]:
    """The class of the truncated form of a kind."""
    roles: dict[str, Role] = {**base.roles, "low": "value", "high": "value"}
    return type(
        f"Truncated{base.__name__}",
        (Truncated,),
        {
            "__doc__": f"A {base.kind} prior cut to an interval.",
            "base": base,
            "kind": f"truncated-{base.kind}",
            "summary": f"{base.kind} cut to [low, high]",
            "roles": roles,
            "forms": base.forms,
        },
    )
