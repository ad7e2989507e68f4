"""Elastic response spectra: the peaks of damped oscillators on a base that moves as sampled.

The recurrence from sample to sample is exact for an acceleration that is linear between samples (Nigam and Jennings,
1969); peaks are those between samples too, and of the free vibration after the last one. `sa` is the
pseudo-acceleration w^2 sd, which hazard maps and codes mean by a spectral acceleration; the absolute acceleration is
beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss import _core

if TYPE_CHECKING:
    from numpy import ndarray

DAMPING = 0.05


@dataclass(frozen=True, eq=False)
class Spectrum:
    """One entry a period."""

    periods_s: ndarray
    damping: float
    sd_m: ndarray
    relative_velocity_m_s: ndarray
    absolute_acceleration_m_s2: ndarray

    @property
    def omega(self) -> ndarray:
        """Natural frequencies, rad/s."""
        import numpy as np

        return np.asarray(2 * np.pi / self.periods_s)

    @property
    def sv_m_s(self) -> ndarray:
        """Pseudo-velocities."""
        import numpy as np

        return np.asarray(self.omega * self.sd_m)

    @property
    def sa_m_s2(self) -> ndarray:
        """Pseudo-accelerations."""
        import numpy as np

        return np.asarray(self.omega**2 * self.sd_m)


def response_spectrum(
    times_s: Sequence[float] | ndarray,
    accelerations_m_s2: Sequence[float] | ndarray,
    periods_s: Sequence[float] | ndarray,
    damping: float = DAMPING,
) -> Spectrum:
    """Spectrum of a motion at these periods.

    >>> found = response_spectrum([0.0, 20.0], [1.0, 1.0], [1.0])
    >>> bool(abs(found.sa_m_s2[0] - 1.854) < 1e-3)
    True
    """
    import numpy as np

    periods = np.ascontiguousarray(periods_s, float)
    times = np.ascontiguousarray(times_s, float)
    peaks = _core.response_spectrum(times, np.ascontiguousarray(accelerations_m_s2, float), periods, damping)
    return Spectrum(periods, damping, *peaks)
