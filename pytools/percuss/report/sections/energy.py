"""Where the energy went: the account of the runs, and by how much it is off."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.designs.design import Design
from percuss.execution.records import campaign_table
from percuss.ledger.event import Event
from percuss.ledger.projections import batch_of
from percuss.plots.drawing import BLUE, DASHES, INK, SERIES, WIDE, canvas, height_for, key, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import column_label, output_scale, quantity_scale
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.sections.design import design_title
from percuss.report.source import Source
from percuss.spelling import counted, number_text

ERROR = "closing_error"
# An account that is off by more than this share of its largest entry is worth a word.
OFF = 1e-3
MOST_CASES = 4
# An energy that starts so many times its own changes away from zero is drawn from where it starts.
FAR = 2.0


def section(source: Source, event: Event) -> Section | None:
    """The energies among outputs and curves of the runs; None where there are none."""
    design = source.design(event)
    batches = source.batches(event)
    quantities = design.study.model().quantities
    about = {name: quantities[output.quantity] for name, output in design.study.outputs.items()}
    errors = [name for name, quantity in about.items() if quantity.name.endswith(ERROR)]
    energies = [name for name, quantity in about.items() if quantity.unit == "J" and name not in errors]
    curves = _curves(source, design, batches)
    if not batches or not (energies or errors or curves):
        return None
    completed = campaign_table(source.session.ledger, batches, design).filter(pl.col("failed").is_null())
    if not completed.height:
        return None
    blocks: list[Block] = [_error(design, completed, name) for name in errors]
    blocks += curves
    if energies:
        blocks += [_bars(design, completed, energies), _table(design, completed, energies)]
    return Section(design_title("Energy", source, event), blocks)


def _error(design: Design, completed: pl.DataFrame, name: str) -> Block:
    shown = output_scale(design.study, name)
    values = np.abs(completed[name].to_numpy())
    share = "" if shown.unit else " of its largest entry"
    words = (
        f"The account closes to {shown.with_unit(values.max())}{share} in the worst of {counted(len(values), 'run')}"
    )
    words += f", {shown.with_unit(float(np.median(values)))} in the median."
    return Notice(words) if not shown.unit and values.max() > OFF else Text(words)


def _curves(source: Source, design: Design, batches: list[Event]) -> list[Block]:
    """The account over time, of the first run of every case that kept its curves."""
    quantities = design.study.model().quantities
    blocks: list[Block] = []
    for case in design.cases[:MOST_CASES]:
        holding = [event for event in batches if batch_of(event).case == case and event.blob("curves") is not None]
        if not holding:
            continue
        table = source.table(holding[0], "curves")
        sample = table["sample"][0]
        run = table.filter(pl.col("sample") == sample)
        names = [
            n
            for n in run.columns
            if n in quantities and quantities[n].unit == "J" and quantities[n].axis in run.columns
        ]
        lines = [name for name in names if np.ptp(run[name].to_numpy()) > 0]
        if lines:
            blocks.append(_account(design, case, run, lines, "the run" if design.size == 1 else f"run {sample}"))
    return blocks


def _account(design: Design, case: str, run: pl.DataFrame, names: list[str], which: str) -> Figure:
    quantities = design.study.model().quantities
    figure, axes = canvas(1, 1, WIDE, 3.2)
    axis = axes[0, 0]
    for i, name in enumerate(names):
        x = quantity_scale(design.study, str(quantities[name].axis))
        values, datum = from_datum(run[name].to_numpy())
        axis.plot(
            x.of(run[x.name].to_numpy()),
            values,
            color=SERIES[i % len(SERIES)],
            linestyle=DASHES[i % len(DASHES)],
            label=f"{name} less {number_text(datum)} J" if datum else name,
        )
    axis.set_xlabel(x.label)
    axis.set_ylabel("energy [J]")
    axis.grid(True)
    key(figure, axis, 4)
    energies = ", ".join(f"{name} {run[name][-1]:.3g} J" for name in names[:8])
    return picture(
        figure,
        f"Energies over time, case {case}, at the end: {energies}",
        f"The account over time: case {case}, {which}.",
    )


def from_datum(values: NDArray[Any]) -> tuple[NDArray[Any], float]:
    """Energies less their start, and that start, where it is so large that their changes would not be seen; else 0."""
    start = float(values[0])
    if abs(start) > FAR * float(np.ptp(values)):
        return values - start, start
    return values, 0.0


def _columns(design: Design, completed: pl.DataFrame, names: list[str]) -> list[tuple[str, NDArray[Any], str]]:
    columns = []
    for case in design.cases:
        part = completed.filter(pl.col("case") == case)
        for name in names:
            shown = output_scale(design.study, name)
            if part.height:
                columns.append(
                    (column_label(case, name, len(design.cases)), shown.of(part[name].to_numpy()), shown.unit)
                )
    return columns


def _table(design: Design, completed: pl.DataFrame, names: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for label, values, unit in _columns(design, completed, names):
        rows.append([label, unit, float(values.mean()), float(values.min()), float(values.max())])
    return Table("Energies over the runs", ["entry", "unit", "mean", "least", "largest"], rows)


def _bars(design: Design, completed: pl.DataFrame, names: list[str]) -> Figure:
    columns = _columns(design, completed, names)
    units = {unit for _, _, unit in columns}
    columns = columns[:40]
    figure, axes = canvas(1, 1, WIDE * 0.75, height_for(len(columns), 0.24))
    axis = axes[0, 0]
    places = np.arange(len(columns))[::-1]
    means = np.array([values.mean() for _, values, _ in columns])
    axis.barh(places, means, height=0.62, color=BLUE, alpha=0.75)
    if completed.height > len(design.cases):
        ends = np.array([np.quantile(values, [0.05, 0.95]) for _, values, _ in columns])
        axis.hlines(places, ends[:, 0], ends[:, 1], color=INK, linewidth=1.1)
    axis.set_yticks(places, [label for label, _, _ in columns])
    axis.tick_params(left=False)
    axis.grid(axis="x")
    axis.set_xlabel(f"energy [{units.pop()}]" if len(units) == 1 else "energy, each in its unit")
    means_text = ", ".join(f"{label} {mean:.3g}" for (label, _, _), mean in zip(columns[:8], means, strict=False))
    caption = (
        "Mean of every entry of the account; lines span nine tenths of the runs."
        if completed.height > 1
        else "Every entry of the account."
    )
    return picture(figure, f"Bars of the energy account: {means_text}", caption)
