"""Proposals from a fitted mixture: the posterior stays what it is, whatever the mixture; what does not fit is left."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.inference.conftest import CLOSED_FORMS

from percuss.inference.mixture import Mixture
from percuss.inference.samplers.independence_metropolis import effective_share, propose, split, updated
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Progress, State, Stopping
from percuss.inference.target import Target
from percuss.study.priors.normal import Normal

SAMPLER = "independence-metropolis"


def gaussian(d: int = 2) -> Target:
    """The prior itself, standard normal: a likelihood of one."""
    names = tuple("abcdefgh"[:d])
    return Target(names, tuple(Normal({"mean": 0.0, "std": 1.0}) for _ in names), lambda x: np.zeros(len(x)))


def curved(bend: float) -> Target:
    """x ~ N(0, 1), y | x ~ N(bend (x^2 - 1), 1/4), as a likelihood with wide priors."""

    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        across = (x[:, 1] - bend * (x[:, 0] ** 2 - 1)) / 0.5
        return np.asarray(-0.5 * x[:, 0] ** 2 - 0.5 * across**2)

    return Target(("x", "y"), tuple(Normal({"mean": 0.0, "std": 8.0}) for _ in "xy"), log_likelihood)


def test_a_mixture_that_is_off_leaves_the_posterior_as_it_is() -> None:
    """Draws of the mixture alone would have a mean of 0.7 and a variance of 2.4; three errors are 0.05."""
    target = gaussian()
    mixture = Mixture.equal(np.full((1, 2), 0.7), 1.2 * np.eye(2)[None])
    start = np.random.default_rng(0).standard_normal((200, 2))
    block = propose(target, mixture, State(start, target.log_density(start)), 100, np.random.default_rng(1))
    flat = block.positions.reshape(-1, 2)
    assert 0.3 < block.acceptance.mean() < 0.9
    assert np.abs(flat.mean(axis=0)).max() < 0.05
    np.testing.assert_allclose(flat.var(axis=0), 1.0, atol=0.07)
    np.testing.assert_allclose(block.log_density.ravel(), target.log_density(flat))


def test_fitting_brings_the_mixture_to_the_posterior() -> None:
    """From a wrong centre and scale the weights become worth what a Student-t of five degrees can give: 0.9 in 2-d."""
    target, generator = gaussian(), np.random.default_rng(2)
    mixture = Mixture.equal(np.full((1, 2), 1.0), 0.6 * np.eye(2)[None])
    shares = []
    for _ in range(5):
        z = mixture.draw(4000, generator)
        log_weights = target.log_density(z) - mixture.log_density(z)
        shares.append(effective_share(log_weights))
        weights = np.exp(log_weights - log_weights.max())
        mixture = updated(mixture, z, weights / weights.sum())
    assert shares[0] < 0.4 and shares[-1] > 0.85
    assert np.abs(mixture.centres).max() < 0.1


def test_parts_of_a_component_share_its_weight() -> None:
    mixture = Mixture(np.array([0.25, 0.75]), np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
    parts = split(mixture, np.random.default_rng(0))
    assert len(parts) == 6
    np.testing.assert_allclose(parts.weights.reshape(2, 3).sum(axis=1), mixture.weights)


@pytest.mark.parametrize("name", ["linear-gaussian", "truncated-gaussian"])
def test_closed_forms_with_evaluations_worth_a_third_of_a_draw_at_least(name: str) -> None:
    known = CLOSED_FORMS[name]()
    sample = sample_posterior(known.target, SAMPLER, seed=3, stopping=Stopping(ess=2000))
    assert sample.converged
    error = np.sqrt(known.variance / sample.diagnostics.ess_bulk[:-1])
    assert (np.abs(sample.flat().mean(axis=0) - known.mean) < 4.5 * error).all()
    np.testing.assert_allclose(sample.flat().var(axis=0), known.variance, rtol=0.1)
    assert sample.diagnostics.ess_bulk[:-1].min() > 0.33 * sample.log_likelihood.size


@pytest.mark.parametrize("bend", [1.0, 2.0])
def test_what_bends_is_left_to_random_walks(bend: float) -> None:
    """A valley that the components do not fill: chains would stay for long, and a single look may not see it."""
    told: list[Progress] = []
    sample = sample_posterior(curved(bend), SAMPLER, seed=0, stopping=Stopping(ess=200), report=told.append)
    assert sample.converged
    assert all(before.evaluations <= after.evaluations for before, after in pairwise(told))
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(-5, 5, 401), np.linspace(-8, 40, 961)))
    at = np.stack([x, y], axis=1)
    density = np.exp(curved(bend).log_likelihood(at) + curved(bend).log_prior(at))
    mean = density @ at / density.sum()
    std = np.sqrt(density @ (at - mean) ** 2 / density.sum())
    np.testing.assert_allclose(sample.flat().mean(axis=0), mean, atol=0.2)
    np.testing.assert_allclose(sample.flat().std(axis=0), std, rtol=0.1)


def test_same_seed_same_bits() -> None:
    first, again = (sample_posterior(gaussian(3), SAMPLER, seed=4, stopping=Stopping(ess=100)) for _ in "ab")
    np.testing.assert_array_equal(first.draws, again.draws)
