"""Synthetic ground motion: white noise through a Kanai-Tajimi soil and a Clough-Penzien high-pass, shaped in time.

Power spectral density (Kanai, 1957; Tajimi, 1960; Clough and Penzien, 1975), one-sided in f:

    S(f) ~ (1 + 4 zg^2 r^2) / ((1 - r^2)^2 + 4 zg^2 r^2) * q^4 / ((1 - q^2)^2 + 4 zf^2 q^2),  r = f/fg, q = f/ff

Envelope (Jennings, Housner and Tsai, 1968): rises as (t/t1)^2, stays at one until t2, falls as exp(-c (t - t2)).
The stationary motion is a sum of cosines with random phases (Shinozuka and Deodatis, 1991), scaled so that its
standard deviation before shaping is the intensity asked for. With `amplitudes = "fixed"` every motion of an ensemble
has the spectrum stated, and the differences between motions come from the phases alone. A narrow band of few cosines
then cannot get as large as a Gaussian one would: peaks of lightly damped structures have shorter tails. With "random"
the amplitudes are Rayleigh variables about the spectrum, and the motion is Gaussian, as closed forms of first passage
take it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from percuss.models.seeds import Mixture, Seed
from percuss.settings import Setting

if TYPE_CHECKING:
    from numpy import ndarray

SYNTHETIC = {
    "frequency": Setting("frequency", "number", 2.5, unit="Hz", low=1e-3, high=100, doc="frequency of the ground, fg"),
    "damping": Setting("damping", "number", 0.6, low=0.01, high=2, doc="damping ratio of the ground, zg"),
    "filter_frequency": Setting(
        "filter_frequency", "number", 0.25, unit="Hz", low=1e-4, high=10, doc="frequency of the high-pass filter, ff"
    ),
    "filter_damping": Setting(
        "filter_damping", "number", 0.6, low=0.01, high=2, doc="damping ratio of the high-pass filter, zf"
    ),
    "rise": Setting("rise", "number", 2.0, unit="s", low=1e-3, high=1e3, doc="end of the rise, t1"),
    "plateau": Setting("plateau", "number", 10.0, unit="s", low=0, high=1e4, doc="length of the plateau, t2 - t1"),
    "decay": Setting("decay", "number", 0.3, unit="1/s", low=1e-3, high=1e3, doc="rate of the decay, c"),
    "amplitudes": Setting(
        "amplitudes",
        "text",
        "fixed",
        choices=("fixed", "random"),
        doc="amplitudes of the cosines: as the spectrum, or random about it, which makes the motion Gaussian",
    ),
    "step": Setting("step", "number", 0.01, unit="s", low=1e-4, high=0.1, doc="interval of the samples"),
}


def spectrum(frequency_hz: ndarray, settings: Mapping[str, Any]) -> ndarray:
    """Power spectral density up to a factor."""
    r2 = (frequency_hz / settings["frequency"]) ** 2
    q2 = (frequency_hz / settings["filter_frequency"]) ** 2
    soil = 4 * settings["damping"] ** 2 * r2
    ground = (1 + soil) / ((1 - r2) ** 2 + soil)
    result: ndarray = ground * q2**2 / ((1 - q2) ** 2 + 4 * settings["filter_damping"] ** 2 * q2)
    return result


def envelope(time_s: ndarray, settings: Mapping[str, Any]) -> ndarray:
    """Shape in time, at most one."""
    import numpy as np

    end = settings["rise"] + settings["plateau"]
    rising = np.minimum(time_s / settings["rise"], 1.0) ** 2
    result: ndarray = rising * np.exp(-settings["decay"] * np.maximum(time_s - end, 0.0))
    return result


def sample_count(settings: Mapping[str, Any], duration_s: float) -> int:
    """Samples of a motion, from 0 to the duration."""
    return math.ceil(duration_s / float(settings["step"])) + 1


def period_size(settings: Mapping[str, Any], duration_s: float) -> int:
    """Samples in the period of the sum of cosines: twice the duration, so that no part of the motion repeats."""
    return int(2 ** math.ceil(math.log2(2 * sample_count(settings, duration_s))))


def random_variables(settings: Mapping[str, Any], duration_s: float) -> int:
    """Standard normal variables of a motion: two for each of its phases."""
    return 2 * (period_size(settings, duration_s) // 2 - 1)


def phase_factors(seed: Seed, size: int) -> ndarray:
    """exp(i phase) of so many phases, independent and even over the circle.

    Of a mixture these are the directions of complex normals: a small step of these is a small one of the phases, all
    around the circle.
    """
    import numpy as np

    if isinstance(seed, Mixture):
        normals = complex_normals(seed, size)
        return np.asarray(normals / np.abs(normals))
    phase = np.random.Generator(np.random.PCG64(seed)).uniform(0.0, 2 * np.pi, size)
    return np.asarray(np.exp(1j * phase))


def complex_normals(seed: Seed, size: int) -> ndarray:
    """Independent complex normals, the mean square of their size being one."""
    import numpy as np

    def drawn(one: int) -> ndarray:
        return np.random.Generator(np.random.PCG64(one)).standard_normal((size, 2))

    pairs = seed.normals(drawn) if isinstance(seed, Mixture) else drawn(seed)
    return np.asarray((pairs[:, 0] + 1j * pairs[:, 1]) / np.sqrt(2))


@functools.lru_cache(maxsize=8)
def _shapes(settings: tuple[tuple[str, Any], ...], duration_s: float) -> tuple[ndarray, ndarray]:
    """Amplitudes of the cosines for an intensity of one, and the envelope; kept, since runs have them in common."""
    import numpy as np

    table = dict(settings)
    size = period_size(table, duration_s)
    power = spectrum(np.arange(1, size // 2) / (size * table["step"]), table)
    times = np.arange(sample_count(table, duration_s)) * table["step"]
    shapes = np.sqrt(2 * power / power.sum()), envelope(times, table)
    for shape in shapes:
        shape.setflags(write=False)
    return shapes


def synthetic_motion(settings: Mapping[str, Any], intensity_m_s2: float, duration_s: float, seed: Seed) -> ndarray:
    """Samples of the acceleration every `step` seconds from 0 to the duration, the same for the same seed."""
    import numpy as np

    size = period_size(settings, duration_s)
    amplitude, shape = _shapes(tuple(settings.items()), duration_s)
    coefficients = np.zeros(size // 2 + 1, complex)
    factors = complex_normals if settings["amplitudes"] == "random" else phase_factors
    coefficients[1 : size // 2] = amplitude * intensity_m_s2 * factors(seed, amplitude.size) * size / 2
    return np.asarray(np.fft.irfft(coefficients, size)[: shape.size] * shape)
