"""Figures with matplotlib: one place that knows its settings."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.ledger.place import check_outside

if TYPE_CHECKING:
    from numpy import ndarray

FORMATS = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Line:
    """One curve of a panel."""

    label: str
    x: ndarray
    y: ndarray


@dataclass(frozen=True)
class Panel:
    """One set of axes."""

    x_label: str
    y_label: str
    lines: Sequence[Line]


def check_picture(path: Path) -> None:
    """Refuse a file whose name is of no format that pictures are written in."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: must end in {', '.join(FORMATS)}")


def draw(panels: Sequence[Panel], path: Path, title: str = "") -> None:
    """Draw panels one below the other and write the file in the format of its name."""
    check_picture(path)
    load_matplotlib()
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        len(panels), 1, sharex=True, squeeze=False, figsize=(8, 1.2 + 2.2 * len(panels)), layout="constrained"
    )
    for axis, panel in zip(axes[:, 0], panels, strict=True):
        for line in panel.lines:
            axis.plot(line.x, line.y, linewidth=0.9, label=line.label)
        axis.set_ylabel(panel.y_label)
        axis.grid(alpha=0.3)
    axes[-1, 0].set_xlabel(panels[-1].x_label)
    if len(panels[0].lines) > 1:
        axes[0, 0].legend(fontsize="small", ncols=min(4, len(panels[0].lines)))
    figure.suptitle(title, fontsize="medium")
    try:
        save(figure, path)
    finally:
        pyplot.close(figure)


def save(figure: Any, path: Path) -> None:
    """Write a figure in the format of the file's name; the digits of an SVG that no eye can see are left out."""
    check_outside(path)
    try:
        if path.suffix.lower() != ".svg":
            figure.savefig(path, dpi=110)
            return
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        path.write_text(re.sub(r'\bd="[^"]*"', _rounded, text.getvalue()))
    except OSError as fault:
        raise InputError(f"{path}: cannot be written ({fault.strerror})") from fault


def _rounded(outline: re.Match[str]) -> str:
    return re.sub(r"(\.\d)\d+", r"\1", outline[0])


def load_matplotlib() -> Any:
    """Matplotlib, drawing into files; an InputError that says how to get it where it is missing."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(
            "plots need matplotlib, which is not installed", hint="pip install 'percuss[report]'"
        ) from None
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "percuss"  # the same figure gives the same file
    return matplotlib
