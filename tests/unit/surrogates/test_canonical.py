"""Canonical variables: their measure is that of the family, to the moments, and slopes are derivatives."""

import numpy as np
import pytest

from percuss.study.priors.registry import prior_from_json
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.chaos import basis_of

PRIORS = {
    "uniform": {"kind": "uniform", "low": 2.0, "high": 5.0},
    "log-uniform": {"kind": "log-uniform", "low": 1e-3, "high": 10.0},
    "normal": {"kind": "normal", "mean": -3.0, "std": 0.5},
    "lognormal": {"kind": "lognormal", "mean": 2.0, "std": 1.0},
    "lognormal-mu": {"kind": "lognormal", "mu": 7.71, "sigma": 1.0056},
    "gamma": {"kind": "gamma", "shape": 2.5, "scale": 3.0},
    "gamma-mean": {"kind": "gamma", "mean": 4.0, "std": 3.0},
    "beta": {"kind": "beta", "alpha": 2.0, "beta": 3.5, "low": -1.0, "high": 4.0},
    "truncated-normal": {"kind": "truncated-normal", "mean": 0.1, "std": 0.016, "low": 0.05, "high": 0.15},
    "narrow": {"kind": "truncated-normal", "mean": 0.0, "std": 2.0, "low": -1.0, "high": 0.5},
    "one-sided": {"kind": "truncated-normal", "mean": 0.0, "std": 1.0, "low": -0.5},
}


@pytest.mark.parametrize("name", PRIORS)
def test_polynomials_are_orthonormal_under_the_prior(name):
    prior = prior_from_json(PRIORS[name])
    canonical = Canonical.of([prior])
    # Gauss-Legendre in probability, on panels that crowd at the ends, where quantiles run away.
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.concatenate([[0.0], np.geomspace(1e-12, 0.1, 40), np.linspace(0.1, 0.5, 5)[1:]])
    edges = np.concatenate([edges, 1.0 - edges[-2::-1]])
    half = np.diff(edges) / 2
    u = (edges[:-1] + half)[:, None] + half[:, None] * nodes
    w = (half[:, None] * weights).ravel()
    x = canonical.points(np.asarray(prior.ppf(u.ravel()))[:, None])
    degrees = np.arange(5, dtype=np.uint8)[:, None]
    values = basis_of(canonical.families, degrees).predict(x)
    # 1 - p has no digits left beyond p = 1 - 1e-12: what the last panels hold of a degree-8 moment.
    np.testing.assert_allclose((values.T * w) @ values, np.eye(5), atol=2e-6)


@pytest.mark.parametrize("name", PRIORS)
def test_slopes_are_derivatives(name):
    prior = prior_from_json(PRIORS[name])
    canonical = Canonical.of([prior])
    at = np.asarray(prior.ppf(np.linspace(0.02, 0.98, 25)))[:, None]
    step = 1e-6 * prior.std()
    difference = (canonical.points(at + step) - canonical.points(at - step)) / (2 * step)
    np.testing.assert_allclose(canonical.slopes(at), difference, rtol=2e-6)


def test_bounds_go_to_the_ends_of_the_family():
    for name in ("uniform", "log-uniform", "beta", "truncated-normal", "narrow"):
        prior = prior_from_json(PRIORS[name])
        low, high = prior.support()
        np.testing.assert_allclose(Canonical.of([prior]).points(np.array([[low], [high]])).ravel(), [-1, 1], atol=1e-14)


def test_an_affine_prior_is_mapped_affinely():
    prior = prior_from_json(PRIORS["beta"])
    x = Canonical.of([prior]).points(np.array([[-1.0], [1.5], [4.0]]))
    np.testing.assert_array_equal(x.ravel(), [-1.0, 0.0, 1.0])
