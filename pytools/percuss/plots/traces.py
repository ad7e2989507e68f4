"""Chains as they ran, and the ranks of their draws: chains that agree have flat ranks (Vehtari et al., 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.plots.drawing import canvas, chosen, height_for, picture
from percuss.plots.figure import Figure
from percuss.plots.labels import Scale
from percuss.plots.style import DASHES, INK, SERIES, WIDE
from percuss.spelling import counted

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
