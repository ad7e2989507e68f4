"""Which parameters matter: indices of every output as bars, over time for curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from percuss.kinds.indices_computed import IndicesComputed
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Figure, Gallery, Notice, Section, Table, Text
from percuss.report.drawing import (
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
from percuss.report.labels import column_label, quantity_scale
from percuss.report.lacking import Lacking, no_skill
from percuss.report.source import Source
from percuss.sensitivity.indices import ALL_CASES
from percuss.spelling import counted

# Outputs up to this number have a picture each; more are put over one another, parameter by parameter.
FEW_OUTPUTS = 6
MOST_ROWS = 400
PAIRS = (("first", "total"), ("rank", "binning"), ("mu_star", "sigma"))
WORDS = {
    "first": "first order", "total": "total", "shapley": "Shapley", "rank": "first order (ranks)",
    "binning": "first order (classes)", "mu_star": "mean size of the effects", "sigma": "their spread",
    "mu": "mean effect",
}  # fmt: skip
MEANING = {
    "first": "A first-order index is the share of the variance that a parameter explains alone, a total index the "
    "share in which it has a part.",
    "mu_star": "An effect is the change of the output when one parameter moves, per unit of its probability; a spread "
    "as large as the mean size is a sign of curvature or interaction.",
}


def section(source: Source, event: Event) -> Section:
    """Bars and tables of the indices; for curves, indices at every instant."""
    table = source.table(event, "indices")
    body = IndicesComputed.of(event)
    names = list(body.names)
    lacking = no_skill(event)
    blocks: list[Block] = [*lacking.notices]
    if not table.height:
        return Section("Sensitivity", [*blocks, Text("There are no indices to tell.")], [*lacking.notices])
    if event.blob("over_time") is not None:
        return _over_time(source, event, names, lacking)
    method = ", ".join(body.methods)
    level = f"{100 * body.level:g} %"
    measures = table["measure"].unique().to_list()
    screened = "mu_star" in measures
    blocks.append(Text(f"Method: {method}. Intervals hold {level}. {MEANING['mu_star' if screened else 'first']}"))
    if notes := body.notes:
        blocks.append(Notice("indices are those of the surrogate, not of the model.", items=notes))
    pair = next(pair for pair in PAIRS if pair[0] in measures)
    cases = table["case"].unique(maintain_order=True).to_list()
    own = [case for case in cases if case != ALL_CASES or len(cases) == 1]
    outputs = table.filter(pl.col("case").is_in(own)).select("case", "output").unique(maintain_order=True).rows()
    if len(outputs) <= FEW_OUTPUTS:
        blocks.append(_each(table, outputs, names, pair, len(own)))
    else:
        blocks.append(_over_outputs(table, outputs, names, pair, len(own)))
    blocks.append(_table(table, measures, len(cases)))
    if event.blob("second") is not None:
        blocks += _second(source.table(event, "second"), len(cases))
    if event.blob("groups") is not None:
        blocks.append(_groups(source.table(event, "groups"), body.groups, len(cases)))
    known = [(case, output) for case, output in outputs if f"{case}/{output}" not in lacking.names]
    return Section(f"Sensitivity ({method})", blocks, [*_short(table, known, pair, len(own)), *lacking.notices])


def _short(table: pl.DataFrame, outputs: list[Any], pair: tuple[str, str], cases: int) -> list[str]:
    """The parameter that matters most for each output, outputs with the same one together."""
    measure = "total" if "total" in pair else pair[0]
    rows = table.filter(pl.col("measure") == measure)
    leaders: dict[str, list[str]] = {}
    for case, output in outputs:
        part = rows.filter((pl.col("case") == case) & (pl.col("output") == output)).drop_nulls("value")
        if part.height:
            best = part.sort("value", descending=True).row(0, named=True)
            leaders.setdefault(best["parameter"], []).append(column_label(case, output, cases))
    lines = [
        f"{name} for {', '.join(of[:4])}{f' and {len(of) - 4} more' if len(of) > 4 else ''}"
        for name, of in leaders.items()
    ]
    return [f"What matters most: {'; '.join(lines)}."] if lines else []


def _values(table: pl.DataFrame, case: str, output: str, measure: str, names: list[str]) -> tuple[Any, Any, Any]:
    part = table.filter((pl.col("case") == case) & (pl.col("output") == output) & (pl.col("measure") == measure))
    rows = {row["parameter"]: row for row in part.iter_rows(named=True)}
    empty = {"value": None, "low": None, "high": None}
    columns = [[rows.get(name, empty)[key] for name in names] for key in ("value", "low", "high")]
    value, low, high = (np.array(column, dtype=float) for column in columns)
    return value, low, high


def _each(table: pl.DataFrame, outputs: list[Any], names: list[str], pair: tuple[str, str], cases: int) -> Gallery:
    """A picture an output: parameters downwards, two bars each."""
    figures = []
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
        axis.set_xlabel("share of the variance" if pair[0] != "mu_star" else "effect, SI")
        key(figure, axis, 2)
        value = _values(table, case, output, pair[1], names)[0]
        values_text = ", ".join(f"{name} {v:.2g}" for name, v in zip(names, value, strict=True) if v == v)
        figures.append(
            picture(figure, f"Sensitivity of {column_label(case, output, cases)}, {WORDS[pair[1]]}: {values_text}")
        )
    return Gallery(
        figures,
        f"{WORDS[pair[0]].capitalize()} (filled) and {WORDS[pair[1]]} (hatched); lines are intervals.",
    )


def _paint(colour: str, filled: bool) -> dict[str, Any]:
    """Of bars: filled, or hatched, so that they are told apart without colour too."""
    line = {"edgecolor": "none"} if filled else {"edgecolor": colour, "hatch": "////"}
    return {"color": colour, "alpha": 0.8, "fill": filled, "linewidth": 0.7, **line}


def _over_outputs(
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
    leaders_text = ", ".join(f"{label} {leader}" for label, leader in zip(labels[:12], leaders, strict=False))
    return picture(
        figure,
        f"Sensitivity of {counted(len(outputs), 'output')} to {', '.join(names)}; "
        f"the largest index of each: {leaders_text}",
        f"Each parameter over all outputs: {WORDS[pair[0]]} (filled), {WORDS[pair[1]]} (hatched); lines are intervals.",
    )


def _table(table: pl.DataFrame, measures: list[str], cases: int) -> Table:
    shown = [name for name in WORDS if name in measures]
    rows: list[list[Cell]] = []
    for (case, output, parameter), part in table.partition_by(
        ["case", "output", "parameter"], as_dict=True, maintain_order=True
    ).items():
        by_measure = {row["measure"]: row for row in part.iter_rows(named=True)}
        row: list[Cell] = [column_label(str(case), str(output), cases), str(parameter)]
        for name in shown:
            entry = by_measure.get(name)
            interval = f"{entry['low']:.3g} to {entry['high']:.3g}" if entry and entry["low"] is not None else None
            row += [entry["value"] if entry else None, interval]
        rows.append(row)
    heads = ["output", "parameter", *(head for name in shown for head in (WORDS[name], "interval"))]
    kept = [i for i in range(len(heads)) if any(row[i] is not None for row in rows)]
    cut = "" if len(rows) <= MOST_ROWS else f", the first {MOST_ROWS} of {counted(len(rows), 'row')}"
    return Table(
        f"Indices of every parameter{cut}",
        [heads[i] for i in kept],
        [[row[i] for i in kept] for row in rows[:MOST_ROWS]],
    )


def _second(table: pl.DataFrame, cases: int) -> list[Block]:
    strong = table.filter(pl.col("value") > 0.01).sort("value", descending=True).head(20)
    if not strong.height:
        return [Text("No pair of parameters acts together by more than a hundredth of the variance.")]
    rows = [
        [column_label(row["case"], row["output"], cases), f"{row['first']} x {row['second']}", row["value"]]
        for row in strong.iter_rows(named=True)
    ]
    return [
        Table(
            "Pairs that act together by more than a hundredth of the variance (at most 20)",
            ["output", "pair", "second order"],
            rows,
        )
    ]


def _groups(table: pl.DataFrame, members: Mapping[str, Sequence[str]], cases: int) -> Table:
    rows: list[list[Cell]] = []
    for row in table.iter_rows(named=True):
        of = ", ".join(members.get(row["group"], []))
        rows.append([column_label(row["case"], row["output"], cases), row["group"], of, row["closed"], row["total"]])
    heads = ["output", "group", "of", "closed", "total"]
    return Table("Groups of parameters: alone, and with all they take part in", heads, rows)


def _over_time(source: Source, event: Event, names: list[str], lacking: Lacking) -> Section:
    table = source.table(event, "over_time")
    study = source.study(event)
    fitted = SurrogateFitted.of(source.state.events[event.input("surrogate")]).curves
    assert fitted is not None
    y = quantity_scale(study, fitted.quantity)
    x_label = quantity_scale(study, fitted.axis).label if fitted.axis else "sample"
    x_factor = quantity_scale(study, fitted.axis).factor if fitted.axis else 1.0
    figures: list[Block] = []
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
    blocks = [*lacking.notices, *figures, _whole(table)]
    return Section(f"Sensitivity of the curve {fitted.quantity}", blocks, [*lacking.notices])


def _whole(table: pl.DataFrame) -> Table:
    from percuss.sensitivity.over_time import summary

    whole_curve = summary(table)
    rows: list[list[Cell]] = [
        [case, parameter, shares["first"], shares["total"]]
        for case, by in whole_curve.items()
        for parameter, shares in by.items()
    ]
    return Table(
        "The curve as one: indices weighted by the variance at every instant",
        ["case", "parameter", "first order", "total"],
        rows,
    )
