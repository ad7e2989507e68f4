"""Samples of curves: errors along time against dense normals, and a linear problem against its exact posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from percuss.errors import InputError
from percuss.inference.common_error import CommonError
from percuss.inference.discrepancies.correlated import Correlated
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.reading import Reading
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.normal import Normal

AXIS = np.linspace(0.0, 2.0, 81)
MODES = np.stack([np.sin(3 * AXIS), np.cos(5 * AXIS), AXIS**2])
MEAN = 0.3 * np.sin(AXIS)
# An own clock, with a gap, and two samples at one instant.
PLACES = np.array([0.013, 0.1, 0.1, 0.22, 0.31, 0.5, 1.4, 1.41, 1.77, 1.93])
LENGTH = LogUniform({"low": 0.01, "high": 10.0})
STD = LogUniform({"low": 0.1, "high": 10.0})


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def dense(std: float, length: float, variance: np.ndarray, places: np.ndarray = PLACES) -> np.ndarray:
    return std**2 * np.exp(-np.abs(places[:, None] - places) / length) + np.diag(variance)


@pytest.mark.parametrize("length", [1e-3, 0.2, 50.0])
def test_errors_along_time_have_the_density_of_a_dense_normal(length: float) -> None:
    rng = generator()
    shuffled = rng.permutation(len(PLACES))
    variance = rng.uniform(0.05, 0.4, len(PLACES))
    residual = rng.standard_normal((4, len(PLACES)))
    errors = Correlated(std=1.3, places=PLACES[shuffled], length=length)
    sigma = dense(1.3, length, variance, PLACES[shuffled])
    expected = multivariate_normal(cov=sigma).logpdf(residual)
    assert errors.log_density(residual, variance, {}) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    precision = np.linalg.inv(sigma)
    diagonal, pull = np.diag(precision), residual @ precision
    each = 0.5 * (np.log(diagonal) - np.log(2 * np.pi) - pull**2 / diagonal)
    assert errors.log_pointwise(residual, variance, {}) == pytest.approx(each, rel=1e-11, abs=1e-11)


def test_inferred_std_and_length_are_those_of_each_point() -> None:
    rng = generator(1)
    std, length = rng.uniform(0.5, 2, 5), rng.uniform(0.05, 2, 5)
    residual, variance = rng.standard_normal((5, len(PLACES))), np.full(len(PLACES), 0.1)
    errors = Correlated(std=Unknown("s", STD), places=PLACES, length=Unknown("l", LENGTH))
    expected = [
        multivariate_normal(cov=dense(s, h, variance)).logpdf(r) for s, h, r in zip(std, length, residual, strict=True)
    ]
    assert errors.log_density(residual, variance, {"s": std, "l": length}) == pytest.approx(expected, rel=1e-12)


def test_entries_of_different_std_are_those_of_the_dense_covariance() -> None:
    rng = generator(2)
    std, variance = rng.uniform(0.5, 2, len(PLACES)), np.full(len(PLACES), 0.2)
    errors = Correlated(std=std, places=PLACES, length=0.3)
    sigma = std[:, None] * dense(1.0, 0.3, np.zeros(len(PLACES))) * std + np.diag(variance)
    residual = rng.standard_normal((3, len(PLACES)))
    assert errors.log_density(residual, variance, {}) == pytest.approx(multivariate_normal(cov=sigma).logpdf(residual))
    assert errors.covariance(variance, {}) == pytest.approx(sigma)


def test_draws_have_the_covariance() -> None:
    errors = Correlated(std=1.3, places=PLACES[::-1].copy(), length=0.4)
    variance = np.full(len(PLACES), 0.1)
    drawn = errors.draw(40_000, variance, {}, generator(3))
    assert np.cov(drawn.T) == pytest.approx(errors.covariance(variance, {}), abs=0.06)


def test_two_samples_at_one_instant_without_noise_are_refused() -> None:
    errors = Correlated(std=1.0, places=PLACES, length=0.4)
    with pytest.raises(InputError, match="not positive definite"):
        errors.log_density(np.zeros((1, len(PLACES))), np.zeros(len(PLACES)), {})


def scores(theta: np.ndarray) -> np.ndarray:
    return np.stack([theta[:, 0], theta[:, 1], theta[:, 0] - 2 * theta[:, 1]], axis=1)


def problem(discrepancy: Correlated | Gaussian, std: np.ndarray, **clock: float | Unknown) -> Likelihood:
    """Curves linear in two parameters, whose scores have a common error of std (3,)."""
    reading = Reading(AXIS, MEAN, MODES, np.full(len(AXIS), 0.01), PLACES, **clock)
    observed = generator(4).standard_normal(len(PLACES))
    group = Group("u", observed, np.arange(3), discrepancy, "curve", 0.2, reading)
    correlation = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 1.0]])
    error = CommonError(correlation, np.array([1.0, 4.0]), np.array([0.7, 0.3]), ("a", "b", "c"))
    forward = {"curve": lambda theta: (scores(theta), np.square(std))}
    return Likelihood(("x", "y"), forward, (group,), {"curve": error})


def expected_density(likelihood: Likelihood, theta: np.ndarray, sigma: np.ndarray, std: np.ndarray) -> np.ndarray:
    error, group = likelihood.errors["curve"], likelihood.groups[0]
    loadings = np.stack([np.interp(PLACES, AXIS, mode) for mode in MODES])
    covariance = loadings.T @ (std[:, None] * error.correlation * std) @ loadings
    mean = np.interp(PLACES, AXIS, MEAN) + scores(theta) @ loadings
    parts = [
        np.log(share) + multivariate_normal(cov=sigma + scale * covariance).logpdf(group.observed - mean)
        for scale, share in zip(error.scales, error.shares, strict=True)
    ]
    return np.logaddexp(*parts)


def test_the_common_error_of_a_curve_is_integrated_out() -> None:
    std = np.array([0.3, 0.0, 0.8])
    likelihood = problem(Correlated(std=0.7, places=PLACES, length=0.3), std)
    theta = generator(5).standard_normal((6, 2))
    sigma = dense(0.7, 0.3, np.full(len(PLACES), 0.05))
    expected = expected_density(likelihood, theta, sigma, std)
    assert likelihood(theta) == pytest.approx(expected, rel=1e-11)
    # Each sample given the others: the density of all, less that of the others.
    pointwise = likelihood.pointwise(theta)
    for i in (0, 4, 9):
        others = np.arange(len(PLACES)) != i
        loadings = np.stack([np.interp(PLACES, AXIS, mode) for mode in MODES])
        covariance = loadings.T @ (std[:, None] * likelihood.errors["curve"].correlation * std) @ loadings
        left = likelihood.groups[0].observed - np.interp(PLACES, AXIS, MEAN) - scores(theta) @ loadings
        without = np.logaddexp(*[
            np.log(share)
            + multivariate_normal(cov=(sigma + scale * covariance)[np.ix_(others, others)]).logpdf(left[:, others])
            for scale, share in ((1.0, 0.7), (4.0, 0.3))
        ])  # fmt: skip
        assert pointwise[:, i] == pytest.approx(expected - without, abs=1e-9)


def test_a_mode_that_no_sample_sees_is_no_trouble() -> None:
    blind = Reading(AXIS, MEAN, MODES * np.array([[1.0], [0.0], [1.0]]), np.zeros(len(AXIS)), PLACES)
    group = Group("u", np.zeros(len(PLACES)), np.arange(3), Gaussian(std=0.5), "curve", 0.0, blind)
    error = CommonError.independent(("a", "b", "c"))
    forward = {"curve": lambda theta: (scores(theta), np.full(3, 0.1))}
    likelihood = Likelihood(("x", "y"), forward, (group,), {"curve": error})
    assert np.isfinite(likelihood(np.zeros((2, 2)))).all()
    drawn = likelihood.draw_outputs(np.zeros((4000, 2)), generator(6), given_data=True)["curve"]
    assert drawn[:, 1].std() == pytest.approx(np.sqrt(0.1), rel=0.05)


def test_a_linear_gaussian_history_has_its_exact_posterior() -> None:
    """Normal priors, curves linear in the parameters: log-likelihood + log prior is that of the closed form."""
    likelihood = problem(Correlated(std=0.7, places=PLACES, length=0.3), np.zeros(3))
    priors = {name: Normal({"mean": 0.0, "std": 2.0}) for name in ("x", "y")}
    target = likelihood.posterior(priors)
    loadings = np.stack([np.interp(PLACES, AXIS, mode) for mode in MODES])
    design = scores(np.eye(2)) @ loadings
    sigma = dense(0.7, 0.3, np.full(len(PLACES), 0.05))
    inverse = np.linalg.inv(sigma)
    covariance = np.linalg.inv(design @ inverse @ design.T + np.eye(2) / 4)
    left = likelihood.groups[0].observed - np.interp(PLACES, AXIS, MEAN)
    exact = multivariate_normal(covariance @ design @ inverse @ left, covariance)
    theta = generator(7).standard_normal((20, 2))
    difference = likelihood(theta) + target.log_prior(theta) - exact.logpdf(theta)
    evidence = multivariate_normal(cov=sigma + 4 * design.T @ design).logpdf(left)
    assert difference == pytest.approx(np.full(20, evidence), abs=1e-9)


def test_a_delay_and_a_drift_are_those_of_the_clock() -> None:
    delay, drift = Unknown("delay", Normal({"mean": 0.0, "std": 1.0})), Unknown("drift", Normal({"mean": 0, "std": 1}))
    discrepancy = Correlated(std=0.7, places=PLACES, length=0.3)
    inferred = problem(discrepancy, np.zeros(3), delay=delay, drift=drift)
    theta = generator(8).standard_normal((4, 2))
    clock = np.array([[0.0, 0.0], [0.05, 0.0], [-0.02, 0.03], [0.1, -0.01]])
    found = inferred(np.concatenate([theta, clock], axis=1))
    for i, (late, fast) in enumerate(clock):
        known = problem(discrepancy, np.zeros(3), delay=late, drift=fast)
        assert found[i] == pytest.approx(known(theta[i : i + 1])[0], rel=1e-10)


def test_errors_given_the_samples_are_those_of_the_closed_form() -> None:
    std = np.array([0.3, 0.2, 0.8])
    likelihood = problem(Gaussian(std=0.5), std)
    theta = np.zeros((20_000, 2))
    drawn = likelihood.draw_outputs(theta, generator(9), given_data=True)["curve"]
    loadings = np.stack([np.interp(PLACES, AXIS, mode) for mode in MODES])
    left = likelihood.groups[0].observed - np.interp(PLACES, AXIS, MEAN)
    error = likelihood.errors["curve"]
    base = std[:, None] * error.correlation * std
    means, weights = [], []
    for scale, share in zip(error.scales, error.shares, strict=True):
        whole = 0.3 * np.eye(len(PLACES)) + scale * loadings.T @ base @ loadings
        means.append(scale * base @ loadings @ np.linalg.solve(whole, left))
        weights.append(share * multivariate_normal(cov=whole).pdf(left))
    expected = np.average(means, axis=0, weights=weights)
    assert drawn.mean(axis=0) == pytest.approx(expected, abs=0.02)
