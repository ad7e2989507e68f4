"""Synthetic ground motion: its spectrum, its intensity, its envelope, and that it follows from the seed."""

import numpy as np

from percuss.models.ground.kanai_tajimi import SYNTHETIC, envelope, spectrum, synthetic_motion

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
