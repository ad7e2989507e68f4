"""The velocity pulse of motions near a fault (Mavroeidis and Papageorgiou, 2003, eq. 3 and 4).

    v(t) = A / 2 (1 + cos(2 pi f / g (t - t0))) cos(2 pi f (t - t0) + n),   |t - t0| <= g / (2 f), g > 1

A is its amplitude, 1 / f its period, g the number of oscillations, n the phase, t0 the time of the envelope's peak.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from percuss.settings import Setting, table_of

if TYPE_CHECKING:
    from numpy import ndarray

PULSE = table_of(
    Setting("velocity", "number", required=True, unit="m/s", low=0, doc="amplitude A; an input, pulse_velocity"),
    Setting(
        "period",
        "number",
        required=True,
        unit="s",
        low=0.01,
        high=100,
        doc="period of the pulse; an input, pulse_period",
    ),
    Setting("oscillations", "number", 1.5, low=1.0001, high=100, doc="g, above 1; an input, pulse_oscillations"),
    Setting("phase", "number", 0.0, unit="rad", doc="n; an input, pulse_phase"),
    Setting(
        "time",
        "number",
        unit="s",
        doc="when its envelope peaks; an input, pulse_time; default: it begins with the run",
    ),
)
# Straight lines between 200 samples a period: the peak of a sine is low by 1e-4 of it.
SAMPLES_PER_PERIOD = 200


def pulse_times(point: Mapping[str, Any]) -> ndarray:
    """Instants at which a pulse is sampled, its ends among them."""
    import numpy as np

    half = 0.5 * point["pulse_oscillations"] * point["pulse_period"]
    count = int(np.ceil(2 * half / point["pulse_period"] * SAMPLES_PER_PERIOD))
    return np.asarray(float(point["pulse_time"]) + np.linspace(-half, half, count + 1))


def pulse_acceleration(times_s: ndarray, point: Mapping[str, Any]) -> ndarray:
    """Acceleration of the pulse: the derivative of its velocity, zero outside of it."""
    import numpy as np

    amplitude, oscillations = float(point["pulse_velocity"]), float(point["pulse_oscillations"])
    omega = 2 * np.pi / float(point["pulse_period"])
    t = times_s - float(point["pulse_time"])
    slow, fast = omega / oscillations * t, omega * t + float(point["pulse_phase"])
    inside = np.abs(slow) <= np.pi * (1 + 1e-12)
    shape = np.sin(slow) * np.cos(fast) / oscillations + (1 + np.cos(slow)) * np.sin(fast)
    return np.where(inside, -0.5 * amplitude * omega * shape, 0.0)
