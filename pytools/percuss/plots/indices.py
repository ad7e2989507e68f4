"""Indices of parameters: bars of every output, over time for curves."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from percuss.errors import InputError
from percuss.kinds.indices_computed import IndicesComputed
from percuss.kinds.surrogate_fitted import Curves, SurrogateFitted
from percuss.plots.drawing import (
    BLUE,
    DASHES,
    INK,
    ORANGE,
    SERIES,
    TEAL,
    THIRD,
    WIDE,
    canvas,
    height_for,
    key,
    picture,
    thinned,
)
from percuss.plots.figure import Figure
from percuss.plots.labels import column_label, output_scale, quantity_scale
from percuss.plots.subject import Subject
from percuss.sensitivity.indices import ALL_CASES
from percuss.spelling import counted
from percuss.study.study import Study

# Outputs up to this number have a picture each; more are put over one another, parameter by parameter.
FEW_OUTPUTS = 6
EFFECTS = ("mu", "mu_star", "sigma")
PAIRS = (("first", "total"), ("delta", "rank"), ("rank", "binning"), ("mu_star", "sigma"))
WORDS = {
    "first": "first order", "total": "total", "shapley": "Shapley", "rank": "first order (ranks)",
    "binning": "first order (classes)", "mu_star": "mean size of the effects", "sigma": "their spread",
    "mu": "mean effect", "delta": "delta (Borgonovo)",
}  # fmt: skip


def draw(subject: Subject) -> Figure:
    """Bars of every output, or of a curve its indices over time (the first case)."""
    event, session = subject.event, subject.session
    names = list(IndicesComputed.of(event).names)
    if event.blob("over_time") is not None:
        fitted = SurrogateFitted.of(session.state.events[event.input("surrogate")]).curves
        assert fitted is not None
        return over_time(session.study(event), fitted, session.table(event, "over_time"), names)[0]
    table = in_study_units(session.study(event), session.table(event, "indices"))
    if not table.height:
        raise InputError(f"event {event.id} ({event.kind}): has no indices to draw")
    outputs = outputs_of(table)
    return over_outputs(table, outputs, names, pair_of(table), len({case for case, _ in outputs}))


def in_study_units(study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """The indices, with effects of screening, which have the unit of the output, in that of the study."""
    if not table["measure"].is_in(EFFECTS).any():
        return table
    names = table["output"].unique().to_list()
    factors = pl.DataFrame({"output": names, "factor": [output_scale(study, name).factor for name in names]})
    factor = pl.when(pl.col("measure").is_in(EFFECTS)).then(pl.col("factor")).otherwise(1.0)
    joined = table.join(factors, on="output", how="left", maintain_order="left")
    return joined.with_columns(pl.col("value", "low", "high") * factor).drop("factor")


def pair_of(table: pl.DataFrame) -> tuple[str, str]:
    """The two measures that are drawn beside each other."""
    measures = table["measure"].unique().to_list()
    return next(pair for pair in PAIRS if pair[0] in measures)


def outputs_of(table: pl.DataFrame) -> list[Any]:
    """Case and output of every index, those over all cases only where there are no others."""
    cases = table["case"].unique(maintain_order=True).to_list()
    own = [case for case in cases if case != ALL_CASES or len(cases) == 1]
    return table.filter(pl.col("case").is_in(own)).select("case", "output").unique(maintain_order=True).rows()


def _values(table: pl.DataFrame, case: str, output: str, measure: str, names: list[str]) -> tuple[Any, Any, Any]:
    part = table.filter((pl.col("case") == case) & (pl.col("output") == output) & (pl.col("measure") == measure))
    by_parameter = {row["parameter"]: row for row in part.iter_rows(named=True)}
    empty = {"value": None, "low": None, "high": None}
    columns = [[by_parameter.get(name, empty)[key] for name in names] for key in ("value", "low", "high")]
    value, low, high = (np.array(column, dtype=float) for column in columns)
    return value, low, high


def each_output(
    study: Study, table: pl.DataFrame, outputs: list[Any], names: list[str], pair: tuple[str, str], cases: int
) -> tuple[list[Figure], str]:
    """A picture an output, parameters downwards, two bars each; and what to say under them."""
    figures = []
    units = {output: output_scale(study, output).unit for _, output in outputs}
    places = np.arange(len(names))[::-1].astype(float)
    for case, output in outputs:
        figure, axes = canvas(1, 1, THIRD, height_for(len(names), 0.34, 0.95))
        axis = axes[0, 0]
        for k, (measure, colour) in enumerate(zip(pair, (BLUE, ORANGE), strict=True)):
            value, low, high = _values(table, case, output, measure, names)
            at = places + (0.19 if k == 0 else -0.19)
            axis.barh(at, np.nan_to_num(value), height=0.34, label=WORDS[measure], **_paint(colour, k == 0))
            axis.hlines(at, low, high, color=INK, linewidth=1)
        axis.set_yticks(places, names)
        axis.tick_params(left=False)
        if pair == PAIRS[0]:
            axis.set_xlim(0, 1.05)
        axis.grid(axis="x")
        axis.set_title(column_label(case, output, cases))
        axis.set_xlabel(_axis_label(pair[0], units.get(output, "")))
        key(figure, axis, 2)
        value = _values(table, case, output, pair[1], names)[0]
        alt = ", ".join(f"{name} {v:.2g}" for name, v in zip(names, value, strict=True) if v == v)
        figures.append(picture(figure, f"Sensitivity of {column_label(case, output, cases)}, {WORDS[pair[1]]}: {alt}"))
    return figures, f"{WORDS[pair[0]].capitalize()} (filled) and {WORDS[pair[1]]} (hatched); lines are intervals."


def _axis_label(measure: str, unit: str) -> str:
    if measure == "mu_star":
        return f"effect [{unit}]" if unit else "effect"
    return "distance of distributions, share of the variance" if measure == "delta" else "share of the variance"


def _paint(colour: str, filled: bool) -> dict[str, Any]:
    """Of bars: filled, or hatched, so that they are told apart without colour too."""
    line = {"edgecolor": "none"} if filled else {"edgecolor": colour, "hatch": "////"}
    return {"color": colour, "alpha": 0.8, "fill": filled, "linewidth": 0.7, **line}


def over_outputs(
    table: pl.DataFrame, outputs: list[Any], names: list[str], pair: tuple[str, str], cases: int
) -> Figure:
    """One panel a parameter, the outputs (points and instants) along it: first order filled, total as outline."""
    labels = [column_label(case, output, cases) for case, output in outputs]
    figure, axes = canvas(len(names), 1, WIDE, height_for(len(names), 1.05, 1.3), sharex=True)
    places = np.arange(len(outputs)).astype(float)
    values = {
        m: [np.array(x) for x in zip(*(_values(table, c, o, m, names) for c, o in outputs), strict=True)] for m in pair
    }
    for j, (axis, name) in enumerate(zip(axes[:, 0], names, strict=True)):
        for k, (measure, colour) in enumerate(zip(pair, (BLUE, ORANGE), strict=True)):
            value, low, high = (array[:, j] for array in values[measure])
            at = places + (-0.2 if k == 0 else 0.2)
            axis.bar(at, np.nan_to_num(value), width=0.36, label=WORDS[measure], **_paint(colour, k == 0))
            axis.vlines(at, low, high, color=INK, linewidth=0.9)
        axis.set_title(name)
        axis.grid(axis="y")
        if pair == PAIRS[0]:
            axis.set_ylim(0, 1.05)
    axes[-1, 0].set_xticks(
        places,
        labels,
        rotation=45 if max(map(len, labels)) > 4 else 0,
        ha="right" if max(map(len, labels)) > 4 else "center",
    )
    axes[-1, 0].set_xlim(-0.7, len(outputs) - 0.3)
    key(figure, axes[0, 0])
    leaders = [names[int(np.nanargmax(row))] if np.isfinite(row).any() else "none" for row in values[pair[1]][0]]
    alt = ", ".join(f"{label} {leader}" for label, leader in zip(labels[:12], leaders, strict=False))
    return picture(
        figure,
        f"Sensitivity of {counted(len(outputs), 'output')} to {', '.join(names)}; the largest index of each: {alt}",
        f"Each parameter over all outputs: {WORDS[pair[0]]} (filled), {WORDS[pair[1]]} (hatched); lines are intervals.",
    )


def over_time(study: Study, fitted: Curves, table: pl.DataFrame, names: list[str]) -> list[Figure]:
    """Indices of a curve at every instant, a picture a case."""
    y = quantity_scale(study, fitted.quantity)
    along = quantity_scale(study, fitted.axis) if fitted.axis else None
    x_label, x_factor = (along.label, along.factor) if along else ("sample", 1.0)
    figures = []
    for (case,), rows in table.partition_by(["case"], as_dict=True, maintain_order=True).items():
        figure, axes = canvas(2, 1, WIDE, 4.4, sharex=True, height_ratios=[3, 1.2])
        top, bottom = axes[:, 0]
        for i, name in enumerate(names):
            part = rows.filter(pl.col("parameter") == name)
            part = part[thinned(part.height)]
            at, colour, dash = part["axis"].to_numpy() * x_factor, SERIES[i % len(SERIES)], DASHES[i % len(DASHES)]
            first, total = part["first"].to_numpy(), part["total"].to_numpy()
            top.fill_between(at, first, total, color=colour, alpha=0.18, linewidth=0)
            top.plot(at, total, color=colour, linestyle=dash, label=name)
        deviation = np.sqrt(part["variance"].to_numpy()) * y.factor
        bottom.fill_between(at, 0, deviation, color=TEAL, alpha=0.5, linewidth=0)
        top.set_ylim(0, 1.03)
        top.set_ylabel("share of the variance")
        bottom.set_ylabel("\n".join(["std of", y.label]))
        bottom.set_xlabel(x_label)
        bottom.set_ylim(bottom=0)
        for axis in (top, bottom):
            axis.grid(True)
        key(figure, top)
        curve = f"the curve {fitted.quantity}, case {case}"
        alt = f"Total Sobol indices of {', '.join(names)} over {x_label} for {curve}, above its standard deviation"
        caption = (
            f"Case {case}: total index (line); the band under it reaches down to the first-order index, its height is "
            "interaction. Below, how much the curve varies at all."
        )
        figures.append(picture(figure, alt, caption))
    return figures
