"""What a calibration found, as the body of its event: null stands for what is not finite.

Sample a posterior again: same problem, same seed, same bits. A direct one from the runs in the ledger.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from percuss.calibration.calibrate import Calibrated, Sampling, calibrate, data_table, diagnostics_table, draws_table
from percuss.calibration.fit import FALSE_ALARMS, Check
from percuss.calibration.problem import Problem, load_problem
from percuss.inference.diagnostics import mcse_mean
from percuss.inference.discrepancies.discrepancy import DISCREPANCIES
from percuss.inference.evidence import Evidence
from percuss.inference.loo import Loo
from percuss.inference.modes import Held
from percuss.inference.predictive import MASSES, Fit
from percuss.inference.samplers.sample import Sample, Stopping
from percuss.inference.summary import Summary
from percuss.kinds import posterior_sampled as kind
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.repetition import Repetition, judged, judged_tables, other_tables

# They stand in the table of diagnostics.
OF_DIAGNOSTICS = ("r_hat", "ess_bulk", "ess_tail")


def posterior_body(problem: Problem, calibrated: Calibrated) -> kind.PosteriorSampled:
    """The body, before its verdicts."""
    sample = calibrated.sample
    return kind.PosteriorSampled(
        names=sample.names,
        parameters=_parameters(problem, sample.names),
        block=problem.block.name,
        calibration=dict(problem.block.raw),
        direct=problem.direct is not None,
        sampler=sample.sampler,
        settings=dict(sample.settings),
        not_compiled=problem.not_compiled,
        stopping=asdict(sample.stopping),
        chains=sample.draws.shape[0],
        draws=sample.draws.shape[1],
        evaluations=sample.evaluations,
        acceptance=(finite(np.min(sample.acceptance)), finite(np.max(sample.acceptance))),
        converged=sample.converged,
        reasons=sample.reasons,
        modes=_modes(sample.modes) if sample.modes else None,
        trust=(),
        summary=_summary(calibrated.summary) if calibrated.summary else None,
        evidence={name: evidence_facts(item) for name, item in calibrated.evidence.items()},
        loo=_loo(calibrated.loo) if calibrated.loo else None,
        groups=_groups(problem),
        fit=_fit(calibrated.fit) if calibrated.fit else None,
        coverage=calibrated.covered,
        twin=problem.observations.twin,
        notes=calibrated.notes,
    )


def evidence_facts(evidence: Evidence) -> kind.EvidenceFacts:
    """The evidence by one method."""
    return kind.EvidenceFacts(
        log_evidence=finite(evidence.log_evidence), error=finite(evidence.error), notes=evidence.notes
    )


def _parameters(problem: Problem, names: tuple[str, ...]) -> tuple[kind.ParameterFacts, ...]:
    return tuple(
        kind.ParameterFacts(
            name=name,
            unit=problem.units[name],
            prior=prior.to_json(),
            of="model" if name in problem.study.parameters else "discrepancy",
        )
        for name, prior in zip(names, problem.target.priors, strict=True)
    )


def _summary(summary: Summary) -> kind.Summary:
    rows = [{key: value for key, value in asdict(row).items() if key not in OF_DIAGNOSTICS} for row in summary.rows]
    return kind.Summary(
        mass=summary.mass,
        mode_log_posterior=finite(summary.mode_log_posterior),
        rows=tuple(kind.Row(**{key: finite_in(value) for key, value in row.items()}) for row in rows),
        correlations=finite_in(summary.correlations.tolist()),
        notes=summary.notes,
    )


def _modes(held: Held) -> kind.ModesFacts:
    columns = zip(held.at.tolist(), held.shares, held.errors, held.drawn, strict=True)
    return kind.ModesFacts(
        screened=held.screened,
        climbs=held.climbed,
        evaluations=held.searched,
        found=tuple(
            kind.ModeFacts(at=finite_in(at), share=finite(share), error=finite(error), drawn=finite(drawn))
            for at, share, error, drawn in columns
        ),
    )


def _loo(loo: Loo) -> kind.LooFacts:
    return kind.LooFacts(
        elpd=finite(loo.elpd),
        elpd_error=finite(loo.elpd_error),
        effective_parameters=finite(loo.effective_parameters),
        reliable=loo.reliable,
        pareto_k=finite(np.max(loo.pareto_k)),
    )


def _groups(problem: Problem) -> tuple[kind.GroupFacts, ...]:
    kinds = {entry.name: name for name, entry in DISCREPANCIES.items()}
    groups = []
    for group in problem.likelihood.groups:
        rows = problem.data.filter(pl.col("group") == group.name)
        groups.append(
            kind.GroupFacts(
                name=group.name,
                discrepancy=kinds[type(group.discrepancy).__name__],
                entries=rows.height,
                cases=tuple(rows["case"].unique(maintain_order=True)),
                outputs=tuple(rows["output"].unique(maintain_order=True)),
                unknowns=tuple(unknown.name for unknown in group.discrepancy.unknowns()),
            )
        )
    return tuple(groups)


def _fit(check: Check) -> kind.FitFacts:
    return kind.FitFacts(
        false_alarms=FALSE_ALARMS,
        all=_fit_of(check.all),
        groups=tuple(_fit_of(fit, name) for name, fit in check.groups.items()),
        prior_distances=check.distances,
    )


def _fit_of(fit: Fit, name: str | None = None) -> kind.FitOf:
    bands = tuple(kind.BandFacts(mass=mass, inside=fit.inside[mass], error=fit.share(mass)[1]) for mass in MASSES)
    return kind.FitOf(name=name, entries=fit.entries, p_value=fit.p_value, p_error=fit.p_error, bands=bands)


def finite(value: float) -> float | None:
    """The number, or None for one that is not finite: JSON knows no such."""
    return float(value) if math.isfinite(value) else None


def finite_in(value: Any) -> Any:
    """The same of every number in lists of them."""
    if isinstance(value, list | tuple):
        return tuple(finite_in(item) for item in value)
    return finite(value) if isinstance(value, float) else value


# Another build takes another path through the same posterior: means may differ by so many standard errors.
OTHER_BUILD_ERRORS = 6.0
# Of chains that converged no way through the posterior leads farther than this.
FAR_ERRORS = 12.0


def repeat_posterior(session: Session, event: Event, part: int = 0) -> Repetition:
    """Sample again and compare every draw; of another build the means, which differ within their errors."""
    body = PosteriorSampled.of(event)
    accepted = any(verdict.gate == "convergence" and verdict.accepted for verdict in body.trust)
    how = Sampling(body.sampler, body.settings, Stopping(**body.stopping), event.seed or 0, accepted)  # type: ignore[arg-type]
    problem = load_problem(session, event)
    calibrated = calibrate(problem, how)
    drawn = calibrated.sample
    tables = {
        "draws": draws_table(drawn),
        "diagnostics": diagnostics_table(drawn),
        "data": data_table(problem, calibrated),
    }
    if "draws" not in other_tables(event, tables):
        return judged_tables(
            session,
            event,
            "posterior",
            tables,
            body=posterior_body(problem, calibrated),
            not_computed=("notes",),  # those on edits of the study are about the call
            own=calibrated.verdicts,
        )
    return judged(
        session,
        event,
        "posterior: its draws come out otherwise",
        same=False,
        near=lambda: (_outside(drawn, session, event), f"{OTHER_BUILD_ERRORS:g} standard errors of its means"),
        far=lambda makings: _outside(drawn, session, event, FAR_ERRORS) if body.converged else None,
    )


def _outside(sample: Sample, session: Session, event: Event, errors: float = OTHER_BUILD_ERRORS) -> str | None:
    """The first mean that is not the same within its errors."""
    before, diagnostics = session.table(event, "draws"), session.table(event, "diagnostics")
    for j, name in enumerate(sample.names):
        error = np.hypot(mcse_mean(sample.draws[:, :, j]), diagnostics["mcse"][j])
        now, then = float(np.mean(sample.draws[:, :, j])), float(np.mean(before[name].to_numpy()))
        if not abs(now - then) <= errors * error:
            return f"the mean of {name} was {then!r}, is {now!r}"
    return None
