"""Pictures as files: SVG, PNG or PDF by their name, the same bytes for the same figure."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from percuss.errors import InputError
from percuss.ledger.place import check_outside
from percuss.plots.drawing import DOTS_PER_INCH, Style

FORMATS = (".svg", ".png", ".pdf")


def check_picture(path: Path) -> None:
    """Refuse a file whose name is of no format that pictures are written in."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: must end in {', '.join(FORMATS)}")


def save(figure: Any, path: Path, style: Style = "screen", title: str = "") -> None:
    """Write a figure in the format of the file's name; the digits of an SVG that no eye can see are left out.

    Call it within `percuss.plots.drawing.drawing` of the same style.
    """
    check_picture(path)
    check_outside(path)
    if title:
        # The key, where there is one, stands on the left.
        side = {"x": 0.99, "ha": "right"} if figure.legends else {"x": 0.01, "ha": "left"}
        figure.suptitle(title, fontsize="medium", **side)
    form = path.suffix.lower()
    try:
        if form == ".svg":
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
            path.write_text(re.sub(r'\bd="[^"]*"', _rounded, text.getvalue()))
        else:
            plain = {"CreationDate": None} if form == ".pdf" else None
            figure.savefig(path, dpi=DOTS_PER_INCH[style], metadata=plain)
    except OSError as fault:
        raise InputError(f"{path}: cannot be written ({fault.strerror})") from fault


def _rounded(outline: re.Match[str]) -> str:
    return re.sub(r"(\.\d)\d+", r"\1", outline[0])
