"""Posterior predictive checks: closed form on linear models, and the rate of false alarms that is claimed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaincc

from percuss.inference.discrepancies.correlated import Correlated
from percuss.inference.discrepancies.discrepancy import Discrepancy
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.predictive import Neighbours, check_fit, check_neighbours, neighbours

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


TIMES = np.linspace(0.0, 1.0, 60)
LINE = np.stack([np.ones(60), TIMES], axis=1)
LENGTH = 0.1


def _along(observed: np.ndarray, discrepancy: Discrepancy, rng: np.random.Generator) -> Neighbours:
    """A line through a record, by least squares with the errors assumed: what those of neighbours say of it."""
    likelihood = Likelihood(
        ("a", "b"),
        {"model": lambda x: (x @ LINE.T, np.zeros(60))},
        (Group("record", observed, np.arange(60), discrepancy),),
    )
    assumed = STD**2 * (_lasting() if isinstance(discrepancy, Correlated) else np.eye(60))
    precision = LINE.T @ np.linalg.solve(assumed, LINE)
    mean = np.linalg.solve(precision, LINE.T @ np.linalg.solve(assumed, observed))
    draws = mean + rng.standard_normal((200, 2)) @ np.linalg.cholesky(np.linalg.inv(precision)).T
    return check_neighbours(likelihood, draws, rng, "record", [np.arange(60)])


def _lasting() -> np.ndarray:
    return np.asarray(np.exp(-np.abs(TIMES[:, None] - TIMES) / LENGTH))


def test_errors_that_last_are_seen_where_they_are_taken_for_independent() -> None:
    """Their size is right, and so is the misfit: it says nothing. Errors that are what they are said to be pass."""
    rng = np.random.default_rng(4)
    factor = np.linalg.cholesky(_lasting())
    independent, lasting = Gaussian(STD), Correlated(STD, TIMES, LENGTH)
    seen = {"wrong": 0, "independent": 0, "correlated": 0}
    for _ in range(20):
        white = STD * rng.standard_normal(60)
        truth = LINE @ rng.standard_normal(2)
        seen["wrong"] += _along(truth + factor @ white, independent, rng).p_value < 0.01
        seen["independent"] += _along(truth + white, independent, rng).p_value < 0.05
        seen["correlated"] += _along(truth + factor @ white, lasting, rng).p_value < 0.05
    assert seen["wrong"] == 20
    # Meng (1994): at most 2 a of right ones, 2 of 20 here.
    assert seen["independent"] <= 2 and seen["correlated"] <= 2


def test_neighbours_of_a_known_record() -> None:
    """An alternating record has -1, a constant one 1; two records are not joined at their ends."""
    signs = np.array([[1.0, -1.0] * 8])
    assert neighbours(signs, [np.arange(16)]) == pytest.approx(-1.0)
    assert neighbours(np.abs(signs), [np.arange(8), np.arange(8, 16)]) == pytest.approx(1.0)
    assert neighbours(np.repeat([[1.0, -1.0]], 8, axis=1), [np.arange(8), np.arange(8, 16)]) == pytest.approx(1.0)
    assert neighbours(signs, [np.arange(0, 16, 2), np.arange(1, 16, 2)]) == pytest.approx(1.0)
