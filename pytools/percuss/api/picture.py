"""A picture as a notebook shows it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path


class Picture:
    """A figure of results. A notebook shows it inline; `write` writes a file: .svg, .png or .pdf by its name."""

    def __init__(self, draw: Callable[[Path], object]) -> None:
        self._draw = draw

    @cached_property
    def svg(self) -> str:
        """The picture as SVG."""
        with tempfile.TemporaryDirectory() as folder:
            return self.write(Path(folder) / "picture.svg").read_text()

    def write(self, path: str | Path) -> Path:
        """Draw into a file."""
        target = Path(path)
        self._draw(target)
        return target

    def _repr_svg_(self) -> str:
        return self.svg
