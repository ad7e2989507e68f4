"""Gaussian processes against what defines them: brute-force leave-one-out, finite differences, interpolation."""

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.surrogates import kernel_process as gp
from percuss.surrogates.kernels import KERNELS, NO_SHAPE

RNG = np.random.default_rng(3)
POINTS = RNG.uniform(-1, 1, (40, 2))
VALUES = np.sin(2 * POINTS[:, 0]) + np.abs(POINTS[:, 1])
TREND = np.column_stack([np.ones(40), POINTS])


@pytest.fixture(scope="module", params=KERNELS)
def fitted(request):
    return gp.fit_process(POINTS, VALUES, TREND, kernels=(request.param,))


def test_leave_one_out_is_what_refitting_without_the_point_gives(fitted):
    correlation = gp.correlations(fitted.process)
    for i in (0, 17, 39):
        rows = np.flatnonzero(np.arange(40) != i)
        trend, weights = gp.refit(fitted.process, correlation, rows, VALUES[rows])
        predicted = TREND[i] @ trend + fitted.process.kernel(POINTS[[i]])[0, rows] @ weights
        assert VALUES[i] - predicted == pytest.approx(fitted.residuals[i], rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_likelihood_gradient_is_its_derivative(kernel):
    geometry = KERNELS[kernel].geometry(POINTS, np.ones(2))
    shape = np.array([0.4, 3.0, 0.2, 1.3])[: len(KERNELS[kernel].shapes(2)[0])]
    hyper = gp.Hyperparameters(np.array([0.8, 1.7]), 1e-2, kernel, shape)
    gradient = gp._gradient(gp._state(geometry, VALUES, TREND, hyper), hyper)
    assert len(gradient) == 3 + len(shape)
    for k in range(len(gradient)):
        ends = []
        for sign in (1, -1):
            logs = hyper.logs
            logs[k] += sign * 1e-5
            moved = gp.Hyperparameters.of_logs(logs, 2, kernel)
            ends.append(gp._state(geometry, VALUES, TREND, moved).likelihood)
        assert gradient[k] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5)


def test_slope_is_the_derivative_of_the_mean(fitted):
    at = RNG.uniform(-1, 1, (5, 2))
    slope = fitted.process.slope(at)
    for k in range(2):
        step = np.zeros(2)
        # Long lengths make a difference of large numbers: a step that is not too small.
        step[k] = 3e-5
        ends = [fitted.process.kernel(at + s * step) @ fitted.process.weights for s in (1, -1)]
        np.testing.assert_allclose(slope[:, k], (ends[0] - ends[1]) / 6e-5, rtol=1e-5, atol=1e-7)


def test_it_passes_through_its_points_up_to_the_nugget(fitted):
    p = fitted.process
    # y - mean = nugget * weights, exactly.
    np.testing.assert_allclose(VALUES - p.mean(POINTS, TREND), p.hyper.nugget * p.weights, atol=1e-9)
    assert (
        p.prediction_variance(POINTS, TREND).max()
        < p.prediction_variance(5 + POINTS, np.column_stack([np.ones(40), 5 + POINTS])).min()
    )


@pytest.mark.parametrize(("function", "kernel"), [(np.cos, "gaussian"), (np.abs, "matern-wide")])
def test_smooth_responses_take_the_smooth_kernel_and_kinks_do_not(function, kernel):
    values = function(2 * POINTS[:, 0]) + POINTS[:, 1]
    offered = ("matern-wide", "gaussian")
    both, first = (gp.fit_process(POINTS, values, kernels=kernels) for kernels in (offered, offered[:1]))
    assert both.process.hyper.kernel == kernel
    fresh = np.random.default_rng(4).uniform(-1, 1, (500, 2))
    exact = function(2 * fresh[:, 0]) + fresh[:, 1]
    errors = [((f.process.mean(fresh, np.ones((500, 1))) - exact) ** 2).mean() for f in (both, first)]
    # One start of the search each, or two of Matern alone.
    assert errors[0] < (0.05 if kernel == "gaussian" else 1.5) * errors[1]


def test_limits_of_the_layered_kernel_are_those_it_is_made_of():
    left, right = RNG.uniform(-1, 1, (2, 7, 3))
    layered = KERNELS["layered"]
    # Large weights leave the product, little of the rough layer; small ones the sum over the parameters.
    product = layered.between(left, right, np.array([1e9] * 3 + [1e-12, 1.0]))
    np.testing.assert_allclose(product, KERNELS["gaussian"].between(left, right, NO_SHAPE), atol=1e-8)
    rough = layered.between(left, right, np.array([1.0] * 3 + [1e12, 1.0]))
    np.testing.assert_allclose(rough, KERNELS["matern"].between(left, right, NO_SHAPE), atol=1e-10)
    added = layered.between(left, right, np.array([1e-8] * 3 + [1e-12, 1.0]))
    bells = np.exp(-0.5 * (left[:, None] - right[None]) ** 2)
    np.testing.assert_allclose(added, bells.mean(axis=2), atol=1e-7)


def test_the_layered_kernel_follows_sums_and_kinks():
    """Main effects of six parameters, much better than both others; a kink, no worse than Matern."""
    rng = np.random.default_rng(5)
    points, fresh = rng.uniform(-1, 1, (40, 6)), rng.uniform(-1, 1, (1000, 6))

    def waves(x):
        return np.sin(3 * x).sum(axis=1)

    def kink(x):
        return np.abs(x[:, 0] + 0.3 * x[:, 1]) + 0.1 * x[:, 2]

    for function, others, worst in ((waves, ("matern-wide", "gaussian"), 0.01), (kink, ("matern-wide",), 1.2)):
        exact, least = function(fresh), {}
        for kernel in ("layered", *others):
            fit = gp.fit_process(points, function(points), kernels=(kernel,))
            least[kernel] = float(((fit.process.mean(fresh, np.ones((1000, 1))) - exact) ** 2).mean())
        assert least["layered"] < worst * min(least[other] for other in others), function


def test_the_same_data_give_the_same_process():
    a, b = gp.fit_process(POINTS, VALUES), gp.fit_process(POINTS, VALUES)
    np.testing.assert_array_equal(a.process.weights, b.process.weights)
    assert a.likelihood == b.likelihood


def test_too_many_points_are_refused_with_their_number():
    with pytest.raises(InputError, match="2001 points are too many"):
        gp.fit_process(np.zeros((2001, 1)), np.zeros(2001))
