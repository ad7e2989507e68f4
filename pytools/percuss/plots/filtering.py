"""What a filter looks like: its evolution, its densities, and its runs as outputs over parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from percuss.designs.design import load_design
from percuss.errors import InputError
from percuss.execution.records import batches_of, campaign_table
from percuss.kinds.filter_updated import FilterUpdated
from percuss.plots.drawing import BLUE, INK, ORANGE, WIDE, canvas, dots, key, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale, output_scale, parameter_scale
from percuss.plots.subject import Subject
from percuss.spelling import counted

# Edge of one panel of many, in inches, and how many of them a picture has at most in a row.
EDGE = 1.75
MOST = 8
# So many steps have a mark each: of one observation there is nothing else to be seen.
MARKED = 40
# Density that is not worth an axis, as a share of its top.
SLIGHT = 1e-3


def draw(subject: Subject) -> Figure:
    """Mean and the band of nine tenths of every parameter, and the effective sample size, over the steps.

    Step 0 is the prior: one observation is a change, too.
    """
    body, scales = _estimates(subject)
    steps = subject.session.table(subject.event, "steps")
    figure, axes = canvas(len(scales) + 1, 1, WIDE * 0.8, 0.7 + 1.5 * (len(scales) + 1), sharex=True)
    x = np.concatenate([[0.0], steps["step"].to_numpy().astype(float)])
    mark = {"marker": "o", "markersize": 3.5} if len(x) <= MARKED else {}
    alts = []
    for axis, shown in zip(axes[:, 0], scales, strict=False):
        prior = subject.session.study(subject.event).parameters[shown.name].prior
        before = [prior.mean(), *np.asarray(prior.ppf([0.05, 0.95]), float)]
        mean, low, high = (
            shown.of(np.concatenate([[start], steps[f"{key}:{shown.name}"].to_numpy()]))
            for start, key in zip(before, ("mean", "q05", "q95"), strict=True)
        )
        axis.fill_between(x, low, high, color=BLUE, alpha=0.22, linewidth=0, label="5 to 95 %")
        axis.plot(x, low, color=BLUE, linewidth=0.7, linestyle="--")
        axis.plot(x, high, color=BLUE, linewidth=0.7, linestyle="--")
        axis.plot(x, mean, color=INK, linewidth=1.1, label="mean", **mark)
        axis.set_ylabel(shown.label)
        axis.grid(True)
        if shown.logarithmic:
            axis.set_yscale("log")
        alts.append(f"{shown.label} {mean[-1]:.4g} ({low[-1]:.4g} to {high[-1]:.4g})")
    last = axes[-1, 0]
    last.plot(x, np.concatenate([[float(body.samples)], steps["effective"].to_numpy()]), color=ORANGE, **mark)
    last.set_yscale("log")
    last.set_ylabel("effective samples")
    last.set_xlabel("step (0: the prior)")
    last.grid(True)
    if len(x) <= MARKED // 2:
        last.set_xticks(x)
    key(figure, axes[0, 0])
    over = counted(len(x) - 1, "step")
    alt = f"Parameters over {over}, at the end: {'; '.join(alts)}; {body.effective:.3g} effective samples"
    return picture(figure, alt, "Mean (line) and nine tenths (band) of every parameter after each step.")


def densities(subject: Subject) -> Figure:
    """Marginal densities on the diagonal, pairwise ones below it."""
    _, scales = _estimates(subject)
    alone = subject.session.table(subject.event, "densities")
    both = subject.session.table(subject.event, "pairs") if subject.event.blob("pairs") else None
    return draw_densities(scales[:MOST], alone, both)


def draw_densities(scales: Sequence[Scale], alone: pl.DataFrame, both: pl.DataFrame | None) -> Figure:
    """`alone` has parameter, value and density, `both` first, second, x, y and density; SI.

    Panels reach as far as there is density: of a wide prior little may be left.
    """
    size = len(scales)
    figure, axes = canvas(size, size, min(WIDE, 1 + EDGE * size), 0.6 + EDGE * min(size, 5), sharex="col")
    reach = [_reach(own, alone.filter(parameter=own.name)) for own in scales]
    for i, own in enumerate(scales):
        marginal = alone.filter(parameter=own.name)
        value, density = own.of(marginal["value"].to_numpy()), marginal["density"].to_numpy()
        axes[i, i].fill_between(value, 0, density, color=BLUE, alpha=0.3, linewidth=0)
        axes[i, i].plot(value, density, color=BLUE, linewidth=1.0)
        axes[i, i].set_yticks([])
        axes[i, i].set_ylim(bottom=0)
        axes[i, i].set_xlim(reach[i])
        for j, left in enumerate(scales):
            if j > i:
                axes[i, j].set_axis_off()
            elif j < i and both is not None:
                _pair(axes[i, j], both.filter(first=left.name, second=own.name), left, own)
                axes[i, j].set_ylim(reach[i])
    _label(axes, scales, scales)
    names = ", ".join(shown.name for shown in scales)
    return picture(figure, f"Densities of {names} after the last step", "Densities after the last step.")


def _reach(own: Scale, marginal: pl.DataFrame) -> tuple[float, float]:
    """From where to where the density is more than SLIGHT of its top, and the next places of the grid."""
    value, density = own.of(marginal["value"].to_numpy()), marginal["density"].to_numpy()
    there = np.flatnonzero(density > SLIGHT * density.max())
    if not len(there):
        return float(value[0]), float(value[-1])
    return float(value[max(there[0] - 1, 0)]), float(value[min(there[-1] + 1, len(value) - 1)])


def _pair(axis: Any, pair: pl.DataFrame, left: Scale, own: Scale) -> None:
    edge = round(pair.height**0.5)
    x, y = left.of(pair["x"].to_numpy()).reshape(edge, edge), own.of(pair["y"].to_numpy()).reshape(edge, edge)
    density = pair["density"].to_numpy().reshape(edge, edge)
    top = float(density.max())
    if top > 0:
        levels = [0.05 * top, 0.25 * top, 0.5 * top, 0.75 * top, 1.001 * top]
        for level, alpha in zip(levels, (0.18, 0.22, 0.26, 0.3), strict=False):
            axis.contourf(x, y, density, levels=[level, levels[-1]], colors=[BLUE], alpha=alpha)
    axis.grid(True)


def runs(subject: Subject) -> Figure:
    """Outputs of the study over every parameter, one point per run, with a ring where its weight is above the average.

    Values at places on a curve are left out, unless there are no other outputs.
    """
    body, scales = _facts(subject)
    case, study = body.cases[0], subject.session.study(subject.event)
    whole = [name for name in study.outputs if study.outputs[name].at is None]
    outputs = [output_scale(study, name) for name in (whole or list(study.outputs))[:MOST]]
    return draw_runs(outputs, scales[:MOST], _weighted(subject, body, case), case)


def draw_runs(outputs: Sequence[Scale], scales: Sequence[Scale], table: pl.DataFrame, case: str) -> Figure:
    """`table` has a row for each run: parameters as `at NAME`, outputs by name, and its weight; SI."""
    figure, axes = canvas(
        len(outputs), len(scales), min(WIDE, 1 + EDGE * len(scales)), 0.6 + EDGE * len(outputs), sharex="col",
        sharey="row",
    )  # fmt: skip
    heavy = (table["weight"] > 1 / max(table.height, 1)).to_numpy()
    for i, output in enumerate(outputs):
        for j, own in enumerate(scales):
            x, y = own.of(table[f"at {own.name}"].to_numpy()), output.of(table[output.name].to_numpy())
            dots(axes[i, j], x, y, BLUE, 2.4, alpha=0.6)
            axes[i, j].plot(x[heavy], y[heavy], "o", color=ORANGE, markersize=5, fillstyle="none", linestyle="none")
            axes[i, j].grid(True)
            if own.logarithmic:
                axes[i, j].set_xscale("log")
    _label(axes, outputs, scales)
    alt = (
        f"Outputs of {counted(table.height, 'run')} over their parameters, case {case}; {int(heavy.sum())} have a ring"
    )
    return picture(figure, alt, f"Case {case}: one point per run; a ring where its weight is above the average.")


def _weighted(subject: Subject, body: FilterUpdated, case: str) -> pl.DataFrame:
    """Runs of the ensemble with their weight after the last step: parameters as `at NAME`, outputs by name."""
    session, parts = subject.session, []
    weights = session.table(subject.event, "weights")
    weights = weights.filter(pl.col("step") == weights["step"].max())
    # The table numbers the designs as the event lists them.
    for number, item in enumerate(subject.event.inputs_as("design")):
        design = load_design(session, session.state.events[item.id])
        points = pl.DataFrame({f"at {name}": design.values[:, j] for j, name in enumerate(design.names)})
        points = points.with_columns(sample=pl.int_range(len(design.values), dtype=pl.Int64))
        table = campaign_table(session.ledger, batches_of(session, session.state.events[item.id]), design)
        table = table.filter((pl.col("case") == case) & pl.col("failed").is_null())
        own = weights.filter(pl.col("design") == number).select(pl.col("sample").cast(pl.Int64), "weight")
        parts.append(own.join(points, on="sample").join(table, on="sample"))
    return pl.concat(parts, how="diagonal")


def _facts(subject: Subject) -> tuple[FilterUpdated, list[Scale]]:
    body, study = FilterUpdated.of(subject.event), subject.session.study(subject.event)
    return body, [parameter_scale(study, name) for name in body.names]


def _estimates(subject: Subject) -> tuple[FilterUpdated, list[Scale]]:
    if subject.event.blob("densities") is None:
        raise InputError(
            f"event {subject.event.id} ({subject.event.kind}): has no estimates, because too few samples carry weight"
        )
    return _facts(subject)


def _label(axes: Any, down: Sequence[Scale], across: Sequence[Scale]) -> None:
    for i, shown in enumerate(down):
        axes[i, 0].set_ylabel(shown.label)
    for j, shown in enumerate(across):
        axes[-1, j].set_xlabel(shown.label)
    for axis in axes.flat:
        axis.tick_params(labelsize=6.5)
