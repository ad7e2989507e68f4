"""Response spectra against an independent integrator, and in the limits of stiff and soft oscillators.

Closed forms (step, ramp, triangle, resonance) are in `rust/signals/tests/closed_forms.rs`.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from percuss import _core
from percuss.models.ground.spectrum import response_spectrum


def noise(count: int = 120, step: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.Generator(np.random.PCG64(7))
    return step * np.arange(count), generator.normal(size=count)


def integrated(times: np.ndarray, values: np.ndarray, period: float, damping: float) -> tuple[float, float]:
    """Largest displacement and absolute acceleration by DOP853, sample to sample, peaks located by its events."""
    omega = 2 * np.pi / period

    def rate(t: float, x: np.ndarray, start: float, a: float, slope: float) -> list[float]:
        return [x[1], -2 * damping * omega * x[1] - omega**2 * x[0] - a - slope * (t - start)]

    def turns(t: float, x: np.ndarray, *load: float) -> float:
        return float(x[1])

    def peaks(t: float, x: np.ndarray, *load: float) -> float:
        return float(2 * damping * omega * rate(t, x, *load)[1] + omega**2 * x[1])

    state, largest = np.zeros(2), [0.0, 0.0]
    ends = [*zip(times[:-1], times[1:], values[:-1], values[1:], strict=True)]
    ends.append((times[-1], times[-1] + period, 0.0, 0.0))
    for start, end, a, b in ends:
        load = (start, a, (b - a) / (end - start))
        run = solve_ivp(rate, (start, end), state, "DOP853", args=load, events=(turns, peaks), rtol=1e-11, atol=1e-14)
        state = run.y[:, -1]
        for x in [*run.y_events[0], state]:
            largest[0] = max(largest[0], abs(x[0]))
        for x in [*run.y_events[1], state]:
            largest[1] = max(largest[1], abs(2 * damping * omega * x[1] + omega**2 * x[0]))
    return largest[0], largest[1]


@pytest.mark.parametrize(("period", "damping"), [(0.04, 0.05), (0.3, 0.02), (1.0, 0.05), (6.0, 0.2)])
def test_spectrum_is_that_of_an_independent_integrator(period: float, damping: float) -> None:
    times, values = noise()
    found = response_spectrum(times, values, [period], damping)
    displacement, acceleration = integrated(times, values, period, damping)
    assert found.sd_m[0] == pytest.approx(displacement, rel=1e-8)
    assert found.absolute_acceleration_m_s2[0] == pytest.approx(acceleration, rel=1e-8)


def test_pseudo_and_absolute_acceleration_agree_without_damping() -> None:
    found = response_spectrum(*noise(), np.geomspace(0.05, 5, 20), 0.0)
    np.testing.assert_allclose(found.sa_m_s2, found.absolute_acceleration_m_s2, rtol=1e-10)
    np.testing.assert_allclose(found.sv_m_s, found.sa_m_s2 * found.periods_s / (2 * np.pi))


def test_one_period_at_a_time_gives_the_same_bits() -> None:
    times, values = noise()
    periods = np.geomspace(0.05, 4, 30)
    together = response_spectrum(times, values, periods)
    for i, period in enumerate(periods):
        assert response_spectrum(times, values, [period]).sd_m[0] == together.sd_m[i]


def test_uneven_samples_and_free_vibration() -> None:
    """Samples on a straight line change nothing; zeros after the end are there anyway."""
    times, values = np.array([0.0, 0.3, 0.7, 1.0]), np.array([0.0, 2.0, -1.0, 0.0])
    more = np.unique(np.concatenate([times, np.linspace(0, 1, 7), np.linspace(1, 9, 40)]))
    periods = [0.2, 1.0, 3.0]
    few = response_spectrum(times, values, periods)
    many = response_spectrum(more, np.interp(more, times, values, right=0.0), periods)
    np.testing.assert_allclose(few.sd_m, many.sd_m, rtol=1e-10)


@pytest.mark.parametrize(
    ("times", "values", "periods", "damping", "words"),
    [
        ([0.0, 1.0], [0.0], [1.0], 0.05, "2 instants and 1 accelerations"),
        ([0.0, 0.0], [0.0, 1.0], [1.0], 0.05, "does not come after"),
        ([0.0, 1.0], [0.0, np.nan], [1.0], 0.05, "acceleration_m_s2 = NaN: must be finite"),
        ([0.0, 1.0], [0.0, 1.0], [-1.0], 0.05, "period_s = -1: must be above 0"),
        ([0.0, 1.0], [0.0, 1.0], [1.0], -0.1, "damping = -0.1"),
    ],
)
def test_bad_input_is_refused(
    times: list[float], values: list[float], periods: list[float], damping: float, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        _core.response_spectrum(np.array(times), np.array(values), np.array(periods), damping)
