"""Summaries against closed forms, and their refusal to speak of draws that have not converged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from percuss.errors import AnswerIsNo, InputError
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.inference.summary import NotConverged, correlation_matrix, densest_interval, find_mode, summarise
from percuss.inference.target import Target
from percuss.study.priors.beta import Beta
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.prior import Prior
from percuss.study.priors.truncated_exponential import TruncatedExponential
from percuss.study.priors.uniform import Uniform


def test_linear_gaussian(closed_form: Callable[..., Any], linear_sample: Sample) -> None:
    truth = closed_form("linear-gaussian")
    summary = summarise(truth.target, linear_sample, mass=0.9)
    assert summary.converged and not summary.reasons
    for j, row in enumerate(summary.rows):
        std = truth.variance[j] ** 0.5
        assert row.mean == pytest.approx(truth.mean[j], abs=4 * row.mean_error)
        assert row.median == pytest.approx(truth.mean[j], abs=4 * row.median_error)
        # The mode is optimised: far closer than any draw would be.
        assert row.mode == pytest.approx(truth.mean[j], abs=1e-5 * std)
        for low, high in (row.interval, row.densest):
            assert low == pytest.approx(truth.mean[j] - 1.645 * std, abs=0.1 * std)
            assert high == pytest.approx(truth.mean[j] + 1.645 * std, abs=0.1 * std)
        # A standard error of a standard deviation is std / sqrt(2 n), of an end of the interval some 1.7 std / sqrt(n).
        n = (std / row.mean_error) ** 2
        assert row.std == pytest.approx(std, abs=4 * row.std_error)
        assert row.std_error == pytest.approx(std / np.sqrt(2 * n), rel=0.4)
        assert row.interval == pytest.approx((truth.mean[j] - 1.645 * std, truth.mean[j] + 1.645 * std), abs=0.1 * std)
        assert row.interval_error == pytest.approx((2.1 * std / np.sqrt(n),) * 2, rel=0.5)
        assert row.contraction == pytest.approx(1 - truth.variance[j] / truth.target.priors[j].std() ** 2, abs=0.01)
        assert row.notes == ()


def test_mode_on_a_bound_is_found_there_and_said(closed_form: Callable[..., Any]) -> None:
    target = closed_form("truncated-gaussian").target
    summary = summarise(target, sample_posterior(target, seed=1))
    inside, low, high = summary.rows
    assert inside.mode == pytest.approx(0.4, abs=1e-6) and inside.notes == ()
    assert low.mode == 0.0 and low.notes == ("the posterior lies on the low bound of its prior, 0 (SI)",)
    assert high.mode == 1.0 and high.notes == ("the posterior lies on the high bound of its prior, 1 (SI)",)


@pytest.mark.parametrize(
    "prior",
    [
        LogUniform({"low": 0.01, "high": 1.0}),
        Beta({"alpha": 0.5, "beta": 2.0, "low": 0.0, "high": 1.0}),
        TruncatedExponential({"mean": 0.2, "low": 0.0, "high": 1.0}),
    ],
    ids=lambda prior: prior.kind,
)
def test_a_prior_that_piles_up_on_its_bound_is_not_held_against_the_data(prior: Prior) -> None:
    """Data that speak against the bound leave some of the pile there; data that speak for it make it higher."""
    low = prior.support()[0]
    for centre, std, on_bound in ((0.25, 0.15, False), (low, 0.05, True)):
        likelihood = lambda x, c=centre, s=std: -0.5 * ((x[:, 0] - c) / s) ** 2  # noqa: E731
        target = Target(("x",), (prior,), likelihood)
        (row,) = summarise(target, sample_posterior(target, seed=1)).rows
        assert row.contraction > 0.1
        said = f"the posterior lies on the low bound of its prior, {low:g} (SI)"
        assert row.notes == ((said,) if on_bound else ())


def test_mode_of_a_prior_that_vanishes_on_its_bound() -> None:
    target = Target(("x",), (Gamma({"shape": 3.0, "scale": 2.0}),), lambda x: np.zeros(len(x)))
    assert find_mode(target, sample_posterior(target, seed=1)).values[0] == pytest.approx(4.0, rel=1e-5)


def test_what_the_data_do_not_say_is_said() -> None:
    uniform = Uniform({"low": 0.0, "high": 1.0})
    target = Target(
        ("a", "b", "idle"),
        (uniform,) * 3,
        lambda x: -0.5 * ((x[:, 0] + x[:, 1] - 1) / 0.05) ** 2,
    )
    summary = summarise(target, sample_posterior(target, seed=1))
    assert summary.correlations[0, 1] < -0.95
    assert summary.notes == (f"a and b are known only together: correlation {summary.correlations[0, 1]:.3f}",)
    assert "the data say little about it" in summary.rows[2].notes[0]


def test_no_point_estimate_without_convergence(closed_form: Callable[..., Any]) -> None:
    target = closed_form("two-modes").target
    sample = sample_posterior(target, seed=1, stopping=Stopping(evaluations=50_000), look=False)
    with pytest.raises(NotConverged, match="not converged: R-hat of") as refused:
        summarise(target, sample)
    assert isinstance(refused.value, AnswerIsNo) and refused.value.exit_code == 1
    accepted = summarise(target, sample, accept_unconverged=True)
    assert not accepted.converged and accepted.reasons == sample.reasons
    # Of two modes, the higher one.
    assert [row.mode for row in accepted.rows] == pytest.approx([-4.0, -4.0], abs=1e-5)


def test_densest_interval_of_a_skewed_distribution() -> None:
    x = -np.log1p(-(np.arange(100_000) + 0.5) / 100_000)
    assert densest_interval(x, 0.9) == pytest.approx((0.0, -np.log(0.1)), abs=1e-3)


def test_correlations_of_a_constant_column_are_zero() -> None:
    x = np.stack([np.arange(5.0), np.ones(5), -np.arange(5.0)], axis=1)
    np.testing.assert_allclose(correlation_matrix(x), [[1, 0, -1], [0, 1, 0], [-1, 0, 1]], atol=1e-12)


def test_mass_is_checked(closed_form: Callable[..., Any], linear_sample: Sample) -> None:
    target = closed_form("linear-gaussian").target
    with pytest.raises(InputError, match=r"mass = 1\.5"):
        summarise(target, linear_sample, mass=1.5)
