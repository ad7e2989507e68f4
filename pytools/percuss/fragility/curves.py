"""Lognormal fragility curves, and the damage that runs show.

    P(state or worse | x) = F((ln x - ln m) / b)      m the median, b the dispersion, F the standard normal distribution

States are given in rising order of damage. With one dispersion for all of them curves never cross.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]
# Dispersions outside of this are those of data that cannot tell one: all damage above one intensity and none below it.
SMALLEST, LARGEST = 0.01, 10.0


@dataclass(frozen=True, eq=False)
class Observed:
    """Runs: intensity, demand (infinite where the structure collapsed), and which runs share a motion."""

    intensity: Array
    demand: Array
    group: NDArray[np.intp]

    def damage(self, thresholds: Array) -> NDArray[np.intp]:
        """How many of the states each run exceeds."""
        return np.asarray((self.demand[:, None] > thresholds[None, :]).sum(axis=1), np.intp)

    def take(self, rows: NDArray[np.intp]) -> Observed:
        """Some of the runs."""
        return Observed(self.intensity[rows], self.demand[rows], self.group[rows])


@dataclass(frozen=True, eq=False)
class Curves:
    """Medians and dispersions of the states."""

    median: Array
    dispersion: Array

    def probability(self, intensity: Array) -> Array:
        """Probability of each state or worse, by intensity and state."""
        with np.errstate(divide="ignore"):
            return np.asarray(ndtr((np.log(intensity)[:, None] - np.log(self.median)) / self.dispersion))
