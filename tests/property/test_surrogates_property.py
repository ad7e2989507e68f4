"""What holds of surrogates and indices for any data: bounds, order of parameters, units, derivatives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from percuss.study.priors.registry import prior_from_json
from percuss.surrogates import chaos
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.model import Data, Settings

SETTINGS = Settings(degrees=(1, 2, 3, 4), qs=(0.75, 1.0), search="full", method="least-angle")
SEEDS = st.integers(0, 2**32 - 1)


def _random(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (n, d))
    slopes, bends = rng.standard_normal((2, d))
    values = points @ slopes + np.sin(2 * points @ bends) + 0.3 * points[:, 0] * points[:, -1]
    return points, values[:, None]


def _fit(points, values):
    return chaos.fit(Data([("legendre", [])] * points.shape[1], np.ascontiguousarray(points), values), SETTINGS)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_indices_are_shares(seed):
    found = _fit(*_random(seed)).core.sobol()
    first, total, shapley, second = (found[name][0] for name in ("first", "total", "shapley", "second"))
    assert (first >= 0).all() and (total <= 1 + 1e-12).all()
    assert (first <= shapley + 1e-12).all() and (shapley <= total + 1e-12).all()
    assert first.sum() <= 1 + 1e-12 <= total.sum() + 1e-9
    assert abs(shapley.sum() - 1) < 1e-12
    assert first.sum() + np.triu(second, 1).sum() <= 1 + 1e-12


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.permutations(range(3)))
def test_the_order_of_parameters_does_not_matter(seed, order):
    points, values = _random(seed)
    straight, turned = _fit(points, values), _fit(points[:, order], values)
    fresh = np.random.default_rng(seed + 1).uniform(-1, 1, (20, 3))
    # Sums in another order; where two terms tie, rounding may choose another one.
    np.testing.assert_allclose(
        turned.mean(np.ascontiguousarray(fresh[:, order])), straight.mean(fresh), atol=1e-6 * np.ptp(values)
    )
    np.testing.assert_allclose(
        turned.core.sobol()["total"][0], straight.core.sobol()["total"][0][list(order)], atol=1e-6
    )


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.floats(1e-3, 1e3), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_units_do_not_matter(seed, scale, shift, out_scale, out_shift):
    points, values = _random(seed)
    low, high = shift - scale, shift + scale
    prior = prior_from_json({"kind": "uniform", "low": low, "high": high})
    canonical = Canonical.of([prior] * 3)
    theta = shift + scale * points
    scaled = _fit(canonical.points(theta), out_shift + out_scale * values)
    plain = _fit(points, values)
    fresh = np.random.default_rng(seed + 1).uniform(-1, 1, (20, 3))
    found = scaled.mean(canonical.points(shift + scale * fresh))
    size = out_scale * np.ptp(values)
    # Shifts of a thousand take three digits of the points.
    loss = 1e-9 * (1 + abs(shift) / scale + abs(out_shift) / size)
    np.testing.assert_allclose((found - out_shift) / size, plain.mean(fresh) / np.ptp(values), atol=max(loss, 1e-6))


PRIORS = (
    {"kind": "normal", "mean": 3.0, "std": 2.0},
    {"kind": "gamma", "shape": 2.0, "scale": 0.5},
    {"kind": "truncated-normal", "mean": 1.0, "std": 0.5, "low": 0.2, "high": 2.0},
)


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_the_gradient_is_that_of_the_parameters(seed):
    rng = np.random.default_rng(seed)
    priors = [prior_from_json(data) for data in PRIORS]
    canonical = Canonical.of(priors)
    theta = np.stack([prior.ppf(rng.uniform(0.01, 0.99, 40)) for prior in priors], axis=1)
    values = (np.log(theta[:, 1] + 1) * theta[:, 0] + theta[:, 2] ** 2)[:, None]
    model = chaos.fit(Data(canonical.families, canonical.points(theta), values), SETTINGS)
    at = np.stack([prior.ppf(rng.uniform(0.05, 0.95, 5)) for prior in priors], axis=1)
    _, gradient = model.gradient(canonical.points(at))
    gradient *= canonical.slopes(at)[:, None, :]
    for k, prior in enumerate(priors):
        step = np.zeros(3)
        step[k] = 1e-5 * prior.std()
        difference = model.mean(canonical.points(at + step)) - model.mean(canonical.points(at - step))
        np.testing.assert_allclose(gradient[:, 0, k], difference[:, 0] / (2 * step[k]), rtol=1e-4, atol=1e-5)
