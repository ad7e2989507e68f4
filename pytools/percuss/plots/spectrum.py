"""Coefficients of polynomial-chaos surrogates: how fast they fall with the degree."""

from __future__ import annotations

import numpy as np
import polars as pl

from percuss.plots.drawing import canvas, dots, picture
from percuss.plots.figure import Figure
from percuss.plots.style import BLUE, THIRD
from percuss.surrogates.surrogate import Surrogate

MOST = 6


def spectrum(surrogate: Surrogate, labels: list[str]) -> Figure | None:
    """Size of every coefficient over its total degree, relative to the standard deviation; None without expansions.

    Coefficients that fall to the right are of a function that the basis suits; a flat tail is noise that was fitted, or
    a kink.
    """
    terms = surrogate.tables.get("terms")
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
