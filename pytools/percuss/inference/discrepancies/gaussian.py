"""Independent Gaussian discrepancy, of known or inferred std (Gupta et al., 2023, Eqs. C.6-C.8, Sigma diagonal)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import LOG_2PI, STD, NormalResiduals, Pointwise, Unknowns
from percuss.settings import Setting, table_of


@dataclass(frozen=True, eq=False)
class Gaussian(NormalResiduals):
    """Normal residuals; `std` may be zero where measurement or surrogate have a variance of their own."""

    settings: ClassVar[Mapping[str, Setting]] = table_of(STD)

    def log_pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Floats:
        total = self.total(variance, unknowns)
        return -0.5 * (residual * residual / total + (np.log(total) + LOG_2PI))

    def pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Pointwise:
        from scipy.special import ndtr

        below = np.asarray(ndtr(residual / np.sqrt(self.total(variance, unknowns))))
        return Pointwise(self.log_pointwise(residual, variance, unknowns), below)

    def precision(self, variance: Floats, unknowns: Unknowns) -> Floats:
        return np.asarray(1.0 / self.total(variance, unknowns))

    def draw(self, n: int, variance: Floats, unknowns: Unknowns, generator: np.random.Generator) -> Floats:
        total = self.total(variance, unknowns)
        return generator.standard_normal((n, total.shape[-1])) * np.sqrt(total)
