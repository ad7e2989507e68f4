"""Hazard curves, and the mean annual rate of damage.

A hazard curve gives the annual rate at which an intensity is exceeded. Between its points it is a power law; so it is
beyond the last one, with the exponent of the last two. With l(x) = k0 x^-k throughout the rate of a state is, exactly,
k0 m^-k exp(k^2 b^2 / 2) (Cornell et al., 2002); piece by piece integration by parts gives the same with normal
distribution functions at the ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from percuss.errors import InputError
from percuss.fragility.curves import Array, Curves


@dataclass(frozen=True, eq=False)
class Hazard:
    """Intensities that rise, in SI, and the annual rates at which they are exceeded, which fall."""

    intensity: Array
    rate: Array

    def __post_init__(self) -> None:
        rising = (np.diff(self.intensity) > 0).all() and (np.diff(self.rate) < 0).all()
        if len(self.intensity) < 2 or not rising or self.intensity[0] <= 0 or self.rate[-1] <= 0:
            raise InputError("hazard: intensities must rise and rates must fall, all above 0, at least two of them")

    def rates(self, curves: Curves, low: float = 0.0, high: float = np.inf) -> Array:
        """Mean annual rate of each state, from intensities between two bounds."""
        x, y = np.log(self.intensity), np.log(self.rate)
        total = np.zeros(len(curves.median))
        for i in range(len(x) - 1):
            k = (y[i] - y[i + 1]) / (x[i + 1] - x[i])
            last = i == len(x) - 2
            start = max(self.intensity[i], low)
            end = min(np.inf if last else self.intensity[i + 1], high)
            if end > start:
                total += _piece(curves, float(y[i] + k * x[i]), float(k), float(start), float(end))
        return total

    def unknown(self, curves: Curves) -> Array:
        """What share of each state's rate would come from intensities beyond both ends, did the laws at the ends go on.
        Below the first point that part is not in `rates`. Two points are one law, meant to go on beyond the second.
        """
        x, y = np.log(self.intensity), np.log(self.rate)
        k = (y[0] - y[1]) / (x[1] - x[0])
        below = _piece(curves, float(y[0] + k * x[0]), float(k), 0.0, float(self.intensity[0]))
        beyond = self.rates(curves, float(self.intensity[-1])) if len(x) > 2 else 0.0
        return (below + beyond) / (below + self.rates(curves))


def power_law(k0: float, k: float, low: float, high: float) -> Hazard:
    """l(x) = k0 x^-k between two intensities and beyond."""
    if not (k0 > 0 and k > 0):
        raise InputError(f"hazard law {k0:g}, {k:g}: both numbers must be above 0")
    ends = np.array([low, high])
    return Hazard(ends, k0 * ends**-k)


def _piece(curves: Curves, log_k0: float, k: float, start: float, end: float) -> Array:
    """Integral of P(x) k k0 x^(-k-1) from start to end."""
    mean, b = np.log(curves.median), curves.dispersion
    shift = np.exp(log_k0 - k * mean + 0.5 * (k * b) ** 2)

    def primitive(x: float) -> Array:
        if np.isinf(x) or x == 0:
            return np.asarray(shift * np.full_like(mean, x > 0))
        u = (np.log(x) - mean) / b
        return np.asarray(shift * ndtr(u + k * b) - np.exp(log_k0 - k * np.log(x)) * ndtr(u))

    return primitive(end) - primitive(start)
