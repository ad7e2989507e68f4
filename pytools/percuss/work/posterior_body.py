"""What a calibration found, as the body of its event: null stands for what is not finite."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from percuss.calibration.calibrate import Calibrated
from percuss.calibration.fit import FALSE_ALARMS, Check
from percuss.calibration.problem import Problem
from percuss.inference.discrepancies.registry import DISCREPANCIES
from percuss.inference.evidence import Evidence
from percuss.inference.loo import Loo
from percuss.inference.modes import Held
from percuss.inference.predictive import MASSES, Fit
from percuss.inference.summary import Summary
from percuss.kinds import posterior_sampled as kind

if TYPE_CHECKING:
    from percuss.inference.smooth_posterior import Smooth

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
        growths=problem.growths,
        roughness=_roughness(problem, problem.smooth) if problem.smooth else None,
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


def _roughness(problem: Problem, smooth: Smooth) -> kind.RoughnessFacts:
    assert problem.direct
    sizes = zip(problem.direct.columns, smooth.part.roughness.tolist(), smooth.unlearnt.tolist(), strict=True)
    errors = zip(smooth.target.names, smooth.mean_errors.tolist(), smooth.std_errors.tolist(), strict=True)
    return kind.RoughnessFacts(
        outputs=tuple(
            kind.RoughOutput(
                case=case,
                output=output,
                unit=problem.study.outputs[output].unit,
                roughness=roughness,
                unlearnt=unlearnt,
            )
            for (case, output), roughness, unlearnt in sizes
        ),
        correlation=finite_in(smooth.part.together.tolist()),
        unknowns=tuple(kind.LearntUnknown(name=name, mean_error=mean, std_error=std) for name, mean, std in errors),
        runs=smooth.runs,
        fitted=smooth.fitted,
        length=smooth.part.length,
        new_runs=smooth.new_runs.made,
        failed=smooth.new_runs.failed,
        excess=finite(smooth.new_runs.excess),
        excess_error=finite(smooth.new_runs.excess_error),
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
