"""Transforms: inverse of each other, exact Jacobian, inside the support however far out."""

from __future__ import annotations

import numpy as np
import pytest

from percuss.inference.target import Target, Transform
from percuss.study.priors.registry import prior_from_json

PRIORS = [
    {"kind": "uniform", "low": -2.0, "high": 3.0},
    {"kind": "normal", "mean": 1e6, "std": 3.0},
    {"kind": "lognormal", "mean": 2.0, "std": 1.0},
    {"kind": "truncated-normal", "mean": 0.0, "std": 1.0, "low": 0.5, "high": 4.0},
    {"kind": "truncated-normal", "mean": 0.0, "std": 1.0, "high": 4.0},
    {"kind": "truncated-normal", "mean": 0.0, "std": 1.0, "low": -1.0},
    {"kind": "beta", "alpha": 0.5, "beta": 2.0, "low": 0.0, "high": 0.3},
    {"kind": "gamma", "shape": 2.0, "scale": 0.1},
    {"kind": "log-uniform", "low": 1e-3, "high": 1e2},
]


@pytest.mark.parametrize("fields", PRIORS, ids=lambda f: f["kind"])
def test_values_and_back(fields: dict[str, object]) -> None:
    prior = prior_from_json(fields)
    transform = Transform.of([prior])
    z = np.linspace(-6, 6, 41)[:, None]
    x = transform.values(z)
    low, high = prior.support()
    assert ((x >= low) & (x <= high)).all()
    assert (np.diff(x[:, 0]) > 0).all()
    # Near a bound, and far from zero, x holds fewer digits of z.
    np.testing.assert_allclose(transform.unbounded(x), z, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("fields", PRIORS, ids=lambda f: f["kind"])
def test_jacobian_is_the_slope_of_the_values(fields: dict[str, object]) -> None:
    transform = Transform.of([prior_from_json(fields)])
    z, h = np.linspace(-4, 4, 17)[:, None], 1e-3
    five = [transform.values(z + k * h) for k in (-2, -1, 1, 2)]
    slope = (five[0] - 8 * five[1] + 8 * five[2] - five[3]) / (12 * h)
    # Fourth-order differences, and values near 1e6 that hold ten digits of the step.
    np.testing.assert_allclose(transform.log_jacobian(z), np.log(slope[:, 0]), atol=1e-7)


@pytest.mark.parametrize("fields", PRIORS, ids=lambda f: f["kind"])
def test_prior_keeps_its_mass_in_the_unbounded_space(fields: dict[str, object]) -> None:
    target = Target(("x",), (prior_from_json(fields),), lambda x: np.zeros(len(x)))
    z = np.linspace(-60, 60, 240_001)[:, None]
    mass = np.trapezoid(np.exp(target.log_density(z)), z[:, 0])
    # The beta prior is infinite on its bound: in z its density falls as exp(-|z| / 2), and ends where x rounds.
    assert mass == pytest.approx(1.0, abs=1e-6)


def test_values_stay_in_the_support_at_any_distance() -> None:
    priors = [prior_from_json(fields) for fields in PRIORS]
    transform = Transform.of(priors)
    for far in (-1e6, 1e6):
        x = transform.values(np.full((1, len(priors)), far))
        assert np.isfinite(x).all()
        for value, prior in zip(x[0], priors, strict=True):
            assert prior.support()[0] <= value <= prior.support()[1]


def test_values_on_a_bound_have_a_finite_place() -> None:
    transform = Transform.of([prior_from_json(PRIORS[0])])
    z = transform.unbounded(np.array([[-2.0], [3.0]]))
    assert np.isfinite(z).all()
    np.testing.assert_allclose(transform.values(z), [[-2.0], [3.0]], atol=1e-12)
