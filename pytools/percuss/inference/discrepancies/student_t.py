"""Independent Student-t discrepancy: like the Gaussian one, but a few wild data do not drag the parameters along.

r ~ scale t(nu), scale^2 = std^2 + given variance; the variance of r is scale^2 nu / (nu - 2) for nu > 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import STD, Discrepancy, Pointwise, Unknown, Unknowns, at
from percuss.settings import Setting, table_of
from percuss.study.priors.inferred import INFERRED

HEAVY_TAILS = 4.0


@dataclass(frozen=True, eq=False)
class StudentT(Discrepancy):
    """Student-t residuals of `std` (the scale) and `degrees_of_freedom` (from 4, heavy tails, to 30, near Gaussian)."""

    settings: ClassVar[Mapping[str, Setting]] = table_of(
        STD,
        Setting(
            "degrees_of_freedom",
            "number",
            HEAVY_TAILS,
            low=0,
            low_open=True,
            of=INFERRED,
            doc="from 4, heavy tails, to 30, near Gaussian",
        ),
    )

    degrees_of_freedom: float | Unknown = HEAVY_TAILS

    def log_pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Floats:
        from scipy.special import gammaln

        total = self.total(variance, unknowns)
        nu = at(self.degrees_of_freedom, unknowns)
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * math.pi)
        spread = np.log1p(residual * residual / (nu * total))
        return np.asarray(constant - 0.5 * np.log(total) - 0.5 * (nu + 1) * spread)

    def pointwise(self, residual: Floats, variance: Floats, unknowns: Unknowns) -> Pointwise:
        from scipy.special import stdtr

        scale = np.sqrt(self.total(variance, unknowns))
        below = np.asarray(stdtr(at(self.degrees_of_freedom, unknowns), residual / scale))
        return Pointwise(self.log_pointwise(residual, variance, unknowns), below)

    def draw(self, n: int, variance: Floats, unknowns: Unknowns, generator: np.random.Generator) -> Floats:
        total = self.total(variance, unknowns)
        shape = (n, total.shape[-1])
        nu = np.broadcast_to(np.asarray(at(self.degrees_of_freedom, unknowns), float), (n, 1))
        return generator.standard_t(nu, shape) * np.sqrt(total)
