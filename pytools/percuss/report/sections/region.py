"""Regions of time histories: where they lie, how well so many runs tell, and whose share of the variance is whose."""

from __future__ import annotations

import polars as pl

from percuss.kinds.region_computed import RegionComputed
from percuss.ledger.event import Event
from percuss.plots.drawing import DASHES, SERIES, WIDE, canvas, key, picture, thinned
from percuss.plots.figure import Figure
from percuss.plots.labels import column_label, quantity_scale
from percuss.plots.regions import draw_regions
from percuss.report.blocks import Block, Cell, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import with_error
from percuss.study.study import Study


def section(source: Source, event: Event) -> Section:
    """Pictures and tables of the regions."""
    study, body = source.study(event), RegionComputed.of(event)
    cases, curves = body.cases, body.curves
    share = f"{100 * body.level:g} %"
    regions = draw_regions(study, body, source.table(event, "region"), curves, cases)
    alt = f"Mean and {share} regions of {', '.join(curves)} in {', '.join(cases)}"
    caption = f"Dark: {share} of the runs at each instant. Light: {share} of the runs at all instants. Dashed: mean."
    blocks: list[Block] = [picture(regions, alt, caption), _table(study, event, len(cases))]
    blocks.append(_convergence(source.table(event, "convergence"), len(cases)))
    if event.blob("split") is not None:
        blocks += _split(source, event)
    blocks.insert(0, Text("A region holds a share of the runs; it says nothing of what the model leaves out."))
    wider = ", ".join(
        f"{fact.factor:.3g} times for {column_label(fact.case, fact.curve, len(cases))}" for fact in body.facts
    )
    short = [f"To hold {share} of whole histories, the band that holds {share} at each instant is widened {wider}."]
    return Section(f"Regions of time histories: {', '.join(curves)}", blocks, short)


def _table(study: Study, event: Event, cases: int) -> Table:
    rows: list[list[Cell]] = []
    for fact in RegionComputed.of(event).facts:
        label = column_label(fact.case, fact.curve, cases)
        shown = quantity_scale(study, fact.curve)
        norm = with_error(fact.norm * shown.factor, fact.error * shown.factor)
        rows.append([label, fact.runs, fact.factor, norm, shown.unit])
    heads = ["curve", "runs", "widened by", "mean-square norm ± error", "unit"]
    return Table("From each instant to whole histories, and how well the runs tell", heads, rows)


def _convergence(table: pl.DataFrame, cases: int) -> Figure:
    figure, axes = canvas(1, 1, WIDE, 2.2)
    axis = axes[0, 0]
    for i, ((case, curve), rows) in enumerate(
        table.partition_by(["case", "curve"], as_dict=True, maintain_order=True).items()
    ):
        runs, norm, error = (rows[name].to_numpy() for name in ("runs", "norm", "error"))
        last = norm[-1] or 1.0
        colour, label = SERIES[i % len(SERIES)], column_label(str(case), str(curve), cases)
        axis.fill_between(runs, (norm - error) / last, (norm + error) / last, color=colour, alpha=0.15, linewidth=0)
        axis.plot(runs, norm / last, color=colour, linestyle=DASHES[i % len(DASHES)], label=label)
    axis.set_xscale("log")
    axis.set_xlabel("runs")
    axis.set_ylabel("norm / last")
    axis.grid(True)
    key(figure, axis, 4)
    caption = "Mean-square norm of the first runs over that of all of them, with one standard error."
    return picture(figure, "Convergence of the mean-square norm with the number of runs", caption)


def _split(source: Source, event: Event) -> list[Block]:
    table, study, body = source.table(event, "split"), source.study(event), RegionComputed.of(event)
    along = quantity_scale(study, body.axis)
    blocks: list[Block] = []
    rows: list[list[Cell]] = []
    for fact in RegionComputed.of(event).facts:
        label = column_label(fact.case, fact.curve, len(body.cases))
        part = table.filter((pl.col("case") == fact.case) & (pl.col("curve") == fact.curve))
        figure, axes = canvas(1, 1, WIDE, 2.2)
        for i, name in enumerate(body.sources):
            own = part.filter(pl.col("parameter") == name)
            own = own[thinned(own.height)]
            at, total = along.of(own["axis"].to_numpy()), own["total"].to_numpy()
            axes[0, 0].plot(at, total, color=SERIES[i % len(SERIES)], linestyle=DASHES[i % len(DASHES)], label=name)
            share = (fact.split or {})[name]
            rows.append([label, name, share.first, share.total])
        axes[0, 0].set_ylim(0, 1.2)
        axes[0, 0].set_xlabel(along.label)
        axes[0, 0].set_ylabel("total index")
        axes[0, 0].grid(True)
        key(figure, axes[0, 0])
        blocks.append(picture(figure, f"Total index of each source over time, {label}", f"{label}: total index."))
    heads = ["curve", "source", "first order", "total"]
    return [*blocks, Table("Share of each source in the variance of the whole history", heads, rows)]
