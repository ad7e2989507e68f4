"""A page on events and all they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from percuss.errors import InputError
from percuss.export.player import write_page
from percuss.models.model import Filmed
from percuss.report.blocks import Link, Page
from percuss.report.html import html
from percuss.report.markdown import markdown
from percuss.report.page import build_page
from percuss.report.sections.registry import planned
from percuss.report.source import Source
from percuss.work.film import film_run


@dataclass(frozen=True, eq=False)
class Report:
    """The page as text, as blocks, and what it was made from."""

    text: str
    page: Page
    source: Source


def make_report(source: Source, form: Literal["html", "markdown"] = "html") -> Report:
    """One HTML file with its pictures inside, or Markdown without them."""
    with source.session.voice.progress("report", len(planned(source))) as advance:
        page = build_page(source, advance, pictures=form == "html")
    return Report(html(page) if form == "html" else markdown(page), page, source)


def write_film(source: Source, beside: Path) -> Source:
    """Write the page that plays the last run on the way to the events, beside their report, which is to link it;
    InputError if none has bodies.
    """
    session = source.session
    runs = source.of_kind("runs.completed")
    filmed = [event for event in runs if isinstance(session.study(event).model(), Filmed)]
    if not filmed:
        raise InputError("--film: no run on the way to these events has bodies to draw")
    run = film_run(session, filmed[-1])
    path = beside.with_name(f"{beside.stem}-film.html")
    write_page([run.shown()], path)
    return replace(source, film=Link(f"Film of a run ({run.title})", path.name))
