"""How wrong surrogates are: errors side by side, predictions against runs.

One thing against another that it should equal: points about a diagonal.

Coefficients of polynomial-chaos surrogates: how fast they fall with the degree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.plots.drawing import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    THIRD,
    WIDE,
    canvas,
    chosen,
    dots,
    height_for,
    key,
    picture,
)
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale, column_label, output_scale, quantity_scale
from percuss.plots.subject import Subject
from percuss.spelling import counted
from percuss.surrogates.surrogate import Surrogate

MOST_POINTS = 400


def parity(title: str, unit: str, runs: NDArray[Any], predicted: NDArray[Any], note: str, alt: str) -> Figure:
    """What a surrogate says over what the simulator gave, both in the same unit."""
    figure, axes = canvas(1, 1, THIRD, THIRD * 0.95)
    draw_parity(axes[0, 0], title, unit, runs, predicted, note)
    return picture(figure, alt)


def draw_parity(axis: Any, title: str, unit: str, runs: NDArray[Any], predicted: NDArray[Any], note: str) -> None:
    """The same in given axes."""
    low, high = min(runs.min(), predicted.min()), max(runs.max(), predicted.max())
    more = 0.04 * (high - low) or 1.0
    ends = (low - more, high + more)
    axis.plot(ends, ends, color=INK, linewidth=0.8, alpha=0.6)
    picked = chosen(range(len(runs)), MOST_POINTS)
    dots(axis, runs[picked], predicted[picked], BLUE, 3.2)
    axis.set_xlim(ends)
    axis.set_ylim(ends)
    axis.grid(True)
    word = f" [{unit}]" if unit else ""
    axis.set_xlabel(f"simulator{word}")
    axis.set_ylabel(f"surrogate{word}")
    axis.set_title(title)
    axis.text(0.04, 0.96, note, transform=axis.transAxes, va="top")


MOST_PARITY = 12
ERRORS = {
    "loo": ("leave-one-out", "o", BLUE),
    "loo_corrected": ("corrected", "s", PURPLE),
    "nested": ("nested", "D", ORANGE),
    "held_out": ("held out", "^", GREEN),
}


def draw(subject: Subject) -> Figure:
    """Predictions against runs that the surrogate had not seen, the outputs with the largest errors first."""
    surrogate: Surrogate = subject.load()
    table = surrogate.tables["outputs"]
    cases = table["case"].n_unique()
    labels = [column_label(row["case"], row["output"], cases) for row in table.iter_rows(named=True)]
    order = sorted(varying_columns(surrogate), key=lambda number: -surrogate.error[number])[:MOST_PARITY] or [0]
    across = min(3, len(order))
    down = -(-len(order) // across)
    figure, axes = canvas(down, across, THIRD * across, THIRD * 0.95 * down)
    for axis in axes.flat[len(order) :]:
        axis.set_axis_off()
    for axis, number in zip(axes.flat, order, strict=False):
        shown, values, predicted = _left_out(surrogate, number)
        draw_parity(axis, labels[number], shown.unit, values, predicted, f"error {float(surrogate.error[number]):.2g}")
    alt = ", ".join(f"{labels[i]} {float(surrogate.error[i]):.2g}" for i in order)
    return picture(figure, f"Surrogates against runs; errors over the variance: {alt}", "On the line they agree.")


def varying_columns(surrogate: Surrogate) -> list[int]:
    """Outputs that vary: a constant has no variance that an error could be a share of."""
    return [i for i, column in enumerate(surrogate.columns) if column.variance > (1e-9 * column.mean) ** 2]


def _left_out(surrogate: Surrogate, number: int) -> tuple[Scale, NDArray[Any], NDArray[Any]]:
    """Values of the runs, and what was predicted without them."""
    rows = surrogate.tables["residuals"].filter(pl.col("column") == number)
    nested = rows["nested"].null_count() == 0
    shown = _scale(surrogate, surrogate.columns[number].output)
    return shown, shown.of(rows["value"].to_numpy()), shown.of(rows["nested" if nested else "left_out"].to_numpy())


def error_chart(table: pl.DataFrame, labels: list[str]) -> Figure:
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


def parities(surrogate: Surrogate, labels: list[str], varying: list[int]) -> tuple[list[Figure], str]:
    """Predictions against values, the outputs with the largest errors first; and what to say under them."""
    order = sorted(varying, key=lambda number: -surrogate.error[number])
    nested = surrogate.tables["residuals"]["nested"].null_count() == 0
    figures = []
    for number in order[:MOST_PARITY]:
        shown, values, predicted = _left_out(surrogate, number)
        error, label = float(surrogate.error[number]), labels[number]
        alt = f"Surrogate against {counted(len(values), 'run')} for {label}: error {error:.2g} of the variance"
        figures.append(parity(label, shown.unit, values, predicted, f"error {error:.2g}", alt))
    kind = "nested (each point predicted without its fold)" if nested else "leave-one-out"
    caption = f"Predictions against runs, {kind}; on the line they agree."
    if len(varying) > MOST_PARITY:
        caption += f" The {MOST_PARITY} outputs with the largest errors of {len(varying)}."
    return figures, caption


def _scale(surrogate: Surrogate, output: str) -> Scale:
    if surrogate.has_curves:
        quantity = quantity_scale(surrogate.study, output.partition("#")[0])
        return Scale(output, "", quantity.factor)
    return output_scale(surrogate.study, output)


MOST = 6


def spectrum(surrogate: Surrogate, labels: list[str]) -> Figure | None:
    """Size of every coefficient over its total degree, relative to the standard deviation; None without expansions.

    Coefficients that fall to the right are of a function that the basis suits; a flat tail is noise that was fitted, or
    a kink.
    """
    terms = surrogate.tables.get("terms")
    if terms is not None and "member" in terms.columns:
        # An expansion that is one member of an average says little of the output.
        terms = terms.filter(pl.col("member").is_null())
    if terms is None or not terms.height:
        return None
    order = sorted(terms["column"].unique().to_list(), key=lambda number: -surrogate.error[number])[:MOST]
    across = min(3, len(order))
    down = -(-len(order) // across)
    figure, axes = canvas(down, across, THIRD * across, 0.3 + 1.9 * down, sharey=True)
    for axis in axes.flat[len(order) :]:
        axis.set_axis_off()
    words = []
    for axis, number in zip(axes.flat, order, strict=False):
        rows = terms.filter(pl.col("column") == number)
        degree = np.array([_total(value) for value in rows["degrees"].to_list()])
        size = np.abs(rows["coefficient"].to_numpy()) / (np.sqrt(surrogate.columns[number].variance) or 1.0)
        varying = (degree > 0) & (size > 0)
        # Points of one degree stand beside each other, by size, so that none hides another.
        x = degree[varying].astype(float)
        for value in np.unique(x):
            at = np.flatnonzero(x == value)
            x[at[np.argsort(-size[varying][at], kind="stable")]] += (
                np.linspace(-0.3, 0.3, len(at)) if len(at) > 1 else 0
            )
        dots(axis, x, size[varying], BLUE, 3.2)
        axis.set_yscale("log")
        axis.set_title(labels[number])
        axis.set_xlabel("total degree")
        axis.grid(True)
        words.append(f"{labels[number]} {int(varying.sum())} terms up to degree {int(degree.max())}")
    for row in axes:
        row[0].set_ylabel("|coefficient| / std")
    caption = (
        "Coefficients of the expansions over their total degree, relative to the standard deviation of the output."
    )
    return picture(figure, f"Coefficient spectra: {'; '.join(words)}", caption)


def _total(degrees: object) -> int:
    """Total degree of a term, as the table keeps it: a list of degrees, or one text of them."""
    if isinstance(degrees, str):
        return sum(int(part) for part in degrees.replace(",", " ").split())
    return int(np.sum(np.asarray(degrees)))
