"""Evidences against closed forms and each other; leave-one-out against exact leaving out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from percuss.errors import InputError
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.evidence import (
    Evidence,
    bayes_factor,
    importance_evidence,
    laplace_evidence,
    sampled_evidence,
)
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.loo import difference, fit_tail, leave_one_out, smooth
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.study.priors.normal import Normal


def test_linear_gaussian_is_exact(closed_form: Callable[..., Any], linear_sample: Sample) -> None:
    truth, sample = closed_form("linear-gaussian"), linear_sample
    assert laplace_evidence(truth.target, sample).log_evidence == pytest.approx(truth.log_evidence, abs=1e-7)
    checked = importance_evidence(truth.target, sample, seed=2)
    assert checked.log_evidence == pytest.approx(truth.log_evidence, abs=4 * checked.error)
    assert checked.error < 0.01 and checked.notes == ()


def test_importance_corrects_laplace_on_a_bound(closed_form: Callable[..., Any]) -> None:
    truth = closed_form("truncated-gaussian")
    sample = sample_posterior(truth.target, seed=1)
    checked = importance_evidence(truth.target, sample)
    assert checked.log_evidence == pytest.approx(truth.log_evidence, abs=4 * checked.error)
    assert abs(laplace_evidence(truth.target, sample).log_evidence - truth.log_evidence) > 0.1


def test_importance_distrusts_itself_on_a_banana(closed_form: Callable[..., Any]) -> None:
    target = closed_form("banana").target
    settings = {"evidence_error": 1.0}
    sample = sample_posterior(target, "sequential-monte-carlo", seed=1, settings=settings)
    assert "not to be trusted" in importance_evidence(target, sample).notes[0]


def test_only_some_samples_hold_an_evidence(linear_sample: Sample) -> None:
    with pytest.raises(InputError, match="adaptive-metropolis holds no evidence"):
        sampled_evidence(linear_sample)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (0.5, "barely worth mentioning, for the first"),
        (-2.0, "positive, for the second"),
        (4.0, "strong, for the first"),
        (-50.0, "very strong, for the second"),
    ],
)
def test_bayes_factor(log: float, words: str) -> None:
    found = bayes_factor(Evidence("a", log - 3.0, 0.03), Evidence("b", -3.0, 0.04))
    assert found.log == pytest.approx(log) and found.error == pytest.approx(0.05) and found.words == words


@pytest.mark.parametrize("k", [0.2, 0.5, 0.9])
def test_tail_fit_finds_the_shape_of_pareto_draws(k: float) -> None:
    excess = np.sort(stats.genpareto.rvs(k, scale=2.0, size=20_000, random_state=1))
    shape, scale = fit_tail(excess)
    # Standard error of the shape: about (1 + k) / sqrt(n).
    assert shape == pytest.approx(k, abs=4 * (1 + k) / math.sqrt(20_000))
    assert scale == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("k", [0.1, 0.5, 0.9])
def test_smoothing_is_that_of_arviz(k: float) -> None:
    peer = pytest.importorskip("arviz_stats.base", reason="arviz-stats is not installed").array_stats
    # A number of draws whose tail is whole: arviz rounds it down, the reference implementation up.
    log_weights = np.log(np.random.default_rng(0).pareto(1 / k, 2500) + 1)
    ours, our_k = smooth(log_weights)
    theirs, their_k = peer.psislw(-log_weights, r_eff=1.0, axis=-1)
    assert our_k == pytest.approx(float(their_k), rel=1e-9)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_equal_weights_stay_equal() -> None:
    weights, k = smooth(np.zeros(1000))
    np.testing.assert_allclose(weights, -math.log(1000), rtol=1e-12)
    assert k == -np.inf


def test_leave_one_out_is_leaving_one_out() -> None:
    """A straight line through twenty points, each left out in closed form."""
    times, n = np.linspace(0, 1, 20), 20
    design = np.stack([np.ones(n), times], axis=1)
    observed = 1 + 2 * times + 0.5 * np.random.default_rng(3).standard_normal(n)
    exact, below, whole = [], [], []
    for i in (*range(n), None):
        keep = np.delete(np.arange(n), i) if i is not None else np.arange(n)
        covariance = np.linalg.inv(np.eye(2) / 9 + design[keep].T @ design[keep] / 0.25)
        mean = covariance @ design[keep].T @ observed[keep] / 0.25
        std = np.sqrt(0.25 + np.einsum("ij,jk,ik->i", design, covariance, design))
        density = stats.norm.logpdf(observed, design @ mean, std)
        whole = density
        if i is not None:
            exact.append(density[i])
            below.append(stats.norm.cdf(observed[i], (design @ mean)[i], std[i]))
    likelihood = Likelihood(
        ("a", "b"),
        {"line": lambda x: (np.einsum("ij,nj->ni", design, x), np.zeros(n))},
        (Group("all", observed, np.arange(n), Gaussian(0.5), "line"),),
    )
    prior = Normal({"mean": 0.0, "std": 3.0})
    sample = sample_posterior(likelihood.posterior({"a": prior, "b": prior}), seed=1, stopping=Stopping(ess=20_000))
    log, under = (part.reshape(*sample.draws.shape[:2], n) for part in likelihood.each(sample.flat()))
    found = leave_one_out(log, under)
    assert found.reliable
    np.testing.assert_allclose(found.transform, below, atol=0.01)
    np.testing.assert_allclose(found.pointwise, exact, atol=0.02)
    assert found.elpd == pytest.approx(sum(exact), abs=0.05)
    assert found.effective_parameters == pytest.approx(sum(whole) - sum(exact), abs=0.05)
    assert difference(found.pointwise, found.pointwise) == (0.0, 0.0)
    assert difference(found.pointwise, leave_one_out(log - 1.0, under).pointwise)[0] == pytest.approx(n)


def test_leave_one_out_refuses_what_it_cannot_use() -> None:
    with pytest.raises(InputError, match="finite log densities"):
        leave_one_out(np.full((2, 10, 1), np.nan), np.zeros((2, 10, 1)))
    with pytest.raises(InputError, match="1 and 2 data"):
        difference(np.zeros(1), np.zeros(2))
