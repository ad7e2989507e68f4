"""The filter's numbers: a peer's weights, closed forms, and covariances at the edge of what numbers hold."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from percuss.errors import InputError
from percuss.filtering.covariance import ObservationError, roots, scale_for
from percuss.filtering.identified import covariances, density, means, quantiles
from percuss.filtering.proposal import Mixture, fit_mixture, log_standard, log_start, prior_only, tempered
from percuss.filtering.weights import filter_weights, misfits
from percuss.study.priors.uniform import Uniform

GOLDEN = Path(__file__).parents[2] / "golden" / "filter" / "grainlearning.npz"
NAMES = ("ratio", "radial", "volume")


@pytest.fixture(scope="module")
def peer() -> dict[str, np.ndarray]:
    with np.load(GOLDEN) as stored:
        return {name: stored[name] for name in stored.files}


def _misfits(peer, factors):
    return misfits(list(peer["observed"]), list(peer["outputs"].transpose(2, 0, 1)), factors)


def test_weights_are_those_of_the_peer(peer) -> None:
    """1e-12: the peer multiplies likelihoods of 60 steps, each rounded."""
    found = filter_weights(_misfits(peer, [np.diag([0.5, 0.3, 0.3])] * 60), np.zeros(len(peer["samples"])))
    expected = peer["weights"] / peer["weights"].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.weights, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(means(found.weights, peer["parameters"]), expected @ peer["parameters"], rtol=1e-11)
    np.testing.assert_allclose(found.effective, 1 / (expected**2).sum(axis=1), rtol=1e-10)


@pytest.mark.parametrize("std", [5e-324, 1e-300, 1e-170, 1e-100, 1e-8, 1.0, 1e100, 1e300])
def test_no_covariance_gives_nan(peer, std) -> None:
    found = filter_weights(_misfits(peer, [np.eye(3) * std] * 60), np.zeros(len(peer["samples"])))
    assert np.isfinite(found.weights).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, rtol=1e-12)
    assert not np.isnan(found.log_evidence).any()
    assert (found.effective >= 1 - 1e-12).all()


def test_singular_covariances_are_refused(peer) -> None:
    with pytest.raises(InputError, match="positive definite"):
        _misfits(peer, [np.diag([1.0, 0.0, 1.0])] * 60)


def test_a_full_covariance_and_its_evidence_against_scipy() -> None:
    from scipy.stats import multivariate_normal

    rng = np.random.default_rng(3)
    covariance = np.array([[2.0, 0.7], [0.7, 0.5]])
    observed, predicted = rng.normal(size=(4, 2)), rng.normal(size=(4, 9, 2))
    found = filter_weights(misfits(observed, predicted, [np.linalg.cholesky(covariance)] * 4), np.zeros(9), scale=1.5)
    logs = np.zeros(9)
    for t in range(4):
        logs += [multivariate_normal(x, 2.25 * covariance).logpdf(observed[t]) for x in predicted[t]]
        likelihood = np.exp(logs)
        np.testing.assert_allclose(found.weights[t], likelihood / likelihood.sum(), rtol=1e-12)
        assert found.log_evidence[t] == pytest.approx(math.log(likelihood.mean()), rel=1e-12)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
def test_searched_scales_reach_their_share(peer, share) -> None:
    factors = roots(ObservationError("maximum"), [NAMES] * 60, list(peer["observed"]))
    found, start = _misfits(peer, factors), np.zeros(len(peer["samples"]))
    effective = filter_weights(found, start, scale_for(found, start, share)).effective[-1]
    assert effective / len(start) == pytest.approx(share, rel=1e-9)


def test_shares_out_of_reach_are_refused(peer) -> None:
    factors = roots(ObservationError("maximum"), [NAMES] * 60, list(peer["observed"]))
    found = _misfits(peer, factors)
    for share in (0.001, 1.5):
        with pytest.raises(InputError, match=r"--ess"):
            scale_for(found, np.zeros(len(peer["samples"])), share)


def test_relative_errors_at_zero_and_below() -> None:
    observed = [np.array([-4.0, 1.0]), np.array([0.0, -2.0])]
    names = [("a", "b")] * 2
    relative = roots(ObservationError("relative"), names, observed)
    assert np.diag(relative[0]).tolist() == [4.0, 1.0]
    assert np.diag(relative[1]).tolist() == [0.004, 2.0]
    assert [np.diag(r).tolist() for r in roots(ObservationError("maximum"), names, observed)] == [[4, 2], [4, 2]]
    with pytest.raises(InputError, match="every observation is 0"):
        roots(ObservationError("relative"), [("a",)], [np.zeros(1)])
    with pytest.raises(InputError, match="constant needs a standard deviation"):
        roots(ObservationError("constant", stds={"a": 1.0}), names, observed)


def test_quantiles_moments_and_densities_of_equal_weights() -> None:
    values = np.random.default_rng(1).uniform(size=400)
    weights = np.full(400, 1 / 400)
    np.testing.assert_allclose(
        quantiles(weights, values, np.array([0.1, 0.5, 0.9])),
        np.quantile(values, [0.1, 0.5, 0.9], method="averaged_inverted_cdf"),
        rtol=1e-12,
    )
    theta = np.column_stack([values, values**2])
    np.testing.assert_allclose(covariances(weights[None], theta)[0], np.cov(theta.T, bias=True), rtol=1e-12)
    grid = np.linspace(0, 1, 401)
    found = density(weights, values, Uniform({"low": 0.0, "high": 1.0}), grid)
    # Kernels mirrored at both ends lose nothing but what lies beyond the far one.
    assert np.trapezoid(found, grid) == pytest.approx(1.0, abs=2e-3)
    assert found.min() > 0.7


def test_quantiles_of_a_weighted_gaussian_are_those_its_standard_deviation_has() -> None:
    """N(0, 2) weighed to N(0.5, 0.3): 20 000 samples are worth some 5000, quantiles known to a thirtieth of the std."""
    values = np.random.default_rng(3).normal(0, 2, 20_000)
    weights = np.exp(-0.5 * ((values - 0.5) / 0.3) ** 2 + 0.5 * (values / 2) ** 2)
    weights /= weights.sum()
    std = float(np.sqrt(covariances(weights[None], values[:, None])[0, 0, 0]))
    low, middle, high = quantiles(weights, values, np.array([0.05, 0.5, 0.95]))
    assert (high - low) / (2 * 1.6449) == pytest.approx(std, rel=0.03)
    assert middle == pytest.approx(0.5, abs=0.05 * std)


@given(
    st.lists(st.tuples(st.floats(-40, 0), st.floats(-3, 3)), min_size=1, max_size=30),
    st.sampled_from([0.05, 0.25, 0.5, 0.95]),
)
def test_quantiles_lie_where_mean_and_standard_deviation_allow(samples, share) -> None:
    """Cantelli's inequality holds for the quantiles of a distribution with its own mean and standard deviation: also
    when one sample has nearly all the weight, where the two used to differ five times."""
    logs, values = (np.array(column) for column in zip(*samples, strict=True))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = float(means(weights[None], values[:, None])[0, 0])
    std = float(np.sqrt(covariances(weights[None], values[:, None])[0, 0, 0]))
    found = float(quantiles(weights, values, np.array([share]))[0])
    slack = 1e-9 * (1 + np.abs(values).max()) + 1e-5 * np.ptp(values)  # a share of 1e-12 of the weight is a tie
    assert mean - std * np.sqrt((1 - share) / share) - slack <= found
    assert found <= mean + std * np.sqrt(share / (1 - share)) + slack


def test_a_mixture_finds_two_clouds_and_its_density_integrates_to_one() -> None:
    rng = np.random.default_rng(5)
    z = np.concatenate([rng.normal(-2, 0.3, (400, 1)), rng.normal(1, 0.5, (800, 1))])
    found = fit_mixture(z, np.full(1200, 1 / 1200), seed=0)
    assert len(found.shares) == 2
    assert sorted(found.means[:, 0]) == pytest.approx([-2, 1], abs=0.1)
    grid = np.linspace(-9, 9, 20001)[:, None]
    assert np.trapezoid(np.exp(found.log_density(grid)), grid[:, 0]) == pytest.approx(1, abs=1e-6)
    # Importance sampling with the mixture gives back the prior: its mass, mean and variance.
    points = found.points(4096, seed=1)
    weight = np.exp(log_standard(points) - found.log_density(points))
    assert weight.mean() == pytest.approx(1, abs=0.02)
    assert np.average(points[:, 0], weights=weight) == pytest.approx(0, abs=0.03)
    assert np.average(points[:, 0] ** 2, weights=weight) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("sharpness", [0.1, 1e2, 1e5])
def test_weights_on_one_sample_propose_around_it(sharpness) -> None:
    """Five dimensions, 64 samples: a proposal on top of the best one would never find a better."""
    z = np.random.default_rng(0).normal(size=(64, 5))
    logs = -sharpness * ((z - 0.7) ** 2).sum(axis=1)
    kept = tempered(logs, 5)
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    np.testing.assert_allclose(kept.sum(), 1)
    assert 1 / (kept**2).sum() == pytest.approx(max(6, 1 / (weights**2).sum()), rel=1e-2)
    assert (np.argsort(kept) == np.argsort(logs)).all()
    assert np.sqrt(np.diagonal(fit_mixture(z, kept, 0).covariances[0])).min() > 0.2


def test_iterations_do_not_narrow_a_conjugate_posterior() -> None:
    """theta ~ N(0, 1), y = theta + N(0, s^2) seen ten times: the posterior is known, and stays from one to the next.

    Without the weights of the proposal the same data count again each time: the standard deviation
    of the last ensemble alone shows it.
    """
    s, data = 0.8, np.random.default_rng(2).normal(0.7, 0.8, 10)
    exact_var = 1 / (1 + len(data) / s**2)
    exact_mean = exact_var * data.sum() / s**2
    squares = (data**2).sum() / s**2 - exact_mean**2 / exact_var
    exact_evidence = -0.5 * (len(data) * math.log(2 * math.pi * s**2) - math.log(exact_var) + squares)
    proposals, counts = [prior_only(1)], [400]
    z = Mixture(np.array([1.0]), np.zeros((1, 1)), np.ones((1, 1, 1))).points(400, seed=9)
    for iteration in range(5):
        found = misfits([np.array([y]) for y in data], [z] * len(data), [np.array([[s]])] * len(data))
        done = filter_weights(found, log_start(z, proposals, counts))
        mean = float(done.weights[-1] @ z[:, 0])
        std = math.sqrt(float(done.weights[-1] @ (z[:, 0] - mean) ** 2))
        assert mean == pytest.approx(exact_mean, abs=0.03), iteration
        assert std == pytest.approx(math.sqrt(exact_var), rel=0.05), iteration
        assert done.log_evidence[-1] == pytest.approx(exact_evidence, abs=0.05)
        mixture = fit_mixture(z, done.weights[-1], seed=iteration)
        new = mixture.points(400, seed=iteration)
        z = np.concatenate([z, new])
        proposals.append(mixture)
        counts.append(400)
    found = misfits([np.array([y]) for y in data], [new] * len(data), [np.array([[s]])] * len(data))
    uncorrected = filter_weights(found, np.zeros(len(new))).weights[-1]
    mean = uncorrected @ new[:, 0]
    assert math.sqrt(float(uncorrected @ (new[:, 0] - mean) ** 2)) < 0.8 * math.sqrt(exact_var)


def test_triangular_systems_and_ranks_are_those_of_a_library() -> None:
    from scipy.linalg import solve_triangular
    from scipy.stats import rankdata

    from percuss.filtering.identified import correlations
    from percuss.filtering.weights import solve_lower

    rng = np.random.default_rng(5)
    roots = np.tril(rng.uniform(0.5, 2.0, (4, 3, 3)))
    right = rng.standard_normal((4, 3, 50))
    expected = [solve_triangular(a, b, lower=True) for a, b in zip(roots, right, strict=True)]
    np.testing.assert_allclose(solve_lower(roots, right), expected, rtol=1e-13, atol=1e-14)
    ties = rng.integers(0, 5, (40, 3)).astype(float)
    ranked = np.corrcoef(rankdata(ties, axis=0).T)
    np.testing.assert_allclose(correlations(ties, ties)[1], ranked, atol=1e-14)


def test_a_mixture_has_the_likelihood_of_its_gaussians_one_by_one() -> None:
    from scipy.stats import multivariate_normal

    rng = np.random.default_rng(6)
    z = np.concatenate([rng.normal(-2, 0.4, (150, 2)), rng.normal(2, 0.6, (150, 2))])
    mixture = fit_mixture(z, np.full(300, 1 / 300), 0)
    assert len(mixture.shares) > 1
    parts = [
        0.9 * share * multivariate_normal(mean, covariance).pdf(z)
        for share, mean, covariance in zip(mixture.shares, mixture.means, mixture.covariances, strict=True)
    ]
    expected = np.log(sum(parts) + 0.1 * np.exp(log_standard(z)))
    np.testing.assert_allclose(mixture.log_density(z), expected, rtol=1e-12)
