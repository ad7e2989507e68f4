"""The random base motion: a stationary Gaussian process with a given spectrum, times an envelope.

Spectrum and envelope are those of the synthetic motions that runs of `oscillators` have (`base_synthetic`): one-sided
density in the circular frequency, scaled to a standard deviation; the envelope rises as (t/t1)^2, stays at one to t2
and falls as exp(-c (t - t2)). Without an envelope the motion is stationary from the start on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.models.ground.kanai_tajimi import spectrum

if TYPE_CHECKING:
    from numpy import ndarray


@dataclass(frozen=True, eq=False)
class Excitation:
    """Frequencies in rad/s with the power each of them stands for, (m/s^2)^2, and the corners of the envelope."""

    omega: ndarray
    power: ndarray
    rise_s: float = 0.0
    plateau_s: float = math.inf
    decay_per_s: float = 0.0


def kanai_tajimi(settings: Mapping[str, Any], intensity_m_s2: float, duration_s: float) -> Excitation:
    """The motion of `base_synthetic`, on frequencies four times as dense as the duration resolves.

    Powers are normalised over the frequencies up to the Nyquist frequency of the samples, as those of the samples are.
    """
    import numpy as np

    step_hz = 0.25 / duration_s
    frequency = np.arange(step_hz, 0.5 / settings["step"], step_hz)
    density = spectrum(frequency, settings)
    power = density / density.sum() * intensity_m_s2**2
    # What lies so high that it adds nothing is left out: a tail of a hundred-thousandth of the power.
    kept = np.cumsum(power) <= (1 - 1e-5) * power.sum()
    return Excitation(
        2 * np.pi * frequency[kept],
        power[kept],
        settings["rise"],
        settings["plateau"],
        settings["decay"],
    )


def white_noise(density_m2_s3: float, highest_rad_s: float, count: int) -> Excitation:
    """Stationary noise with a constant one-sided density in rad/s, up to a highest frequency."""
    import numpy as np

    omega = (np.arange(count) + 0.5) * highest_rad_s / count
    return Excitation(omega, np.full(count, density_m2_s3 * highest_rad_s / count))
