"""Synthetic motions whose response spectrum is a given one: random phases, amplitudes made to fit.

A sum of cosines with phases from the run's seed, shaped in time as the Kanai-Tajimi motions are. Amplitudes start from
the power that a wide-band motion of the target would have (Gasparini and Vanmarcke, 1976) and are multiplied by target
over response spectrum, frequency by frequency, until the spectrum fits (Gasparini and Vanmarcke, 1976, SIMQKE; Levy and
Wilkinson, 1976). The iteration with the smallest root mean square misfit is kept. Every motion matches by itself: the
spread of spectra between recorded motions is not there, and so neither is its part in the spread of responses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from percuss.models.ground.kanai_tajimi import SYNTHETIC, envelope, period_size, phase_factors, sample_count
from percuss.models.ground.spectrum import response_spectrum
from percuss.models.ground.target import TARGET, Target
from percuss.models.seeds import Seed
from percuss.settings import Setting, table_of

if TYPE_CHECKING:
    from numpy import ndarray

COMPATIBLE = table_of(
    *TARGET,
    *(SYNTHETIC[key] for key in ("rise", "plateau", "decay", "step")),
    Setting(
        "shortest", "number", 0.05, unit="s", low=0.005, high=1, doc="shortest period at which the spectrum is matched"
    ),
    Setting(
        "longest", "number", 4.0, unit="s", low=0.1, high=100, doc="longest period at which the spectrum is matched"
    ),
    Setting("periods", "integer", 60, low=10, high=500, doc="number of periods, evenly spaced in the logarithm"),
    Setting("iterations", "integer", 20, low=0, high=100, doc="number of iterations"),
)


def matched_periods(settings: Mapping[str, Any]) -> ndarray:
    """The periods at which the spectrum is matched."""
    import numpy as np

    return np.geomspace(settings["shortest"], settings["longest"], int(settings["periods"]))


def compatible_motion(target: Target, settings: Mapping[str, Any], duration_s: float, seed: Seed) -> ndarray:
    """Samples of the acceleration every `step` seconds from 0 to the duration, the same for the same seed."""
    import numpy as np

    step, count, size = settings["step"], sample_count(settings, duration_s), period_size(settings, duration_s)
    frequency = np.arange(1, size // 2) / (size * step)
    times = np.arange(count) * step
    shape = envelope(times, settings)
    periods = matched_periods(settings)
    goal = target.sa_m_s2(periods)
    # Below half the lowest frequency that is matched nothing holds the amplitudes, and they would only drift.
    used = frequency >= 0.5 / settings["longest"]
    power = np.where(used, target.sa_m_s2(1 / frequency) ** 2 * 4 * target.damping / frequency, 0.0)
    spin = phase_factors(seed, frequency.size) * np.sqrt(power / size / step)

    def motion(factor: ndarray) -> ndarray:
        coefficients = np.zeros(size // 2 + 1, complex)
        coefficients[1 : size // 2] = factor * spin * size / 2
        return np.asarray(np.fft.irfft(coefficients, size)[:count] * shape)

    factor = np.ones(frequency.size)
    best, smallest = motion(factor), np.inf
    for i in range(int(settings["iterations"]) + 1):
        samples = motion(factor)
        ratio = np.log(goal / response_spectrum(times, samples, periods, target.damping).sa_m_s2)
        if i == 0:
            # The level first: its error is no matter of frequencies.
            level = float(np.exp(ratio.mean()))
            factor, samples, ratio = factor * level, samples * level, ratio - ratio.mean()
        misfit = float(np.sqrt(np.mean(ratio**2)))
        if misfit < smallest:
            best, smallest = samples, misfit
        factor = factor * np.exp(np.interp(np.log(frequency), -np.log(periods[::-1]), ratio[::-1]))
    return best
