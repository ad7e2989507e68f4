"""A calibration tried on twins: whether posteriors hold the truth as often as they claim."""

from __future__ import annotations

from percuss.kinds.twins_checked import TwinsChecked
from percuss.ledger.event import Event
from percuss.plots.ranks import draw_ranks
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source


def section(source: Source, event: Event) -> Section:
    """The verdict, coverage of intervals, and the ranks."""
    body = TwinsChecked.of(event)
    text = (
        f"Calibration {body.block} on {body.twins} sets of twin data, laid out as the observations: truths drawn from "
        f"the prior, outputs by the {body.made_by}. {body.ranked} posteriors converged; each truth is ranked among "
        f"{body.draws} draws of its own."
    )
    blocks: list[Block] = [Text(text), *(Notice(f"{note}.", "note") for note in body.notes)]
    verdict = next((item for item in body.trust if item.gate == "twins" and item.source is None), None)
    if verdict:
        blocks.append(Notice(f"{verdict.sentence}.", "good" if verdict.passed else "warning"))
    rows: list[list[Cell]] = []
    for item in body.quantities:
        cells: list[Cell] = [item.name, item.p_value]
        for band in item.coverage:
            cells += [
                f"{100 * band.inside / body.ranked:.1f} %",
                f"{100 * band.low:.0f} to {100 * band.high:.0f} %",
            ]
        rows.append(cells)
    masses = [band.mass for item in body.quantities[:1] for band in item.coverage]
    heads = [head for mass in masses for head in (f"in {100 * mass:g} % intervals", "95 % confidence")]
    if rows:
        blocks.append(Table("Truths in their posteriors", ["quantity", "p-value", *heads], rows))
        blocks.append(draw_ranks(body, source.table(event, "ranks")))
    short = [f"Tried on {body.ranked} twins: {verdict.sentence}."] if verdict else []
    return Section("Tried on twins", blocks, short)
