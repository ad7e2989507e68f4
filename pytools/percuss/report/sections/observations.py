"""What was measured."""

from __future__ import annotations

import polars as pl

from percuss.calibration.records import load_observations
from percuss.kinds.observations_imported import ObservationsImported
from percuss.ledger.event import Event
from percuss.plots.labels import instant_label, output_scale, parameter_scale
from percuss.plots.observations import measured
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import counted
from percuss.study.study import Study


def section(source: Source, event: Event) -> Section:
    """Measured values in the units of their outputs."""
    observations = load_observations(source.session, event)
    rows: list[list[Cell]] = []
    outputs = list(observations.study.outputs)
    single = observations.table.filter(pl.col("output").is_in(outputs))
    for row in single.iter_rows(named=True):
        shown = output_scale(observations.study, row["output"])
        std = None if row["std"] is None else float(row["std"]) * shown.factor
        place = [row.get(name) for name in ("specimen", "point", "axis", "instant")]
        rows.append([row["case"], row["output"], *place, float(row["value"]) * shown.factor, std, shown.unit])
    instants = _place_head(observations.study, single)
    heads = ["case", "output", "specimen", "point", "axis", instants, "measured", "std", "unit"]
    size = observations.table.height
    words = f"{counted(size, 'measured value')} from `{ObservationsImported.of(event).file}`."
    blocks: list[Block] = [Text(words)]
    short: list[str | Notice] = [words]
    if observations.twin:
        truth = [
            parameter_scale(observations.study, name)
            for name in observations.twin
            if name in observations.study.parameters
        ]
        truth_text = ", ".join(f"{shown.name} = {shown.with_unit(observations.twin[shown.name])}" for shown in truth)
        blocks.append(Notice(f"twin data: they were simulated at {truth_text}, so that the answer is known.", "note"))
        short = [f"{counted(size, 'value')} of twin data, simulated at {truth_text}."]
    if len(rows) < size:
        samples = observations.table.filter(~pl.col("output").is_in(outputs))
        blocks += [_histories(observations.study, samples), measured(observations)]
    if rows:
        blocks.append(Table("Observations", heads, rows))
    return Section("Observations", blocks, short)


def _place_head(study: Study, rows: pl.DataFrame) -> str:
    """What the instants of these data are: time, or what else the axes of their curves are."""
    placed = rows.filter(pl.col("instant").is_not_null())["output"].unique(maintain_order=True)
    labels = dict.fromkeys(instant_label(study, name) for name in placed)
    return " or ".join(labels) or "instant [s]"


def _histories(study: Study, samples: pl.DataFrame) -> Table:
    """A row for each channel of a logger: its samples are drawn, not listed."""
    rows: list[list[Cell]] = []
    for channel in samples.partition_by(["point", "case", "output"], maintain_order=True):
        clock = channel["instant"].to_numpy()
        apart = [float(clock[0]), float(clock[-1]), float((clock[1:] - clock[:-1]).max()) if len(clock) > 1 else None]
        rows.append([channel["point"][0], channel["case"][0], channel["output"][0], channel.height, *apart])
    instants = _place_head(study, samples)
    heads = ["history", "case", "curve", "samples", f"first {instants}", f"last {instants}", "largest gap"]
    return Table("Time histories", heads, rows)
