"""Posterior predictive checks: closed form on linear models, and the rate of false alarms that is claimed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaincc

from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.predictive import check_fit

MATRIX = np.array([[1.0, 0.5], [0.3, 1.0], [1.0, -1.0], [0.2, 0.1], [0.7, 0.4], [-0.6, 0.8]])
STD = 0.2


def _likelihood(observed: np.ndarray, groups: int = 1) -> Likelihood:
    parts = np.array_split(np.arange(len(observed)), groups)
    return Likelihood(
        ("a", "b"),
        {"model": lambda x: (x @ MATRIX.T, np.zeros(len(MATRIX)))},
        tuple(Group(f"g{i}", observed[part], part, Gaussian(STD)) for i, part in enumerate(parts)),
    )


def _posterior(observed: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Exact draws: parameters are standard normal before the data."""
    covariance = np.linalg.inv(np.eye(2) + MATRIX.T @ MATRIX / STD**2)
    mean = covariance @ MATRIX.T @ observed / STD**2
    return mean + rng.standard_normal((n, 2)) @ np.linalg.cholesky(covariance).T


def test_the_p_value_is_the_mean_tail_of_chi_square() -> None:
    """T - constant is chi-square of as many degrees of freedom as there are data, at every draw."""
    rng = np.random.default_rng(1)
    observed = MATRIX @ [0.4, -0.3] + 1.6 * STD * rng.standard_normal(len(MATRIX))
    draws = _posterior(observed, 4000, rng)
    chi = np.sum(((observed - draws @ MATRIX.T) / STD) ** 2, axis=1)
    exact = float(np.mean(gammaincc(len(observed) / 2, chi / 2)))
    found, groups = check_fit(_likelihood(observed), draws, rng)
    assert found.p_value == pytest.approx(exact, abs=4 * found.p_error + 0.01)
    assert groups["g0"].p_value == pytest.approx(exact, abs=0.02)


def test_right_models_are_rarely_called_wrong_and_wrong_ones_often() -> None:
    """Meng (1994): a p-value below a in at most 2 a of right models. Errors twice as large as claimed are seen."""
    rng = np.random.default_rng(2)
    low = {1.0: 0, 2.0: 0}
    inside = {1.0: 0, 2.0: 0}
    for factor in low:
        for _ in range(200):
            observed = MATRIX @ rng.standard_normal(2) + factor * STD * rng.standard_normal(len(MATRIX))
            found, _ = check_fit(_likelihood(observed), _posterior(observed, 200, rng), rng)
            low[factor] += found.p_value < 0.05
            inside[factor] += found.inside[0.95]
    assert low[1.0] <= 200 * 0.1
    assert low[2.0] > 200 * 0.3
    # 95 % bands hold at least that of right data: parameters were fitted to them.
    assert inside[1.0] >= 0.94 * 200 * len(MATRIX)
    assert inside[2.0] < 0.9 * 200 * len(MATRIX)


def test_the_group_that_does_not_fit_is_told_apart() -> None:
    rng = np.random.default_rng(3)
    observed = MATRIX @ [0.4, -0.3] + STD * rng.standard_normal(len(MATRIX))
    observed[3] += 12 * STD
    _, groups = check_fit(_likelihood(observed, 3), _posterior(observed, 500, rng), rng)
    assert groups["g1"].p_value < 1e-3
    assert groups["g1"].inside[0.95] == 1
    assert min(groups["g0"].p_value, groups["g2"].p_value) > 0.01
