"""How likely failure is: the probability with its errors, where it fails, and what it depends on."""

from __future__ import annotations

from percuss.kinds.reliability_estimated import ReliabilityEstimated
from percuss.ledger.event import Event
from percuss.plots.labels import unit_text
from percuss.plots.reliability import drawn_estimate
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import number_text, span_text
from percuss.study.study import Study
from percuss.trust import failures
from percuss.units import to_si


def section(source: Source, event: Event) -> Section:
    """Tables and pictures of one estimate."""
    body = ReliabilityEstimated.of(event)
    blocks: list[Block] = [
        Text(
            f"Limit {body.limit} by {body.method} of a {body.basis}: {body.runs} runs of the simulator, "
            f"{body.evaluations} evaluations of the limit function."
        )
    ]
    blocks += [Notice(f"{note}.", "note") for note in body.notes]
    if body.estimate or body.verification:
        blocks.append(_probabilities(body))
    if body.epistemic:
        low, high = body.epistemic.interval
        blocks.append(
            Text(
                f"Over {body.epistemic.draws} draws of {', '.join(body.epistemic.parameters)} the probability has the "
                f"median {body.epistemic.median:.3g}; {100 * body.level:g} % of them lie from {low:.3g} to {high:.3g}."
            )
        )
    if body.slopes:
        blocks.append(_slopes(body, source.study(event)))
    if drawn := drawn_estimate(body, source.study(event), lambda role: source.table(event, role)):
        blocks.append(drawn)
    return Section(f"Reliability: limit {body.limit}", blocks, _short(body))


def _short(body: ReliabilityEstimated) -> list[str]:
    """The probability, as the simulator put it right where it did; nothing of an estimate that failed."""
    best = body.verification or body.estimate
    if best is None or failures(body.trust):
        return []
    words = f"Probability of failure by limit {body.limit}: {number_text(best.probability, 3)}"
    if best.interval:
        words += f", {100 * body.level:g} % interval {span_text(*best.interval)}"
    else:
        words += ", an approximation of unknown error"
    return [f"{words}."]


def _slopes(body: ReliabilityEstimated, study: Study) -> Table:
    """What the probability depends on: slopes by the study's own units of each parameter."""
    rows: list[list[Cell]] = []
    for slope in body.slopes:
        unit = study.parameters[slope.parameter].unit
        step = to_si(1.0, unit) - to_si(0.0, unit)
        derivatives = [None if d is None else d * step for d in (slope.to_mean, slope.to_std)]
        rows.append([slope.parameter, unit_text(unit), slope.importance, *derivatives])
    heads = ["parameter", "unit", "importance factor", "dp / d mean, by unit", "dp / d std, by unit"]
    return Table("What the probability depends on", heads, rows)


def _probabilities(body: ReliabilityEstimated) -> Table:
    rows: list[list[Cell]] = []
    if body.estimate:
        low, high = body.estimate.interval or (None, None)
        rows.append(["estimate", body.estimate.probability, body.estimate.index, low, high])
        for what, interval in (("sampling", body.estimate.sampling), ("surrogate", body.estimate.surrogate)):
            if interval and body.estimate.surrogate:
                rows.append([f"error of {what} alone", None, None, *interval])
    if body.verification:
        checked = body.verification
        rows.append([f"put right by {checked.runs} runs", checked.probability, checked.index, *checked.interval])
    heads = ["estimate", "probability", "reliability index", f"{100 * body.level:g} % from", "to"]
    return Table("Probability of failure", heads, rows)
