"""Gaussian processes against what defines them: brute-force leave-one-out, finite differences, interpolation."""

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.surrogates import matern_process as gp

RNG = np.random.default_rng(3)
POINTS = RNG.uniform(-1, 1, (40, 2))
VALUES = np.sin(2 * POINTS[:, 0]) + np.abs(POINTS[:, 1])
TREND = np.column_stack([np.ones(40), POINTS])


@pytest.fixture(scope="module")
def fitted():
    return gp.fit_process(POINTS, VALUES, TREND)


def test_leave_one_out_is_what_refitting_without_the_point_gives(fitted):
    for i in (0, 17, 39):
        rows = np.flatnonzero(np.arange(40) != i)
        without = gp.refit(fitted.process, rows, VALUES[rows])
        predicted = without.mean(POINTS[[i]], TREND[[i]])[0]
        assert VALUES[i] - predicted == pytest.approx(fitted.residuals[i], rel=1e-6, abs=1e-10)


def test_likelihood_gradient_is_its_derivative():
    squares = np.moveaxis((POINTS[:, None] - POINTS[None]) ** 2, 2, 0).copy()
    hyper = gp.Hyperparameters(np.array([0.8, 1.7]), 1e-2)
    gradient = gp._gradient(squares, gp._state(squares, VALUES, TREND, hyper), hyper)
    for k in range(3):
        ends = []
        for sign in (1, -1):
            logs = hyper.logs
            logs[k] += sign * 1e-5
            moved = gp.Hyperparameters(np.exp(logs[:-1]), float(np.exp(logs[-1])))
            ends.append(gp._state(squares, VALUES, TREND, moved).likelihood)
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5)


def test_slope_is_the_derivative_of_the_mean(fitted):
    at = RNG.uniform(-1, 1, (5, 2))
    slope = fitted.process.slope(at)
    for k in range(2):
        step = np.zeros(2)
        step[k] = 1e-6
        ends = [fitted.process.kernel(at + s * step) @ fitted.process.weights for s in (1, -1)]
        np.testing.assert_allclose(slope[:, k], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-7)


def test_it_passes_through_its_points_up_to_the_nugget(fitted):
    p = fitted.process
    # y - mean = nugget * weights, exactly.
    np.testing.assert_allclose(VALUES - p.mean(POINTS, TREND), p.hyper.nugget * p.weights, atol=1e-9)
    assert (
        p.prediction_variance(POINTS, TREND).max()
        < p.prediction_variance(5 + POINTS, np.column_stack([np.ones(40), 5 + POINTS])).min()
    )


def test_the_same_data_give_the_same_process():
    a, b = gp.fit_process(POINTS, VALUES), gp.fit_process(POINTS, VALUES)
    np.testing.assert_array_equal(a.process.weights, b.process.weights)
    assert a.likelihood == b.likelihood


def test_too_many_points_are_refused_with_their_number():
    with pytest.raises(InputError, match="2001 points are too many"):
        gp.fit_process(np.zeros((2001, 1)), np.zeros(2001))
