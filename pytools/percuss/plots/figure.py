"""A drawn picture: on a page it is inline SVG, for a file it is still matplotlib's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture as inline SVG, `alt` for those who do not see it, `width` in points; for a file, its `canvas`."""

    svg: str
    alt: str
    caption: str
    width: float
    canvas: Any = None
