"""Fragility: curves of damage states with their bands, and annual rates."""

from __future__ import annotations

from collections.abc import Iterable

from percuss.kinds.fragility_fitted import FragilityFitted
from percuss.ledger.event import Event
from percuss.plots.fragility import draw_curves, intensity_scale
from percuss.plots.labels import output_scale
from percuss.report.blocks import Block, Cell, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import number_text
from percuss.trust import failures

METHODS = {
    "counts": "maximum likelihood from which runs exceed a state",
    "cloud": "a line through the logarithms of demand and intensity",
    "ida": "the intensity at which each motion first brings a state",
}


def section(source: Source, event: Event) -> Section:
    """Picture and table of the curves."""
    study, body = source.study(event), FragilityFitted.of(event)
    x, y = intensity_scale(study, body.intensity), output_scale(study, body.output)
    how = (
        f"{body.runs} runs; {METHODS[body.method]}; {body.dispersion} dispersion; motions told apart by {body.motion}."
    )
    if body.collapsed:
        how += f" {body.collapsed} runs that failed count as collapses."
    blocks: list[Block] = [Text(how)]
    blocks.append(draw_curves(study, body, source.table(event, "curves"), source.table(event, "points")))
    rows: list[list[Cell]] = []
    for s in body.states:
        row: list[Cell] = [s.name, s.threshold * y.factor, s.exceeding, s.median * x.factor]
        row += [_interval(s.median_bootstrap, x.factor), _interval(s.median_bayes, x.factor), s.dispersion]
        rows.append(row)
    share = f"{100 * body.level:g} %"
    heads = ["state", f"{y.label} above", "runs above", f"median {x.label}", f"bootstrap {share}", f"Bayes {share}"]
    heads += ["dispersion"]
    blocks.append(Table("Lognormal curves of the damage states", heads, rows))
    if body.hazard:
        yearly: list[list[Cell]] = [
            [s.name, number_text(s.rate), _interval(s.rate_bayes) if s.rate_bayes else ""]
            for s in body.states
            if s.rate is not None
        ]
        blocks.append(
            Table("How often a year, by the hazard curve", ["state", "rate [1/year]", f"Bayes {share}"], yearly)
        )
    medians = ", ".join(
        f"{s.name} {x.with_unit(s.median)} (dispersion {number_text(s.dispersion, 2)})" for s in body.states
    )
    short = [] if failures(body.trust) else [f"Median {x.name} of the damage states: {medians}."]
    return Section(f"Fragility: {body.output} over {body.intensity}", blocks, short)


def _interval(ends: Iterable[float], factor: float = 1.0) -> str:
    return " to ".join(number_text(end * factor, 4) for end in ends)
