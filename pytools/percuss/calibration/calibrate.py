"""From a problem to a posterior: draws, whether they can be trusted, and what they say if they can."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.calibration.coverage import DRAWS as COVERAGE_DRAWS
from percuss.calibration.coverage import Coverage, coverage, coverage_verdict
from percuss.calibration.fit import Check
from percuss.calibration.fit import check as check_fit
from percuss.calibration.fit import verdicts as fit_verdicts
from percuss.calibration.groups import exact_data
from percuss.calibration.problem import Problem
from percuss.calibration.records import POSTERIOR
from percuss.errors import AnswerIsNo, InputError
from percuss.inference.arrays import Floats
from percuss.inference.diagnostics import mcse_mean
from percuss.inference.discrepancies.registry import DISCREPANCIES
from percuss.inference.evidence import Evidence, importance_evidence, laplace_evidence, sampled_evidence
from percuss.inference.loo import Loo, leave_one_out
from percuss.inference.modes import Held
from percuss.inference.predictive import spread_draws
from percuss.inference.samplers.registry import DEFAULT, sample_posterior
from percuss.inference.samplers.sample import Sample
from percuss.inference.samplers.stopping import Report, Stopping
from percuss.inference.summary import Summary, summarise
from percuss.ledger.event import Draft, Event, StudyRef
from percuss.ledger.ledger import Ledger
from percuss.study.calibration import Block
from percuss.surrogates.surrogate import Surrogate
from percuss.trust import Trust, Verdict, accept, write_trust

if TYPE_CHECKING:
    import polars as pl

# Draws that leave-one-out is computed from, at most.
LOO_DRAWS = 4000


@dataclass(frozen=True)
class Request:
    """How to sample: all that is not in the problem."""

    sampler: str = DEFAULT
    settings: Mapping[str, float] = field(default_factory=dict)
    stopping: Stopping = field(default_factory=Stopping)
    seed: int = 0
    accept: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        block: Block,
        sampler: str | None = None,
        settings: Mapping[str, float] | None = None,
        evaluations: int | None = None,
        seed: int = 0,
        accept: frozenset[str] = frozenset(),
    ) -> Request:
        """What a block says; what is given besides comes first. Settings of a block are of the block's sampler."""
        own = block.settings if sampler in (None, block.sampler or DEFAULT) else {}
        stopping: dict[str, Any] = dict(block.stopping) | ({"evaluations": evaluations} if evaluations else {})
        return cls(
            sampler or block.sampler or DEFAULT,
            {**own, **(settings or {})},
            Stopping(**stopping),
            seed,
            accept,
        )


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What came out; `summary`, `evidence` and `loo` only where convergence, or its being accepted, allows them."""

    sample: Sample
    summary: Summary | None
    evidence: Mapping[str, Evidence]
    loo: Loo | None
    fit: Check | None
    covered: tuple[Coverage, ...]
    notes: tuple[str, ...]
    trust: Trust


def draw(problem: Problem, request: Request, report: Report | None = None) -> Sample:
    """Sample the posterior: same problem and request, same bits."""
    return sample_posterior(
        problem.target,
        request.sampler,
        seed=request.seed,
        stopping=request.stopping,
        settings=request.settings,
        report=report,
        # A search would cost a simulator thousands of runs.
        look=problem.direct is None,
    )


def calibrate(problem: Problem, request: Request, report: Report | None = None, given: Trust = ()) -> Calibrated:
    """Sample, and say what the draws say unless they are not converged; `given` is what the posterior inherits."""
    measured = measurement_error(problem)
    sample = draw(problem, request, report)
    trust = (*given, convergence(sample), measured)
    accepted = not sample.converged and "convergence" in request.accept
    if not sample.converged and not accepted:
        return Calibrated(sample, None, {}, None, None, (), (), accept(trust, request.accept))
    summary = summarise(problem.target, sample, mass=problem.block.mass, accept_unconverged=accepted)
    evidence, notes = _evidence(problem, sample, request.seed)
    if sample.modes is None:
        why = "each point would be a run" if problem.direct else "the budget is too small"
        notes.append(f"no search for modes over the prior: {why}")
    loo = None
    try:
        loo = leave_one_out(_pointwise(problem, sample))
        if not loo.reliable:
            notes.append("leave-one-out is not reliable: some data have too much weight (Pareto k)")
    except (InputError, FloatingPointError) as fault:
        notes.append(f"no leave-one-out: {fault}")
    fit = check_fit(problem, _some(sample).reshape(-1, len(sample.names)), request.seed)
    covered = tuple(_covered(problem, surrogate, sample) for surrogate in problem.surrogates)
    trust = (*trust, *fit_verdicts(fit))
    trust += tuple(
        coverage_verdict(found, surrogate.event.id)
        for found, surrogate in zip(covered, problem.surrogates, strict=True)
    )
    return Calibrated(sample, summary, evidence, loo, fit, covered, tuple(notes), accept(trust, request.accept))


def _covered(problem: Problem, surrogate: Surrogate, sample: Sample) -> Coverage:
    priors = [problem.study.parameters[name].prior for name in surrogate.names]
    draws = spread_draws(sample.flat()[:, : len(priors)], COVERAGE_DRAWS)
    return coverage(priors, problem.points[surrogate.event.id], draws)


def convergence(sample: Sample) -> Verdict:
    """Whether the draws represent the posterior: a block may stop earlier than percuss asks for, and is told so."""
    worst = _finite(np.max(sample.diagnostics.r_hat))
    if not sample.converged:
        said = f"the posterior is not converged: {'; '.join(sample.reasons)}"
        return Verdict("convergence", False, said, worst, sample.stopping.r_hat)
    asked = Stopping()
    if early := asked.reasons(sample.diagnostics):
        said = f"the posterior is converged by the thresholds of its block alone: {'; '.join(early)}"
        return Verdict("convergence", False, said, worst, asked.r_hat)
    return Verdict("convergence", True, "the posterior is converged", worst, asked.r_hat)


def measurement_error(problem: Problem) -> Verdict:
    """Whether every datum has an error; raise InputError where some have none and the block does not ask for that."""
    where = str(problem.observations.event.data["file"])
    exact = exact_data(problem.block, problem.likelihood.groups, problem.data, where).height
    said = f"{exact} of {problem.data.height} data are held to be free of error: noise_free = true"
    good = "every datum has an error, of the measurement or of the discrepancy"
    return Verdict("measurement-error", not exact, said if exact else good, float(exact), 0.0)


def _evidence(problem: Problem, sample: Sample, seed: int) -> tuple[dict[str, Evidence], list[str]]:
    """The evidence by every method that has it; importance sampling would cost a simulator too many runs."""
    found: dict[str, Evidence] = {}
    notes: list[str] = []
    if sample.log_evidence is not None:
        found[sample.sampler] = sampled_evidence(sample)
    methods = (laplace_evidence, partial(importance_evidence, seed=seed))
    for method in methods if problem.direct is None else methods[:1]:
        try:
            evidence = method(problem.target, sample)
            if math.isfinite(evidence.log_evidence):
                found[evidence.method] = evidence
        except AnswerIsNo as no:
            notes.append(str(no))
    return found, notes


def _some(sample: Sample) -> Floats:
    """Some of the draws of every chain: evaluated before, so that a direct calibration runs nothing anew."""
    chains, draws, _ = sample.draws.shape
    return sample.draws[:, :: -(-chains * draws // LOO_DRAWS)]


def _pointwise(problem: Problem, sample: Sample) -> Floats:
    some = _some(sample)
    chains, _, d = some.shape
    found = problem.likelihood.pointwise(some.reshape(-1, d))
    return found.reshape(chains, some.shape[1], -1)


def draft_posterior(ledger: Ledger, problem: Problem, request: Request, done: Calibrated) -> Draft:
    """The event of a calibration."""
    sample = done.sample
    names = sample.names
    model = set(problem.study.parameters)
    body = {
        "names": list(names),
        "parameters": [
            {
                "name": name,
                "unit": problem.units[name],
                "prior": prior.to_json(),
                "of": "model" if name in model else "discrepancy",
            }
            for name, prior in zip(names, problem.target.priors, strict=True)
        ],
        "block": problem.block.name,
        "calibration": dict(problem.block.raw),
        "direct": problem.direct is not None,
        "sampler": sample.sampler,
        "settings": dict(sample.settings),
        "not_compiled": problem.not_compiled,
        "stopping": asdict(sample.stopping),
        "chains": sample.draws.shape[0],
        "draws": sample.draws.shape[1],
        "evaluations": sample.evaluations,
        "acceptance": [_finite(np.min(sample.acceptance)), _finite(np.max(sample.acceptance))],
        "converged": sample.converged,
        "reasons": list(sample.reasons),
        "modes": None if sample.modes is None else modes_facts(sample.modes),
        "trust": write_trust(done.trust),
        "summary": None if done.summary is None else summary_facts(done.summary),
        "evidence": {
            name: {"log_evidence": e.log_evidence, "error": _finite(e.error), "notes": list(e.notes)}
            for name, e in done.evidence.items()
        },
        "loo": None if done.loo is None else loo_facts(done.loo),
        "groups": _groups(problem),
        "fit": None if done.fit is None else done.fit.facts(),
        "coverage": [asdict(found) for found in done.covered],
        "twin": problem.observations.twin,
        "notes": list(done.notes),
    }
    tables = {
        "draws": draws_table(sample),
        "diagnostics": _diagnostics_table(sample),
        "data": _data_table(problem, done),
    }
    blobs = [ledger.put_table(role, table) for role, table in tables.items()]
    inputs: list[tuple[str, Event | Draft]] = [
        ("study", problem.study_event),
        ("observations", problem.observations.event),
    ]
    inputs += [("surrogate", surrogate.event) for surrogate in problem.surrogates]
    inputs += [("runs", event) for event in problem.direct.runs] if problem.direct else []
    refused = done.summary is None
    return Draft(
        POSTERIOR,
        body,
        StudyRef(problem.study.name, problem.study.digest),
        inputs,
        blobs,
        seed=request.seed,
        outcome="failed" if refused else "ok",
        reason=f"not converged: {sample.reasons[0]}" if refused else None,
    )


def summary_facts(summary: Summary) -> dict[str, Any]:
    """A summary as plain data; R-hat and ESS stand in the table of diagnostics."""
    rows = []
    for row in summary.rows:
        facts = {key: value for key, value in asdict(row).items() if key not in ("r_hat", "ess_bulk", "ess_tail")}
        rows.append(_plain(facts))
    return {
        "mass": summary.mass,
        "mode_log_posterior": _finite(summary.mode_log_posterior),
        "rows": rows,
        "correlations": _plain(summary.correlations.tolist()),
        "notes": list(summary.notes),
    }


def modes_facts(held: Held) -> dict[str, Any]:
    """Modes that were found, what each holds of the posterior and of the draws, as plain data."""
    columns = zip(held.at.tolist(), held.shares, held.errors, held.drawn, strict=True)
    found = [{"at": at, "share": share, "error": error, "drawn": drawn} for at, share, error, drawn in columns]
    return {
        "screened": held.screened,
        "climbs": held.climbed,
        "evaluations": held.searched,
        "found": _plain([{key: value if key == "at" else float(value) for key, value in f.items()} for f in found]),
    }


def loo_facts(loo: Loo) -> dict[str, Any]:
    """Leave-one-out as plain data."""
    return {
        "elpd": _finite(loo.elpd),
        "elpd_error": _finite(loo.elpd_error),
        "effective_parameters": _finite(loo.effective_parameters),
        "reliable": loo.reliable,
        "pareto_k": _finite(np.max(loo.pareto_k)),
    }


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


def _diagnostics_table(sample: Sample) -> pl.DataFrame:
    import polars as pl

    found = sample.diagnostics
    columns = [sample.draws[:, :, j] for j in range(sample.draws.shape[2])]
    columns.append(sample.log_likelihood + sample.log_prior)
    return pl.DataFrame(
        {
            "quantity": list(found.names),
            **{key: getattr(found, key) for key in ("r_hat", "r_hat_plain", "ess_bulk", "ess_tail")},
            "mcse": [mcse_mean(column) for column in columns],
        }
    )


def _data_table(problem: Problem, done: Calibrated) -> pl.DataFrame:
    import polars as pl

    empty = [None] * problem.data.height
    return problem.data.with_columns(
        pl.Series("loo", empty if done.loo is None else done.loo.pointwise, dtype=pl.Float64()),
        pl.Series("pareto_k", empty if done.loo is None else done.loo.pareto_k, dtype=pl.Float64()),
    )


def _groups(problem: Problem) -> list[dict[str, Any]]:
    import polars as pl

    kinds = {entry.name: kind for kind, entry in DISCREPANCIES.items()}
    found = []
    for group in problem.likelihood.groups:
        rows = problem.data.filter(pl.col("group") == group.name)
        found.append(
            {
                "name": group.name,
                "discrepancy": kinds[type(group.discrepancy).__name__],
                "entries": rows.height,
                "cases": rows["case"].unique(maintain_order=True).to_list(),
                "outputs": rows["output"].unique(maintain_order=True).to_list(),
                "unknowns": [unknown.name for unknown in group.discrepancy.unknowns()],
            }
        )
    return found


def _plain(value: Any) -> Any:
    """Plain JSON data: null for what is not finite."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _finite(value) if isinstance(value, float) else value


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
