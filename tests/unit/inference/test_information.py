"""What a test is expected to tell: closed forms of Gaussians, quadrature of what is not, and honest errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.inference.arrays import Floats
from percuss.inference.common_error import CommonError
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.information import Draws, expected_gain
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.outlook import Outlook
from percuss.study.priors.uniform import Uniform

# Three unknowns of a Gaussian posterior, two entries that see all of them.
SPREAD = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
SEES = np.array([[1.0, 0.5, 0.2], [-0.4, 1.0, 1.5]])
NOISE = np.diag([0.5, 1.5])


def exact(kept: list[int]) -> tuple[float, Floats]:
    """Gain about some of the unknowns, and the contraction of each."""
    of_y, across = SEES @ SPREAD @ SEES.T + NOISE, SEES @ SPREAD[:, kept]
    own = SPREAD[np.ix_(kept, kept)]
    given = of_y - across @ np.linalg.solve(own, across.T)
    after = own - across.T @ np.linalg.solve(of_y, across)
    gain = 0.5 * (np.linalg.slogdet(of_y)[1] - np.linalg.slogdet(given)[1])
    return float(gain), 1 - np.diag(after) / np.diag(own)


@pytest.mark.parametrize("kept", [[0, 1, 2], [0], [2], [0, 2]])
def test_gaussian_gains_and_contractions_are_those_of_the_closed_form(kept: list[int]) -> None:
    """Over ten seeds: no bias within three standard errors of the mean, and errors that are what they claim."""
    gain, contraction = exact(kept)
    off, off_contraction = [], []
    for seed in range(10):
        theta = np.random.default_rng([7, seed]).multivariate_normal(np.zeros(3), SPREAD, 900)
        draws = Draws.split(theta[:, kept], 300, seed, complete=len(kept) == 3)
        found = expected_gain(Outlook.gaussian(theta @ SEES.T, NOISE), draws, seed)
        assert found.gaussian == pytest.approx(gain, rel=0.15)
        off.append((found.gain.value - gain) / found.gain.error)
        off_contraction.append((found.contractions[0].value - contraction[0]) / found.contractions[0].error)
    for scores in (off, off_contraction):
        assert abs(np.mean(scores)) < 3 / np.sqrt(10)
        assert 0.5 < np.std(scores) < 1.7


def test_the_correction_takes_the_bias_of_few_inner_draws_out() -> None:
    gain, _ = exact([0, 1, 2])
    raw, corrected = [], []
    for seed in range(30):
        theta = np.random.default_rng([8, seed]).multivariate_normal(np.zeros(3), SPREAD, 500)
        draws = Draws.split(theta, 400, seed, complete=True)
        found = expected_gain(Outlook.gaussian(theta @ SEES.T, 0.1 * NOISE), draws, seed)
        corrected.append(found.gain.value)
        raw.append(found.gain.value - found.correction)
    sharper = 0.5 * np.linalg.slogdet(SEES @ SPREAD @ SEES.T + 0.1 * NOISE)[1] - 0.5 * np.linalg.slogdet(0.1 * NOISE)[1]
    assert gain < sharper
    assert abs(np.mean(corrected) - sharper) < 0.6 * abs(np.mean(raw) - sharper)


def quadrature(model: Callable[[Floats, Floats], Floats], noise: float, which: int) -> tuple[float, float]:
    """Gains of y = model(a, b) + noise about one of two standard normal unknowns, and about both."""
    x = np.linspace(-5, 5, 121)
    weight = np.exp(-x * x / 2)
    weight /= weight.sum()
    values = model(x[:, None], x[None])
    values = values if which == 0 else values.T
    y = np.linspace(values.min() - 6 * noise, values.max() + 6 * noise, 800)
    given = np.stack([weight @ np.exp(-0.5 * ((y - row[:, None]) / noise) ** 2) for row in values])
    given /= noise * np.sqrt(2 * np.pi)
    whole = weight @ given
    step = y[1] - y[0]
    log = np.log(np.maximum(given, 1e-300)) - np.log(np.maximum(whole, 1e-300))
    entropy = -np.sum(whole * np.log(np.maximum(whole, 1e-300))) * step
    return float(weight @ (given * log).sum(axis=1) * step), float(entropy - 0.5 * np.log(2 * np.pi * np.e * noise**2))


@pytest.mark.parametrize(
    ("model", "which"),
    [(lambda a, b: a * a + 0.3 * b, 0), (lambda a, b: np.sin(3 * a) + b, 0), (lambda a, b: np.sin(3 * a) + b, 1)],
)
def test_gains_that_no_covariance_sees(model: Callable[[Floats, Floats], Floats], which: int) -> None:
    one, both = quadrature(model, 0.3, which)
    theta = np.random.default_rng(3).standard_normal((2400, 2))
    look = Outlook.gaussian(model(theta[:, 0], theta[:, 1])[:, None], np.array([[0.09]]))
    about_one = expected_gain(look, Draws.split(theta[:, [which]], 800, 0, complete=False), 0)
    about_both = expected_gain(look, Draws.split(theta, 800, 0, complete=True), 0)
    assert abs(about_one.gain.value - one) < 3 * about_one.gain.error + abs(about_one.smoothing)
    assert abs(about_both.gain.value - both) < 3 * about_both.gain.error
    if which == 0:
        assert about_one.gaussian < 0.1 * one


def test_what_the_draws_cannot_resolve_is_said() -> None:
    """An entry so sharp that hardly a draw is near it: the gain is wrong, and must not look right."""
    theta = np.random.default_rng(5).standard_normal((900, 2))
    draws = Draws.split(theta, 300, 0, complete=True)
    found = expected_gain(Outlook.gaussian(theta, 1e-8 * np.eye(2)), draws, 0)
    assert found.effective < 2


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("inferred", [False, True])
def test_an_outlook_is_the_density_of_new_data_given_those_there_are(local: bool, inferred: bool) -> None:
    """p(y | x, data) = p(y, data | x) / p(data | x), with common errors of two surrogates of which one has data."""
    generator = np.random.default_rng(0)
    slopes, together = generator.standard_normal((4, 2)), np.corrcoef(generator.standard_normal((4, 9)))

    def forward(theta: Floats) -> tuple[Floats, Floats]:
        mean = theta @ slopes.T
        return mean, np.square(0.1 + 0.1 * np.abs(mean)) if local else np.array([0.01, 0.04, 0.09, 0.0025])

    error = CommonError(together, np.array([0.5, 3.0]), np.array([0.7, 0.3]), ("a", "b", "c", "d"))
    std = Unknown("s", Uniform({"low": 0.1, "high": 1.0})) if inferred else 0.2
    data = Group("data", np.array([1.0, 2.0, 0.5]), np.array([0, 1, 1]), Gaussian(std), "m", np.array([0.1, 0.1, 0.2]))
    own = Likelihood(("x", "y"), {"m": forward, "n": forward}, (data,), {"m": error, "n": error})
    more = [
        Group("seen", np.zeros(2), np.array([1, 2]), Gaussian(std), "m", 0.3),
        Group("new", np.zeros(1), np.array([3]), Gaussian(0.1), "n", 0.3),
    ]
    x = np.column_stack([generator.standard_normal((300, 2)), *([generator.uniform(0.1, 1, 300)] if inferred else [])])
    look, y = own.outlook(x, more), generator.standard_normal(3)
    together_with = replace(own, groups=(data, replace(more[0], observed=y[:2]), replace(more[1], observed=y[2:])))
    found = look.log_density(y[None, None], np.arange(300))[0]
    assert np.allclose(found, together_with(x) - own(x), atol=1e-10)
    drawn = look.draw(np.zeros(20_000, np.int64), generator)
    assert np.allclose(drawn.mean(axis=0), look.centre[0], atol=5 * drawn.std() / np.sqrt(20_000))


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(InputError, match="at least 100"):
        Draws.split(np.zeros((150, 1)), 100, 0, complete=True)
