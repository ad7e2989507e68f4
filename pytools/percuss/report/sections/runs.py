"""What the runs of a design gave: how many finished, why the others did not and where they lie, outputs, curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from percuss.designs.design import Design
from percuss.execution.records import campaign_table
from percuss.ledger.event import Event
from percuss.ledger.projections import batch_of
from percuss.plots.drawing import THIRD, WIDE, canvas, chosen, key, picture
from percuss.plots.fan import FEW, draw_fan, marks_note
from percuss.plots.figure import Figure
from percuss.plots.labels import alike, column_label, output_scale, quantity_scale
from percuss.plots.runs import draw_histogram, lines_of
from percuss.plots.scatter import scatter_matrix
from percuss.plots.subject import RunTables
from percuss.report.blocks import Block, Cell, Gallery, Notice, Section, Table, Text
from percuss.report.sections.design import design_title
from percuss.report.source import Source, duration
from percuss.spelling import counted

MOST_HISTOGRAMS = 12
MOST_CURVES = 6
MOST_RUNS = 200


def section(source: Source, event: Event) -> Section | None:
    """The runs of the design in the lineage; None if there are none."""
    batches = source.batches(event)
    if not batches:
        return None
    design = source.design(event)
    table = campaign_table(source.session.ledger, batches, design)
    failed = table.filter(pl.col("failed").is_not_null())
    completed = table.filter(pl.col("failed").is_null())
    cost = sum(batch.cost.cpu_us for batch in batches)
    words = f"{counted(table.height, 'run')}, {failed.height or 'none'} failed"
    blocks: list[Block] = [Text(f"{words}; {duration(cost)} of processor time.")]
    if failed.height:
        blocks += _failures(design, table, failed)
    if completed.height:
        blocks.append(_outputs(design, completed))
        if completed.height > FEW:
            blocks.append(_histograms(design, completed))
    blocks += _curves(source, design, batches)
    short: list[str | Notice] = [f"{words}."] if not failed.height else [Notice(f"{words}.")]
    return Section(design_title("Runs", source, event), blocks, short if table.height > 1 else [])


def _failures(design: Design, table: pl.DataFrame, failed: pl.DataFrame) -> list[Block]:
    reasons = alike(failed.select("case", "failed").iter_rows())
    rows: list[list[Cell]] = [[", ".join(dict.fromkeys(cases)), len(cases), text] for cases, text in reasons[:12]]
    caption = "Why runs failed" + (
        "" if len(reasons) <= 12 else f" (the 12 most frequent of {counted(len(reasons), 'reason')})"
    )
    blocks: list[Block] = [
        Notice(f"{failed.height} of {counted(table.height, 'run')} failed and are holes in the design."),
        Table(caption, ["case", "runs", "reason"], rows),
    ]
    if len(design.names) and len(design.values) > 1:
        wrong = np.zeros(len(design.values), dtype=bool)
        wrong[failed["sample"].to_numpy()] = True
        blocks.append(scatter_matrix(design, wrong))
    return blocks


def _outputs(design: Design, completed: pl.DataFrame) -> Table:
    rows: list[list[Cell]] = []
    for case in design.cases:
        part = completed.filter(pl.col("case") == case)
        for name in design.study.outputs:
            shown = output_scale(design.study, name)
            values = shown.of(part[name].to_numpy())
            if not len(values):
                continue
            own: list[Cell] = [column_label(case, name, len(design.cases)), shown.unit]
            if completed.height <= len(design.cases):
                rows.append([*own, float(values[0])])
            else:
                low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
                spread = float(values.std(ddof=1)) if len(values) > 1 else None
                rows.append([*own, float(values.mean()), spread, float(low), float(middle), float(high)])
    heads = ["output", "unit", "value"]
    if completed.height > len(design.cases):
        heads = ["output", "unit", "mean", "std", "5 %", "median", "95 %"]
    return Table("Outputs of the finished runs", heads, rows)


def _histograms(design: Design, completed: pl.DataFrame) -> Gallery:
    columns = [(case, name) for case in design.cases for name in design.study.outputs]
    figures = []
    for case, name in columns[:MOST_HISTOGRAMS]:
        shown = output_scale(design.study, name)
        values = shown.of(completed.filter(pl.col("case") == case)[name].to_numpy())
        if not len(values) or np.ptp(values) <= 1e-6 * np.abs(values).max():
            continue
        figure, axes = canvas(1, 1, THIRD, 1.55)
        axis = axes[0, 0]
        draw_histogram(axis, values)
        axis.set_xlabel(replace(shown, name=column_label(case, name, len(design.cases))).label)
        low, high = np.quantile(values, [0.05, 0.95])
        alt = (
            f"Histogram of {shown.label}, case {case}: median {np.median(values):.4g}, 90 % in {low:.4g} to {high:.4g}"
        )
        figures.append(picture(figure, alt))
    caption = "Outputs over the runs of the design"
    return Gallery(
        figures,
        caption + (f"; the first {MOST_HISTOGRAMS} of {len(columns)}." if len(columns) > MOST_HISTOGRAMS else "."),
    )


def _curves(source: Source, design: Design, batches: list[Event]) -> list[Block]:
    """Curves that the runs kept, of the quantities the outputs are about."""
    holding = [event for event in batches if event.blob("curves") is not None]
    if not holding:
        return []
    quantities = design.study.model().quantities
    about = [quantities[output.quantity] for output in design.study.outputs.values()]
    asked = [quantity.peak_of or quantity.name for quantity in about]
    stored = source.table(holding[0], "curves").columns
    drawable = [name for name in stored if name in quantities and quantities[name].axis in stored]
    names = ([name for name in dict.fromkeys(asked) if name in drawable] or drawable)[:MOST_CURVES]
    cases = list(dict.fromkeys(batch_of(event).case for event in holding))
    return [_fan(source, design, [e for e in holding if batch_of(e).case == case], case, names) for case in cases[:4]]


def _fan(source: Source, design: Design, batches: list[Event], case: str, names: list[str]) -> Figure:
    quantities = design.study.model().quantities
    axis_names = {name: str(quantities[name].axis) for name in names}
    tables = _tables(source, batches, case, list(dict.fromkeys(["sample", *axis_names.values(), *names])))
    together = len(set(axis_names.values())) == 1
    figure, axes = canvas(len(names), 1, WIDE, 0.5 + 1.55 * len(names), sharex=together)
    marks = ""
    for axis, name in zip(axes[:, 0], names, strict=True):
        lines = lines_of(design.study, tables, axis_names[name], name, named=False)
        draw_fan(axis, lines)
        marks = marks or marks_note(lines)
        axis.set_ylabel(quantity_scale(design.study, name).label)
        axis.grid(True)
        if axis is axes[-1, 0] or not together:
            axis.set_xlabel(quantity_scale(design.study, axis_names[name]).label)
    count = tables.outputs.height
    if count > 1:
        key(figure, axes[0, 0], 4)
    what = f"median, 25 to 75 % and 5 to 95 % of {counted(count, 'run')}" if count > FEW else counted(count, "run")
    caption = f"Case {case}: {what if count > 1 else 'the run'}.{marks}"
    return picture(figure, f"Curves of {', '.join(names)} over {counted(count, 'run')} of case {case}", caption)


def _tables(source: Source, batches: list[Event], case: str, columns: list[str]) -> RunTables:
    """Curves of the runs of a case, as many as are drawn, with their impacts and outputs."""
    tables_by_role: dict[str, list[pl.DataFrame]] = {"curves": [], "impacts": [], "runs": []}
    for event in batches:
        for role, parts in tables_by_role.items():
            if event.blob(role) is not None:
                parts.append(source.table(event, role, columns if role == "curves" else None))
    tables = {
        role: pl.concat(parts, how="diagonal").select(pl.lit(case).alias("case"), pl.all())
        for role, parts in tables_by_role.items()
        if parts
    }
    samples = chosen(tables["curves"]["sample"].unique().sort().to_list(), MOST_RUNS)
    kept = {role: table.filter(pl.col("sample").is_in(samples)) for role, table in tables.items()}
    return RunTables(kept["curves"], kept.get("impacts"), kept["runs"])
