"""Samples of curves in the core: the same density as sample by sample, out of as many numbers as there are modes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.inference.test_compiled import forward_of, linear_surrogate

from percuss.inference.common_error import CommonError
from percuss.inference.compiled import compile_posterior, compiled_target
from percuss.inference.compiled_curves import curve_entries
from percuss.inference.discrepancies.correlated import Correlated
from percuss.inference.discrepancies.discrepancy import Discrepancy, Unknown
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.discrepancies.student_t import StudentT
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.reading import Reading
from percuss.study.priors.gamma import Gamma
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior
from percuss.study.priors.uniform import Uniform

PRIORS: dict[str, Prior] = {"k": Uniform({"low": -1.0, "high": 2.0}), "c": Normal({"mean": 0.5, "std": 1.0})}
AXIS = np.linspace(0.0, 1.0, 41)
MODES = np.stack([np.sin(3 * AXIS), AXIS**2, np.zeros(41)])
DESIGN = np.array([[1.0, 0.3], [-0.4, 0.8], [0.2, 0.1]])
ERROR = CommonError(
    np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.2], [0.0, 0.2, 1.0]]),
    np.array([0.7, 2.5]),
    np.array([0.8, 0.2]),
    ("a", "b", "c"),
)


def history(name: str, discrepancy: Discrepancy, size: int, seed: int, columns: tuple[int, ...] = (0, 1, 2)) -> Group:
    """Samples of a curve at places of their own; the samples see nothing of the third mode."""
    generator = np.random.default_rng(seed)
    places = np.sort(generator.uniform(0.05, 0.9, size))
    if isinstance(discrepancy, Correlated):
        discrepancy = replace(discrepancy, places=places)
    reading = Reading(AXIS, np.cos(AXIS), MODES[list(columns)], np.full(41, 1e-3), places, delay=0.01)
    seen = np.cos(places) + 0.4 * places + 0.1 * generator.standard_normal(size)
    return Group(name, seen, np.array(columns), discrepancy, measurement_std=0.05, reading=reading)


def likelihood(*groups: Group, common: bool = True) -> tuple[Likelihood, dict[str, object]]:
    surrogate = linear_surrogate(DESIGN, PRIORS)
    other = linear_surrogate(DESIGN[:1], PRIORS)
    forwards = {"model": forward_of(surrogate, 0.01), "peaks": forward_of(other, 0.02)}
    errors = {"model": ERROR, "peaks": CommonError.independent(["p"])} if common else {}
    return Likelihood(tuple(PRIORS), forwards, groups, errors), {"model": surrogate, "peaks": other}


def lasting(size: int = 60, seed: int = 1) -> Group:
    return history("slow", Correlated(std=0.1, places=np.zeros(size), length=0.2), size, seed)


def test_the_density_is_that_of_all_samples() -> None:
    """Lasting and independent errors on two clocks, modes that one of them leaves out, and outputs measured beside."""
    noise = Unknown("noise", Gamma({"shape": 3.0, "scale": 0.05}))
    fast = history("fast", Gaussian(std=0.08), 30, 2, columns=(1, 0))
    peak = Group("peak", np.array([0.3, 0.35]), np.array([0, 0]), Gaussian(noise), "peaks")
    for common in (True, False):
        made, surrogates = likelihood(lasting(), fast, peak, common=common)
        plain = made.posterior(PRIORS)
        core = compile_posterior(made, plain, surrogates)  # type: ignore[arg-type]
        z = plain.draw_prior(200, np.random.default_rng(3))
        np.testing.assert_allclose(core.log_density(z), plain.log_density(z), rtol=1e-10, atol=1e-8)
        assert compiled_target(made, PRIORS, surrogates).why_not is None  # type: ignore[arg-type]


def test_numbers_are_as_few_as_the_modes_that_are_seen() -> None:
    group = lasting(60)
    found = curve_entries([group], [np.full(60, 0.01)])
    assert found is not None and len(found.observed) == 2 and found.mixing.shape == (2, 3)


def test_sampled_where_the_plain_way_samples() -> None:
    """Chains in the core against a grid of the density of all samples."""
    from percuss.inference.samplers.registry import sample_posterior
    from percuss.inference.samplers.sample import Stopping

    made, surrogates = likelihood(lasting(60))
    target = compiled_target(made, PRIORS, surrogates).target  # type: ignore[arg-type]
    assert target.advance is not None
    sample = sample_posterior(target, seed=1, stopping=Stopping(ess=4000), look=False)
    assert sample.converged
    k, c = np.meshgrid(np.linspace(-1, 2, 241), np.linspace(-4, 5, 301), indexing="ij")
    points = np.stack([k.ravel(), c.ravel()], axis=1)
    log = made(points) + PRIORS["c"].logpdf(points[:, 1])
    weights: NDArray[np.float64] = np.exp(log - log.max())
    weights /= weights.sum()
    mean = weights @ points
    std = np.sqrt(weights @ (points - mean) ** 2)
    flat = sample.flat()
    assert (np.abs(flat.mean(axis=0) - mean) < 0.08 * std).all()
    np.testing.assert_allclose(flat.std(axis=0), std, rtol=0.06)


@pytest.mark.parametrize(
    ("group", "why"),
    [
        (
            history("slow", Correlated(Unknown("s", Gamma({"shape": 2.0, "scale": 0.1})), np.zeros(9), 0.2), 9, 1),
            "the clock or the error of a time history is inferred",
        ),
        (history("wild", StudentT(0.1), 9, 1), "the clock or the error of a time history is inferred"),
    ],
)
def test_what_is_inferred_of_a_history_is_not_compiled(group: Group, why: str) -> None:
    made, surrogates = likelihood(group)
    assert compiled_target(made, PRIORS, surrogates).why_not == why  # type: ignore[arg-type]


def test_an_inferred_clock_is_not_compiled() -> None:
    group = lasting(9)
    assert group.reading
    clock = replace(group.reading, delay=Unknown("delay", Normal({"mean": 0.0, "std": 0.01})))
    made, surrogates = likelihood(replace(group, reading=clock))
    why = compiled_target(made, PRIORS, surrogates).why_not  # type: ignore[arg-type]
    assert why == "the clock or the error of a time history is inferred"
