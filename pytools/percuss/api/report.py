"""A report as a notebook shows it."""

from __future__ import annotations

import html as escaping
from pathlib import Path

from percuss.export.tables import write_text
from percuss.work.report import Report as Made


class Report:
    """A page on results and everything they were made from. A notebook shows it inline; `write` writes a file."""

    def __init__(self, made: Made) -> None:
        self._made = made

    @property
    def html(self) -> str:
        """The page."""
        return self._made.text

    @property
    def sections(self) -> list[str]:
        """The titles of its sections."""
        return [section.title for section in self._made.page.sections]

    def write(self, path: str | Path) -> Path:
        """Write the page into a file."""
        target = Path(path)
        write_text(self.html, target)
        return target

    def _repr_html_(self) -> str:
        # In a frame of its own: the styles of the page are not those of the notebook.
        page = escaping.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%; height:36em; border:1px solid #ccc"></iframe>'
