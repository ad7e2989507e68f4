"""How chains come to know; and what leaving data out says: whether the others predict them, how far they carry.

Chains as they ran, and the ranks of their draws: chains that agree have flat ranks (Vehtari et al., 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.inference.diagnostics import ess_bulk, ess_tail
from percuss.inference.ranks import envelope
from percuss.plots.drawing import (
    BLUE,
    DASHES,
    GREY,
    INK,
    MARKERS,
    RED,
    SERIES,
    WIDE,
    canvas,
    chosen,
    dots,
    height_for,
    key,
    picture,
)
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale
from percuss.spelling import counted

POINTS = 10
MOST_UNKNOWNS = 6
# Above this the weights that leave a datum out cannot be trusted (Vehtari et al., 2024).
PARETO_LIMIT = 0.7
# Classes of the leave-one-out transform, and probability of its band.
CLASSES, MOST_DATA, PROBABILITY = 100, 150, 0.95


def ess_growth(scales: Sequence[Scale], draws: NDArray[Any], needed: float) -> Figure:
    """Bulk and tail effective sample size of the first draws (chains, draws, d): lines that rise steadily mix well."""
    length = draws.shape[1]
    counts = sorted({max(8, round(length * k / POINTS)) for k in range(1, POINTS + 1)})
    figure, axes = canvas(1, 2, WIDE, 2.3, sharey=True)
    for axis, title, measure in zip(axes[0], ("bulk", "tail"), (ess_bulk, ess_tail), strict=True):
        for i, shown in enumerate(scales[:MOST_UNKNOWNS]):
            sizes = [measure(draws[:, :n, i]) for n in counts]
            axis.plot(
                counts, sizes, color=SERIES[i % len(SERIES)], linestyle=DASHES[i % len(DASHES)],
                marker=MARKERS[i % len(MARKERS)], markersize=3, label=shown.name,
            )  # fmt: skip
        axis.axhline(needed, color=INK, linewidth=0.8, linestyle=":")
        axis.set_title(title)
        axis.set_xlabel("draws of each chain")
        axis.grid(True)
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("effective sample size")
    key(figure, axes[0, 0])
    names = ", ".join(shown.name for shown in scales[:MOST_UNKNOWNS])
    alt = f"Effective sample sizes of {names} over the draws; {needed:g} are asked for"
    return picture(figure, alt, f"Effective sample sizes as draws are added; dotted: the {needed:g} asked for.")


def pareto_shapes(data: pl.DataFrame) -> Figure | None:
    """How hard it is to leave each datum out; None where that was not computed."""
    if "pareto_k" not in data.columns or data["pareto_k"].null_count() == data.height:
        return None
    rows = data[chosen(range(data.height), 400)]
    shapes = rows["pareto_k"].cast(pl.Float64).to_numpy()
    x = np.arange(len(shapes), dtype=float)
    high = shapes > PARETO_LIMIT
    figure, axes = canvas(1, 1, WIDE * 0.8, 2.1)
    axis = axes[0, 0]
    dots(axis, x[~high], shapes[~high], BLUE, 4, alpha=0.9)
    dots(axis, x[high], shapes[high], RED, 6, "x", alpha=1)
    axis.axhline(PARETO_LIMIT, color=INK, linewidth=0.8, linestyle=":")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_xlabel("datum")
    axis.set_ylabel("Pareto k")
    axis.grid(True)
    alt = f"Pareto k of {len(shapes)} data, largest {np.nanmax(shapes):.2f}; {int(high.sum())} above {PARETO_LIMIT}"
    caption = (
        f"Pareto k of leaving each datum out: above {PARETO_LIMIT} (crosses) it carries too much of the posterior."
    )
    return picture(figure, alt, caption)


def transforms(data: pl.DataFrame) -> Figure | None:
    """Whether data are distributed as the others predict them (Säilynoja, Bürkner and Vehtari, 2022); None where that
    was not computed.
    """
    if "loo_pit" not in data.columns or data["loo_pit"].null_count() == data.height:
        return None
    shares = np.sort(chosen(data["loo_pit"].drop_nulls().to_list(), MOST_DATA))
    n = len(shares)
    band = envelope(n, CLASSES, PROBABILITY)
    low, high = (ends / n - band.edges for ends in (band.low, band.high))
    figure, axes = canvas(1, 1, WIDE * 0.8, 2.4)
    axis = axes[0, 0]
    axis.fill_between(
        band.edges, low, high, color=GREY, alpha=0.3, linewidth=0, label=f"chance, {100 * PROBABILITY:g} %"
    )
    axis.axhline(0.0, color=INK, linewidth=0.8)
    x = np.concatenate([[0.0], np.repeat(shares, 2), [1.0]])
    y = np.concatenate([[0.0], np.repeat(np.arange(n + 1) / n, 2)[1:-1], [1.0]])
    axis.plot(x, y - x, color=BLUE, linewidth=1.3, label="data")
    axis.set_xlabel("probability of less than was measured, by the other data")
    axis.set_ylabel("share of data up to there,\nminus what it should be")
    axis.set_xlim(0, 1)
    axis.grid(True)
    key(figure, axis)
    ends = np.interp(band.edges, x, y) - band.edges
    outside = int(np.count_nonzero((ends < low) | (ends > high)))
    alt = f"Distribution of {n} leave-one-out probabilities: " + (
        "it leaves the band of chance" if outside else "within the band of chance"
    )
    caption = (
        "Leave-one-out check (LOO-PIT): each datum held against what the others predict. Above zero, predictions are "
        "too high, below too low; above on the left and below on the right too narrow, the other way too wide. "
        f"Grey: where all of it lies with {100 * PROBABILITY:g} % probability if the model is right."
    )
    return picture(figure, alt, caption)


MOST_CHAINS = 6
MOST_DRAWS = 400
BINS = 20


def traces(scales: Sequence[Scale], draws: NDArray[Any], unconverged: bool) -> Figure:
    """Draws (chains, draws, d) in SI: on the left in the order of the chain, on the right by rank."""
    chains, length, d = draws.shape
    picked = chosen(range(chains), MOST_CHAINS)
    figure, axes = canvas(d, 2, WIDE, height_for(d, 1.15, 0.5), width_ratios=[2.4, 1], sharex="col")
    step = max(1, -(-length // MOST_DRAWS))
    bins = int(min(BINS, max(4, length // 60)))
    for j, scale in enumerate(scales):
        left, right = axes[j]
        values = scale.of(draws[:, :, j])
        ranks = np.argsort(np.argsort(values, axis=None, kind="stable"), kind="stable").reshape(values.shape)
        edges = np.linspace(0, values.size, bins + 1)
        for i, chain in enumerate(picked):
            colour, dash = SERIES[i % len(SERIES)], DASHES[i % len(DASHES)]
            left.plot(np.arange(0, length, step), values[chain, ::step], color=colour, linewidth=0.6, alpha=0.8)
            counts = np.histogram(ranks[chain], edges)[0] * bins / length
            right.stairs(counts, edges / values.size, color=colour, linestyle=dash, linewidth=1.1, baseline=None)
        right.axhline(1.0, color=INK, linewidth=0.7, alpha=0.6)
        right.set_ylim(bottom=0)
        left.set_ylabel(scale.label)
        left.margins(x=0.01)
    axes[0, 0].set_title("traces")
    axes[0, 1].set_title("ranks (flat: chains agree)")
    axes[-1, 0].set_xlabel("draw")
    axes[-1, 1].set_xlabel("rank over all draws")
    which = f"{len(picked)} of {counted(chains, 'chain')}" if len(picked) < chains else counted(chains, "chain")
    thin = f", one draw in {step}" if step > 1 else ""
    mark = " UNCONVERGED." if unconverged else ""
    names = ", ".join(scale.name for scale in scales)
    alt = f"Traces and rank histograms of {names} for {which} of {length} draws{'; UNCONVERGED' if unconverged else ''}"
    return picture(figure, alt, f"{which.capitalize()}{thin}.{mark}")
