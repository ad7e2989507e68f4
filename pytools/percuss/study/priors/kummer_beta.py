"""Kummer-Beta tensor: between two bounds with a given mean, the law of largest entropy of a random Euler tensor.

Density ~ det(Z - lower)^-lower_exponent det(upper - Z)^-upper_exponent exp(-tr(mu Z)) (Batou and Soize, 2013, Eq. 1.18
with its lambda_l and lambda_u); the core solves for mu and draws. A lower exponent below -2 keeps E[|J^-1|^2] finite
(Eq. 1.20d); -5 is the value of their section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from percuss._core import KummerBeta as CoreKummerBeta
from percuss.errors import InputError
from percuss.study.priors.tensor import Components, TensorLaw

if TYPE_CHECKING:
    from numpy.typing import NDArray


class KummerBeta(TensorLaw):
    """Largest entropy between two tensors for a given mean."""

    kind: ClassVar[str] = "kummer-beta"
    summary: ClassVar[str] = "tensor of largest entropy between lower and upper for the given mean"
    needed: ClassVar[tuple[str, ...]] = ("mean", "upper")
    optional: ClassVar[Mapping[str, object]] = {
        "lower": (0.0,) * 6,
        "lower_exponent": -5.0,
        "upper_exponent": -5.0,
    }

    @property
    def core(self) -> CoreKummerBeta:
        """The law in the core."""
        lower, upper, mean = (self.tensors[name] for name in ("lower", "upper", "mean"))
        return _core_law(lower, upper, mean, self.plain["lower_exponent"], self.plain["upper_exponent"])

    def check(self) -> None:
        assert self.core

    def draw(self, seed: int, unit: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        return self.core.draw(seed % 2**64, np.ascontiguousarray(unit, float))


@lru_cache(maxsize=64)
def _core_law(
    lower: Components, upper: Components, mean: Components, lower_exponent: float, upper_exponent: float
) -> CoreKummerBeta:
    """Solved once, though each of six components knows its law."""
    try:
        return CoreKummerBeta(lower, upper, mean, lower_exponent, upper_exponent)
    except ValueError as fault:
        raise InputError(str(fault)) from None
