"""The cloud: ln demand is linear in ln intensity, with one normal scatter (Cornell et al., 2002).

ln D = a + c ln x + s e:   m = exp((ln d - a) / c),  b = s / c       for a threshold d; states cannot cross
"""

from __future__ import annotations

import numpy as np

from percuss.errors import InputError
from percuss.fragility.curves import Array, Curves


def fit_cloud(intensity: Array, demand: Array, thresholds: Array) -> Curves:
    """Medians and the one dispersion, by least squares."""
    line = regression(intensity, demand)
    if line.slope <= 0:
        raise InputError(f"the demand does not grow with the intensity: ln D = {line.start:.3g} {line.slope:+.3g} ln x")
    return curves_of(line.start, line.slope, line.scatter, thresholds)


class Line:
    """A least-squares line in logarithms, and what its coefficients are known to."""

    def __init__(self, x: Array, y: Array) -> None:
        self.rows = np.column_stack([np.ones(len(x)), x])
        self.coefficients, *_ = np.linalg.lstsq(self.rows, y)
        self.start, self.slope = (float(c) for c in self.coefficients)
        self.freedom = len(x) - 2
        self.squares = float(((y - self.rows @ self.coefficients) ** 2).sum())
        self.scatter = float(np.sqrt(self.squares / self.freedom))


def regression(intensity: Array, demand: Array) -> Line:
    """The line through the runs that have a finite demand above 0."""
    use = np.isfinite(demand) & (demand > 0) & (intensity > 0)
    if int(use.sum()) < 4 or float(np.ptp(np.log(intensity[use]))) == 0:
        raise InputError(f"{int(use.sum())} runs with finite demands: a cloud needs at least 4, at several intensities")
    return Line(np.log(intensity[use]), np.log(demand[use]))


def curves_of(start: float, slope: float, scatter: float, thresholds: Array) -> Curves:
    """Curves of a line."""
    return Curves(np.exp((np.log(thresholds) - start) / slope), np.full(len(thresholds), scatter / slope))


def posterior_draws(intensity: Array, demand: Array, thresholds: Array, count: int, seed: int) -> list[Curves]:
    """Draws of the posterior with the prior 1/s^2: s^2 scaled inverse chi-square, then the line normal (Gelman et al.,
    2013, 14.2). Lines that fall are drawn again.
    """
    line = regression(intensity, demand)
    generator = np.random.Generator(np.random.PCG64(seed))
    root = np.linalg.cholesky(np.linalg.inv(line.rows.T @ line.rows))
    draws: list[Curves] = []
    for _ in range(20 * count):
        scatter = np.sqrt(line.squares / generator.chisquare(line.freedom))
        start, slope = line.coefficients + scatter * root @ generator.standard_normal(2)
        if slope > 0:
            draws.append(curves_of(float(start), float(slope), float(scatter), thresholds))
        if len(draws) == count:
            break
    return draws
