"""Indicators on series whose answer is known, and the verdict's false alarms and detections on simulated truth."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from percuss.validation.drift_filter import Filtered
from percuss.validation.indicators import innovations_of, path_of, settled
from percuss.validation.verdict import DOUBTFUL, NO_EVIDENCE, REFUSED, judge

ROOT = Path(__file__).parents[3]
N = 4000


def _course(path: np.ndarray, std: float, innovation: np.ndarray) -> Filtered:
    times = 0.01 * np.arange(len(path))
    ones = np.ones((len(path), 1))
    return Filtered(("k",), ("u1",), times, path[:, None], std * ones, innovation[:, None], ones, 0.0, N, 0, np.eye(1))


def test_white_innovations_raise_nothing() -> None:
    random = np.random.default_rng(0)
    found = _course(10 + 0.1 * np.sin(np.arange(N) / 300), 0.2, random.standard_normal(N))
    assert settled(found.times_s, None) == N // 10
    path, channel = path_of(found, "k", 400), innovations_of(found, 0, 400)
    assert path.wander == pytest.approx(0.1 / np.sqrt(2) / 0.2, rel=0.05)
    assert channel.used == N - 400
    assert abs(channel.surprise - 1) < 0.1 and abs(channel.trend_z) < 4
    assert min(channel.period_probability, channel.memory_probability) > 1e-3
    assert judge([path], [channel], -20.0).word == NO_EVIDENCE


def test_period_trend_and_memory_are_found() -> None:
    random = np.random.default_rng(1)
    times, noise = 0.01 * np.arange(N), random.standard_normal(N)
    flat = np.full(N, 10.0)
    wave = innovations_of(_course(flat, 0.2, noise + 0.5 * np.sin(2 * np.pi * times / 0.8)), 0, 0)
    assert wave.period_probability < 1e-10 and wave.period_s == pytest.approx(0.8, rel=0.02)
    rising = innovations_of(_course(flat, 0.2, noise + 0.02 * times), 0, 0)
    assert rising.trend_z > 6
    smooth = innovations_of(_course(flat, 0.2, np.convolve(noise, [0.8, 0.6], "same")), 0, 0)
    assert smooth.memory_probability < 1e-10
    assert judge([], [wave], None).word == DOUBTFUL
    assert judge([path_of(_course(10 + times / 10, 0.2, noise), "k", 0)], [], None).word == REFUSED


def test_gaps_keep_their_place() -> None:
    random = np.random.default_rng(2)
    noise = random.standard_normal(N) + 0.5 * np.sin(2 * np.pi * 0.01 * np.arange(N) / 0.8)
    noise[::7] = np.nan
    channel = innovations_of(_course(np.full(N, 1.0), 0.1, noise), 0, 0)
    assert channel.used == N - len(noise[::7])
    assert channel.period_s == pytest.approx(0.8, rel=0.02)


@pytest.fixture(scope="module")
def rates() -> ModuleType:
    spec = importlib.util.spec_from_file_location("validation_rates", ROOT / "studies" / "validation_rates.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["validation_rates"] = module
    spec.loader.exec_module(module)
    return module


def test_rates_on_simulated_truth(rates: ModuleType) -> None:
    """A few cases of the table in docs/validation.md: right models are never refused, wrong ones always seen."""
    right = ["linear, followed by linear", "Kelvin-Voigt pad, its own law"]
    wrong = ["cubic 3-30 %, followed by linear", "Hertz pad, followed by Kelvin-Voigt"]
    found = rates.rates(6, [*right, *wrong])
    for name in right:
        words = [item[0] for item in found[name]]
        assert REFUSED not in words and words.count(NO_EVIDENCE) >= 4, (name, words)
    for name in wrong:
        assert all(item[0] == REFUSED for item in found[name]), name
