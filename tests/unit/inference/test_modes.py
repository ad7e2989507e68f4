"""Modes: found before sampling, sampled in proportion, and missed by no sampler without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.bench.modes import SEEN, family, hills

from percuss.inference.climbing import climb
from percuss.inference.modes import FEWEST, PART, SCREENED, hold, search
from percuss.inference.samplers.registry import sample_posterior
from percuss.inference.samplers.sample import Stopping
from percuss.inference.target import Target
from percuss.study.priors.uniform import Uniform

ALLOWED = 4_000_000


def test_a_narrow_mode_of_most_of_the_mass_is_found() -> None:
    """Chains alone never meet it: all agree on the wide one, which holds three tenths."""
    case = family(8, (0.02, 0.05), 0.7, 0)
    blind = sample_posterior(case.target, seed=0, stopping=Stopping(evaluations=600_000), look=False)
    assert case.verdict(blind) == "falsely converged"
    sample = sample_posterior(case.target, seed=0, stopping=Stopping(evaluations=600_000))
    assert case.verdict(sample) == "found", sample.reasons
    assert sample.modes is not None
    np.testing.assert_allclose(sample.modes.shares, [0.7, 0.3], atol=0.05)
    np.testing.assert_allclose(sample.modes.drawn, [0.7, 0.3], atol=0.05)
    np.testing.assert_allclose(sample.modes.at[0], case.centres[0], atol=5e-3)
    # The draws of the blind one, held against the modes, are refused.
    modes = search(case.target, ALLOWED, 0)
    assert modes is not None
    held = hold(case.target, modes, case.target.transform.unbounded(blind.flat()).reshape(blind.draws.shape), 0)
    assert len(held.reasons) == 2 and held.drawn[0] == 0
    assert held.reasons[0].startswith("the draws miss a mode at x0 = ")
    assert "% of the mass" in held.reasons[0]
    assert held.reasons[1].startswith("100 % of the draws are in a mode at")


def test_most_is_found_and_nothing_passed_off_in_a_reduced_table() -> None:
    """The whole table stands in docs/calibration.md and comes from tests/bench/modes.py."""
    verdicts = Counter[str]()
    for dimension, widths in ((2, (0.01, 0.03)), (3, (0.03, 0.1)), (5, (0.01, 0.01))):
        for seed, mass in enumerate((0.1, 0.5, 0.9)):
            case = family(dimension, widths, mass, seed)
            assert np.min(case.basins) * SCREENED > SEEN
            sample = sample_posterior(case.target, seed=seed, stopping=Stopping(evaluations=300_000))
            verdicts[case.verdict(sample)] += 1
    assert verdicts == {"found": 9}


@pytest.mark.parametrize("sampler", ["emcee-stretch", "adaptive-metropolis-per-chain", "sequential-monte-carlo"])
def test_other_samplers_are_held_against_the_modes_too(sampler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sampler that is kept from the heavier of two modes looks converged to R-hat."""
    case = hills(2, [0.03, 0.05], [0.7, 0.3], 0)
    x = np.random.default_rng(0).normal(case.centres[1], 0.05, (40_000, 2))
    z = case.target.transform.unbounded(x).reshape(20, 2000, 2)

    def run(*_: Any) -> Any:
        from percuss.inference.samplers.sample import Run

        return Run(z, case.target.log_density(z.reshape(-1, 2)).reshape(20, 2000), np.ones(20), 40_000)

    import importlib

    from percuss.inference.samplers.registry import SAMPLERS

    monkeypatch.setattr(importlib.import_module(SAMPLERS[sampler].module), "run", run)
    assert sample_posterior(case.target, sampler, seed=0, look=False).converged
    sample = sample_posterior(case.target, sampler, seed=0)
    assert not sample.converged
    assert sample.reasons[0].startswith("the draws miss a mode at x0 = ")


def test_a_mode_that_only_the_draws_know_is_taken_in() -> None:
    """Draws of one mode, and a search that knows the other alone."""
    case = hills(2, [0.03, 0.05], [0.7, 0.3], 0)
    only = hills(2, [0.03, 1e-9], [1.0, 1e-300], 0)
    modes = search(only.target, ALLOWED, 0)
    assert modes is not None and len(modes) == 1
    x = np.random.default_rng(0).normal(case.centres[1], 0.05, (1000, 2))
    held = hold(case.target, modes, case.target.transform.unbounded(x).reshape(10, 100, 2), 0)
    np.testing.assert_allclose(np.sort(held.shares), [0.3, 0.7], atol=0.05)
    assert held.reasons[0].startswith("the draws miss a mode")


@pytest.mark.parametrize("name", ["linear-gaussian", "truncated-gaussian", "banana", "rosenbrock"])
def test_one_hill_is_one_mode(name: str, closed_form: Callable[..., Any]) -> None:
    target = closed_form(name).target
    modes = search(target, ALLOWED, 3)
    assert modes is not None and len(modes) == 1 and modes.weighed is None
    # A tenth of what the posterior takes, and its draws are those that there would be without a search.
    assert modes.evaluations < 25_000
    if name == "linear-gaussian":
        sampled = [sample_posterior(target, seed=3, look=look).draws.tobytes() for look in (True, False)]
        assert sampled[0] == sampled[1]


def test_climbs_reach_the_top_of_a_narrow_bent_hill() -> None:
    def log_density(z: NDArray[Any]) -> NDArray[Any]:
        return -0.5 * ((z[:, 0] - 1) / 0.01) ** 2 - 0.5 * ((z[:, 1] - z[:, 0] ** 2) / 0.003) ** 2

    starts = np.random.default_rng(0).normal(size=(40, 2))
    done = climb(log_density, starts, log_density(starts))
    assert np.count_nonzero(done.log_density > -1e-3) >= 36
    np.testing.assert_allclose(done.ends[done.log_density > -1e-3], 1.0, atol=2e-3)


def test_a_small_budget_has_no_search() -> None:
    case = hills(2, [0.1], [1.0], 0)
    least = int(FEWEST / PART)
    assert search(case.target, least - 1, 0) is None
    assert search(case.target, least, 0) is not None


def test_failing_models_and_kinks_do_not_stop_a_search() -> None:
    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        return np.where(x[:, 0] < 0.5, np.nan, -np.abs(x[:, 0] - 0.7) / 0.01 - np.abs(x[:, 1] - 0.2) / 0.02)

    target = Target(("x", "y"), (Uniform({"low": 0.0, "high": 1.0}),) * 2, log_likelihood)
    modes = search(target, ALLOWED, 0)
    assert modes is not None
    sample = sample_posterior(target, seed=0)
    assert sample.converged, sample.reasons
    assert sample.draws[:, :, 0].mean() == pytest.approx(0.7, abs=0.002)


def test_a_bent_tail_is_not_called_converged_before_its_variance_is_known(closed_form: Callable[..., Any]) -> None:
    """With few chains R-hat and ESS are good by then, and the variance was off by up to 29 %."""
    truth = closed_form("banana")
    reasons = []
    for seed in range(3):
        stopping = Stopping(evaluations=120_000)
        sample = sample_posterior(truth.target, seed=seed, settings={"chains": 20}, stopping=stopping, look=False)
        assert not sample.converged or abs(sample.draws[:, :, 1].var() / truth.variance[1] - 1) < 0.14
        reasons += sample.reasons
    assert any(reason.startswith("the standard deviation of y") for reason in reasons)
