"""`percuss.validation.filter` against the exact Kalman filter, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.validation import Filtered, filter

STUDIES = Path(__file__).parents[3] / "studies"
Floats = NDArray[np.float64]
STEP_S = 0.01


@pytest.fixture(scope="module")
def storeys() -> Study:
    return load_study(STUDIES / "two-storey")


def _matrices(k: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Two storeys relative to their base: rates of (u1, u2, v1, v2) and absolute accelerations."""
    m = np.array([5.0, 4.6])
    stiffness = np.array([[k[0] + k[1], -k[1]], [-k[1], k[1]]]) / m[:, None]
    damping = np.array([[c[0] + c[1], -c[1]], [-c[1], c[1]]]) / m[:, None]
    return np.block([[np.zeros((2, 2)), np.eye(2)], [-stiffness, -damping]]), np.hstack([-stiffness, -damping])


def _runge_kutta(a: Floats) -> tuple[Floats, list[Floats]]:
    """The very map of a Runge-Kutta step of x' = A x + b: on x, and on b at its start, middle and end."""
    h, eye = STEP_S, np.eye(len(a))
    k1, b1 = a, [eye, 0 * eye, 0 * eye]
    k2, b2 = a @ (eye + h / 2 * k1), [h / 2 * a @ b1[0], eye, 0 * eye]
    k3, b3 = a @ (eye + h / 2 * k2), [h / 2 * a @ b2[0], eye + h / 2 * a @ b2[1], 0 * eye]
    k4, b4 = a @ (eye + h * k3), [h * a @ b3[0], h * a @ b3[1], eye]
    weights = (1, 2, 2, 1)
    step = eye + h / 6 * sum(w * k for w, k in zip(weights, (k1, k2, k3, k4), strict=True))
    return step, [h / 6 * sum(w * b[i] for w, b in zip(weights, (b1, b2, b3, b4), strict=True)) for i in range(3)]


def test_linear_system_is_the_exact_filter(storeys: Study) -> None:
    """Parameters known (no variance, no drift): what is left is linear, and the textbook filter is exact."""
    random = np.random.default_rng(2)
    times = STEP_S * np.arange(400)
    base = random.standard_normal(400)
    data = random.standard_normal((400, 2))
    k, c = np.array([1600.0, 1450.0]), np.array([6.0, 5.0])
    names = ("stiffness_1", "stiffness_2", "coefficient_1", "coefficient_2")
    found = filter(
        storeys,
        times_s=times,
        observed={"a1": data[:, 0], "a2": data[:, 1]},
        noise_variance={"a1": 0.04, "a2": 0.09},
        inputs={"base": base},
        start={name: (value, 0.0) for name, value in zip(names, (*k, *c), strict=True)},
        state_std=(0.01, 0.1),
        drift=0.0,
    )
    a, h = _matrices(k, c)
    step, pushes = _runge_kutta(a)
    push = np.array([0, 0, -1.0, -1.0])
    mean, covariance = np.zeros(4), np.diag([1e-4, 1e-4, 1e-2, 1e-2])
    noise, log = np.diag([0.04, 0.09]), 0.0
    for i in range(1, 400):
        loads = (base[i - 1], (base[i - 1] + base[i]) / 2, base[i])
        mean = step @ mean + sum(p @ push * b for p, b in zip(pushes, loads, strict=True))
        covariance = step @ covariance @ step.T
        s = h @ covariance @ h.T + noise
        gain = covariance @ h.T @ np.linalg.inv(s)
        innovation = data[i] - h @ mean
        log -= 0.5 * (innovation @ np.linalg.solve(s, innovation) + np.log(np.linalg.det(2 * np.pi * s)))
        mean = mean + gain @ innovation
        covariance = covariance - gain @ h @ covariance
        np.testing.assert_allclose(found.mean[i, :4], mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.covariance[:4, :4], covariance, rtol=1e-8, atol=1e-10 * covariance.max())
    assert found.log_likelihood == pytest.approx(log, rel=1e-10)


def _small(study: Study, **changes: object) -> Filtered:
    n = 60
    arguments: dict[str, object] = {
        "times_s": STEP_S * np.arange(n),
        "observed": {"a1": np.sin(np.arange(n)), "a2": np.cos(np.arange(n))},
        "noise_variance": 0.1,
        "inputs": {"base": np.ones(n)},
    }
    return filter(study, **(arguments | changes))  # type: ignore[arg-type]


def test_gaps_are_refused_or_skipped_and_counted(storeys: Study) -> None:
    holed = {"a1": np.sin(np.arange(60)), "a2": np.cos(np.arange(60))}
    holed["a2"][[7, 30, 31]] = np.nan
    with pytest.raises(InputError, match="`a2`: sample 7 is NaN, and 3 are in all"):
        _small(storeys, observed=holed)
    found = _small(storeys, observed=holed, gaps="skip")
    assert (found.used, found.skipped) == (2 * 59 - 3, 3)
    assert np.isnan(found.innovation[7, 1]) and np.isfinite(found.mean).all()


def test_smoothing_narrows_and_ends_where_the_filter_does(storeys: Study) -> None:
    found = _small(storeys, smooth=True)
    assert found.smoothed_mean is not None and found.smoothed_std is not None
    np.testing.assert_array_equal(found.smoothed_mean[-1], found.mean[-1])
    assert (found.smoothed_std <= found.std * (1 + 1e-9)).all()


def test_damping_ratios_follow_spring_and_mass() -> None:
    """A ratio tracked beside its stiffness gives what the damper it stands for gives."""
    study = load_study(STUDIES / "pounding-law")
    n = 300
    times = 0.002 * np.arange(n)
    data = {"u1": -0.06 * np.cos(6.9 * times), "u2": np.zeros(n)}
    kept = {"times_s": times, "observed": data, "noise_variance": 1e-6, "drift": 1e-3}
    start = {"stiffness_1": (287.91, 20.0), "damping_ratio_1": (0.006, 0.002)}
    both = filter(study, track=list(start), start=start, **kept)  # type: ignore[arg-type]
    alone = filter(study, track=["stiffness_1"], start=start, **kept)  # type: ignore[arg-type]
    held = start | {"damping_ratio_1": (0.006, 0.0)}
    same = filter(
        study, track=list(held), start=held, **(kept | {"drift": {"stiffness_1": 1e-3, "damping_ratio_1": 0.0}})
    )  # type: ignore[arg-type]
    np.testing.assert_allclose(same.path("stiffness_1")[0], alone.path("stiffness_1")[0], rtol=1e-12)
    assert both.path("damping_ratio_1")[1][-1] < 0.002 * 1.1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"track": ["stifness_1"]}, "stiffness_1"),
        ({"track": ["stiffness_1", "stiffness_1"]}, "twice"),
        ({"observed": {"a3": np.zeros(60)}}, "observed quantity `a3`"),
        ({"observed": {}}, "nothing is given"),
        ({"observed": {"a1": np.zeros(59)}}, "for 60 instants"),
        ({"noise_variance": 0.0}, "noise variance 0 is 0"),
        ({"noise_variance": {"a1": 1.0}}, "nothing for a2"),
        ({"drift": -1.0}, "drift 0 is -1"),
        ({"inputs": {"3": np.ones(60)}}, "input to `3`"),
        ({"inputs": {"base": np.full(60, np.nan)}}, "input 0 is NaN"),
        ({"times_s": STEP_S * np.arange(60) ** 2}, "evenly spaced"),
        ({"times_s": -STEP_S * np.arange(60)}, "each after the one before"),
        ({"gaps": "ignore"}, "must be refuse or skip"),
        ({"substeps": 0}, "substeps = 0"),
        ({"values": {"mass_1": -1.0}}, "mass_1"),
    ],
)
def test_refusals(storeys: Study, changes: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _small(storeys, **changes)


def test_rigid_contacts_have_no_force_to_follow() -> None:
    study = load_study(STUDIES / "pounding-frames")
    with pytest.raises(InputError, match="rigid law"):
        filter(
            study,
            case="rigid",
            times_s=0.001 * np.arange(20),
            observed={"u1": np.zeros(20)},
            noise_variance=1.0,
            track=["stiffness_1"],
            start={"stiffness_1": (288.0, 1.0)},
        )
