"""The drift filter and the evidence against values of an independent implementation (README.md beside this file)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.bench.kalman import duffing, ours, plain

from percuss.study.load import load_study
from percuss.validation.compute import Validated, validate
from percuss.validation.settings import read_validation

STUDY = Path(__file__).parents[3] / "studies" / "duffing-extrapolation"
# Parameter: mean, std, min, max after 20 s; five decimals are printed in the reference.
PATHS = {
    "linear": {
        "stiffness_1": (10.24093, 0.21137, 9.81233, 11.00659),
        "coefficient_1": (0.10016, 0.00148, 0.09536, 0.10474),
    },
    "cubic": {
        "stiffness_1": (10.01769, 0.05900, 9.80147, 10.22613),
        "coefficient_1": (0.10012, 0.00130, 0.09552, 0.10484),
        "cubic_1": (46.63526, 2.17367, 38.45158, 51.28740),
    },
}
LOG_LIKELIHOOD = {"linear": 86520.41, "cubic": 86620.44}
LOG_EVIDENCE = {"linear": 21393.68, "cubic": 21728.58}
MODE = {"linear": (10.1498, 0.105055, 1.11449e-5), "cubic": (9.99796, 0.099988, 50.432, 9.73981e-6)}


@pytest.fixture(scope="module")
def found() -> dict[str, Validated]:
    study = load_study(STUDY)
    return {name: _validated(study, name) for name in PATHS}


def _validated(study: object, name: str) -> Validated:
    asked = read_validation(study, name)  # type: ignore[arg-type]
    high = (study.files[asked.extrapolate], "high.csv")  # type: ignore[attr-defined]
    return validate(study, asked, study.files[asked.file], "low.csv", extrapolation=high)  # type: ignore[attr-defined,arg-type]


def test_paths_and_likelihood(found: dict[str, Validated]) -> None:
    for name, expected in PATHS.items():
        main = found[name].main
        for path in main.paths:
            got = (path.mean, path.std, path.low, path.high)
            assert got == pytest.approx(expected[path.name], abs=6e-6), (name, path.name)
        assert main.course.log_likelihood == pytest.approx(LOG_LIKELIHOOD[name], abs=0.01)


def test_evidence_has_the_right_sign(found: dict[str, Validated]) -> None:
    """Eqs. A.4-A.6 of the paper have +J, which makes the linear model win by 5622; with -J it loses by 335."""
    for name in PATHS:
        known = found[name].calibrated
        assert known is not None
        assert known.laplace.log_evidence == pytest.approx(LOG_EVIDENCE[name], abs=0.05)
        assert known.importance.log_evidence == pytest.approx(LOG_EVIDENCE[name], abs=0.1)
        assert known.mode.values == pytest.approx(np.array(MODE[name]), rel=2e-5)
    linear, cubic = (found[name].calibrated for name in ("linear", "cubic"))
    assert linear and cubic
    assert linear.laplace.log_evidence - cubic.laplace.log_evidence == pytest.approx(-334.9, abs=0.1)


def test_verdicts_and_predictions(found: dict[str, Validated]) -> None:
    """The linear model fits what it saw and fails beyond; the drift says so without the data from beyond."""
    linear, cubic = found["linear"], found["cubic"]
    assert linear.verdict.word == "do not extrapolate"
    assert any("stiffness_1 wanders" in reason for reason in linear.verdict.reasons)
    assert (cubic.verdict.word, cubic.verdict.reasons) == ("no evidence against", ())
    scores = {
        (name, part.part): (float(part.rmse_relative[0]), float(part.within_three[0]))
        for name, item in found.items()
        for part in item.predictions
    }
    assert scores["linear", "training"][1] > 0.99
    assert scores["linear", "extrapolated"][0] > 1.0 > 0.1 > scores["cubic", "extrapolated"][0]
    assert scores["cubic", "extrapolated"][1] > 0.99
    assert linear.gain is not None and cubic.gain is not None
    assert linear.gain > 1e4 and cubic.gain < 0


@pytest.mark.parametrize("seed", [1, 11])
@pytest.mark.parametrize("cubic", [False, True])
def test_other_seeds_against_a_plain_filter(seed: int, cubic: bool) -> None:
    """Rounding differs between the two, and grows a little through the nonlinear steps: ten digits agree."""
    times, force, data = duffing(seed, 1500)
    found = ours(times, force, data, cubic)
    means, log = plain(force, data, cubic)
    np.testing.assert_allclose(found.mean, means, rtol=1e-8, atol=1e-10)
    assert found.log_likelihood == pytest.approx(log, abs=1e-6)
