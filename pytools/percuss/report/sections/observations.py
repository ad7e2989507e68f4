"""What was measured."""

from __future__ import annotations

from percuss.calibration.records import load_observations
from percuss.kinds.observations_imported import ObservationsImported
from percuss.ledger.event import Event
from percuss.plots.labels import output_scale, parameter_scale
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import counted


def section(source: Source, event: Event) -> Section:
    """Measured values in the units of their outputs."""
    observations = load_observations(source.session, event)
    rows: list[list[Cell]] = []
    for row in observations.table.iter_rows(named=True):
        shown = output_scale(observations.study, row["output"])
        std = None if row["std"] is None else float(row["std"]) * shown.factor
        place = [row[name] for name in ("point", "axis", "instant")]
        rows.append([row["case"], row["output"], *place, float(row["value"]) * shown.factor, std, shown.unit])
    heads = ["case", "output", "point", "axis", "instant [s]", "measured", "std", "unit"]
    kept = [i for i in range(len(heads)) if any(row[i] not in (None, "") for row in rows)]
    words = f"{counted(len(rows), 'measured value')} from `{ObservationsImported.of(event).file}`."
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
        short = [f"{counted(len(rows), 'value')} of twin data, simulated at {truth_text}."]
    blocks.append(Table("Observations", [heads[i] for i in kept], [[row[i] for i in kept] for row in rows]))
    return Section("Observations", blocks, short)
