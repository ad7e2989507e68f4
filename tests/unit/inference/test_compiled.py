"""Chains in the core: the same posterior as numpy samples, the same bits at any number of threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss._core import ChaosExpansion, ChaosPosterior
from percuss.inference.common_error import CommonError
from percuss.inference.compiled import compile_posterior, compiled_target
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.discrepancies.student_t import StudentT
from percuss.inference.likelihood import Forward, Group, Likelihood
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.log_uniform import LogUniform
from percuss.study.priors.prior import Prior
from percuss.study.priors.truncated_normal import TruncatedNormal
from percuss.study.priors.uniform import Uniform
from percuss.surrogates.canonical import Canonical
from percuss.surrogates.chaos import Expansions
from percuss.surrogates.surrogate import LoadedPart, Surrogate

Floats = NDArray[np.float64]


def linear_surrogate(design: Floats, priors: Mapping[str, Prior]) -> Surrogate:
    """y = A x as an expansion: the constant and the first polynomial of every parameter."""
    canonical = Canonical.of(list(priors.values()))
    outputs, d = design.shape
    terms = np.concatenate([np.zeros((1, d), np.uint8), np.eye(d, dtype=np.uint8)])
    count = d + 1
    # The polynomials of first degree are straight lines through these two points, whatever the family.
    unit = ChaosExpansion(
        canonical.families, terms, np.arange(count + 1), np.arange(count, dtype=np.uint32), np.ones(count)
    )
    at_0, at_1 = unit.predict(canonical.points(np.array([np.zeros(d), np.ones(d)])))[:, 1:]
    slope = at_1 - at_0
    coefficients = np.concatenate([-(design * (at_0 / slope)).sum(axis=1)[:, None], design / slope], axis=1)
    core = ChaosExpansion(
        canonical.families,
        terms,
        np.arange(outputs + 1) * count,
        np.tile(np.arange(count, dtype=np.uint32), outputs),
        coefficients.ravel(),
    )
    return surrogate_of(core, priors)


def surrogate_of(core: ChaosExpansion, priors: Mapping[str, Prior]) -> Surrogate:
    part = LoadedPart("chaos", tuple(range(core.outputs)), Expansions(core))
    nothing = cast(Any, None)
    return Surrogate(nothing, nothing, tuple(priors), (), Canonical.of(list(priors.values())), (part,), {})


def forward_of(surrogate: Surrogate, variance: float = 0.04) -> Forward:
    return lambda x: (surrogate.mean(x), np.full(surrogate.mean(x).shape[1], variance))


def test_linear_gaussian(linear_likelihood: Any, closed_form: Callable[..., Any]) -> None:
    plain, priors, design = linear_likelihood
    truth = closed_form("linear-gaussian")
    surrogate = linear_surrogate(design, priors)
    likelihood = Likelihood(plain.parameters, {"model": forward_of(surrogate)}, plain.groups)
    target, why_not = compiled_target(likelihood, priors, {"model": surrogate})
    assert why_not is None and target.advance is not None
    sample = sample_posterior(target, seed=1, stopping=Stopping(ess=20_000))
    assert sample.converged
    flat = sample.flat()
    error = np.sqrt(truth.variance / 20_000)
    assert (np.abs(flat.mean(axis=0) - truth.mean) < 4 * error).all()
    np.testing.assert_allclose(flat.var(axis=0), truth.variance, rtol=0.05)
    np.testing.assert_allclose(sample.log_likelihood.ravel(), target.log_likelihood(flat), atol=1e-9)


def test_a_gaussian_cut_by_bounds() -> None:
    """Data with one parameter each, in the unit box: centre inside, on a bound, outside."""
    priors = dict.fromkeys("xyz", Uniform({"low": 0.0, "high": 1.0}))
    center, std = np.array([0.4, 0.0, 1.2]), np.array([0.1, 0.2, 0.3])
    surrogate = linear_surrogate(np.eye(3), priors)
    likelihood = Likelihood(
        ("x", "y", "z"),
        {"model": forward_of(surrogate, 0.0)},
        tuple(Group(f"g{j}", center[j : j + 1], np.array([j]), Gaussian(float(std[j]))) for j in range(3)),
    )
    target, why_not = compiled_target(likelihood, priors, {"model": surrogate})
    assert why_not is None
    flat = sample_posterior(target, seed=2, stopping=Stopping(ess=20_000)).flat()
    a, b = (0 - center) / std, (1 - center) / std
    phi = [np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) for z in (a, b)]
    mass = np.array([0.5 * (math.erf(v / 2**0.5) - math.erf(u / 2**0.5)) for u, v in zip(a, b, strict=True)])
    shift = (phi[0] - phi[1]) / mass
    variance = std**2 * (1 + (a * phi[0] - b * phi[1]) / mass - shift**2)
    assert (np.abs(flat.mean(axis=0) - center - std * shift) < 4 * np.sqrt(variance / 20_000)).all()
    np.testing.assert_allclose(flat.var(axis=0), variance, rtol=0.05)


def two_models() -> tuple[Likelihood, dict[str, Prior], dict[str, Surrogate]]:
    """Two cases with a parameter in common, an inferred std for one; parameters in another order than theirs."""
    priors: dict[str, Prior] = {
        "a": Uniform({"low": 0.0, "high": 2.0}),
        "b": Gamma({"shape": 3.0, "scale": 0.5}),
        "c": LogUniform({"low": 0.1, "high": 10.0}),
    }
    generator = np.random.default_rng(0)
    surrogates = {}
    for name, used in (("one", "ba"), ("two", "ca")):
        own = {key: priors[key] for key in used}
        terms = np.array([[i, j] for i in range(4) for j in range(4 - i)], np.uint8)
        outputs, count = 5, len(terms)
        core = ChaosExpansion(
            Canonical.of(list(own.values())).families,
            terms,
            np.arange(outputs + 1) * count,
            np.tile(np.arange(count, dtype=np.uint32), outputs),
            generator.standard_normal(outputs * count) / 4.0 ** np.tile(terms.sum(axis=1), outputs),
        )
        surrogates[name] = surrogate_of(core, own)
    names = tuple(priors)

    def forward(surrogate: Surrogate) -> Forward:
        columns = [names.index(name) for name in surrogate.names]
        return lambda x: (surrogate.mean(x[:, columns]), np.linspace(0.01, 0.05, 5))

    noise = Unknown("noise", Gamma({"shape": 3.0, "scale": 0.2}))
    groups = (
        Group("first", np.array([0.3, 0.1]), np.array([4, 0]), Gaussian(0.2), "one"),
        Group("again", np.array([0.2, 0.4]), np.array([0, 0]), Gaussian(noise), "one", measurement_std=0.1),
        Group("second", np.array([0.3, -0.2, 0.1]), np.array([1, 3, 3]), Gaussian(noise), "two"),
    )
    forwards = {name: forward(surrogate) for name, surrogate in surrogates.items()}
    return Likelihood(names, forwards, groups), priors, surrogates


def core_of(likelihood: Likelihood, priors: Mapping[str, Prior], surrogates: Mapping[str, Surrogate]) -> ChaosPosterior:
    """The compiled density itself."""
    from percuss.inference.compiled import compile_posterior

    return compile_posterior(likelihood, likelihood.posterior(priors), surrogates)


def test_several_models_and_inferred_noise() -> None:
    likelihood, priors, surrogates = two_models()
    plain = likelihood.posterior(priors)
    z = 3 * np.random.default_rng(1).standard_normal((1003, 4))
    np.testing.assert_allclose(core_of(likelihood, priors, surrogates).log_density(z), plain.log_density(z), rtol=1e-12)
    assert compiled_target(likelihood, priors, surrogates).why_not is None


def test_same_bits_at_any_number_of_threads_and_beside_any_chains() -> None:
    core = core_of(*two_models())
    z = np.random.default_rng(0).standard_normal((21, 4))
    p = core.log_density(z)
    factor = 0.4 * np.eye(4)
    one, two, seven = (core.advance(z, p, factor, 30, 2, 99, threads=threads) for threads in (1, 2, 7))
    for found in (two, seven):
        assert [a.tobytes() for a in one] == [a.tobytes() for a in found]
    fewer = core.advance(z[:5], p[:5], factor, 30, 2, 99)
    assert fewer[0].tobytes() == one[0][:5].tobytes()
    assert core.advance(z, p, factor, 30, 2, 98)[0].tobytes() != one[0].tobytes()
    np.testing.assert_allclose(one[1].ravel(), core.log_density(one[0].reshape(-1, 4)), rtol=1e-14)


def test_same_seed_same_bits() -> None:
    target = compiled_target(*two_models()).target
    first, again = (sample_posterior(target, seed=5, stopping=Stopping(evaluations=40_000)) for _ in range(2))
    assert first.draws.tobytes() == again.draws.tobytes()


class Other(Prior):
    """A kind of prior that the core does not know."""

    kind = "other"
    support, ppf, cdf, logpdf, mean, std = (
        Uniform.support,
        Uniform.ppf,
        Uniform.cdf,
        Uniform.logpdf,
        Uniform.mean,
        Uniform.std,  # type: ignore[assignment]
    )


def test_what_is_not_compiled_is_said() -> None:
    likelihood, priors, surrogates = two_models()
    cut = TruncatedNormal({"mean": 1.0, "std": 0.5, "low": 0.0, "high": 2.0})

    def with_groups(*groups: Group) -> Likelihood:
        return Likelihood(likelihood.parameters, likelihood.forwards, groups)

    def with_forward(forward: Forward) -> Likelihood:
        return Likelihood(likelihood.parameters, {**likelihood.forwards, "two": forward}, likelihood.groups)

    two = likelihood.forwards["two"]
    heavy = Group("heavy", np.zeros(1), np.array([0]), StudentT(0.1), "one")
    through = surrogate_of(cast(Expansions, surrogates["two"].parts[0].model).core, {"c": priors["c"], "a": cut})
    for words, *case in (
        ("not independent and Gaussian", with_groups(heavy), priors, surrogates),
        ("`two` is not all polynomial chaos", likelihood, priors, {"one": surrogates["one"]}),
        ("varies from point to point", with_forward(lambda x: (two(x)[0], two(x)[0] ** 2)), priors, surrogates),
        ("not its surrogate alone", with_forward(lambda x: (two(x)[0] + 0.01, two(x)[1])), priors, surrogates),
        ("`a` through quantiles", likelihood, priors, {**surrogates, "two": through}),
        ("no other prior", likelihood, {**priors, "a": Other(priors["a"].fields)}, surrogates),
    ):
        target, why_not = compiled_target(*cast(Any, case))
        assert why_not is not None and words in why_not
        assert target.advance is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"column": np.array([9])}, "output names number 9"),
        ({"variance": np.array([0.0])}, "variance = 0: above 0"),
        ({"observed": np.array([np.nan])}, "observed = NaN"),
        ({"unknown": np.array([4])}, "unknown names number 4"),
        ({"forward": np.array([0, 0])}, "one entry a datum"),
        ({"parameters": []}, "parameters = 0"),
        ({"parameters": [("inside", 0.0, 1.0, "uniform", [], 0.5, 0.0)]}, "support"),
        ({"parameters": [("between", 0.0, -1.0, "uniform", [], 0.5, 0.0)]}, "scale = -1"),
        ({"parameters": [("between", 0.0, 1.0, "cauchy", [], 0.5, 0.0)]}, "cauchy"),
        ({"inputs": [(0, "cubic", 0.0, 1.0)]}, "cubic"),
        ({"inputs": [(3, "linear", 0.0, 1.0)]}, "input names number 3"),
        ({"inputs": []}, "inputs holds 0"),
        ({"error": ([1.0, 0.0], [1.0], [1.0])}, "covariance holds 2"),
        ({"error": ([1.0], [0.0], [1.0])}, "scales and shares = 0"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], words: str) -> None:
    line = linear_surrogate(np.ones((1, 1)), {"x": Uniform({"low": 0.0, "high": 1.0})})
    given: dict[str, Any] = {
        "parameters": [("between", 0.0, 1.0, "uniform", [], 0.5, 0.0)],
        "inputs": [(0, "linear", 0.5, 2.0)],
        "error": None,
        "forward": np.array([0]),
        "column": np.array([0]),
        "observed": np.array([0.5]),
        "variance": np.array([0.01]),
        "unknown": np.array([-1]),
    }
    given |= change
    forwards = [(cast(Expansions, line.parts[0].model).core, given.pop("inputs"), given.pop("error"))]
    with pytest.raises(ValueError, match=words):
        ChaosPosterior(given.pop("parameters"), forwards, *given.values())


@pytest.mark.parametrize("noise", [0.3, None])
@pytest.mark.parametrize("scales", [[1.0], [1.0, 4.0, 16.0]])
def test_an_error_common_to_the_data_of_an_output(noise: float | None, scales: list[float]) -> None:
    """Repetitions, two groups on one output, an output of the surrogate without data, known and inferred std."""
    priors = dict.fromkeys("ab", Uniform({"low": -1.0, "high": 1.0}))
    surrogate = linear_surrogate(np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 1.0], [0.3, 0.2]]), priors)
    correlation = np.array([[1, 0.6, 0.2, 0], [0.6, 1, -0.1, 0], [0.2, -0.1, 1, 0.5], [0, 0, 0.5, 1.0]])
    shares = np.array([0.8, 0.15, 0.05])[: len(scales)]
    error = CommonError(correlation, np.array(scales), shares / shares.sum(), tuple("pqrs"))
    std = noise or Unknown("std", LogUniform({"low": 0.01, "high": 1.0}))
    outputs = np.repeat([0, 1, 3], 10)
    data = np.random.default_rng(3).normal(0.2, 0.3, 30)
    groups = (
        Group("first", data, outputs, Gaussian(std)),
        Group("second", data[:3], np.array([0, 3, 3]), Gaussian(0.2), measurement_std=0.1),
    )
    likelihood = Likelihood(("a", "b"), {"model": forward_of(surrogate)}, groups, {"model": error})
    target, why_not = compiled_target(likelihood, priors, {"model": surrogate})
    assert why_not is None
    core = compile_posterior(likelihood, target, {"model": surrogate})
    z = target.draw_prior(200, np.random.default_rng(1))
    np.testing.assert_allclose(core.log_density(z), target.log_density(z), rtol=1e-11, atol=1e-9)
