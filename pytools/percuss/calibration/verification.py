"""Is the surrogate right where it matters? The simulator at the posterior's mean, mode and some of its draws.

Two questions. Is the error that the surrogate claims honest? Its error at the posterior is held against the standard
deviation that the likelihood allowed for: of the surrogate, and of measurement and discrepancy, which n repeats of a
measurement know to the n-th part of the variance. An error well within it has not moved the posterior; one beyond it
may have, and then the surrogate wants more runs there.

And is the error small against what the data could tell? One that admits to know nothing is honest. With the spread v
of an output under the prior, the variance t that the data know it to, and the variance s of the surrogate's error, the
data could tell log(1 + v / t) / 2 of it (the information of a Gaussian channel; Shannon, 1948), and the surrogate lets
log(1 + v / (t + s)) / 2 through. Where less than KEPT of the sum over the outputs comes through, the posterior is
limited by the surrogate, not by the data.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.calibration.problem import Problem
from percuss.calibration.records import Posterior
from percuss.designs.design import Design, append_design, draft_design, load_design
from percuss.errors import InputError
from percuss.execution.campaign import close_campaign, run_campaign
from percuss.execution.points import table_design
from percuss.execution.records import campaign_table
from percuss.execution.results import load_campaign
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import NormalResiduals, Unknown
from percuss.inference.likelihood import Group
from percuss.inference.predictive import spread_draws
from percuss.kinds.campaign_completed import CampaignCompleted
from percuss.kinds.prediction_made import VerificationFacts, VerifiedOutput
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.ledger.event import Draft, Event
from percuss.session import Advance, Session
from percuss.spelling import counted
from percuss.surrogates.curves import project_curves
from percuss.surrogates.surrogate import Surrogate
from percuss.trust import Trust, Verdict

SAMPLER = "posterior"
LABELS = ("mean", "mode")
# Errors this far below the size of an output are rounding.
ROUNDING = 1e-9
LIMITED = "the posterior is limited by the surrogate, NOT by the data"
# The share of what the data could tell that must come through the surrogate.
KEPT = 0.5


@dataclass(frozen=True, eq=False)
class Verification:
    """Runs of the simulator beside the surrogate; `outputs` tells for every output how they agree."""

    design: Event
    campaign: Event
    table: pl.DataFrame
    outputs: tuple[VerifiedOutput, ...]
    tolerance: float

    @property
    def runs(self) -> CampaignCompleted:
        """How many runs finished, how many failed."""
        return CampaignCompleted.of(self.campaign)

    @property
    def worst(self) -> float:
        """Largest ratio of error to what the likelihood allows, among the outputs that were calibrated on; infinite
        where nothing is allowed, or no run has finished that could tell.
        """
        return max(math.inf if o.ratio is None else o.ratio for o in self.outputs if o.observed)

    @property
    def kept(self) -> float:
        """The share of what the data could tell that comes through the surrogate; 1 where they could tell nothing."""
        seen = [o for o in self.outputs if o.observed and o.rms_error is not None]
        could = sum(o.could_tell or 0.0 for o in seen)
        return sum(o.tells or 0.0 for o in seen) / could if could > 0 else 1.0

    @property
    def passed(self) -> bool:
        """Whether the surrogate is as good as it claims, and good enough for these data."""
        return all(verdict.passed for verdict in self.verdicts())

    def verdicts(self) -> Trust:
        """Whether the claimed error is honest, and whether it is small enough."""
        honest, useful = self.worst <= self.tolerance, self.kept >= KEPT
        claims = (
            f"the surrogate is {'' if honest else 'NOT '}as right at the posterior as it claims: its error is "
            f"{self.worst:.2g} of what the likelihood allows, and up to {self.tolerance:g} is tolerated"
        )
        if any(o.observed and o.rms_error is None for o in self.outputs):
            claims = "the surrogate is not known to be right at the posterior: of some output no run finished"
        limits = "the surrogate is good enough for these data" if useful else LIMITED
        failed = self.runs.failed
        stopped = f"{failed} of {counted(failed + self.runs.completed, 'run')} of the simulator at the posterior failed"
        return (
            *([Verdict("runs", False, stopped, failed, 0)] if failed else []),
            Verdict("verification", honest, claims, _finite(self.worst), self.tolerance),
            Verdict(
                "verification",
                useful,
                f"{limits}: {100 * self.kept:.0f} % of what the data could tell comes through it, and {100 * KEPT:g} % "
                "is asked for",
                self.kept,
                KEPT,
            ),
        )

    def at(self, label: str) -> dict[tuple[str, str], float]:
        """Simulated outputs at the `mean` or `mode`, by case and output; none where that run failed."""
        rows = self.table.filter((pl.col("label") == label) & pl.col("simulated").is_not_null())
        return {(case, output): value for case, output, value in rows.select("case", "output", "simulated").rows()}

    def facts(self, enrichment: str | None = None) -> VerificationFacts:
        """For the event; `enrichment` is the design that was proposed."""
        return VerificationFacts(
            design=self.design.id,
            runs=self.runs.completed,
            failed=self.runs.failed,
            tolerance=self.tolerance,
            passed=self.passed,
            worst=_finite(self.worst),
            kept=self.kept,
            outputs=self.outputs,
            enrichment=enrichment,
        )


def draft_runs(
    session: Session, problem: Problem, posterior: Posterior, count: int, seed: int, keep_curves: bool
) -> Design:
    """A design of the mean, the mode and `count` draws of a posterior, for the cases that were calibrated on."""
    if problem.direct:
        raise InputError(
            f"--verify: posterior {posterior.event.id} was made with the simulator itself: there is nothing to verify"
        )
    if problem.likelihood.specimens:
        raise InputError(f"--verify: posterior {posterior.event.id} has specimens of parameters of their own")
    values = verifying_points(posterior, len(problem.likelihood.parameters), count)
    cases = list(dict.fromkeys(case for surrogate in problem.surrogates for case, _ in surrogate.outputs))
    return draft_design(
        session,
        table_design(problem.study, values, SAMPLER, seed),
        cases=cases,
        fixed={},
        keep_curves=keep_curves or bool(problem.curves),
        inputs=[("posterior", posterior.event)],
    )


def verifying_points(posterior: Posterior, parameters: int, count: int) -> NDArray[np.float64]:
    """The mean, the mode and `count` draws of a posterior, of its first so many parameters (SI)."""
    points = [posterior.point("mean")[None], posterior.point("mode")[None], spread_draws(posterior.flat(), count)]
    return np.concatenate(points)[:, :parameters]


def stored(session: Session, design: Design) -> Design:
    """The design in the ledger: that of an interrupted call before this one, or appended now."""
    draft = design.source
    assert isinstance(draft, Draft)
    input_ids = [source.id for _, source in draft.inputs]
    for event in session.state.designs.values():
        blob = event.blob("design")
        same = blob and blob.digest == design.digest and [item.id for item in event.inputs] == input_ids
        if same and event.seed == design.seed and event.content == draft.body:
            # Our own study: it may have the consent to run what it runs.
            return replace(load_design(session, event), study=design.study)
    (posterior,) = (source for role, source in draft.inputs if role == "posterior")
    assert isinstance(posterior, Event)
    return append_design(session, design, cause=posterior)


def run(session: Session, design: Design, executor: Executor, advance: Advance) -> Event:
    """Run what is missing of a design, and return the closing event of its campaign."""
    run_campaign(session, design, executor, workers=lambda: session.workers, advance=advance)
    return close_campaign(session, design)


def compare(
    session: Session, problem: Problem, posterior: Posterior, design: Design, campaign: Event, tolerance: float
) -> Verification:
    """Hold the runs against the surrogates."""
    batches = [session.state.events[item.id] for item in campaign.inputs_as("runs")]
    runs = campaign_table(session.ledger, batches, design)
    labels = [*LABELS, *["draw"] * (len(design.values) - len(LABELS))]
    allowed = _known_variance(problem, posterior)
    rows, outputs = [], []
    for surrogate in problem.surrogates:
        scores = _simulated_scores(session, surrogate, campaign) if surrogate.has_curves else {}
        mean, variance = surrogate.predict(design.values)
        variance = np.broadcast_to(variance, mean.shape)
        counted = 1.0 if problem.block.surrogate_error else 0.0
        for j, (case, output) in enumerate(surrogate.outputs):
            values = scores.get((case, output)) or runs.filter(pl.col("case") == case)[output].to_list()
            simulated = np.array([np.nan if value is None else value for value in values])
            for i, label in enumerate(labels):
                rows.append(
                    {
                        "sample": i,
                        "label": label,
                        "case": case,
                        "output": output,
                        "simulated": values[i],
                        "surrogate": float(mean[i, j]),
                        "surrogate_std": float(np.sqrt(variance[i, j])),
                    }
                )
            own = float(np.mean(variance[:, j]))
            known = allowed.get((case, output))
            std = math.sqrt(counted * own + known if known is not None else own)
            rms, ratio = _agreement(simulated, mean[:, j], std)
            wrong = max((rms or 0.0) ** 2, counted * own)
            could_tell, tells = (None, None) if known is None else _tells(surrogate.columns[j].variance, known, wrong)
            outputs.append(
                VerifiedOutput(
                    case=case,
                    output=output,
                    observed=known is not None,
                    rms_error=rms,
                    surrogate_std=math.sqrt(own),
                    allowed_std=std,
                    ratio=ratio,
                    could_tell=could_tell,
                    tells=tells,
                )
            )
    return Verification(design.stored, campaign, pl.DataFrame(rows, _SCHEMA), tuple(outputs), tolerance)


def _simulated_scores(session: Session, surrogate: Surrogate, campaign: Event) -> dict[tuple[str, str], list[Any]]:
    """Scores of the runs' curves on the modes of a surrogate, for each of its columns; None where a run failed."""
    curves = SurrogateFitted.of(surrogate.event).curves
    assert curves is not None
    projected, _ = project_curves(session, load_campaign(session, campaign), curves.quantity, surrogate.tables["modes"])
    scores: dict[tuple[str, str], list[Any]] = {}
    for runs in projected.cases:
        for j, output in enumerate(projected.outputs):
            values: list[Any] = [None] * len(projected.theta)
            for row, value in zip(runs.rows.tolist(), runs.values[:, j].tolist(), strict=True):
                values[row] = value
            scores[runs.case, output] = values
    return scores


_SCHEMA: dict[str, Any] = {
    "sample": pl.Int64(), "label": pl.String(), "case": pl.String(), "output": pl.String(),
    "simulated": pl.Float64(), "surrogate": pl.Float64(), "surrogate_std": pl.Float64(),
}  # fmt: skip


def _agreement(simulated: Floats, mean: Floats, std: float) -> tuple[float | None, float | None]:
    """Root mean square error of a surrogate, and its ratio to what is allowed; None where no run finished."""
    error = (simulated - mean)[np.isfinite(simulated)]
    if not len(error):
        return None, None
    rms = float(np.sqrt(np.mean(error * error)))
    if rms <= ROUNDING * float(np.max(np.abs(mean))):
        return rms, 0.0
    return rms, rms / std if std > 0 else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _tells(spread: float, known: float, wrong: float) -> tuple[float, float]:
    """What data of a variance could tell of an output of a spread, and what of it comes through a surrogate."""
    # Data without any error could tell everything: of more digits than the rounding of an output nobody speaks.
    known = max(known, ROUNDING**2 * spread)
    if spread <= 0:
        return 0.0, 0.0
    return 0.5 * math.log1p(spread / known), 0.5 * math.log1p(spread / (known + wrong))


def _known_variance(problem: Problem, posterior: Posterior) -> dict[tuple[str, str], float]:
    """Variance to which the data know every observed output: of measurement and discrepancy, repeats taken together."""
    values = dict(zip(posterior.names, posterior.point("mean"), strict=True))
    precisions: dict[tuple[str, str], float] = {}
    start = 0
    pairs = problem.data.select("case", "output").rows()
    for group in problem.likelihood.groups:
        size = len(group.observed)
        std = group.discrepancy.std
        own = values[std.name] if isinstance(std, Unknown) else std
        variance = np.broadcast_to(np.square(own) + np.square(group.measurement_std), size)
        if group.reading:
            precisions |= _known_scores(problem, group, values)
            start += size
            continue
        for pair, value in zip(pairs[start : start + size], variance, strict=True):
            precisions[pair] = precisions.get(pair, 0.0) + 1.0 / max(float(value), 1e-300)
        start += size
    return {pair: 1.0 / precision for pair, precision in precisions.items()}


def _known_scores(problem: Problem, group: Group, values: dict[str, float]) -> dict[tuple[str, str], float]:
    """Precision to which the samples of a curve know each of its scores by itself."""
    assert group.reading is not None
    if not isinstance(group.discrepancy, NormalResiduals):
        raise InputError(f"--verify: group {group.name}: time histories with errors that are not Gaussian")
    at_mean = {unknown.name: np.array([values[unknown.name]]) for unknown in group.unknowns()}
    known = group.reading.rest_variance + np.square(group.measurement_std)
    white, _ = group.discrepancy.whiten(group.reading.loadings[None], known, at_mean)
    columns = problem.columns[group.forward]
    squares = np.sum(white[0] ** 2, axis=1)
    return {columns[int(j)]: max(float(square), 1e-300) for j, square in zip(group.outputs, squares, strict=True)}
