"""From a problem to a posterior: draws, whether they can be trusted, and what they say if they can."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.calibration.fit import DRAWS as COVERAGE_DRAWS
from percuss.calibration.fit import Check, coverage, coverage_verdict
from percuss.calibration.fit import check as check_fit
from percuss.calibration.fit import verdicts as fit_verdicts
from percuss.calibration.groups import exact_data
from percuss.calibration.left_out_twins import left_out_verdict
from percuss.calibration.problem import Problem
from percuss.errors import AnswerIsNo, InputError
from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import mcse_mean
from percuss.inference.evidence import Evidence, importance_evidence, laplace_evidence, sampled_evidence
from percuss.inference.loo import Loo, leave_one_out
from percuss.inference.predictive import spread_draws
from percuss.inference.samplers.registry import DEFAULT, ROUGH, clean_settings, sample_posterior
from percuss.inference.samplers.sample import Report, Sample, Stopping
from percuss.inference.summary import Summary, summarise
from percuss.kinds.posterior_sampled import CoverageFacts
from percuss.study.calibration import Block
from percuss.surrogates.surrogate import Surrogate
from percuss.trust import Trust, Verdict

if TYPE_CHECKING:
    import polars as pl

# Draws that leave-one-out is computed from, at most.
LOO_DRAWS = 4000


@dataclass(frozen=True)
class Sampling:
    """How to sample: all that is not in the problem."""

    sampler: str = DEFAULT
    settings: Mapping[str, float] = field(default_factory=dict)
    stopping: Stopping = field(default_factory=Stopping)
    seed: int = 0
    accept_unconverged: bool = False

    @classmethod
    def of(
        cls,
        block: Block,
        sampler: str | None = None,
        settings: Mapping[str, float] | None = None,
        evaluations: int | None = None,
        seed: int = 0,
        accept_unconverged: bool = False,
    ) -> Sampling:
        """What a block says; what is given besides comes first. Settings of a block are of the block's sampler."""
        own = block.settings if sampler in (None, block.sampler or DEFAULT) else {}
        stopping: dict[str, Any] = dict(block.stopping) | ({"evaluations": evaluations} if evaluations else {})
        return cls(
            sampler or block.sampler or DEFAULT,
            {**own, **(settings or {})},
            Stopping(**stopping),
            seed,
            accept_unconverged,
        )


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What came out; `summary`, `evidence` and `loo` only where convergence, or its being accepted, allows them."""

    sample: Sample
    verdicts: Trust
    summary: Summary | None = None
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    loo: Loo | None = None
    fit: Check | None = None
    covered: tuple[CoverageFacts, ...] = ()
    notes: tuple[str, ...] = ()


def learn(problem: Problem, how: Sampling, report: Report | None = None) -> Problem:
    """Run what a rough simulator's smooth part is learnt from, where its roughness counts as an error."""
    measurement_error(problem)  # refused before anything is run
    return problem.learnt(how.settings, how.stopping, how.seed, report or (lambda _: None))


def draw(problem: Problem, how: Sampling, report: Report | None = None) -> Sample:
    """Sample the posterior: same problem, sampled the same way, same bits."""
    if problem.smooth:
        from percuss.inference.samplers.smooth_part import sample as walked

        return walked(problem.smooth, clean_settings(ROUGH, how.settings), how.stopping, how.seed, report)
    return sample_posterior(
        problem.target,
        how.sampler,
        seed=how.seed,
        stopping=how.stopping,
        settings=how.settings,
        report=report,
        # A search would cost a simulator thousands of runs.
        look=problem.direct is None,
    )


def calibrate(problem: Problem, how: Sampling, report: Report | None = None) -> Calibrated:
    """Sample, and say what the draws say unless they are not converged."""
    measurement_error(problem)  # refused before anything is drawn
    return assess(problem, how, draw(problem, how, report))


def assess(problem: Problem, how: Sampling, sample: Sample) -> Calibrated:
    """Say what draws say, unless they are not converged."""
    verdicts: Trust = (convergence(sample), measurement_error(problem))
    accepted = not sample.converged and how.accept_unconverged
    if not sample.converged and not accepted:
        return Calibrated(sample, verdicts)
    summary = summarise(
        problem.target, sample, mass=problem.block.mass, accept_unconverged=accepted, costly=problem.costly
    )
    evidence, notes = _evidence(problem, sample, how.seed)
    notes += problem.notes
    if sample.modes is None:
        why = "each point would be a run" if problem.direct else "the budget is too small"
        why = "the smooth part is known about one mode" if problem.smooth else why
        notes.append(f"no search for modes over the prior: {why}")
    loo = None
    try:
        loo = leave_one_out(*_pointwise(problem, sample))
        if not loo.reliable:
            notes.append("leave-one-out is not reliable: some data have too much weight (Pareto k)")
    except (InputError, FloatingPointError) as fault:
        notes.append(f"no leave-one-out: {fault}")
    fit = check_fit(problem, _some(sample).reshape(-1, len(sample.names)), how.seed)
    covered = tuple(_covered(problem, surrogate, sample) for surrogate in problem.surrogates)
    verdicts += fit_verdicts(fit)
    verdicts += tuple(
        coverage_verdict(facts, surrogate.event.id)
        for facts, surrogate in zip(covered, problem.surrogates, strict=True)
    )
    several = bool(problem.likelihood.specimens)
    verdicts += tuple(
        left_out_verdict(one, problem.likelihood.parameters, specimens=several) for one in problem.left_out
    )
    return Calibrated(sample, verdicts, summary, evidence, loo, fit, covered, tuple(notes))


def _covered(problem: Problem, surrogate: Surrogate, sample: Sample) -> CoverageFacts:
    priors = [problem.study.parameters[name].prior for name in surrogate.names]
    draws = spread_draws(sample.flat()[:, : len(priors)], COVERAGE_DRAWS)
    return coverage(priors, problem.points[surrogate.event.id], draws)


def convergence(sample: Sample) -> Verdict:
    """Whether the draws represent the posterior: a block may stop earlier than percuss asks for, and is told so."""
    worst = _finite(sample.diagnostics.worst_r_hat)
    if not sample.converged:
        sentence = f"the posterior is not converged: {'; '.join(sample.reasons)}"
        return Verdict("convergence", False, sentence, worst, sample.stopping.r_hat)
    asked = Stopping()
    if early := asked.reasons(sample.diagnostics):
        sentence = f"the posterior is converged by the thresholds of its block alone: {'; '.join(early)}"
        return Verdict("convergence", False, sentence, worst, asked.r_hat)
    return Verdict("convergence", True, "the posterior is converged", worst, asked.r_hat)


def measurement_error(problem: Problem) -> Verdict:
    """Whether every datum has an error; raise InputError where some have none and the block does not ask for that."""
    where = problem.observations.body.file
    exact = exact_data(problem.block, problem.likelihood.groups, problem.data, where).height
    sentence = f"{exact} of {problem.data.height} data are held to be free of error: noise_free = true"
    good = "every datum has an error, of the measurement or of the discrepancy"
    return Verdict("measurement-error", not exact, sentence if exact else good, float(exact), 0.0)


def _evidence(problem: Problem, sample: Sample, seed: int) -> tuple[dict[str, Evidence], list[str]]:
    """The evidence by every method that has it; importance sampling would cost a simulator too many runs."""
    estimates: dict[str, Evidence] = {}
    notes: list[str] = []
    if sample.log_evidence is not None:
        estimates[sample.sampler] = sampled_evidence(sample)
    methods = (laplace_evidence, partial(importance_evidence, seed=seed))
    for method in methods[:1] if problem.costly else methods:
        try:
            evidence = method(problem.target, sample)
            if math.isfinite(evidence.log_evidence):
                estimates[evidence.method] = evidence
        except AnswerIsNo as no:
            notes.append(str(no))
    return estimates, notes


def _some(sample: Sample) -> Floats:
    """Some of the draws of every chain: evaluated before, so that a direct calibration runs nothing again."""
    chains, draws, _ = sample.draws.shape
    return sample.draws[:, :: -(-chains * draws // LOO_DRAWS)]


def _pointwise(problem: Problem, sample: Sample) -> tuple[Floats, Floats]:
    some = _some(sample)
    chains, _, d = some.shape
    log_density, below = (
        part.reshape(chains, some.shape[1], -1) for part in problem.likelihood.each(some.reshape(-1, d))
    )
    return log_density, below


def draws_table(sample: Sample) -> pl.DataFrame:
    """Every draw, chain after chain."""
    import polars as pl

    chains, draws, _ = sample.draws.shape
    flat = sample.flat()
    return pl.DataFrame(
        {
            "chain": np.repeat(np.arange(chains), draws),
            "draw": np.tile(np.arange(draws), chains),
            **{name: flat[:, j] for j, name in enumerate(sample.names)},
            "log_likelihood": sample.log_likelihood.ravel(),
            "log_prior": sample.log_prior.ravel(),
        }
    )


def diagnostics_table(sample: Sample) -> pl.DataFrame:
    """R-hat, effective sample sizes and Monte Carlo error, parameter by parameter."""
    import polars as pl

    diagnostics = sample.diagnostics
    columns = [sample.draws[:, :, j] for j in range(sample.draws.shape[2])]
    columns.append(sample.log_likelihood + sample.log_prior)
    return pl.DataFrame(
        {
            "quantity": list(diagnostics.names),
            **{key: getattr(diagnostics, key) for key in ("r_hat", "r_hat_plain", "ess_bulk", "ess_tail")},
            "mcse": [mcse_mean(column) for column in columns],
        }
    )


def data_table(problem: Problem, calibrated: Calibrated) -> pl.DataFrame:
    """Every datum with its group and its leave-one-out density and transform."""
    import polars as pl

    loo, empty = calibrated.loo, [None] * problem.data.height
    columns = {"loo": "pointwise", "loo_pit": "transform", "pareto_k": "pareto_k"}
    return problem.data.with_columns(
        pl.Series(name, empty if loo is None else getattr(loo, of), dtype=pl.Float64()) for name, of in columns.items()
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
