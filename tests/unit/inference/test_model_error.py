"""The error of a model: orthogonal to what the parameters do, and the same for the next measurement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.bench.model_error import PHYSICS, tried

from percuss.calibration.problem import with_slopes
from percuss.errors import InputError
from percuss.inference.discrepancies.correlated import KERNELS
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.model_error import ModelError
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.predictive import predict_at
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.normal import Normal

PLACES = np.array([0.1, 0.3, 0.35, 0.6, 0.8, 0.8, 1.0])
SLOPES = np.stack([PLACES, np.ones(len(PLACES))], axis=1)
VARIANCE = np.full(len(PLACES), 0.01)


def error(**fields: object) -> ModelError:
    return ModelError(**{"std": 0.5, "places": PLACES, "length": 0.4, "slopes": SLOPES, **fields})  # type: ignore[arg-type]


def conditioned(std: float, length: float) -> np.ndarray:
    """Covariance of a Matern process given that it is orthogonal to the slopes at the data."""
    whole = std**2 * KERNELS["matern-5/2"](np.abs(PLACES[:, None] - PLACES) / length)
    across = whole @ SLOPES
    return whole - across @ np.linalg.inv(SLOPES.T @ across) @ across.T


def test_the_density_is_that_of_the_conditioned_process() -> None:
    rng = np.random.default_rng(0)
    residual = rng.standard_normal((5, len(PLACES)))
    sigma = conditioned(0.5, 0.4) + np.diag(VARIANCE)
    expected = multivariate_normal(cov=sigma).logpdf(residual)
    assert error().log_density(residual, VARIANCE, {}) == pytest.approx(expected, rel=1e-9)
    priors = {"low": 0.01, "high": 10.0}
    inferred = error(std=Unknown("s", LogUniform(priors)), length=Unknown("l", LogUniform(priors)))
    std, length = np.full(5, 0.5), np.full(5, 0.4)
    assert inferred.log_density(residual, VARIANCE, {"s": std, "l": length}) == pytest.approx(expected, rel=1e-9)


def test_draws_are_orthogonal_to_the_gradient_at_the_data() -> None:
    drawn = error().draw_error(200, np.array([2.0]), {}, np.random.default_rng(1))
    assert np.abs(drawn[:, : len(PLACES)] @ SLOPES).max() < 1e-3
    free = error(orthogonal=False).draw_error(200, np.array([2.0]), {}, np.random.default_rng(1))
    assert np.abs(free[:, : len(PLACES)] @ SLOPES).max() > 1


def test_draws_given_data_are_those_of_the_conditional_normal() -> None:
    rng = np.random.default_rng(2)
    residual = 0.2 * rng.standard_normal(len(PLACES))
    more = np.array([0.5, 1.6])
    drawn = error().draw_given(np.tile(residual, (20_000, 1)), more, VARIANCE, {}, rng)
    whole = error().prior_covariance(more, {})[0]
    gain = whole[:, : len(PLACES)] @ np.linalg.inv(whole[: len(PLACES), : len(PLACES)] + np.diag(VARIANCE))
    assert drawn.mean(axis=0) == pytest.approx(gain @ residual, abs=0.01)
    left = whole - gain @ whole[: len(PLACES)]
    assert np.cov(drawn.T) == pytest.approx(left, abs=0.01)
    # Far from the data nothing was learnt: the std there is that of the prior.
    far = error(orthogonal=False).draw_given(np.tile(residual, (4000, 1)), np.array([9.0]), VARIANCE, {}, rng)
    assert far[:, -1].std() == pytest.approx(0.5, rel=0.05)


def test_data_without_an_error_are_refused() -> None:
    group = Group("g", np.zeros(len(PLACES)), np.arange(len(PLACES)), error())
    likelihood = Likelihood(("k",), {"model": lambda x: (x * PLACES, np.zeros(len(PLACES)))}, (group,))
    with pytest.raises(InputError, match="an error of their own"):
        likelihood(np.ones((2, 1)))


def test_slopes_are_those_of_the_model_where_it_fits_best() -> None:
    forward = {"model": lambda x: (np.exp(x[:, :1] * PLACES), np.zeros(len(PLACES)))}
    observed = np.exp(0.7 * PLACES)
    group = Group("g", observed, np.arange(len(PLACES)), error(slopes=None), "model", 0.01)
    (made,) = with_slopes([group], forward, [Normal({"mean": 0.0, "std": 2.0})])
    assert isinstance(made.discrepancy, ModelError) and made.discrepancy.slopes is not None
    direction = made.discrepancy.slopes[:, 0] / np.linalg.norm(made.discrepancy.slopes)
    expected = PLACES * observed / np.linalg.norm(PLACES * observed)
    assert direction == pytest.approx(expected, abs=2e-3)


def test_predictions_carry_the_error_to_the_data_and_to_related_outputs() -> None:
    """A straight line through data of a parabola: bands hold the data, and widen where there are none."""
    outputs = np.concatenate([PLACES, [0.5, 3.0]])
    forward = {"model": lambda x: (x * outputs, np.zeros(len(outputs)))}
    related = tuple((i, float(place)) for i, place in enumerate(outputs))
    group = Group("g", PLACES**2, np.arange(len(PLACES)), error(slopes=SLOPES[:, :1]), "model", 0.02, None, related)
    likelihood = Likelihood(("k",), forward, (group,))
    slope = float(PLACES @ PLACES**2 / (PLACES @ PLACES))
    predicted = predict_at(likelihood, np.full((4000, 1), slope), np.random.default_rng(3), given_data=True)
    assert predicted.outputs["g"].mean(axis=0) == pytest.approx(PLACES**2, abs=0.02)
    every = predicted.every["model"]
    assert every[:, 7].mean() == pytest.approx(0.25, abs=0.03) and every[:, 7].std() < 0.05
    assert every[:, 8].std() > 0.3
    before = predict_at(likelihood, np.full((4000, 1), slope), np.random.default_rng(3), given_data=False)
    assert before.outputs["g"].std(axis=0).max() > 5 * predicted.outputs["g"].std(axis=0).max()
    # Without it the same line leaves the parabola alone.
    plain = replace(group, discrepancy=error(std=1e-9, slopes=SLOPES[:, :1]))
    alone = Likelihood(("k",), forward, (plain,))
    assert likelihood(np.array([[slope]]))[0] > alone(np.array([[slope]]))[0] + 10


@pytest.mark.parametrize("kernel", ["matern-3/2", "matern-5/2"])
def test_an_anchored_error_is_the_process_given_that_value_and_slope_are_zero_at_zero(kernel: str) -> None:
    """Against conditioning on two values next to each other, whose difference is the slope."""
    places = np.array([-0.4, 0.1, 0.3, 0.7, 1.5])
    step = 1e-4
    at = np.concatenate([places, [-step, step]])
    whole = 0.25 * KERNELS[kernel](np.abs(at[:, None] - at) / 0.4)
    across = whole[:5, 5:] @ np.array([[0.5, -1 / step], [0.5, 1 / step]])
    turned = np.array([[0.5, 0.5], [-1 / step, 1 / step]])
    given = whole[:5, :5] - across @ np.linalg.solve(turned @ whole[5:, 5:] @ turned.T, across.T)
    anchored = ModelError(std=0.5, places=places, length=0.4, kernel=kernel, orthogonal=False, anchored=True)
    np.testing.assert_allclose(anchored.prior_covariance(np.empty(0), {})[0], given, atol=2e-4)


def test_what_anchored_does_not_go_with_is_refused() -> None:
    with pytest.raises(InputError, match="not both"):
        error(anchored=True)
    with pytest.raises(InputError, match="matern-3/2 or matern-5/2"):
        error(anchored=True, orthogonal=False, kernel="exponential")


def test_a_spring_that_hardens_keeps_its_stiffness_at_rest_where_the_error_is_anchored() -> None:
    """Eight twins: without an error of the model the stiffness is off by what the cubic term adds, and no interval has
    it.
    """
    cubic = PHYSICS[0]
    without, anchored = (tried(cubic, kind, 8) for kind in ("without", "anchored"))
    assert without.true_held == 0 and anchored.true_held > 0.6
    assert anchored.true_off < 0.7 * without.true_off
