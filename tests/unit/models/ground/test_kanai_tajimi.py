"""Synthetic ground motion: its spectrum, its intensity, its envelope, and that it follows from the seed."""

import numpy as np

from percuss.models.ground.kanai_tajimi import (
    SYNTHETIC,
    complex_normals,
    envelope,
    phase_factors,
    random_variables,
    spectrum,
    synthetic_motion,
)
from percuss.models.seeds import Mixture

SETTINGS = {name: setting.default for name, setting in SYNTHETIC.items()}
LONG = SETTINGS | {"rise": 1e-3, "plateau": 1e4}


def test_intensity_is_the_standard_deviation_on_the_plateau() -> None:
    """A sum of fixed amplitudes over its whole period has exactly that; half of it, within a few per cent."""
    motions = [synthetic_motion(LONG, 2.0, 200.0, seed) for seed in range(20)]
    assert abs(np.std(np.concatenate(motions)) / 2.0 - 1) < 0.02


def test_spectrum_is_the_one_stated() -> None:
    """Mean periodogram of many motions against the formula, in bands of 1 Hz."""
    frequency = np.fft.rfftfreq(20001, SETTINGS["step"])
    power = np.mean([np.abs(np.fft.rfft(synthetic_motion(LONG, 1.0, 200.0, s))) ** 2 for s in range(40)], axis=0)
    expected = np.concatenate([[0.0], spectrum(frequency[1:], LONG)])
    for low in range(1, 8):
        band = (frequency >= low) & (frequency < low + 1)
        all_band = (frequency >= 1) & (frequency < 8)
        found = power[band].sum() / power[all_band].sum()
        assert abs(found / (expected[band].sum() / expected[all_band].sum()) - 1) < 0.05


def test_same_seed_same_motion_and_another_seed_another() -> None:
    first, again, other = (synthetic_motion(SETTINGS, 1.0, 25.0, seed) for seed in (3, 3, 4))
    assert (first == again).all()
    assert np.abs(first - other).max() > 0.1


def test_envelope_rises_stays_and_falls() -> None:
    shape = envelope(np.array([0.0, 1.0, 2.0, 12.0, 22.0]), SETTINGS)
    np.testing.assert_allclose(shape, [0.0, 0.25, 1.0, 1.0, np.exp(-3.0)])


def test_motions_of_mixtures_of_seeds() -> None:
    """Phases even over the circle whatever is mixed; a small step moves a motion little, at any phase."""
    seeds, weights = (11, 12, 13), (0.6, 0.64, 0.48)
    factors = phase_factors(Mixture(seeds, weights), 20_000)
    np.testing.assert_allclose(np.abs(factors), 1.0, rtol=1e-12)
    even = np.sort(np.angle(factors) / (2 * np.pi) + 0.5)
    assert np.abs(even - (np.arange(20_000) + 0.5) / 20_000).max() < 1.63 / np.sqrt(20_000)  # Kolmogorov, 1 %
    motions = [
        synthetic_motion(SETTINGS, 1.0, 25.0, Mixture((3, 4), (float(np.sqrt(1 - s * s)), s))) for s in (0.0, 0.01, 1.0)
    ]
    small, large = (float(np.std(motion - motions[0])) for motion in motions[1:])
    assert 0 < small < 0.03 * large
    assert random_variables(SETTINGS, 25.0) == 2 * (8192 // 2 - 1)
    plateau = synthetic_motion(LONG, 2.0, 200.0, Mixture(seeds, weights))[500:15_000]
    assert abs(float(plateau.std()) - 2.0) < 0.2


def test_random_amplitudes_make_a_motion_gaussian() -> None:
    """Squares of the amplitudes are exponential about those of the spectrum; a seed is a mixture of one."""
    squares = np.abs(complex_normals(7, 20_000)) ** 2
    assert abs(float(squares.mean()) - 1) < 0.03 and abs(float(squares.var()) - 1) < 0.1
    gaussian = SETTINGS | {"amplitudes": "random"}
    fixed, one, mixed = (
        synthetic_motion(settings, 1.0, 40.0, seed)
        for settings, seed in ((SETTINGS, 3), (gaussian, 3), (gaussian, Mixture((3,), (1.0,))))
    )
    np.testing.assert_array_equal(one, mixed)
    assert not np.array_equal(one, fixed)
