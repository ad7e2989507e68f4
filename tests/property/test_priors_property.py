"""Priors: quantile and distribution are inverse, monotone, and keep to the support, over random fields."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from percuss.study.priors.prior import Prior
from percuss.study.priors.registry import prior_from_json, read_prior

PLACE = st.floats(-1e6, 1e6)
WIDTH = st.floats(1e-3, 1e3)
SHAPE = st.floats(0.3, 50)


def _bounded(kind):
    return st.tuples(PLACE, WIDTH).map(lambda p: {"kind": kind, "low": p[0], "high": p[0] + p[1]})


@st.composite
def truncated(draw):
    mean, std = draw(st.floats(-100, 100)), draw(WIDTH)
    low = mean + std * draw(st.floats(-30, 30))
    table = {"kind": "truncated-normal", "mean": mean, "std": std, "low": low}
    if draw(st.booleans()):
        table["high"] = low + std * draw(st.floats(0.01, 40))
    return table


TABLES = st.one_of(
    _bounded("uniform"),
    st.tuples(PLACE, WIDTH).map(lambda p: {"kind": "normal", "mean": p[0], "std": p[1]}),
    st.tuples(WIDTH, WIDTH).map(lambda p: {"kind": "lognormal", "mean": p[0], "std": p[1]}),
    st.tuples(st.floats(-20, 20), st.floats(0.01, 3)).map(lambda p: {"kind": "lognormal", "mu": p[0], "sigma": p[1]}),
    truncated(),
    st.tuples(_bounded("beta"), SHAPE, SHAPE).map(lambda p: p[0] | {"alpha": p[1], "beta": p[2]}),
    st.tuples(SHAPE, WIDTH).map(lambda p: {"kind": "gamma", "shape": p[0], "scale": p[1]}),
    st.tuples(st.floats(1e-6, 1e6), st.floats(1.01, 1e6)).map(
        lambda p: {"kind": "log-uniform", "low": p[0], "high": p[0] * p[1]}
    ),
)
TABLES |= st.tuples(PLACE, WIDTH, st.floats(1e-4, 1 - 1e-4)).map(
    lambda p: {"kind": "truncated-exponential", "mean": p[0] + p[1] * p[2], "low": p[0], "high": p[0] + p[1]}
)
TABLES |= st.tuples(WIDTH, st.floats(1e-3, 0.7)).map(lambda p: {"kind": "gamma", "mean": p[0], "dispersion": p[1]})
PROBABILITY = st.one_of(st.floats(1e-12, 1 - 1e-12), st.floats(1e-12, 1e-3))


def resolution(prior: Prior, x: float) -> float:
    """Return the change of probability over the rounding of x, which no quantile can better.

    A cut Gaussian adds the rounding of its tail probabilities over the share of them that the cut leaves.
    """
    scale = max(abs(x), *(abs(bound) for bound in prior.support() if math.isfinite(bound)), 0.0)
    scale = max(scale, abs(prior.fields.get("mean", 0.0)))
    with np.errstate(over="ignore"):
        rounding = float(np.exp(prior.logpdf(x))) * scale * 2**-50
    if prior.kind == "truncated-normal":
        low, high = prior.support()
        rounding += 2**-50 / min(1.0, 0.3 * (high - low) / prior.fields["std"])
    return rounding


@settings(deadline=None)
@given(TABLES, PROBABILITY)
def test_distribution_undoes_quantile(table, u):
    prior = read_prior(table, "1")
    x = float(prior.ppf(u))
    low, high = prior.support()
    assert low <= x <= high
    assert abs(float(prior.cdf(x)) - u) <= 1e-9 * min(u, 1 - u) + 1e-13 * u + resolution(prior, x) + 1e-15


@settings(deadline=None)
@given(TABLES, st.lists(PROBABILITY, min_size=2, max_size=10))
def test_quantiles_rise(table, probabilities):
    prior = read_prior(table, "1")
    x = prior.ppf(np.sort(probabilities))
    spread = 1e-12 * np.abs(x).max() if x.size else 0.0
    assert (np.diff(x) >= -spread).all()


@settings(deadline=None)
@given(TABLES, st.lists(PROBABILITY, min_size=1, max_size=20))
def test_one_by_one_and_together_are_the_same_bits(table, probabilities):
    prior = read_prior(table, "1")
    assert prior.ppf(probabilities).tolist() == [float(prior.ppf(u)) for u in probabilities]


@settings(deadline=None)
@given(TABLES)
def test_json_is_exact_and_moments_are_finite(table):
    prior = read_prior(table, "1")
    assert prior_from_json(prior.to_json()) == prior
    low, high = prior.support()
    assert low <= prior.mean() <= high
    assert 0 < prior.std() <= (high - low) * 0.5000001
