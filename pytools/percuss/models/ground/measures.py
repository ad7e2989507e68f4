"""Measures of how strong a motion is, exact for straight lines between its samples.

| measure | definition |
| --- | --- |
| PGA, PGV, PGD | largest acceleration, and velocity and displacement from rest, baseline as recorded |
| Arias | pi / (2 g) times the integral of a^2 (Arias, 1970) |
| CAV | integral of the size of a (EPRI, 1988) |
| significant duration | from 5 to 95 % of the Arias intensity (Trifunac and Brady, 1975) |
| Housner | integral of the pseudo-velocity over periods from 0.1 to 2.5 s (Housner, 1952), here at 5 % damping |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.models.ground.spectrum import response_spectrum

if TYPE_CHECKING:
    from numpy import ndarray

GRAVITY_M_S2 = 9.80665
# Periods of Housner's intensity; the trapezoidal rule over 49 of them.
HOUSNER_S = (0.1, 2.5, 49)


@dataclass(frozen=True)
class Measures:
    """Measures of one motion, SI."""

    pga_m_s2: float
    pgv_m_s: float
    pgd_m: float
    arias_m_s: float
    cav_m_s: float
    significant_duration_s: float


def measures_of(times_s: Sequence[float] | ndarray, accelerations_m_s2: Sequence[float] | ndarray) -> Measures:
    """All measures that need no spectrum.

    >>> measures_of([0.0, 1.0, 2.0], [1.0, 1.0, 1.0]).cav_m_s
    2.0
    """
    import numpy as np

    t, a = np.asarray(times_s, float), np.asarray(accelerations_m_s2, float)
    h, before, after = np.diff(t), a[:-1], a[1:]
    velocity = np.concatenate([[0.0], np.cumsum(0.5 * h * (before + after))])
    rise = velocity[:-1] * h + h**2 * (2 * before + after) / 6
    displacement = np.concatenate([[0.0], np.cumsum(rise)])
    # The velocity peaks between two samples where the acceleration crosses zero there.
    crosses = before * after < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = np.where(crosses, before / (before - after), 0.0) * h
    turned = velocity[:-1] + 0.5 * before * zero
    pgv = max(np.abs(velocity).max(), np.abs(turned[crosses]).max(initial=0.0))
    areas = np.where(
        crosses, 0.5 * np.abs(before) * zero + 0.5 * np.abs(after) * (h - zero), 0.5 * h * abs(before + after)
    )
    squares = np.concatenate([[0.0], np.cumsum(h * (before**2 + before * after + after**2) / 3)])
    duration = _reached(t, a, squares, 0.95) - _reached(t, a, squares, 0.05) if squares[-1] > 0 else 0.0
    return Measures(
        float(np.abs(a).max()),
        float(pgv),
        _largest_displacement(h, before, after, velocity, displacement),
        float(math.pi / (2 * GRAVITY_M_S2) * squares[-1]),
        float(areas.sum()),
        duration,
    )


def housner_m(times_s: Sequence[float] | ndarray, accelerations_m_s2: Sequence[float] | ndarray) -> float:
    """Housner's intensity, m (m/s times s)."""
    import numpy as np

    periods = np.linspace(*HOUSNER_S[:2], int(HOUSNER_S[2]))
    return float(np.trapezoid(response_spectrum(times_s, accelerations_m_s2, periods).sv_m_s, periods))


def _largest_displacement(
    h: ndarray, before: ndarray, after: ndarray, velocity: ndarray, displacement: ndarray
) -> float:
    """The displacement peaks where the velocity, a parabola between two samples, is zero."""
    import numpy as np

    largest = np.abs(displacement).max()
    bend = (after - before) / (2 * h)
    start = velocity[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(before**2 - 4 * bend * start)
        # The two roots without cancellation (Press et al., 2007, 5.6.4); a straight line has one, in the second.
        half = -0.5 * (before + np.where(before < 0, -1.0, 1.0) * root)
        for x in (half / bend, start / half):
            inside = (x > 0) & (x < h)
            turning = displacement[:-1] + x * (start + x * (before / 2 + x * bend / 3))
            largest = max(largest, np.abs(turning[inside]).max(initial=0.0))
    return float(largest)


def _reached(t: ndarray, a: ndarray, squares: ndarray, share: float) -> float:
    """When the integral of a^2 reaches a share of its whole; between two samples it is a cubic that never falls."""
    import numpy as np

    sought = share * squares[-1]
    i = min(max(int(np.searchsorted(squares, sought)) - 1, 0), len(t) - 2)
    h, missing = t[i + 1] - t[i], sought - squares[i]
    slope = (a[i + 1] - a[i]) / h
    low, high = 0.0, float(h)
    for _ in range(60):
        x = 0.5 * (low + high)
        if x * (a[i] ** 2 + x * (a[i] * slope + x * slope**2 / 3)) < missing:
            low = x
        else:
            high = x
    return float(t[i] + high)
