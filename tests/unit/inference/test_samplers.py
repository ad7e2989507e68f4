"""Samplers on posteriors known in closed form: right within their own error, or "not converged"; and repeatable."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.inference.diagnostics import mcse_mean, std_error
from percuss.inference.discrepancies.gaussian import Gaussian
from percuss.inference.likelihood import Group, Likelihood
from percuss.inference.samplers import adaptive_metropolis
from percuss.inference.samplers.registry import SAMPLERS, sample_posterior, sampler_settings
from percuss.inference.samplers.sample import Progress, Sample, Stopping
from percuss.inference.samplers.sequential_monte_carlo import Population, _combine, _needed, _systematic
from percuss.inference.target import Target
from percuss.study.priors.uniform import Uniform

# Those that take any density; what needs a gradient or a simulator has tests of its own.
PLAIN = sorted(set(SAMPLERS) - {"hamiltonian-monte-carlo", "delayed-acceptance", "smooth-part"})


def assert_right(sample: Sample, truth: Any) -> None:
    """Means and standard deviations within 4 standard errors."""
    assert sample.converged, sample.reasons
    errors = np.array([mcse_mean(sample.draws[:, :, j]) for j in range(len(truth.mean))])
    assert (np.abs(sample.flat().mean(axis=0) - truth.mean) < 4 * errors).all()
    ratio = sample.flat().std(axis=0) / np.sqrt(truth.variance)
    assert (np.abs(ratio - 1) < 4 * np.array([std_error(sample.draws[:, :, j]) for j in range(len(ratio))])).all()


@pytest.mark.parametrize(
    ("name", "shape", "chains"),
    [
        ("linear-gaussian", {}, 100),
        ("truncated-gaussian", {}, 100),
        ("banana", {"bend": 0.5}, 300),
        ("rosenbrock", {"valley": 2.0}, 300),
    ],
)
def test_adaptive_metropolis(name: str, shape: dict[str, float], chains: int, closed_form: Callable[..., Any]) -> None:
    truth = closed_form(name, **shape)
    assert_right(sample_posterior(truth.target, seed=3, settings={"chains": chains}), truth)


@pytest.mark.parametrize("name", ["linear-gaussian", "truncated-gaussian", "banana", "rosenbrock", "two-modes"])
def test_sequential_monte_carlo(name: str, closed_form: Callable[..., Any]) -> None:
    truth = closed_form(name)
    settings = {
        "chains": 1500 if name in ("banana", "rosenbrock") else 400,
        "repeats": 4,
        "evidence_error": 0.04,
    }
    sample = sample_posterior(truth.target, "sequential-monte-carlo", seed=5, settings=settings)
    assert_right(sample, truth)
    assert sample.log_evidence_error is not None and 0 < sample.log_evidence_error <= 0.04
    assert sample.log_evidence == pytest.approx(truth.log_evidence, abs=3 * sample.log_evidence_error)


@pytest.mark.parametrize("sampler", ["emcee-stretch", "emcee-de-snooker"])
def test_emcee(sampler: str, closed_form: Callable[..., Any]) -> None:
    truth = closed_form("linear-gaussian")
    # Many walkers are worth enough draws for 5 % before they agree to 1 %.
    stopping = Stopping(r_hat=1.05)
    assert_right(sample_posterior(truth.target, sampler, seed=2, stopping=stopping, settings={"walkers": 256}), truth)


def test_snooker_move_keeps_the_variance() -> None:
    """The move of emcee 3.1.6 gives 0.69 here."""
    import emcee

    from percuss.inference.samplers.emcee_de_snooker import SnookerMove

    sampler = emcee.EnsembleSampler(400, 5, lambda z: -0.5 * np.sum(z * z, axis=1), moves=SnookerMove(), vectorize=True)
    start = np.random.default_rng(0).standard_normal((400, 5))
    state = emcee.State(start, random_state=np.random.RandomState(1).get_state())
    sampler.run_mcmc(state, 1000)
    # Some 4000 independent draws: 2 % a standard error of a variance.
    np.testing.assert_allclose(sampler.get_chain(discard=200, flat=True).var(axis=0), 1.0, atol=0.08)


@pytest.mark.parametrize("sampler", ["adaptive-metropolis", "emcee-stretch"])
def test_separated_modes_are_not_passed_off_as_converged(sampler: str, closed_form: Callable[..., Any]) -> None:
    """Even where nothing is known of the modes beforehand."""
    target = closed_form("two-modes").target
    sample = sample_posterior(target, sampler, seed=1, stopping=Stopping(evaluations=100_000), look=False)
    assert not sample.converged
    assert any(reason.startswith("R-hat") for reason in sample.reasons)


@pytest.mark.parametrize("name", ["linear-gaussian", "banana", "two-modes"])
def test_per_chain_adaptation_does_not_converge_in_a_thousand_steps(name: str, closed_form: Callable[..., Any]) -> None:
    sample = sample_posterior(closed_form(name).target, "adaptive-metropolis-per-chain", seed=1)
    assert sample.draws.shape[:2] == (100, 500)
    assert sample.evaluations == 100_100
    assert not sample.converged


def test_per_chain_adaptation_is_right_in_the_long_run(closed_form: Callable[..., Any]) -> None:
    truth = closed_form("linear-gaussian")
    settings = {"chains": 50, "steps": 8000}
    assert_right(sample_posterior(truth.target, "adaptive-metropolis-per-chain", seed=1, settings=settings), truth)


def wall(residual_variance: float) -> Target:
    """A stand-in for the calibration of Appendix C: five parameters, 24 data that no point meets."""
    generator = np.random.default_rng(4)
    linear, bent = generator.normal(size=(5, 24)), generator.normal(size=(5, 24))

    def forward(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        mean = np.einsum("nd,dm->nm", x, linear) + np.einsum("nd,dm->nm", 0.3 * x * x, bent)
        return 0.1 * mean, np.zeros(24)

    observed = forward(np.full((1, 5), 0.3))[0][0] + 0.02 * generator.normal(size=24)
    groups = (Group("all", observed, np.arange(24), Gaussian(residual_variance**0.5)),)
    names = ("d_z", "v_p", "mu_cc", "mu_cs", "e")
    uniform = Uniform({"low": -1.0, "high": 1.0})
    return Likelihood(names, {"model": forward}, groups).posterior(dict.fromkeys(names, uniform))


@pytest.mark.parametrize("sampler", ["adaptive-metropolis", "adaptive-metropolis-per-chain"])
def test_the_papers_residual_variance_does_not_converge(sampler: str) -> None:
    sample = sample_posterior(wall(1e-20), sampler, seed=1, stopping=Stopping(evaluations=100_000))
    assert not sample.converged
    assert sample.diagnostics.worst_r_hat > 1.5


def test_an_honest_residual_variance_converges() -> None:
    assert sample_posterior(wall(4e-4), seed=1, settings={"chains": 32}).converged


@pytest.mark.parametrize("sampler", PLAIN)
def test_same_seed_same_bits(sampler: str, closed_form: Callable[..., Any]) -> None:
    stopping = Stopping(evaluations=30_000)
    settings = {"chains": 20, "steps": 10} if sampler == "sequential-monte-carlo" else {}
    first, again, other = (
        sample_posterior(closed_form("banana").target, sampler, seed=seed, stopping=stopping, settings=settings)
        for seed in (11, 11, 12)
    )
    assert first.draws.tobytes() == again.draws.tobytes()
    assert first.log_likelihood.tobytes() == again.log_likelihood.tobytes()
    assert first.draws.tobytes() != other.draws.tobytes()


@pytest.mark.parametrize("budget", [9_000, 60_000])
@pytest.mark.parametrize("sampler", PLAIN)
def test_budget_holds_and_progress_is_told(sampler: str, budget: int, closed_form: Callable[..., Any]) -> None:
    told: list[Progress] = []
    stopping = Stopping(ess=1e9, evaluations=budget)
    settings = {"chains": 10, "steps": 10, "repeats": 4} if sampler == "sequential-monte-carlo" else {}
    target = closed_form("linear-gaussian").target
    sample = sample_posterior(target, sampler, seed=0, stopping=stopping, settings=settings, report=told.append)
    assert sample.evaluations <= budget
    assert not sample.converged
    assert all(0 < progress.evaluations <= (progress.expected or budget) <= budget for progress in told)
    # The per-chain variant tells of every hundredth step, and has fewer here.
    assert told or (sampler == "adaptive-metropolis-per-chain" and budget < 10_000)


@pytest.mark.parametrize("sampler", PLAIN)
def test_a_budget_too_small_for_the_chains_is_refused(sampler: str, closed_form: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match=r"evaluations = 150 must be at least \d+ with this sampler"):
        sample_posterior(closed_form("linear-gaussian").target, sampler, seed=0, stopping=Stopping(evaluations=150))


@pytest.mark.parametrize("sampler", PLAIN)
def test_log_likelihood_and_prior_belong_to_the_draws(sampler: str, closed_form: Callable[..., Any]) -> None:
    target = closed_form("linear-gaussian").target
    settings = {"chains": 20, "steps": 10} if sampler == "sequential-monte-carlo" else {}
    sample = sample_posterior(target, sampler, seed=0, stopping=Stopping(evaluations=20_000), settings=settings)
    np.testing.assert_allclose(sample.log_likelihood.ravel(), target.log_likelihood(sample.flat()), atol=1e-9)
    np.testing.assert_allclose(sample.log_prior.ravel(), target.log_prior(sample.flat()), atol=1e-9)


def counted(target: Target) -> tuple[Target, list[int]]:
    """The target, and how many points it was asked for."""
    asked: list[int] = []

    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        asked.append(len(x))
        return target.log_likelihood(x)

    return Target(target.names, target.priors, log_likelihood), asked


@pytest.mark.parametrize(("chains", "steps", "budget"), [(100, 50, 150_000), (400, 4, 30_000)])
def test_a_budget_that_tempering_cannot_finish_is_refused_before_it_is_spent(
    chains: int, steps: int, budget: int, closed_form: Callable[..., Any]
) -> None:
    target, asked = counted(closed_form("two-modes").target)
    settings = {"chains": chains, "steps": steps}
    call = {"seed": 0, "settings": settings, "look": False}
    with pytest.raises(InputError, match=r"must be at least \d+ for tempering to reach the posterior") as refused:
        sample_posterior(target, "sequential-monte-carlo", stopping=Stopping(evaluations=budget), **call)
    assert sum(asked) < 0.15 * budget
    # What is asked for is enough, or very nearly so: tempering ends at the posterior.
    least = int(str(refused.value).split("at least ")[1].split()[0])
    sample = sample_posterior(target, "sequential-monte-carlo", stopping=Stopping(evaluations=2 * least), **call)
    assert sample.evaluations <= 2 * least
    assert sample.log_likelihood.mean() == pytest.approx(target.log_likelihood(np.full((1, 2), -4.0))[0] - 1.2, abs=0.4)


def test_an_evidence_that_misses_its_error_is_not_converged(closed_form: Callable[..., Any]) -> None:
    settings = {"chains": 50, "steps": 20, "evidence_error": 1e-3}
    stopping = Stopping(r_hat=1.5, ess=10.0, evaluations=150_000)
    target = closed_form("linear-gaussian").target
    sample = sample_posterior(target, "sequential-monte-carlo", seed=0, stopping=stopping, settings=settings)
    assert [reason.startswith("the log evidence is known to 0.") for reason in sample.reasons] == [True]


def test_the_error_of_an_evidence_is_right() -> None:
    """Deviations in units of their error have a root mean square of one, whatever number of repeats it took; stopping
    once the scatter of all repeats is small enough makes it 1.18.
    """
    generator = np.random.default_rng(0)
    one = np.zeros((1, 1, 1)), np.zeros((1, 1)), np.zeros((1, 1))

    def repeats(n: int) -> list[Population]:
        return [Population(*one, log, 0.2) for log in 0.08 * generator.standard_normal(n)]

    z = []
    for _ in range(3000):
        done = repeats(8)
        done += repeats(max(_needed(done, 0.03) - 8, 0))
        found = _combine(done, 8, 0, 0.03)
        assert found.log_evidence is not None and found.log_evidence_error is not None and not found.reasons
        z.append((found.log_evidence - 0.08**2 / 2) / found.log_evidence_error)
    assert np.sqrt(np.mean(np.square(z))) == pytest.approx(1.0, abs=0.06)


def test_evidences_of_one_ladder_have_no_bias(closed_form: Callable[..., Any]) -> None:
    truth = closed_form("linear-gaussian")
    settings = {"chains": 40, "steps": 20, "evidence_error": 0.0}
    stopping = Stopping(evaluations=600_000)
    sample = sample_posterior(
        truth.target, "sequential-monte-carlo", seed=1, stopping=stopping, settings=settings, look=False
    )
    assert sample.log_evidence is not None and sample.log_evidence_error is not None
    assert sample.reasons[0].startswith("the log evidence is known to 0.0")
    assert sample.log_evidence == pytest.approx(truth.log_evidence, abs=4 * sample.log_evidence_error)


def test_a_compiled_advance_takes_the_place_of_ours(closed_form: Callable[..., Any]) -> None:
    plain = closed_form("linear-gaussian").target
    steps = []

    def compiled(target: Target, state: Any, factor: Any, draws: int, thin: int, generator: Any) -> Any:
        steps.append(draws * thin)
        return adaptive_metropolis.advance(target, state, factor, draws, thin, generator)

    fused = Target(plain.names, plain.priors, plain.log_likelihood, compiled)
    stopping = Stopping(evaluations=60_000)
    first, second = (sample_posterior(target, seed=4, stopping=stopping) for target in (plain, fused))
    assert first.draws.tobytes() == second.draws.tobytes()
    assert (sum(steps) + 1) * 100 == second.evaluations


def test_a_model_that_fails_in_places_is_avoided_there() -> None:
    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        return np.where(x[:, 0] < 0.25, np.nan, np.where(x[:, 0] > 0.75, np.inf, 0.0))

    target = Target(("x",), (Uniform({"low": 0.0, "high": 1.0}),), log_likelihood)
    sample = sample_posterior(target, seed=0)
    assert sample.converged
    assert sample.draws.min() >= 0.25 and sample.draws.max() <= 0.75
    assert sample.draws.mean() == pytest.approx(0.5, abs=0.01)


def test_a_model_that_fails_everywhere_is_an_error() -> None:
    target = Target(("x",), (Uniform({"low": 0.0, "high": 1.0}),), lambda x: np.full(len(x), np.nan))
    with pytest.raises(InputError, match="zero or undefined at all but 0"):
        sample_posterior(target, seed=0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"sampler": "metropolis"}, "unknown sampler `metropolis`"),
        ({"settings": {"chain": 3}}, "no setting `chain`: did you mean `chains`"),
        ({"settings": {"chains": 2}}, "`chains` of sampler adaptive-metropolis is 2: it takes a whole number from 4"),
        ({"settings": {"chains": 10.5}}, "is 10.5"),
        ({"settings": {"chains": float("nan")}}, "is nan"),
        ({"seed": -1}, "seed = -1"),
    ],
)
def test_bad_settings(call: dict[str, Any], words: str, closed_form: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match=words):
        sample_posterior(closed_form("banana").target, **{"seed": 0, **call})


@pytest.mark.parametrize("wrong", [{"r_hat": 1.0}, {"ess": 0.0}, {"evaluations": 0}])
def test_bad_stopping(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Stopping(**wrong)


def test_every_setting_is_explained() -> None:
    for sampler in SAMPLERS:
        for setting in sampler_settings(sampler).values():
            assert setting.doc and setting.low <= setting.default <= setting.high


def test_tables_load_nothing_heavy() -> None:
    code = (
        "import sys, percuss.inference.samplers.registry, percuss.inference.discrepancies.registry;"
        "print([name for name in ('numpy', 'scipy', 'emcee') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_resampling_is_in_proportion_to_the_weights() -> None:
    weights = np.random.default_rng(0).gamma(0.5, size=40)
    counts = np.zeros(40)
    for seed in range(4000):
        counts += np.bincount(_systematic(weights, 10, np.random.default_rng(seed)), minlength=40)
    # Ten draws from forty members: no member is favoured for its place.
    np.testing.assert_allclose(counts / 40_000, weights / weights.sum(), atol=4 * 0.5 / np.sqrt(40_000))


def test_chains_caught_without_mass_go_on_from_the_others() -> None:
    def log_likelihood(x: NDArray[Any]) -> NDArray[Any]:
        high, low = (np.sum(((x - c) / 0.5) ** 2, axis=1) for c in (3, -3))
        return np.asarray(np.logaddexp(-0.5 * high, -60 - 0.5 * low))

    target = Target(("x", "y"), (Uniform({"low": -10.0, "high": 10.0}),) * 2, log_likelihood)
    sample = sample_posterior(target, seed=0)
    assert sample.converged
    assert sample.flat().min() > 0


@pytest.mark.parametrize("width", [1e-3, 1.0, 1e3])
def test_no_mode_that_counts_is_emptied(width: float) -> None:
    """One chain in a mode of a hundredth of the mass, narrower or wider than that of the others."""
    generator = np.random.default_rng(0)
    widths = np.array([1.0] * 9 + [width])[:, None, None]
    z = widths * generator.standard_normal((10, 100, 3))
    log_density = -0.5 * np.sum((z / widths) ** 2, axis=2) - 3 * np.log(widths[:, :, 0])
    log_density[9] += np.log(0.01)
    assert not adaptive_metropolis.without_mass(z, log_density).any()
    log_density[9] -= 100
    assert adaptive_metropolis.without_mass(z, log_density).tolist() == [False] * 9 + [True]
