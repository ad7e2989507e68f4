"""How likely failure is: the probability with its errors, where it fails, and what it hangs on."""

from __future__ import annotations

import numpy as np

from percuss.kinds.reliability_estimated import ReliabilityEstimated
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.drawing import BLUE, INK, ORANGE, WIDE, canvas, picture
from percuss.report.labels import scale
from percuss.report.source import Source

# Samples that are drawn.
MOST_DRAWN = 2000


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
    if body.design:
        blocks.append(_designed(source, event, body))
    elif not body.epistemic:
        blocks += _samples(source, event, body)
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
        told = body.verification
        rows.append([f"put right by {told.runs} runs", told.probability, told.index, *told.interval])
    heads = ["", "probability", "reliability index", f"{100 * body.level:g} % from", "to"]
    return Table("Probability of failure", heads, rows)


def _designed(source: Source, event: Event, body: ReliabilityEstimated) -> Block:
    assert body.design is not None
    study, design = source.study(event), body.design
    shown = scale(design.parameter, study.parameters[design.parameter].unit)
    table = source.table(event, "levels")
    figure, axes = canvas(1, 1, WIDE, 2.4)
    axis = axes[0, 0]
    values = shown.of(table["value"].to_numpy())
    axis.fill_between(values, table["low"].to_numpy(), table["high"].to_numpy(), color=BLUE, alpha=0.2, linewidth=0)
    axis.plot(values, table["probability"].to_numpy(), color=BLUE)
    axis.axhline(design.target, color=INK, linestyle=":")
    axis.axvline(float(shown.of(np.array([design.value]))[0]), color=ORANGE)
    axis.set_yscale("log")
    axis.set_xlabel(shown.label)
    axis.set_ylabel("probability of failure")
    axis.grid(True)
    low, value, high = (float(x) for x in shown.of(np.array([design.interval[0], design.value, design.interval[1]])))
    caption = f"{design.parameter} = {value:.4g} ({low:.4g} to {high:.4g}) meets the target {design.target:g}."
    return picture(figure, f"Probability of failure against {design.parameter}", caption)


def _samples(source: Source, event: Event, body: ReliabilityEstimated) -> list[Block]:
    """Where it fails, in the two parameters of most importance."""
    study, table = source.study(event), source.table(event, "samples")
    ranked = sorted(body.slopes, key=lambda item: -(item.importance or 0.0))
    names = [item.parameter for item in ranked][:2]
    if len(names) < 2 or table.height == 0:
        return []
    nearest = np.argsort(np.abs(table["limit"].to_numpy()), kind="stable")[:MOST_DRAWN]
    part = table[np.sort(nearest).tolist()]
    fails = part["limit"].to_numpy() <= 0
    shown = [scale(name, study.parameters[name].unit) for name in names]
    figure, axes = canvas(1, 1, WIDE, 3.2)
    axis = axes[0, 0]
    x, y = (item.of(part[name].to_numpy()) for item, name in zip(shown, names, strict=True))
    axis.scatter(x[~fails], y[~fails], s=4, color=BLUE, marker="o", linewidths=0)
    axis.scatter(x[fails], y[fails], s=12, color=ORANGE, marker="x", linewidths=0.7)
    axis.set_xlabel(shown[0].label)
    axis.set_ylabel(shown[1].label)
    axis.grid(True)
    caption = f"The {part.height} samples nearest to the limit: crosses fail, dots do not."
    return [picture(figure, f"Samples of {names[0]} and {names[1]} about the limit", caption)]
