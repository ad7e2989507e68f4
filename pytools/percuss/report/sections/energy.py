"""Where the energy went: the account of the runs, and by how much it is off."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.execution.records import DesignRecord, campaign_table
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Figure, Notice, Section, Table, Text
from percuss.report.drawing import BLUE, INK, WIDE, canvas, height_for, picture
from percuss.report.labels import column_label, output_scale
from percuss.report.sections.design import design_title
from percuss.report.source import Source
from percuss.units import same_dimension

ERROR = "energy_closing_error"
# An account that is off by more than this is worth a word.
OFF = 1e-3


def section(source: Source, event: Event) -> Section | None:
    """The energies among the outputs of the runs; None where the study asks for none."""
    record = source.design(event)
    outputs = record.study.outputs
    energies = [
        name for name, output in outputs.items() if same_dimension(output.unit, "J") and "energy" in output.quantity
    ]
    errors = [name for name, output in outputs.items() if output.quantity == ERROR]
    batches = source.batches(event)
    if not batches or not (energies or errors):
        return None
    done = campaign_table(source.ledger, batches, record).filter(pl.col("failed").is_null())
    if not done.height:
        return None
    blocks: list[Block] = [_error(done, name) for name in errors]
    if energies:
        blocks += [_bars(record, done, energies), _table(record, done, energies)]
    return Section(design_title("Energy", source, event), blocks)


def _error(done: pl.DataFrame, name: str) -> Block:
    values = np.abs(done[name].to_numpy())
    words = f"The account closes to {values.max():.2g} of its largest entry in the worst of {len(values)} runs"
    words += f", {np.median(values):.2g} in the median."
    return Notice(words) if values.max() > OFF else Text(words)


def _columns(record: DesignRecord, done: pl.DataFrame, names: list[str]) -> list[tuple[str, NDArray[Any], str]]:
    found = []
    for case in record.cases:
        part = done.filter(pl.col("case") == case)
        for name in names:
            shown = output_scale(record.study, name)
            if part.height:
                found.append((column_label(case, name, len(record.cases)), shown.of(part[name].to_numpy()), shown.unit))
    return found


def _table(record: DesignRecord, done: pl.DataFrame, names: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for label, values, unit in _columns(record, done, names):
        rows.append([label, unit, float(values.mean()), float(values.min()), float(values.max())])
    return Table("Energies over the runs", ["entry", "unit", "mean", "least", "largest"], rows)


def _bars(record: DesignRecord, done: pl.DataFrame, names: list[str]) -> Figure:
    columns = _columns(record, done, names)
    units = {unit for _, _, unit in columns}
    columns = columns[:40]
    figure, axes = canvas(1, 1, WIDE * 0.75, height_for(len(columns), 0.24))
    axis = axes[0, 0]
    places = np.arange(len(columns))[::-1]
    means = np.array([values.mean() for _, values, _ in columns])
    axis.barh(places, means, height=0.62, color=BLUE, alpha=0.75)
    if done.height > len(record.cases):
        ends = np.array([np.quantile(values, [0.05, 0.95]) for _, values, _ in columns])
        axis.hlines(places, ends[:, 0], ends[:, 1], color=INK, linewidth=1.1)
    axis.set_yticks(places, [label for label, _, _ in columns])
    axis.tick_params(left=False)
    axis.grid(axis="x")
    axis.set_xlabel(f"energy [{units.pop()}]" if len(units) == 1 else "energy, each in its unit")
    told = ", ".join(f"{label} {mean:.3g}" for (label, _, _), mean in zip(columns[:8], means, strict=False))
    caption = (
        "Mean of every entry of the account; lines span nine tenths of the runs."
        if done.height > 1
        else "Every entry of the account."
    )
    return picture(figure, f"Bars of the energy account: {told}", caption)
