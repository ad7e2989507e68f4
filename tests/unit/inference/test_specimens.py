"""Specimens from a population, against the hierarchical normal model in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.inference.specimens import NEW, Specimen, of_specimen
from percuss.study.priors.normal import Normal
from percuss.study.priors.uniform import Uniform

PRIOR = Normal({"mean": 2.0, "std": 3.0})
SPREAD = Uniform({"low": 0.0, "high": 1.5})
NOISE = 0.4


def forward(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return theta, np.zeros(1)


def likelihood(data: dict[str, np.ndarray], free: tuple[str, ...] = ()) -> Likelihood:
    """Each specimen shows its parameter k with noise."""
    population = {} if free else {"k": SPREAD}
    owners = {name: Specimen(name, {"k": PRIOR}, free, population) for name in (*data, NEW)}
    groups = tuple(
        Group(name, values, np.zeros(len(values), np.int64), Gaussian(std=NOISE), of_specimen("model", name))
        for name, values in data.items()
    )
    names = {of_specimen("model", name): one for name, one in owners.items()}
    return Likelihood(("k",), dict.fromkeys(names, forward), groups, {}, names)


def twin(specimens: int, seed: int, each: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    own = rng.normal(1.5, 0.9, specimens)
    return {f"s{i}": k + NOISE * rng.standard_normal(each) for i, k in enumerate(own)}


def test_unknowns_are_the_spread_and_a_number_for_each_specimen_and_a_new_one() -> None:
    assert list(likelihood(twin(2, 0)).unknowns) == ["spread_k", "k@s0", "k@s1", "k@new"]
    assert list(likelihood(twin(2, 0), ("k",)).unknowns) == ["k@s0", "k@s1", "k@new"]


def test_a_normal_population_is_the_hierarchical_normal() -> None:
    specimen = Specimen("a", {"k": PRIOR}, (), {"k": SPREAD})
    z = np.array([-1.0, 0.0, 2.0])
    own = specimen.inputs(np.full((3, 1), 1.2), {"spread_k": np.full(3, 0.5), "k@a": z})
    assert own[:, 0] == pytest.approx(1.2 + 3.0 * 0.5 * z, rel=1e-9)
    bounded = Specimen("a", {"k": Uniform({"low": 0.0, "high": 1.0})}, (), {"k": SPREAD})
    inside = bounded.inputs(np.full((3, 1), 0.9), {"spread_k": np.full(3, 1.5), "k@a": 5 * z})
    assert ((inside > 0) & (inside < 1)).all()


def exact(data: dict[str, np.ndarray]) -> tuple[float, float, float, float]:
    """Mean and std of the population's middle, mean of the spread, and the std of a new specimen: by quadrature."""
    spreads = np.linspace(1e-6, 1.5, 400)
    counts = np.array([len(values) for values in data.values()])
    means = np.array([values.mean() for values in data.values()])
    logs, centres, variances = [], [], []
    for spread in spreads:
        own = (3.0 * spread) ** 2 + NOISE**2 / counts
        variance = 1 / (1 / 9 + np.sum(1 / own))
        centres.append(variance * (2.0 / 9 + np.sum(means / own)))
        variances.append(variance)
        logs.append(multivariate_normal(np.full(len(means), 2.0), np.diag(own) + 9).logpdf(means))
    weight = np.exp(np.array(logs) - max(logs))
    weight /= weight.sum()
    centre = float(weight @ centres)
    square = float(weight @ (np.array(variances) + np.square(centres)))
    new = float(weight @ (np.array(variances) + np.square(centres) + (3.0 * spreads) ** 2))
    return centre, np.sqrt(square - centre**2), float(weight @ spreads), np.sqrt(new - centre**2)


def test_the_posterior_is_that_of_the_exact_hierarchical_normal() -> None:
    data = twin(4, 1)
    problem = likelihood(data)
    target = problem.posterior({"k": PRIOR})
    stopping = Stopping(r_hat=1.02, ess=1500, evaluations=400_000)
    sample = sample_posterior(target, "adaptive-metropolis", seed=1, stopping=stopping, look=False)
    draws = sample.flat()
    centre, width, spread, new_width = exact(data)
    assert draws[:, 0].mean() == pytest.approx(centre, abs=0.15 * width)
    assert draws[:, 0].std() == pytest.approx(width, rel=0.12)
    assert draws[:, 1].mean() == pytest.approx(spread, rel=0.1)
    # The new specimen is predicted with the whole population's width.
    some = draws[:: len(draws) // 4000]
    predicted = problem.means(some)[of_specimen("model", NEW)][:, 0]
    assert predicted.std() == pytest.approx(new_width, rel=0.15)
    # A measured one is known to its own data's precision.
    known = problem.means(some)[of_specimen("model", "s0")][:, 0]
    assert known.std() == pytest.approx(NOISE / np.sqrt(3), rel=0.15)


def test_free_specimens_are_known_by_their_own_data_alone() -> None:
    problem = likelihood({"a": np.array([1.0]), "b": np.array([4.0])}, ("k",))
    x = np.array([[0.0, 1.1, 3.8, 7.0]])
    expected = norm.logpdf(1.0, 1.1, NOISE) + norm.logpdf(4.0, 3.8, NOISE)
    assert problem(x)[0] == pytest.approx(expected)


def test_moves_along_the_ridge_leave_prior_and_specimens_as_they_are() -> None:
    """Draws of the prior stay draws of the prior, and what each specimen has of its own stays where it is."""
    both = likelihood(twin(3, 0))
    target = both.posterior({"k": PRIOR})
    assert target.move is not None
    generator = np.random.default_rng(1)
    z = target.draw_prior(20_000, generator)
    moved = target.move(z, generator)
    before, after = (target.transform.values(points) for points in (z, moved))
    for name in ("s0", "s1", "s2"):
        at = of_specimen("model", name)
        np.testing.assert_allclose(both.means(after)[at], both.means(before)[at], rtol=1e-6, atol=1e-6)
    assert np.mean(np.abs(after[:, 0] - before[:, 0]) > 1e-9) > 0.9
    # Middle N(2, 3^2), spread uniform on (0, 1.5), all z standard normal: errors of 20 000 draws are below 0.025.
    np.testing.assert_allclose(after.mean(axis=0), [2.0, 0.75, 0, 0, 0, 0], atol=0.08)
    np.testing.assert_allclose(after.std(axis=0), [3.0, 1.5 / np.sqrt(12), 1, 1, 1, 1], rtol=0.03)


def test_strong_data_do_not_keep_chains_from_mixing() -> None:
    """Noise of a hundredth of what specimens differ by: without the move R-hat is 1.2 and more after as many draws."""
    generator = np.random.default_rng(3)
    data = {f"s{i}": k + 0.02 * generator.standard_normal(3) for i, k in enumerate(generator.normal(1.5, 2.0, 4))}
    loud = likelihood(data)
    quiet = replace(loud, groups=tuple(replace(group, discrepancy=Gaussian(std=0.02)) for group in loud.groups))
    target = quiet.posterior({"k": PRIOR})
    worst = []
    for one in (target, replace(target, move=None)):
        sample = sample_posterior(
            one, seed=0, stopping=Stopping(evaluations=40_000), settings={"chains": 20}, look=False
        )
        worst.append(float(np.max(sample.diagnostics.r_hat[:2])))
    assert worst[0] < 1.05 < 1.15 < worst[1]
