"""Predictions of a linear-Gaussian model against their closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.inference.predictive import Predictive, bands, predict_at, spread_draws
from percuss.inference.samplers.sample import Sample


def prior_predictive(likelihood: Any, target: Any, n: int, seed: int) -> Predictive:
    generator = np.random.default_rng(seed)
    return predict_at(likelihood, target.transform.values(target.draw_prior(n, generator)), generator)


def test_prior_and_posterior_predictive(linear_likelihood: Any, closed_form: Any, linear_sample: Sample) -> None:
    likelihood, priors, design = linear_likelihood
    truth = closed_form("linear-gaussian")
    target = likelihood.posterior(priors)
    before = prior_predictive(likelihood, target, 20_000, seed=1)
    spread = np.diag([4.0, 1.0, 9.0])
    noise = {"first": 0.14, "second": 0.29}
    rows = {"first": design[:4], "second": design[4:]}
    for name in rows:
        exact = np.diag(rows[name] @ spread @ rows[name].T)
        np.testing.assert_allclose(before.outputs[name].var(axis=0), exact, rtol=0.05)
        np.testing.assert_allclose(before.data[name].var(axis=0), exact + noise[name], rtol=0.05)
    after = predict_at(likelihood, spread_draws(linear_sample.flat(), 5000), np.random.default_rng(1))
    assert after.points.shape == (5000, 3)
    for name in rows:
        mean = rows[name] @ truth.mean
        np.testing.assert_allclose(after.outputs[name].mean(axis=0), mean, atol=0.05)
        assert (after.data[name].var(axis=0) < before.data[name].var(axis=0)).all()


def test_bands_hold_their_mass() -> None:
    values = np.random.default_rng(0).standard_normal((100_000, 2))
    found = bands(values, (0.5, 0.9))
    np.testing.assert_allclose(found[0.9], [[-1.645] * 2, [1.645] * 2], atol=0.03)
    np.testing.assert_allclose(found[0.5], [[-0.674] * 2, [0.674] * 2], atol=0.03)


def test_coverage_of_data_drawn_from_the_model(linear_likelihood: Any) -> None:
    """Central 50 % bands of the prior predictive hold half of data drawn from it."""
    likelihood, priors, _ = linear_likelihood
    target = likelihood.posterior(priors)
    before = prior_predictive(likelihood, target, 4000, seed=1)
    again = prior_predictive(likelihood, target, 4000, seed=2)
    for name, values in again.data.items():
        low, high = bands(before.data[name], (0.5,))[0.5]
        assert np.mean((values >= low) & (values <= high)) == pytest.approx(0.5, abs=0.03)


def test_draws_are_spread_over_all_chains(linear_sample: Sample) -> None:
    sample = linear_sample
    few = spread_draws(sample.flat(), 3)
    np.testing.assert_array_equal(few[[0, 2]], sample.flat()[[0, -1]])
    assert len(spread_draws(sample.flat(), 10**9)) == len(sample.flat())
    with pytest.raises(InputError, match="n = 0"):
        spread_draws(sample.flat(), 0)
