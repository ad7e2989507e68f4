"""Trajectories along the gradient: the gradient itself, closed forms, bits, budget, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from percuss._core import ChaosPosterior, chaos_fit
from percuss.errors import InputError
from percuss.inference.common_error import CommonError
from percuss.inference.compiled import compile_posterior, compiled_target
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.modes import hold, search
from percuss.inference.samplers.hamiltonian_monte_carlo import efficiency
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Progress, Stopping
from percuss.inference.target import Target
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.prior import Prior
from percuss.study.priors.registry import prior_from_json
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.surrogate import LoadedPart, Surrogate

HAMILTONIAN = "hamiltonian-monte-carlo"


def expanded(function: Callable[[Any], Any], priors: dict[str, Prior], degree: int = 2) -> Surrogate:
    """A polynomial as an expansion, which a fit of its degree gives back."""
    canonical = Canonical.of(list(priors.values()))
    u = np.random.default_rng(0).uniform(0.02, 0.98, (60, len(priors)))
    x = np.stack([prior.ppf(u[:, j]) for j, prior in enumerate(priors.values())], axis=1)
    core, _ = chaos_fit(
        canonical.families, canonical.points(x), function(x), degrees=[degree], q=[1.0], method="ordinary"
    )
    nothing: Any = None
    part = LoadedPart("chaos", tuple(range(core.outputs)), Expansions(core))
    return Surrogate(nothing, nothing, tuple(priors), (), canonical, (part,), {})


def target_of(surrogate: Surrogate, priors: dict[str, Prior], data: list[float], stds: list[float]) -> Target:
    """Every output measured once, without an error of the surrogate."""
    groups = tuple(
        Group(f"g{j}", np.array([y]), np.array([j]), Gaussian(std))
        for j, (y, std) in enumerate(zip(data, stds, strict=True))
    )
    forward = {"model": lambda x: (surrogate.mean(x), np.zeros(len(data)))}
    target, why_not = compiled_target(Likelihood(tuple(priors), forward, groups), priors, {"model": surrogate})
    assert why_not is None
    return target


def bent(bend: float, at: float, data: list[float], stds: list[float], box: tuple[float, ...]) -> Target:
    """Outputs x and y - bend (x - at)^2 in a box."""
    priors: dict[str, Prior] = {
        "x": Uniform({"low": box[0], "high": box[1]}),
        "y": Uniform({"low": box[2], "high": box[3]}),
    }
    surrogate = expanded(lambda x: np.stack([x[:, 0], x[:, 1] - bend * (x[:, 0] - at) ** 2], axis=1), priors)
    return target_of(surrogate, priors, data, stds)


def rosenbrock(valley: float = 5.0) -> Target:
    """The target of that name in the closed forms: x ~ N(1, 1), y | x ~ N(x^2, 1 / valley)."""
    return bent(1.0, 0.0, [1.0, 0.0], [1.0, valley**-0.5], (-7, 9, -10, 90))


def banana() -> Target:
    """x ~ N(0, 1), y | x ~ N(x^2 - 1, 1/2^2)."""
    return bent(1.0, 0.0, [0.0, -1.0], [1.0, 0.5], (-8, 8, -10, 70))


PRIORS = [
    {"kind": "uniform", "low": -1.0, "high": 2.0},
    {"kind": "normal", "mean": 0.5, "std": 1.0},
    {"kind": "lognormal", "mean": 1.0, "std": 0.4},
    {"kind": "gamma", "mean": 1.0, "std": 0.5},
    {"kind": "truncated-normal", "mean": 0.0, "std": 1.0, "high": 0.7},
    {"kind": "log-uniform", "low": 0.2, "high": 3.0},
    {"kind": "beta", "alpha": 1.5, "beta": 2.0, "low": -1.0, "high": 1.0},
]


def posterior(kinds: list[int], noise: bool, error: CommonError | None, seed: int) -> tuple[ChaosPosterior, Target]:
    """A cubic model of these priors, repeated data, with or without an inferred std and a common error."""
    priors = {f"x{j}": prior_from_json(PRIORS[k]) for j, k in enumerate(kinds)}
    generator = np.random.default_rng(seed)
    slopes, bends = generator.standard_normal((2, len(kinds), 3))
    # A normal that is cut has no polynomials of its own: that model is one of a uniform parameter.
    seen = {name: Uniform({"low": -4.0, "high": 4.0}) if PRIORS[k]["kind"] == "truncated-normal" else priors[name]
            for name, k in zip(priors, kinds, strict=True)}  # fmt: skip
    surrogate = expanded(lambda x: x @ slopes + 0.2 * (x @ bends) ** 2, seen)
    unknown = Unknown("noise", Gamma({"shape": 3.0, "scale": 0.2}))
    groups = (
        Group("known", generator.standard_normal(4), np.array([0, 0, 2, 1]), Gaussian(0.5)),
        Group("again", generator.standard_normal(3), np.array([1, 0, 0]), Gaussian(unknown if noise else 0.7)),
    )
    likelihood = Likelihood(
        tuple(priors),
        {"model": lambda x: (surrogate.mean(x), np.array([0.1, 0.2, 0.05]))},
        groups,
        {"model": error} if error else {},
    )
    plain = likelihood.posterior(priors)
    return compile_posterior(likelihood, plain, {"model": surrogate}), plain


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("kinds", [[0, 1, 2], [3, 4], [5, 6, 0]])
def test_the_gradient_is_that_of_finite_differences(kinds: list[int], noise: bool, common: bool) -> None:
    """Central differences of step 1e-5: their own error is some 1e-9 of the size of what they differ."""
    correlation = np.array([[1, 0.4, 0], [0.4, 1, -0.3], [0, -0.3, 1.0]])
    error = CommonError(correlation, np.array([0.8, 3.0]), np.array([0.9, 0.1]), ("u", "v", "w")) if common else None
    core, plain = posterior(kinds, noise, error, seed=len(kinds))
    z = plain.draw_prior(21, np.random.default_rng(1))
    density, gradient = core.log_density_with_gradient(z)
    np.testing.assert_array_equal(density, core.log_density(z))
    for k in range(z.shape[1]):
        step = np.zeros(z.shape[1])
        step[k] = 1e-5
        slope = (plain.log_density(z + step) - plain.log_density(z - step)) / 2e-5
        size = 1 + np.abs(gradient[:, k]) + np.abs(density)
        assert np.max(np.abs(slope - gradient[:, k]) / size) < 1e-6


@pytest.mark.parametrize(("name", "target"), [("rosenbrock", rosenbrock), ("banana", banana)])
def test_bent_valleys_converge_within_the_default_budget(
    name: str, target: Callable[[], Target], closed_form: Callable[..., Any]
) -> None:
    from percuss.inference.diagnostics import mcse_mean

    truth = closed_form(name)
    sample = sample_posterior(target(), HAMILTONIAN, seed=3)
    assert sample.converged, sample.reasons
    assert sample.evaluations <= 4_000_000
    errors = np.array([mcse_mean(sample.draws[:, :, j]) for j in range(2)])
    assert (np.abs(sample.flat().mean(axis=0) - truth.mean) < 4 * errors).all()
    np.testing.assert_allclose(sample.flat().std(axis=0), np.sqrt(truth.variance), rtol=0.1)


def test_a_linear_model_has_its_conjugate_posterior() -> None:
    design = np.array([[1.0, 0.5], [0.2, 1.0], [1.0, -1.0]])
    priors: dict[str, Prior] = {name: prior_from_json({"kind": "normal", "mean": 0.0, "std": 2.0}) for name in "ab"}
    observed, stds = np.array([1.0, 0.4, 0.3]), np.array([0.3, 0.5, 0.4])
    target = target_of(expanded(lambda x: x @ design.T, priors, 1), priors, observed.tolist(), stds.tolist())
    covariance = np.linalg.inv(np.eye(2) / 4 + design.T @ np.diag(stds**-2) @ design)
    mean = covariance @ design.T @ (observed / stds**2)
    sample = sample_posterior(target, HAMILTONIAN, seed=1, stopping=Stopping(ess=10_000))
    assert sample.converged, sample.reasons
    flat = sample.flat()
    assert (np.abs(flat.mean(axis=0) - mean) < 4 * np.sqrt(np.diag(covariance) / 10_000)).all()
    np.testing.assert_allclose(np.cov(flat.T), covariance, rtol=0.06, atol=0.06 * covariance.max())
    np.testing.assert_allclose(sample.log_likelihood.ravel(), target.log_likelihood(flat), atol=1e-9)


def test_same_bits_at_any_number_of_threads_and_beside_any_chains() -> None:
    core, plain = posterior([0, 1, 2], True, None, 0)
    z = plain.draw_prior(21, np.random.default_rng(0))
    p = core.log_density(z)
    factor = 0.5 * np.eye(4)
    one, two, seven = (core.glide(z, p, factor, 0.2, 5, 12, 99, threads=threads) for threads in (1, 2, 7))
    for other in (two, seven):
        assert [a.tobytes() for a in one[:4]] == [a.tobytes() for a in other[:4]]
    fewer = core.glide(z[:5], p[:5], factor, 0.2, 5, 12, 99)
    assert fewer[0].tobytes() == one[0][:5].tobytes()
    assert one[4] == 1 + 12 * 5
    assert core.glide(z, p, factor, 0.2, 5, 12, 98)[0].tobytes() != one[0].tobytes()
    np.testing.assert_allclose(one[1].ravel(), core.log_density(one[0].reshape(-1, 4)), rtol=1e-14)


def test_the_budget_holds_and_a_seed_gives_its_bits() -> None:
    told: list[Progress] = []
    stopping = Stopping(ess=1e9, evaluations=60_000)
    target = banana()
    first, again = (
        sample_posterior(target, HAMILTONIAN, seed=7, stopping=stopping, report=told.append) for _ in range(2)
    )
    assert first.draws.tobytes() == again.draws.tobytes()
    assert first.evaluations <= 60_000 and not first.converged
    assert told and all(progress.evaluations <= 60_000 for progress in told)
    with pytest.raises(InputError, match=r"evaluations = 150 must be at least \d+ with this sampler"):
        sample_posterior(target, HAMILTONIAN, seed=0, stopping=Stopping(evaluations=150))


@pytest.mark.parametrize(("every", "told"), [(100, True), (100_000, False)])
def test_draws_with_diverged_trajectories_are_not_converged(every: int, told: bool) -> None:
    target = banana()
    glide = target.glide
    assert glide is not None

    def diverging(*args: Any) -> Any:
        block, _ = glide(*args)
        return block, block.log_density.size // every

    stopping, settings = Stopping(evaluations=600_000), {"steps": 8}
    sample = sample_posterior(
        replace(target, glide=diverging), HAMILTONIAN, seed=0, stopping=stopping, settings=settings
    )
    assert any("trajectories diverged" in reason for reason in sample.reasons) == told


def test_what_has_no_gradient_is_refused(closed_form: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="needs the gradient of the posterior"):
        sample_posterior(closed_form("banana").target, HAMILTONIAN, seed=0)


def test_what_a_draw_is_worth() -> None:
    """An autoregression of first order: (1 - r) / (1 + r)."""
    generator = np.random.default_rng(0)
    noise = generator.standard_normal((200, 60, 1))
    draws = noise.copy()
    for t in range(1, 60):
        draws[:, t] = 0.6 * draws[:, t - 1] + 0.8 * noise[:, t]
    assert efficiency(draws) == pytest.approx(0.4 / 1.6, rel=0.1)
    assert efficiency(noise) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_a_valley_that_bends_is_told_as_one_mode(seed: int) -> None:
    """Climbs stop half way along Rosenbrock's narrow valley; they are no modes of their own."""
    target = rosenbrock(100.0)
    modes = search(target, 4_000_000, seed)
    assert modes is not None and len(modes) > 1
    normals = np.random.default_rng(seed).standard_normal((20, 100, 2))
    x = 1 + normals[..., 0]
    draws = np.stack([x, x**2 + 0.1 * normals[..., 1]], axis=-1)
    unbounded = target.transform.unbounded(draws.reshape(-1, 2)).reshape(draws.shape)
    held = hold(target, modes, unbounded, seed)
    assert len(held.at) == 1 and held.drawn == pytest.approx(1.0) and held.shares == pytest.approx(1.0)
    # On top of the density in the unbounded space, which is a little farther than that in x and y.
    top = target.log_density(target.transform.unbounded(held.at))[0]
    assert top >= np.max(modes.log_density) - 1e-6
