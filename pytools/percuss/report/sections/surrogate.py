"""The surrogates: how wrong they are, told and drawn."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.ledger.event import Event
from percuss.plots.labels import alike, column_label
from percuss.plots.surrogate import error_chart, parities, spectrum, varying_columns
from percuss.report.blocks import Block, Cell, Gallery, Notice, Section, Table, Text
from percuss.report.source import Source, no_skill
from percuss.spelling import counted
from percuss.surrogates.assessment import whole_curve_errors
from percuss.surrogates.surrogate import Column, load_surrogate
from percuss.surrogates.two_level import TWO_LEVEL

# Above this share of the variance a surrogate is called wrong at the top of the page.
WRONG = 0.1
# Up to so many outputs are named in the heading.
FEW = 3


def section(source: Source, event: Event) -> Section:
    """Errors of every output, and predictions against runs that the surrogate had not seen."""
    surrogate = load_surrogate(source.session, event)
    table, body = surrogate.tables["outputs"], SurrogateFitted.of(event)
    cases = len(body.cases)
    labels = [column_label(row["case"], row["output"], cases) for row in table.iter_rows(named=True)]
    curves = body.curves
    fitted_to = (
        f"the {curves.modes} modes of the curve `{curves.quantity}`" if curves else counted(len(labels), "output")
    )
    families = ", ".join(body.families)
    blocks: list[Block] = [
        Text(
            f"Surrogates ({families}) of {fitted_to}, fitted to {body.points} points. Errors are mean squares over "
            "the variance of the output."
        )
    ]
    if event.inputs_as("low"):
        blocks.append(_levels(table, labels))
    lacking = no_skill(event)
    blocks += lacking.notices
    trusted = surrogate.error
    useful = [i for i, column in enumerate(surrogate.columns) if column.name not in lacking.names]
    warned = [(label, word) for label, words in zip(labels, table["warnings"], strict=True) for word in words]
    if warned:
        rows = [
            f"{text} ({'; '.join(of[:6])}{f'; {len(of) - 6} more' if len(of) > 6 else ''})"
            for of, text in alike(warned)
        ]
        blocks.append(Notice("before these surrogates are trusted, know that", items=rows))
    varying = varying_columns(surrogate)
    if len(varying) > 1:
        blocks.append(error_chart(table[varying], [labels[i] for i in varying]))
    blocks += [Gallery(*parities(surrogate, labels, varying)), _table(table, labels)]
    if (picture := spectrum(surrogate, labels)) is not None:
        blocks.append(picture)
    title = _title(surrogate.columns, list(source.study(event).cases))
    largest = [(float(trusted[i]), labels[i]) for i in useful]
    if curves:
        title = f"Surrogate of the curve {curves.quantity}"
        cases_of_use = {surrogate.columns[i].case for i in useful}
        largest = [
            (whole, f"whole curve {curves.quantity}, case {case}")
            for case, whole, _ in whole_curve_errors(surrogate.columns, curves)
            if case in cases_of_use
        ]
    short: list[str | Notice] = [*lacking.notices]
    if largest:
        error, where = max(largest)
        rest = " of the others" if lacking.names else ""
        words = f"{title} ({families}): the largest error{rest} is {error:.2g} of the variance ({where})."
        short.append(Notice(words) if error > WRONG else words)
    return Section(title, blocks, short)


def _title(columns: Sequence[Column], cases: list[str]) -> str:
    """What it is a surrogate of; the cases where the study has others."""
    outputs = list(dict.fromkeys(column.output for column in columns))
    own = [case for case in cases if any(column.case == case for column in columns)]
    named = ", ".join(outputs) if len(outputs) <= FEW else counted(len(outputs), "output")
    if len(own) == len(cases):
        return f"Surrogate of {named}"
    return f"Surrogate of {named}, {'case' if len(own) == 1 else 'cases'} {', '.join(own)}"


def _levels(table: pl.DataFrame, labels: list[str]) -> Table:
    """Nested errors with and without the low level, output by output."""
    rows: list[list[Cell]] = []
    for row, label in zip(table.iter_rows(named=True), labels, strict=True):
        tried = dict(zip(row["tried"], row["tried_errors"], strict=True))
        if TWO_LEVEL in tried:
            taken = "both levels" if row["method"] == TWO_LEVEL else "high level alone"
            without = min(error for name, error in tried.items() if name != TWO_LEVEL)
            rows.append([label, without, tried[TWO_LEVEL], row.get("rho"), row.get("correlation"), taken])
    title = "Two fidelities: nested errors on runs of the high level"
    return Table(title, ["output", "high level alone", "both levels", "rho", "correlation", "taken"], rows)


def _table(table: pl.DataFrame, labels: list[str]) -> Table:
    rows: list[list[Cell]] = []
    for row, label in zip(table.iter_rows(named=True), labels, strict=True):
        facts = [
            row.get(name)
            for name in ("loo", "loo_corrected", "nested", "elsewhere", "held_out", "terms", "degree", "q", "leverage")
        ]
        rows.append([label, row["family"], *facts])
    errors = ["leave-one-out", "corrected", "nested", "elsewhere", "held out"]
    heads = ["output", "family", *errors, "terms", "degree", "q", "leverage"]
    return Table("Errors of the surrogates", heads, rows)
