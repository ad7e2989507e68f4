"""The velocity pulse: its acceleration is the derivative of the published velocity, and it ends at rest."""

import numpy as np

from percuss.models.ground.pulse import pulse_acceleration, pulse_times

POINT = {
    "pulse_velocity": 0.8,
    "pulse_period": 1.6,
    "pulse_oscillations": 2.3,
    "pulse_phase": 0.7,
    "pulse_time": 5.0,
}


def velocity(t: np.ndarray) -> np.ndarray:
    """Mavroeidis and Papageorgiou (2003), eq. 3."""
    f, g, t = 1 / 1.6, 2.3, t - 5.0
    return 0.4 * (1 + np.cos(2 * np.pi * f / g * t)) * np.cos(2 * np.pi * f * t + 0.7)


def test_acceleration_is_the_derivative_of_the_velocity() -> None:
    t = pulse_times(POINT)[1:-1]
    h = 1e-5
    np.testing.assert_allclose(
        pulse_acceleration(t, POINT), (velocity(t + h) - velocity(t - h)) / (2 * h), rtol=0, atol=1e-8
    )


def test_it_spans_its_oscillations_and_is_nothing_outside() -> None:
    t = pulse_times(POINT)
    assert (t[0], t[-1]) == (5.0 - 2.3 * 0.8, 5.0 + 2.3 * 0.8)
    assert (pulse_acceleration(np.array([t[0] - 1e-3, t[-1] + 1e-3]), POINT) == 0).all()
    end = np.trapezoid(pulse_acceleration(t, POINT), t)
    assert abs(end) < 1e-4
