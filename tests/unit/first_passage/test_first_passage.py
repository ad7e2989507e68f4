"""Spectral moments and first-passage probabilities against closed forms and against simulated responses."""

import importlib
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import cont2discrete
from scipy.special import ndtr

from percuss.errors import InputError
from percuss.first_passage.crossing import (
    hazard,
    level_of,
    passage_probability,
    stationary_probability,
    upcrossing_rate,
)
from percuss.first_passage.excitation import Excitation, kanai_tajimi, white_noise
from percuss.first_passage.linear import LinearSystem, linear_system
from percuss.first_passage.moments import Moments, moments_of, stationary_moments
from percuss.models.ground.kanai_tajimi import SYNTHETIC, synthetic_motion

SETTINGS = {name: setting.default for name, setting in SYNTHETIC.items()}


def sdof(omega: float, damping: float) -> LinearSystem:
    one = np.ones((1, 1))
    return linear_system(np.ones(1), 2 * damping * omega * one, omega**2 * one)


def test_stationary_response_to_white_noise() -> None:
    """One-sided density G: variance pi G / (4 z w^3), rate pi G / (4 z w); q^2 = 1 - (1 - 2/pi atan(z/sqrt(1-z^2)))^2
    / (1 - z^2) (Vanmarcke, 1972).
    """
    omega, z, g = 5.0, 0.05, 0.3
    moments = stationary_moments(sdof(omega, z), white_noise(g, 2000.0, 400_000), [1.0])
    assert moments.variance[0] == pytest.approx(math.pi * g / (4 * z * omega**3), rel=1e-5)
    assert moments.rate_variance[0] == pytest.approx(math.pi * g / (4 * z * omega), rel=2e-3)
    q2 = 1 - (1 - 2 / math.pi * math.atan(z / math.sqrt(1 - z * z))) ** 2 / (1 - z * z)
    assert moments.bandwidth[0] ** 2 == pytest.approx(q2, rel=5e-3)


def test_response_that_builds_up() -> None:
    """White noise that starts at once: the variance of Caughey and Stumpf (1961) at any time."""
    omega, z, g = 5.0, 0.1, 0.3
    times = np.array([0.1, 0.4, 1.0, 3.0])
    moments = moments_of(sdof(omega, z), white_noise(g, 4000.0, 80_000), [1.0], times)
    damped = omega * math.sqrt(1 - z * z)
    swing = 1 + z * omega / damped * np.sin(2 * damped * times) + 2 * (z * omega / damped * np.sin(damped * times)) ** 2
    expected = math.pi * g / (4 * z * omega**3) * (1 - np.exp(-2 * z * omega * times) * swing)
    # The noise ends at 4000 rad/s, which is felt in the first tenth of a second.
    np.testing.assert_allclose(moments.variance, expected, rtol=3e-3)
    # The covariance of response and rate is half the rate of the variance.
    h = 1e-4
    later = moments_of(sdof(omega, z), white_noise(g, 4000.0, 80_000), [1.0], times + h)
    earlier = moments_of(sdof(omega, z), white_noise(g, 4000.0, 80_000), [1.0], times - h)
    slope = (later.variance - earlier.variance) / (4 * h)
    np.testing.assert_allclose(moments.covariance, slope, rtol=1e-4, atol=1e-8)


def test_modulated_response_is_continuous_and_ends_as_the_stationary_one() -> None:
    excitation = kanai_tajimi(SETTINGS, 1.0, 25.0)
    assert excitation.power.sum() == pytest.approx(1.0, rel=1e-4)
    system = sdof(8.0, 0.05)
    corners = np.array([2.0, 12.0])
    before, after = (moments_of(system, excitation, [1.0], corners + side) for side in (-1e-7, 1e-7))
    np.testing.assert_allclose(before.variance, after.variance, rtol=1e-5)
    stationary = stationary_moments(system, excitation, [1.0])
    plateau = moments_of(system, excitation, [1.0], np.array([11.9]))
    assert plateau.variance[0] == pytest.approx(stationary.variance[0], rel=1e-3)
    assert plateau.bandwidth[0] == pytest.approx(stationary.bandwidth[0], rel=1e-2)


def responses(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Relative displacements of two oscillators under synthetic motions, by the discrete system of scipy."""
    a = np.zeros((4, 4))
    a[0, 2] = a[1, 3] = 1
    for i, (w, z) in enumerate(((2 * math.pi / 0.6, 0.05), (2 * math.pi / 0.9, 0.05))):
        a[2 + i, i], a[2 + i, 2 + i] = -(w**2), -2 * z * w
    b = np.array([[0.0], [0.0], [-1.0], [-1.0]])
    c, d = np.array([[1.0, -1.0, 0.0, 0.0]]), np.zeros((1, 1))
    a, b, c, d, _ = cont2discrete((a, b, c, d), 0.01, "foh")
    motions = np.array([synthetic_motion(SETTINGS, 1.0, 20.0, seed) for seed in range(count)])
    state, drifts = np.zeros((count, 4)), []
    for column in motions.T:
        drifts.append(state @ c[0] + column * d[0, 0])
        state = state @ a.T + column[:, None] * b.T
    return 0.01 * np.arange(motions.shape[1]), np.array(drifts).T


def pair() -> Moments:
    w = 2 * math.pi / np.array([0.6, 0.9])
    system = linear_system(np.ones(2), np.diag(0.1 * w), np.diag(w**2))
    return moments_of(system, kanai_tajimi(SETTINGS, 1.0, 20.0), [1.0, -1.0], np.arange(0.0, 20.01, 0.1))


def test_moments_and_probabilities_are_those_of_simulated_pairs() -> None:
    """2000 motions: the variance within its sampling error, probabilities within three standard errors."""
    moments = pair()
    t, drifts = responses(2000)
    variance = drifts.var(axis=0)
    for instant in (3.0, 8.0, 12.0, 15.0):
        exact = np.interp(instant, moments.times_s, moments.variance)
        near = (t > instant - 0.5) & (t < instant + 0.5)
        assert variance[near].mean() == pytest.approx(exact, rel=0.15)
    peaks = drifts.max(axis=1)
    for level in np.quantile(peaks, [0.3, 0.5, 0.8, 0.95]):
        simulated = float((peaks > level).mean())
        analytic = passage_probability(moments, float(level))
        # Vanmarcke's rate is an approximation: within a tenth beyond the error of the simulation. Poisson's is not.
        error = 3 * math.sqrt(simulated * (1 - simulated) / 2000)
        assert abs(analytic - simulated) < error + 0.1 * simulated
        assert passage_probability(moments, float(level), "poisson") > 1.15 * analytic
        if simulated < 0.1:
            assert abs(passage_probability(moments, float(level), "vanmarcke-modified") - simulated) < error


def test_levels_and_probabilities_are_inverse() -> None:
    moments = pair()
    for method in ("poisson", "vanmarcke", "vanmarcke-modified"):
        for probability in (0.5, 1e-2, 1e-6):
            level = level_of(moments, probability, method)
            assert passage_probability(moments, level, method) == pytest.approx(probability, rel=1e-6)
    assert level_of(moments, 1e-3, two_sided=True) > level_of(moments, 1e-3)


def test_rice_and_the_stationary_limits() -> None:
    """Without correlation the rate is Rice's (1944); at high levels all methods agree with it."""
    one = np.ones(1)
    moments = Moments(0 * one, 4 * one, 2.2 * one, 9 * one, 0 * one)
    assert upcrossing_rate(moments, 3.0)[0] == pytest.approx(3 / (2 * math.pi * 2) * math.exp(-9 / 8), rel=1e-12)
    high = [hazard(moments, 12.0, method)[0] for method in ("poisson", "vanmarcke")]
    assert high[0] == pytest.approx(high[1], rel=1e-3)
    # A process that may start above the level: at a level of zero it does so, or passes at once.
    assert stationary_probability(moments, 1e-9, 10.0, "vanmarcke") == pytest.approx(1.0)


def test_bad_input_is_refused() -> None:
    moments = pair()
    with pytest.raises(InputError, match="level = -1: must be above 0"):
        passage_probability(moments, -1.0)
    with pytest.raises(InputError, match="method = 'poison'"):
        passage_probability(moments, 1.0, "poison")
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        level_of(moments, 1.0)
    with pytest.raises(InputError, match="must be damped"):
        sdof(1.0, 0.0)
    assert isinstance(white_noise(1.0, 1.0, 2), Excitation)


def test_the_direct_reference_of_the_separation_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its responses are those of the simulator, and its probabilities near the closed form, down to 1e-3."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "studies" / "pounding-separation"))
    direct = importlib.import_module("direct")
    tops, _ = direct.closings_at_one("dampers", "PQ", 1500)
    point = direct.STUDY.point("dampers", {"intensity": 1.0})
    (run,) = direct.model().run([point], [3])
    assert tops[0, 3] == pytest.approx(run.values["closing_PQ"], rel=2e-3)
    moments = direct.moments_at_one("dampers", "PQ")
    prior = direct.STUDY.parameters["intensity"].prior
    spread = math.log(float(prior.ppf(ndtr(1.0))) / float(prior.ppf(0.5)))
    for target, allowed in ((0.5, 0.08), (1e-2, 0.2), (1e-3, 0.3)):
        gap = direct.gap_for(moments, target)
        p = float(ndtr(-np.log(gap / float(prior.ppf(0.5)) / tops) / spread).mean())
        assert p == pytest.approx(target, rel=allowed)
