"""One thing against another that it should equal: points about a diagonal."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from percuss.plots.drawing import canvas, chosen, dots, picture
from percuss.plots.figure import Figure
from percuss.plots.style import BLUE, INK, THIRD

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
