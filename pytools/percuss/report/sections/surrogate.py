"""The surrogates: how wrong they are, told and drawn."""

from __future__ import annotations

import numpy as np
import polars as pl

from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Figure, Gallery, Notice, Section, Table, Text
from percuss.report.drawing import BLUE, GREEN, ORANGE, PURPLE, WIDE, canvas, height_for, key, picture
from percuss.report.labels import Scale, alike, column_label, output_scale, quantity_scale
from percuss.report.lacking import no_skill
from percuss.report.parity import parity
from percuss.report.source import Source
from percuss.spelling import counted
from percuss.surrogates.curves import whole_curve_errors
from percuss.surrogates.surrogate import Surrogate, load_surrogate

MOST_PARITY = 12
# Above this share of the variance a surrogate is called wrong at the top of the page.
WRONG = 0.1
ERRORS = {
    "loo": ("leave-one-out", "o", BLUE),
    "loo_corrected": ("corrected", "s", PURPLE),
    "nested": ("nested", "D", ORANGE),
    "held_out": ("held out", "^", GREEN),
}


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
    # A constant has no variance that an error could be a share of.
    varying = [i for i, column in enumerate(surrogate.columns) if column.variance > (1e-9 * column.mean) ** 2]
    if len(varying) > 1:
        blocks.append(_errors(table[varying], [labels[i] for i in varying]))
    blocks += [_parity(surrogate, labels, varying), _table(table, labels)]
    title = "Surrogate"
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
    kept = [i for i in range(len(heads)) if any(row[i] is not None for row in rows)]
    return Table("Errors of the surrogates", [heads[i] for i in kept], [[row[i] for i in kept] for row in rows])


def _errors(table: pl.DataFrame, labels: list[str]) -> Figure:
    figure, axes = canvas(1, 1, WIDE * 0.8, height_for(len(labels), 0.22, 0.9))
    axis = axes[0, 0]
    places = np.arange(len(labels))[::-1]
    floor = 1e-16
    shown = [name for name in ERRORS if table[name].is_not_null().any()]
    for name in shown:
        word, marker, colour = ERRORS[name]
        values = table[name].to_numpy().astype(float)
        axis.plot(
            np.maximum(values, floor), places, linestyle="none", marker=marker, markersize=4.5, color=colour, label=word
        )
    axis.set_xscale("log")
    axis.set_yticks(places, labels)
    axis.set_ylim(-0.6, len(labels) - 0.4)
    axis.set_xlabel("error over the variance of the output")
    axis.tick_params(left=False)
    axis.grid(True)
    key(figure, axis)
    words = ", ".join(
        f"{labels[i]} {table[shown[-1]][i]:.2g}" for i in range(min(8, len(labels))) if table[shown[-1]][i] is not None
    )
    return picture(
        figure,
        f"Errors of {counted(len(labels), 'surrogate')} on a logarithmic axis; {ERRORS[shown[-1]][0]}: {words}",
        "Errors side by side; trust the nested one, for which the whole selection is repeated without the point.",
    )


def _parity(surrogate: Surrogate, labels: list[str], varying: list[int]) -> Gallery:
    """Predictions against values, the outputs with the largest errors first."""
    order = sorted(varying, key=lambda number: -surrogate.error[number])
    residuals = surrogate.tables["residuals"].partition_by("column", as_dict=True, maintain_order=True)
    nested = residuals[(0,)]["nested"].null_count() == 0
    figures = []
    for number in order[:MOST_PARITY]:
        rows = residuals[(number,)]
        shown = _scale(surrogate, surrogate.columns[number].output)
        values = shown.of(rows["value"].to_numpy())
        predicted = shown.of(rows["nested" if nested else "left_out"].to_numpy())
        error, label = float(surrogate.error[number]), labels[number]
        alt = f"Surrogate against {counted(len(values), 'run')} for {label}: error {error:.2g} of the variance"
        figures.append(parity(label, shown.unit, values, predicted, f"error {error:.2g}", alt))
    kind = "nested (each point predicted without its fold)" if nested else "leave-one-out"
    caption = f"Predictions against runs, {kind}; on the line they agree."
    if len(varying) > MOST_PARITY:
        caption += f" The {MOST_PARITY} outputs with the largest errors of {len(varying)}."
    return Gallery(figures, caption)


def _scale(surrogate: Surrogate, output: str) -> Scale:
    if surrogate.has_curves:
        quantity = quantity_scale(surrogate.study, output.partition("#")[0])
        return Scale(output, "", quantity.factor)
    return output_scale(surrogate.study, output)
