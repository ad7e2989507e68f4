"""Spectral moments of a response in time.

The response of a mode to `env(t) exp(i w t)` is known in closed form on the rise, the plateau and the fall of the
envelope. With Y(w, t) that of the response sought and Y' its rate, G the one-sided density:

    l0 = int G |Y|^2 dw,  l1 = int G Im(Y* Y') dw,  l2 = int G |Y'|^2 dw,  c = int G Re(Y* Y') dw

(Di Paola, 1985; Michaelov, Sarkani and Lutes, 1999; Barbato and Conte, 2008). In the stationary state Y' = i w Y and
they are the moments of Vanmarcke (1972); c, the covariance of the response and its rate, is zero then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.first_passage.excitation import Excitation
from percuss.first_passage.linear import LinearSystem

if TYPE_CHECKING:
    from numpy import ndarray


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of one response at instants."""

    times_s: ndarray
    variance: ndarray
    first: ndarray
    rate_variance: ndarray
    covariance: ndarray

    @property
    def bandwidth(self) -> ndarray:
        """Vanmarcke's q: 0 for a single frequency, towards 1 for a wide band."""
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.first**2 / (self.variance * self.rate_variance)
        return np.asarray(np.sqrt(np.clip(1 - np.nan_to_num(share), 0.0, 1.0)))


def moments_of(system: LinearSystem, excitation: Excitation, weights: Sequence[float], times_s: ndarray) -> Moments:
    """Moments of the sum of displacements with these weights, as (1, -1) for a relative displacement."""
    import numpy as np

    n = system.masses
    u = np.asarray(weights, float) @ system.vectors[:n]
    v = np.asarray(weights, float) @ system.vectors[n:]
    rows = []
    for t in np.asarray(times_s, float):
        modes = _modes(system, excitation, float(t))
        y, rate = u @ modes, v @ modes
        cross = np.conj(y) * rate
        power = excitation.power
        rows.append((power @ np.abs(y) ** 2, power @ cross.imag, power @ np.abs(rate) ** 2, power @ cross.real))
    variance, first, rate_variance, covariance = np.array(rows).T
    return Moments(np.asarray(times_s, float), variance, first, rate_variance, covariance)


def stationary_moments(system: LinearSystem, excitation: Excitation, weights: Sequence[float]) -> Moments:
    """Moments long after the start of a motion that does not end."""
    import numpy as np

    n = system.masses
    s = 1j * excitation.omega[None, :] - system.eigenvalues[:, None]
    y = (np.asarray(weights, float) @ system.vectors[:n]) @ (system.participation[:, None] / s)
    power, omega = excitation.power, excitation.omega
    size = np.abs(y) ** 2
    numbers = (power @ size, power @ (omega * size), power @ (omega**2 * size), 0.0)
    return Moments(np.zeros(1), *(np.array([number]) for number in numbers))


def _modes(system: LinearSystem, excitation: Excitation, t: float) -> ndarray:
    """Modal responses at an instant, by mode and frequency."""
    import numpy as np

    roots = system.eigenvalues[:, None]
    spin = 1j * excitation.omega[None, :]
    s = spin - roots
    t1 = excitation.rise_s
    t2 = t1 + excitation.plateau_s

    def rising(at: float) -> ndarray:
        alpha = 1 / (t1 * t1 * s)
        return np.asarray((alpha * at * at - 2 * alpha / s * at + 2 * alpha / s**2) * np.exp(spin * at))

    def level(at: float) -> ndarray:
        return np.asarray(np.exp(spin * at) / s)

    def falling(at: float) -> ndarray:
        shape = math.exp(-excitation.decay_per_s * (at - t2))
        return np.asarray(shape * np.exp(spin * at) / (s - excitation.decay_per_s))

    z = np.zeros(s.shape, complex)
    start = 0.0
    for end, particular in ((t1, rising), (t2, level), (math.inf, falling)):
        stop = min(t, end)
        if stop > start:
            z = particular(stop) + (z - particular(start)) * np.exp(roots * (stop - start))
            start = stop
    return np.asarray(system.participation[:, None] * z)
