"""Independent Gaussian discrepancy, of known or inferred standard deviation (Eqs. C.6-C.8, Sigma diagonal)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.inference.discrepancies.discrepancy import Discrepancy, Unknowns, check

LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True, eq=False)
class Gaussian(Discrepancy):
    """Normal residuals; `std` may be zero where measurement or surrogate have a variance of their own."""

    def __post_init__(self) -> None:
        check("std", self.std, zero=True)

    def log_pointwise(
        self, residual: NDArray[Any], variance: NDArray[Any], unknowns: Unknowns
    ) -> NDArray[Any]:
        total = self.total(variance, unknowns)
        return -0.5 * (residual * residual / total + (np.log(total) + LOG_2PI))

    def draw(
        self, n: int, variance: NDArray[Any], unknowns: Unknowns, generator: np.random.Generator
    ) -> NDArray[Any]:
        total = self.total(variance, unknowns)
        return generator.standard_normal((n, total.shape[-1])) * np.sqrt(total)
