"""A page on events and all they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from percuss.ledger.event import Event
from percuss.report.blocks import Page
from percuss.report.html import html
from percuss.report.markdown import markdown
from percuss.report.page import build_page
from percuss.report.sections.registry import planned
from percuss.report.source import Source, gather
from percuss.session import Session


@dataclass(frozen=True, eq=False)
class Report:
    """The page as text, as blocks, and what it was made from."""

    text: str
    page: Page
    source: Source


def make_report(session: Session, events: Sequence[Event], form: Literal["html", "markdown"] = "html") -> Report:
    """One HTML file with its pictures inside, or Markdown without them."""
    source = gather(session, events)
    with session.voice.progress("report", len(planned(source))) as advance:
        page = build_page(source, advance, pictures=form == "html")
    return Report(html(page) if form == "html" else markdown(page), page, source)
