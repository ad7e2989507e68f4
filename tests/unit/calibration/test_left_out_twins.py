"""Errors of surrogates grow as far as runs that were left out demand, and what is still wrong then is said."""

from __future__ import annotations

import numpy as np
import pytest

from percuss.calibration.left_out_twins import LeftOut, Side, left_out_twins, left_out_verdict
from percuss.inference.arrays import Floats
from percuss.study.joint import Joint
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.common_error import Tails

PRIORS = (Uniform({"low": 0.0, "high": 2.0}), Uniform({"low": -3.0, "high": 1.0}))
GAUSSIAN = Tails(np.ones(1), np.ones(1))
ERROR, NOISE = 0.1, 0.05
RUNS = 240


def surrogate(fold: int, x: Floats, spurious: float) -> Floats:
    """Two outputs that know the first parameter, and ripples in both that were fitted to nothing."""
    ripple = spurious * np.stack([np.sin(5 * x[:, 1] + fold), np.cos(5 * x[:, 1] + fold)], axis=1)
    return np.asarray(np.stack([x[:, 0], x[:, 0] ** 3], axis=1) + ripple)


def asked(spurious: float) -> LeftOut:
    """Left-out runs whose errors are as large with ripples, which are the errors then, and without."""
    generator = np.random.default_rng(5)
    points = generator.uniform(-1, 1, (RUNS, 2))
    folds = np.arange(RUNS) % 5
    truth = surrogate(0, points, 0.0)
    if not spurious:
        truth = truth + generator.normal(0, ERROR, truth.shape)

    def predict(fold: int, x: Floats) -> Floats:
        return surrogate(fold, x, spurious)

    side = Side(predict, truth, ERROR**2 * np.eye(2), GAUSSIAN, np.full(2, NOISE**2))
    return left_out_twins(Joint(PRIORS), Canonical.of(PRIORS), points, folds, [side])


def test_errors_that_have_nothing_to_do_with_the_surrogate_do_not_grow() -> None:
    calm = asked(0.0)
    assert calm.growth == 1.0 and calm.twins == RUNS
    assert left_out_verdict(calm, ("a", "b")).passed


def test_terms_that_were_fitted_to_nothing_make_errors_grow() -> None:
    assert asked(np.sqrt(2) * ERROR).growth > 1.2


def test_the_same_bits_twice() -> None:
    first, second = asked(0.1), asked(0.1)
    assert first.growth == second.growth and np.array_equal(first.held, second.held)


@pytest.mark.parametrize(("held", "passed"), [((216, 216), True), ((216, 192), False), ((240, 240), True)])
def test_intervals_that_hold_too_little_are_named(held: tuple[int, int], passed: bool) -> None:
    verdict = left_out_verdict(LeftOut(2.0, np.array(held), 240), ("gap", "restitution"))
    assert verdict.gate == "twins" and verdict.passed is passed
    wrong = "90 % intervals of restitution do NOT contain the truth"
    assert passed or (wrong in verdict.sentence and "192 of 240" in verdict.sentence)
