"""Errors of a forward model that all data of an output share: against whole covariances, quadrature, closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from percuss.inference.common_error import CommonError
from percuss.inference.discrepancies.correlated import Correlated
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.discrepancies.student_t import StudentT
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.predictive import predict_at
from percuss.study.priors.log_uniform import LogUniform

Floats = NDArray[np.float64]
SLOPES = np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 1.0], [0.3, 0.3]])
X = np.array([[0.1, 0.2], [-0.5, 0.3], [1.0, -1.0]])
CORRELATION = np.array([[1, 0.6, 0.2, 0.3], [0.6, 1, -0.1, 0], [0.2, -0.1, 1, 0.5], [0.3, 0, 0.5, 1.0]])
NAMES = ("p", "q", "r", "s")
GAUSSIAN = CommonError(CORRELATION, np.ones(1), np.ones(1), NAMES)
TAILED = CommonError(CORRELATION, np.array([1.0, 9.0]), np.array([0.8, 0.2]), NAMES)
VARIANCE = np.array([0.09, 0.04, 0.16, 0.25])
TIMES = np.array([0.0, 0.1, 0.35])


def forward(x: Floats) -> tuple[Floats, Floats]:
    return x[:, :2] @ SLOPES.T, VARIANCE


def varying(x: Floats) -> tuple[Floats, Floats]:
    mean = x[:, :2] @ SLOPES.T
    return mean, VARIANCE * (1 + mean**2)


# Repetitions, an output in two groups, correlated errors in one of them; output 3 has no data.
FIRST = Group("first", np.array([0.3, 0.5, 0.1, -0.2]), np.array([0, 0, 1, 2]), Gaussian(0.1), measurement_std=0.05)
SECOND = Group("second", np.array([0.4, 0.2, 0.6]), np.array([0, 1, 1]), Correlated(0.2, TIMES, 0.3), "model", 0.1)


def joined(error: CommonError, model: Any = forward, groups: tuple[Group, ...] = (FIRST, SECOND)) -> Likelihood:
    return Likelihood(("a", "b"), {"model": model}, groups, {"model": error})


def dense(likelihood: Likelihood, x: Floats, scale: float) -> tuple[Floats, Floats]:
    """Residuals and covariance of all data at one point, with nothing clever."""
    mean, variance = likelihood.forwards["model"](x[None])
    std = np.sqrt(np.broadcast_to(variance, mean.shape)[0])
    outputs = np.concatenate([group.outputs for group in likelihood.groups])
    residual = np.concatenate([group.observed for group in likelihood.groups]) - mean[0, outputs]
    total = (scale * std[:, None] * CORRELATION * std)[np.ix_(outputs, outputs)]
    blocks = np.zeros_like(total)
    blocks[:4, :4] = np.diag(np.full(4, 0.1**2 + 0.05**2))
    apart = np.abs(TIMES[:, None] - TIMES)
    blocks[4:, 4:] = 0.2**2 * np.exp(-apart / 0.3) + 0.1**2 * np.eye(3)
    return residual, total + blocks


def log_density(likelihood: Likelihood, x: Floats, keep: NDArray[Any]) -> float:
    error = likelihood.errors["model"]
    logs = []
    for scale, share in zip(error.scales, error.shares, strict=True):
        residual, covariance = dense(likelihood, x, scale)
        part = stats.multivariate_normal.logpdf(residual[keep], cov=covariance[np.ix_(keep, keep)])
        logs.append(np.log(share) + part)
    return float(np.logaddexp.reduce(logs))


@pytest.mark.parametrize("error", [GAUSSIAN, TAILED])
@pytest.mark.parametrize("model", [forward, varying])
def test_density_is_that_of_the_whole_covariance(error: CommonError, model: Any) -> None:
    likelihood = joined(error, model)
    every = np.arange(7)
    whole = [log_density(likelihood, x, every) for x in X]
    np.testing.assert_allclose(likelihood(X), whole, rtol=1e-6)
    given = [
        [w - log_density(likelihood, x, np.delete(every, i)) for i in every] for x, w in zip(X, whole, strict=True)
    ]
    np.testing.assert_allclose(likelihood.pointwise(X), given, rtol=1e-6)


def test_an_inferred_std_enters_like_a_known_one() -> None:
    unknown = Unknown("noise", LogUniform({"low": 0.01, "high": 1.0}))
    free = joined(TAILED, groups=(Group("first", FIRST.observed, FIRST.outputs, Gaussian(unknown)),))
    for x, std in zip(X, (0.05, 0.2, 0.9), strict=True):
        known = joined(TAILED, groups=(Group("first", FIRST.observed, FIRST.outputs, Gaussian(std)),))
        point = np.append(x, std)[None]
        np.testing.assert_allclose(free(point), known(x[None]), rtol=1e-12)
        np.testing.assert_allclose(free.pointwise(point), known.pointwise(x[None]), rtol=1e-9)


def test_data_without_an_error_of_their_own_have_the_surrogates() -> None:
    exact = joined(GAUSSIAN, groups=(Group("one", np.array([0.3]), np.array([2]), Gaussian(0.0)),))
    wanted = stats.norm.logpdf(0.3, forward(X)[0][:, 2], 0.4)
    np.testing.assert_allclose(exact(X), wanted, rtol=1e-6)
    np.testing.assert_allclose(exact.pointwise(X)[:, 0], wanted, rtol=1e-5)


@pytest.mark.parametrize("error", [GAUSSIAN, TAILED])
def test_outputs_are_drawn_as_the_data_leave_them(error: CommonError) -> None:
    """Mean and covariance of all outputs, that without data included, by conditioning the whole covariance."""
    likelihood = joined(error)
    x = X[0]
    n = 60_000
    drawn = likelihood.draw_outputs(np.tile(x, (n, 1)), np.random.default_rng(1), given_data=True)["model"]
    outputs = np.concatenate([FIRST.outputs, SECOND.outputs])
    std = np.sqrt(VARIANCE)
    prior = std[:, None] * CORRELATION * std
    logs, means, squares = [], [], []
    for scale, share in zip(error.scales, error.shares, strict=True):
        residual, covariance = dense(likelihood, x, scale)
        gain = scale * prior[:, outputs] @ np.linalg.inv(covariance)
        logs.append(np.log(share) + stats.multivariate_normal.logpdf(residual, cov=covariance))
        means.append(gain @ residual)
        squares.append(scale * prior - scale * gain @ prior[outputs] + np.outer(means[-1], means[-1]))
    weight = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    mean = np.einsum("k,kj->j", weight, np.array(means))
    spread = np.einsum("k,kij->ij", weight, np.array(squares)) - np.outer(mean, mean)
    sure = 5 * np.sqrt(np.diag(spread) / n)
    assert (np.abs(drawn.mean(axis=0) - forward(x[None])[0][0] - mean) < sure).all()
    np.testing.assert_allclose(np.cov(drawn.T), spread, atol=0.03 * np.max(spread))
    before = likelihood.draw_outputs(np.tile(x, (n, 1)), np.random.default_rng(1), given_data=False)["model"]
    total = float(error.scales @ error.shares)
    np.testing.assert_allclose(np.cov(before.T), total * prior, atol=0.03 * total * np.max(prior))


def test_repeated_data_share_one_draw_of_the_error() -> None:
    many = Group("many", np.zeros(20), np.zeros(20, np.int64), Gaussian(0.01))
    drawn = predict_at(joined(GAUSSIAN, groups=(many,)), np.zeros((500, 2)), np.random.default_rng(0))
    assert np.std(drawn.data["many"].mean(axis=1)) == pytest.approx(0.3, rel=0.15)
    assert np.mean(drawn.data["many"].std(axis=1)) == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("error", [GAUSSIAN, TAILED])
def test_errors_that_cannot_be_integrated_out_are_inferred(error: CommonError) -> None:
    """Student-t data: the sum over the unknown error is the integral of the densities."""
    group = Group("wild", np.array([0.3, 0.9, 0.2]), np.array([1, 1, 1]), StudentT(0.1, 4.0))
    likelihood = joined(error, groups=(group,))
    assert list(likelihood.unknowns) == ["error_q"]
    z = np.linspace(-30.0, 30.0, 60_001)
    points = np.column_stack([np.tile(X[0], (len(z), 1)), z])
    found = np.trapezoid(np.exp(likelihood(points)) * stats.norm.pdf(z), z)
    s = 0.2 * z
    density = sum(b * stats.norm.pdf(s, 0, 0.2 * a**0.5) for a, b in zip(error.scales, error.shares, strict=True))
    residual = group.observed[:, None] - forward(X[:1])[0][0, 1] - s
    wanted = np.trapezoid(stats.t.pdf(residual, 4, scale=np.sqrt(0.01 + 1e-9 * 0.04)).prod(axis=0) * density, s)
    assert found == pytest.approx(wanted, rel=1e-6)
    drawn = likelihood.draw_outputs(
        np.tile(np.append(X[0], 1.5), (20_000, 1)), np.random.default_rng(2), given_data=True
    )
    above = drawn["model"] - forward(X[:1])[0]
    np.testing.assert_allclose(above[:, 1], 0.3)
    assert np.mean(above[:, 0]) == pytest.approx(0.3 * 0.6 * 1.5, abs=0.01)


@pytest.mark.parametrize("repeats", [1, 50])
def test_intervals_hold_the_truth_as_often_as_they_say(repeats: int) -> None:
    """A straight line known up to a common error: exact posteriors on a grid, 400 twins, 50 and 90 % intervals.

    With a new error for each datum 50 repetitions would make the intervals a fifth as wide as they are.
    """
    generator = np.random.default_rng(repeats)
    slopes, correlation = np.array([1.0, -0.6]), np.array([[1.0, 0.7], [0.7, 1.0]])
    model = lambda x: (x[:, :1] * slopes, np.full(2, 0.04))  # noqa: E731
    error = CommonError(correlation, np.ones(1), np.ones(1), ("p", "q"))
    grid = np.linspace(0.0, 1.0, 401)[:, None]
    places = []
    for _ in range(400):
        truth = generator.random()
        wrong = 0.2 * np.linalg.cholesky(correlation) @ generator.standard_normal(2)
        outputs = np.repeat([0, 1], repeats)
        data = (truth * slopes + wrong)[outputs] + 0.1 * generator.standard_normal(len(outputs))
        likelihood = Likelihood(("x",), {"model": model}, (Group("g", data, outputs, Gaussian(0.1)),), {"model": error})
        log = likelihood(grid)
        weight = np.exp(log - np.max(log))
        places.append(np.sum(weight[grid[:, 0] < truth]) / np.sum(weight))
    for mass in (0.5, 0.9):
        held = np.mean(np.abs(np.array(places) - 0.5) < mass / 2)
        assert abs(held - mass) < 3.5 * np.sqrt(mass * (1 - mass) / 400)
