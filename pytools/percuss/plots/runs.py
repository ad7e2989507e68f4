"""Runs: their curves with true peaks, or, where a model gives numbers alone, their outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.designs.design import load_design
from percuss.errors import InputError
from percuss.execution.records import batches_of, campaign_table
from percuss.models.model import Quantity
from percuss.plots.drawing import BLUE, WIDE, canvas, key, picture
from percuss.plots.fan import FEW, Line, draw_fan, marks_note
from percuss.plots.figure import Figure
from percuss.plots.labels import column_label, output_scale, quantity_scale
from percuss.plots.peaks import Peak, missed_peak, peak_outputs
from percuss.plots.scatter import scatter_matrix
from percuss.plots.subject import RunTables, Subject
from percuss.spelling import counted, did_you_mean
from percuss.study.study import Study

MOST_PANELS = 4
MOST_OUTPUTS = 12


def draw(subject: Subject) -> Figure:
    """Curves of runs; outputs of runs without curves; the points of a design that has no runs yet."""
    design = load_design(subject.session, subject.event)
    has_curves = any(quantity.axis for quantity in design.study.model().quantities.values())
    if not subject.request.curves:
        finished = [e for e in batches_of(subject.session, subject.event) if e.kind == "runs.completed"]
        if not finished:
            return scatter_matrix(design)
        if not has_curves or design.sampler == "imported":
            return _outputs(subject)
    return _curves(subject)


def default_curves(study: Study) -> list[str]:
    """The curves that the outputs of a study are about; the first of the model where they are about none."""
    quantities = study.model().quantities
    asked = []
    for output in study.outputs.values():
        quantity = quantities[output.quantity]
        asked.append(quantity.peak_of or quantity.name)
    drawable = [name for name, quantity in quantities.items() if quantity.axis]
    return ([name for name in dict.fromkeys(asked) if name in drawable] or drawable)[:MOST_PANELS]


def _curves(subject: Subject) -> Figure:
    names = list(subject.request.curves) or default_curves(load_design(subject.session, subject.event).study)
    panels: dict[str, list[Line]] = {name: [] for name in names}
    labels: dict[str, tuple[str, str]] = {}
    for event in subject.events:
        study = load_design(subject.session, event).study
        axes = {name: _axis(study.model().quantities, name) for name in names}
        assert subject.tables is not None
        tables = subject.tables(event, subject.request.samples)
        for name, axis in axes.items():
            labels[name] = quantity_scale(study, axis).label, quantity_scale(study, name).label
            panels[name] += lines_of(study, tables, axis, name, named=len(subject.events) > 1)
    figure, axes_ = canvas(
        len(names), 1, WIDE, 0.7 + 2.0 * len(names), sharex=len({x for x, _ in labels.values()}) == 1
    )
    for axis, (name, lines) in zip(axes_[:, 0], panels.items(), strict=True):
        draw_fan(axis, lines)
        axis.set_ylabel(labels[name][1])
        axis.grid(True)
    axes_[-1, 0].set_xlabel(labels[names[-1]][0])
    count = len(panels[names[0]])
    if count > 1:
        key(figure, axes_[0, 0], 4)
    what = (
        f"median and 5 to 95 % of {counted(count, 'run')}" if count > FEW else f"{count} run{'' if count == 1 else 's'}"
    )
    marks = next((words for lines in panels.values() if (words := marks_note(lines))), "")
    return picture(figure, f"Curves of {', '.join(names)}, {what}", f"Curves of {', '.join(names)}: {what}.{marks}")


def _axis(quantities: Mapping[str, Quantity], name: str) -> str:
    """What a curve is drawn over."""
    if name not in quantities or not quantities[name].curve:
        curves = [key for key, quantity in quantities.items() if quantity.curve]
        raise InputError(f"--curve {name}: {did_you_mean(name, curves)}")
    return quantities[name].axis or name


def lines_of(study: Study, tables: RunTables, axis: str, name: str, *, named: bool) -> list[Line]:
    """A line for each run, in the units of the study."""
    x_scale, y_scale = quantity_scale(study, axis), quantity_scale(study, name)
    known = peak_outputs(study)
    rows = {(row["case"], row["sample"]): row for row in tables.outputs.iter_rows(named=True)}
    lines = []
    cases = tables.curves["case"].n_unique()
    for (case, sample), part in tables.curves.group_by(["case", "sample"], maintain_order=True):
        several = tables.outputs.filter(pl.col("case") == case).height > 1
        label = f"{case} {sample}" if several else str(case)
        x, y = part[axis].to_numpy(), part[name].to_numpy()
        own = tables.impacts
        if own is not None:
            own = own.filter((pl.col("case") == case) & (pl.col("sample") == sample))
        peak = missed_peak(name, x, y, rows[case, sample], known, own)
        if peak:
            peak = Peak(peak.place * x_scale.factor, peak.value * y_scale.factor)
        words = label if named or several or cases > 1 else name
        lines.append(Line(words, x_scale.of(x), y_scale.of(y), peak, str(case)))
    return lines


def _outputs(subject: Subject) -> Figure:
    """Histograms of the outputs over the runs."""
    design = load_design(subject.session, subject.event)
    batches = batches_of(subject.session, subject.event)
    table = campaign_table(subject.session.ledger, batches, design).filter(pl.col("failed").is_null())
    columns = [(case, name) for case in design.cases for name in design.study.outputs][:MOST_OUTPUTS]
    across = min(3, len(columns))
    down = -(-len(columns) // across)
    figure, axes = canvas(down, across, min(WIDE, 3.1 * across), 0.4 + 1.7 * down)
    alts = []
    for axis in axes.flat[len(columns) :]:
        axis.set_axis_off()
    for axis, (case, name) in zip(axes.flat, columns, strict=False):
        shown = output_scale(design.study, name)
        values = shown.of(table.filter(pl.col("case") == case)[name].to_numpy())
        label = column_label(case, name, len(design.cases))
        axis.set_xlabel(f"{label} [{shown.unit}]" if shown.unit else label)
        draw_histogram(axis, values)
        alts.append(f"{label} median {np.median(values):.4g}" if len(values) else f"{label} has no run")
    return picture(figure, f"Outputs of {counted(table.height, 'run')}: {'; '.join(alts)}", "Outputs over the runs.")


def draw_histogram(axis: Any, values: NDArray[Any]) -> None:
    """How often; a single value as a mark."""
    numbers = values[np.isfinite(values)]
    axis.set_ylabel("runs")
    if len(numbers) and np.ptp(numbers) > 1e-6 * np.abs(numbers).max():
        counts, edges = np.histogram(numbers, bins=int(np.clip(np.sqrt(len(numbers)), 6, 30)))
        axis.stairs(counts, edges, fill=True, color=BLUE, alpha=0.65)
    elif len(numbers):
        axis.plot(numbers[:1], [len(numbers)], "o", color=BLUE)
        axis.set_ylim(0, 1.3 * len(numbers))
