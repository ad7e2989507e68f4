"""Which parameters matter: indices of every output as bars, over time for curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from percuss.kinds.indices_computed import IndicesComputed
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.ledger.event import Event
from percuss.plots.effects import effects_of
from percuss.plots.indices import (
    FEW_OUTPUTS,
    WORDS,
    each_output,
    in_study_units,
    outputs_of,
    over_outputs,
    over_time,
    pair_of,
)
from percuss.plots.labels import column_label
from percuss.report.blocks import Block, Cell, Gallery, Notice, Section, Table, Text
from percuss.report.source import Lacking, Source, no_skill
from percuss.spelling import counted, number_text, with_span

MOST_ROWS = 400
# Below this an index has digits of its own.
SMALL = 1e-3
MEANING = {
    "first": "A first-order index is the share of the variance that a parameter explains alone, a total index the "
    "share in which it has a part.",
    "delta": "A delta is half the area between the density of the output and its density with the parameter known, on "
    "average: 0 where the output does not depend on it, 1 where it depends on nothing else.",
    "mu_star": "An effect is the change of the output when one parameter moves, per unit of its probability; a spread "
    "as large as the mean size is a sign of curvature or interaction.",
}


def section(source: Source, event: Event) -> Section:
    """Bars and tables of the indices; for curves, indices at every instant."""
    table = in_study_units(source.study(event), source.table(event, "indices"))
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
    meaning = next((MEANING[name] for name in ("mu_star", "delta") if name in measures), MEANING["first"])
    blocks.append(Text(f"Method: {method}. Intervals hold {level}. {meaning}"))
    if notes := body.notes:
        blocks.append(Notice("indices are those of the surrogate, not of the model.", items=notes))
    pair = pair_of(table)
    cases = table["case"].unique(maintain_order=True).to_list()
    outputs = outputs_of(table)
    own = list(dict.fromkeys(case for case, _ in outputs))
    if len(outputs) <= FEW_OUTPUTS:
        blocks.append(Gallery(*each_output(source.study(event), table, outputs, names, pair, len(own))))
    else:
        blocks.append(over_outputs(table, outputs, names, pair, len(own)))
    if (effects := effects_of(source.session, event, outputs, len(own))) is not None:
        blocks.append(effects)
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
            row.append(_index(entry))
        rows.append(row)
    heads = ["output", "parameter", *(WORDS[name] for name in shown)]
    cut = "" if len(rows) <= MOST_ROWS else f", the first {MOST_ROWS} of {counted(len(rows), 'row')}"
    return Table(
        f"Indices of every parameter, with their intervals{cut}",
        heads,
        rows[:MOST_ROWS],
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
    figures: list[Block] = [*over_time(study, fitted, table, names)]
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


def _index(entry: Mapping[str, Any] | None) -> Cell:
    """An index and its interval, to the same place."""
    if entry is None or entry["value"] is None:
        return None
    if entry["low"] is None:
        return number_text(entry["value"])
    if max(abs(entry[name]) for name in ("value", "low", "high")) < SMALL:
        low, high, value = (number_text(entry[name], 3) for name in ("low", "high", "value"))
        return f"{value} ({low} to {high})"
    return with_span(entry["value"], entry["low"], entry["high"])
