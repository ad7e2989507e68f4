"""The contract of a prior: quantiles, probabilities, density, moments and storage that agree with each other."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from percuss.study.priors.prior import Prior
from percuss.study.priors.registry import prior_from_json


def check_prior(prior: Prior) -> None:
    """Check one prior, as a study would have it."""
    kind = type(prior)
    assert kind.kind and kind.summary, "kind and summary must be said"
    assert all(name in kind.roles for form in kind.forms for name in form), "a form names a field without a role"
    assert not prior.faults(), f"faults of its own fields: {prior.faults()}"
    u = np.linspace(0.001, 0.999, 397)
    x = np.asarray(prior.ppf(u), float)
    assert x.shape == u.shape and np.isfinite(x).all(), "quantiles inside (0, 1) must be finite"
    assert (np.diff(x) >= 0).all(), "quantiles must not fall"
    np.testing.assert_allclose(prior.cdf(x), u, rtol=1e-8, atol=1e-10, err_msg="cdf(ppf(u)) is not u")
    low, high = prior.support()
    assert low <= x[0] and x[-1] <= high, f"quantiles lie outside the support {low!r} to {high!r}"
    for end, inside in ((low, x[0]), (high, x[-1])):
        if math.isfinite(end):
            beyond = np.array([end + math.copysign(1.0 + abs(end), end - inside)])
            assert prior.logpdf(beyond)[0] == -math.inf, f"density beyond the support, at {beyond[0]!r}"
    _check_density(prior, u, x)
    _check_moments(prior)
    stored = prior_from_json(prior.to_json())
    assert stored.to_json() == prior.to_json(), "stored and read again it is another prior"
    np.testing.assert_array_equal(stored.ppf(u), x, err_msg="stored and read again its quantiles differ")


def _check_density(prior: Prior, u: np.ndarray, x: np.ndarray) -> None:
    """The density is the slope of the distribution."""
    inner = slice(20, -20)
    step = 1e-5 * (x[-1] - x[0])
    slope = (np.asarray(prior.cdf(x + step)) - np.asarray(prior.cdf(x - step))) / (2 * step)
    density = np.exp(prior.logpdf(x))
    np.testing.assert_allclose(density[inner], slope[inner], rtol=2e-4, err_msg="density is not the slope of cdf")


def _check_moments(prior: Prior) -> None:
    """Mean and standard deviation by Gauss-Legendre quadrature over the quantiles, tails cut into pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    edges = np.concatenate([[0.0], np.logspace(-12, -1, 23), 1 - np.logspace(-1, -12, 23), [1.0]])
    mean = square = 0.0
    for a, b in pairwise(edges):
        at = np.asarray(prior.ppf(0.5 * (b - a) * nodes + 0.5 * (a + b)), float)
        mean += float(0.5 * (b - a) * (weights @ at))
        square += float(0.5 * (b - a) * (weights @ at**2))
    spread = prior.std()
    np.testing.assert_allclose(prior.mean(), mean, rtol=1e-6, atol=1e-6 * spread, err_msg="mean")
    np.testing.assert_allclose(spread**2, square - mean**2, rtol=1e-5, err_msg="variance")
