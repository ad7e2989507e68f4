"""Indices of correlated parameters against the closed form of a linear function of normals."""

import itertools

import numpy as np
import pytest
from scipy.special import ndtri

from percuss.sensitivity.sampling import sample_indices, shapley_of
from percuss.sensitivity.subsets import Dependent, conditioned, subset_indices

NAMES = [("base", "y")]
SLOPES = np.array([1.0, 2.0, -0.5])
CORRELATION = np.array([[1.0, 0.7, 0.0], [0.7, 1.0, -0.4], [0.0, -0.4, 1.0]])


def linear(z):
    return (z @ SLOPES)[:, None]


def space(correlation):
    factor = np.linalg.cholesky(correlation)
    return Dependent(lambda unit: ndtri(unit) @ factor.T, correlation)


def exact_closed(subset):
    """var E[y | x_u] / var y: the regression of y on x_u."""
    u = list(subset)
    if not u:
        return np.zeros(1)
    shared = CORRELATION[:, u].T @ SLOPES
    variance = SLOPES @ CORRELATION @ SLOPES
    return np.array([shared @ np.linalg.solve(CORRELATION[np.ix_(u, u)], shared) / variance])


def test_a_linear_function_of_correlated_normals():
    closed = {u: exact_closed(u) for size in range(4) for u in itertools.combinations(range(3), size)}
    (indices,) = subset_indices(linear, space(CORRELATION), NAMES, 8192, 0, 0.95, {"pair": [2, 0]})
    exact = {
        "first": [closed[(i,)][0] for i in range(3)],
        "total": [1 - closed[tuple(j for j in range(3) if j != i)][0] for i in range(3)],
        "shapley": shapley_of(closed, 3)[0],
    }
    for name, values in exact.items():
        np.testing.assert_allclose(indices.measures[name].values, values, atol=0.01)
    # What is shared is in the first-order index and not in the total one.
    assert exact["total"][0] < exact["shapley"][0] < exact["first"][0]
    assert indices.measures["shapley"].values.sum() == pytest.approx(1, abs=1e-9)
    shares = indices.groups["pair"]
    np.testing.assert_allclose(shares, [closed[(0, 2)][0], 1 - closed[(1,)][0]], atol=0.01)
    assert indices.variance == pytest.approx(SLOPES @ CORRELATION @ SLOPES, rel=0.01)


def test_two_normals_as_owen_and_prieur_have_them():
    """Owen and Prieur (2017), equation (9): a parameter without an effect of its own has one by its correlation."""
    rho = 0.9
    together = np.array([[1.0, rho], [rho, 1.0]])
    (indices,) = subset_indices(lambda z: z[:, :1], space(together), NAMES, 4096, 1, 0.95, {})
    np.testing.assert_allclose(indices.measures["shapley"].values, [1 - rho**2 / 2, rho**2 / 2], atol=0.01)
    np.testing.assert_allclose(indices.measures["total"].values, [1 - rho**2, 0.0], atol=0.01)


def test_errors_fall_with_points_and_intervals_hold_the_truth():
    truth = [exact_closed((i,))[0] for i in range(3)]
    worst, held = [], 0
    for n in (256, 16384):
        of_seeds = [
            subset_indices(linear, space(CORRELATION), NAMES, n, seed, 0.95, {})[0].measures["first"]
            for seed in range(20)
        ]
        worst.append(max(np.abs(m.values - truth).max() for m in of_seeds))
        held = sum(int(((m.low <= truth) & (truth <= m.high)).sum()) for m in of_seeds)
    assert worst[1] < worst[0] / 8
    # 60 intervals of 95 %: fewer than 50 would come by chance in one of 10 000.
    assert held >= 50


def test_independent_parameters_have_the_indices_they_had():
    def function(unit):
        x = np.pi * (2 * unit - 1)
        return (np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]))[:, None]

    (plain,) = sample_indices(function, 3, NAMES, 8192, 0, 0.95)
    cube = Dependent(lambda unit: unit, np.eye(3))
    (by_subsets,) = subset_indices(function, cube, NAMES, 8192, 0, 0.95, {"outer": [0, 2]})
    for name in ("first", "total", "shapley"):
        np.testing.assert_allclose(by_subsets.measures[name].values, plain.measures[name].values, atol=0.02)
    np.testing.assert_allclose(by_subsets.groups["outer"], [0.557589, 0.557589], atol=0.01)


def test_draws_given_some_columns_have_the_conditional_law():
    rng = np.random.default_rng(3)
    drawn = rng.standard_normal((40_000, 3)) @ np.linalg.cholesky(CORRELATION).T
    at = np.tile([0.5, -1.0, 2.0], (40_000, 1))
    drawn_anew = conditioned(at, drawn, [1], CORRELATION)
    np.testing.assert_array_equal(drawn_anew[:, 1], -1.0)
    np.testing.assert_allclose(drawn_anew[:, [0, 2]].mean(axis=0), [-0.7, 0.4], atol=0.02)
    expected = CORRELATION[np.ix_([0, 2], [0, 2])] - np.outer([0.7, -0.4], [0.7, -0.4])
    np.testing.assert_allclose(np.cov(drawn_anew[:, [0, 2]].T), expected, atol=0.02)


def test_more_parameters_than_shapley_effects_are_for():
    (indices,) = subset_indices(
        lambda z: z.sum(axis=1, keepdims=True), Dependent(ndtri, np.eye(9)), NAMES, 1024, 0, 0.95, {}
    )
    assert set(indices.measures) == {"first", "total"}
