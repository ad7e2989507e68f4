"""How likely failure is: the probability with its errors, where it fails, and what it hangs on."""

from __future__ import annotations

from percuss.kinds.reliability_estimated import ReliabilityEstimated
from percuss.ledger.event import Event
from percuss.plots.reliability import drawn_estimate
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source


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
        rows: list[list[Cell]] = [[s.parameter, s.importance, s.to_mean, s.to_std] for s in body.slopes]
        heads = ["parameter", "importance factor", "dp / d mean (SI)", "dp / d std (SI)"]
        blocks.append(Table("What the probability hangs on", heads, rows))
    if drawn := drawn_estimate(body, source.study(event), lambda role: source.table(event, role)):
        blocks.append(drawn)
    return Section("Reliability", blocks)


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
    heads = ["", "probability", "reliability index", f"{100 * body.level:g} % from", "to"]
    return Table("Probability of failure", heads, rows)
