"""Measures of intensity against closed forms of sines, triangles and steps."""

import math

import numpy as np
import pytest

from percuss.models.ground.measures import GRAVITY_M_S2, housner_m, measures_of
from percuss.models.ground.spectrum import response_spectrum


def test_a_triangle_is_exact() -> None:
    """a rises from 0 to A in h and falls to 0 in h: all integrals by hand."""
    h, a = 0.3, 2.0
    found = measures_of([0.0, h, 2 * h], [0.0, a, 0.0])
    assert found.pga_m_s2 == a
    assert found.pgv_m_s == pytest.approx(a * h, rel=1e-14)
    assert found.pgd_m == pytest.approx(a * h * h, rel=1e-14)
    assert found.cav_m_s == pytest.approx(a * h, rel=1e-14)
    assert found.arias_m_s == pytest.approx(math.pi / (2 * GRAVITY_M_S2) * 2 * a * a * h / 3, rel=1e-14)
    # A twentieth of the integral of a^2 is reached at h 0.1^(1/3), and the rest by symmetry.
    assert found.significant_duration_s == pytest.approx(2 * h * (1 - 0.1 ** (1 / 3)), rel=1e-12)


def test_peaks_between_samples() -> None:
    """A line from 1 to -2 in 3 s: velocity peaks at 1 s, displacement where the velocity is zero again, at 2 s."""
    found = measures_of([0.0, 3.0], [1.0, -2.0])
    assert found.pgv_m_s == pytest.approx(1.5)  # at the end; 0.5 at 1 s
    assert found.pgd_m == pytest.approx(2 / 3)  # t^2/2 - t^3/6 at 2 s
    assert found.cav_m_s == pytest.approx(0.5 + 2.0)
    assert measures_of([0.0, 2.0], [1.0, -1.0]).pgv_m_s == pytest.approx(0.5)


def test_a_sine_is_that_of_the_closed_form() -> None:
    amplitude, omega, count = 3.0, 2 * math.pi, 20_000
    t = np.linspace(0.0, 10.0, count + 1)
    found = measures_of(t, amplitude * np.sin(omega * t))
    assert found.pgv_m_s == pytest.approx(2 * amplitude / omega, rel=1e-6)
    assert found.cav_m_s == pytest.approx(10 * amplitude * 2 / math.pi, rel=1e-6)
    # Straight lines between 2000 samples a period hold less by (2 pi / 2000)^2 / 6.
    assert found.arias_m_s == pytest.approx(math.pi / (2 * GRAVITY_M_S2) * 5 * amplitude**2, rel=2e-6)
    assert found.pgd_m == pytest.approx(10 * amplitude / omega, rel=1e-6)


def test_measures_scale_and_do_not_depend_on_more_samples() -> None:
    generator = np.random.Generator(np.random.PCG64(1))
    t, a = 0.1 * np.arange(60), generator.normal(size=60)
    fine = np.linspace(t[0], t[-1], 59 * 8 + 1)
    one, other = measures_of(t, a), measures_of(fine, np.interp(fine, t, a))
    twice = measures_of(t, -2 * a)
    powers = {"pga_m_s2": 1, "pgv_m_s": 1, "pgd_m": 1, "arias_m_s": 2, "cav_m_s": 1, "significant_duration_s": 0}
    for name, power in powers.items():
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9), name
        assert getattr(twice, name) == pytest.approx(2**power * getattr(one, name), rel=1e-9), name


def test_nothing_has_no_intensity() -> None:
    found = measures_of([0.0, 1.0, 3.0], [0.0, 0.0, 0.0])
    assert (found.pga_m_s2, found.pgd_m, found.arias_m_s, found.significant_duration_s) == (0.0, 0.0, 0.0, 0.0)


def test_housner_is_the_area_under_the_pseudo_velocity() -> None:
    generator = np.random.Generator(np.random.PCG64(2))
    t, a = 0.02 * np.arange(400), generator.normal(size=400)
    periods = np.linspace(0.1, 2.5, 2001)
    area = np.trapezoid(response_spectrum(t, a, periods).sv_m_s, periods)
    assert housner_m(t, a) == pytest.approx(area, rel=5e-3)
