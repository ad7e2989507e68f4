"""Incremental dynamic analysis: the intensity at which a motion first brings a state (Vamvatsikos and Cornell, 2002).

Demands of one motion at rising intensities are joined by straight lines in logarithms; the capacity is where the line
first meets the threshold. A motion that never does is censored at its highest intensity, one that does so at once at
its lowest. Capacities are lognormal, one median a state and one dispersion, by maximum likelihood with the censored
ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_ndtr

from percuss.errors import InputError
from percuss.fragility.curves import LARGEST, SMALLEST, Array, Curves, Observed


@dataclass(frozen=True, eq=False)
class Capacities:
    """Logarithms of capacities by motion and state; `above` and `below` where only a bound is known."""

    value: Array
    above: NDArray[np.bool_]
    below: NDArray[np.bool_]

    def take(self, motions: NDArray[np.intp]) -> Capacities:
        """Some of the motions."""
        return Capacities(self.value[motions], self.above[motions], self.below[motions])


def capacities(observed: Observed, thresholds: Array) -> Capacities:
    """The capacity of every motion for every state."""
    motions = np.unique(observed.group)
    shape = (len(motions), len(thresholds))
    value, above, below = np.zeros(shape), np.zeros(shape, bool), np.zeros(shape, bool)
    for i, motion in enumerate(motions):
        own = observed.take(np.flatnonzero(observed.group == motion))
        order = np.argsort(own.intensity, kind="stable")
        x, y = np.log(own.intensity[order]), own.demand[order]
        if len(x) < 2:
            raise InputError("incremental dynamic analysis: every motion must be run at several intensities")
        for k, threshold in enumerate(thresholds):
            value[i, k], above[i, k], below[i, k] = _first(x, y, float(threshold))
    return Capacities(value, above, below)


def _first(x: Array, y: Array, threshold: float) -> tuple[float, bool, bool]:
    over = np.flatnonzero(y > threshold)
    if not len(over):
        return float(x[-1]), True, False
    i = int(over[0])
    if i == 0:
        return float(x[0]), False, True
    low, high = max(float(y[i - 1]), 1e-300), float(y[i])
    # Up to a collapse there is no line: half way.
    share = np.log(threshold / low) / np.log(high / low) if np.isfinite(high) else 0.5
    return float(x[i - 1] + share * (x[i] - x[i - 1])), False, False


def log_likelihood(known: Capacities, curves: Curves) -> float:
    """Of capacities, censored or not."""
    u = (known.value - np.log(curves.median)) / curves.dispersion
    exact = -0.5 * u * u - np.log(curves.dispersion)
    terms = np.where(known.above, log_ndtr(-u), np.where(known.below, log_ndtr(u), exact))
    return float(terms.sum())


def fit_capacities(known: Capacities, *, common: bool = True) -> Curves:
    """Medians and dispersions by maximum likelihood."""
    free = ~(known.above | known.below)
    states = known.value.shape[1]
    if not free.any(axis=0).all():
        k = int(np.flatnonzero(~free.any(axis=0))[0])
        raise InputError(f"state {k + 1} of {states}: no motion comes to it between two intensities that were run")
    if not common and states > 1:
        fits = [
            fit_capacities(Capacities(known.value[:, [k]], known.above[:, [k]], known.below[:, [k]]))
            for k in range(states)
        ]
        return Curves(*(np.concatenate([getattr(fit, name) for fit in fits]) for name in ("median", "dispersion")))
    means = known.value.mean(axis=0)
    scatter = float(np.sqrt(np.mean((known.value - means) ** 2)))
    if not (known.above | known.below).any():
        return Curves(np.exp(means), np.full(states, np.clip(scatter, SMALLEST, LARGEST)))

    def curves_at(point: Array) -> Curves:
        return Curves(np.exp(point[:-1]), np.full(states, np.exp(np.clip(point[-1], -4.6, 2.3))))

    start = np.append(means, np.log(max(scatter, 0.05)))
    best = minimize(lambda point: -log_likelihood(known, curves_at(point)), start, method="BFGS")
    return curves_at(best.x)
