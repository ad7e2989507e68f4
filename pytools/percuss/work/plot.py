"""Pictures of events: of each kind its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from percuss.ledger.event import Event
from percuss.plots.drawing import Style, drawing
from percuss.plots.figure import Figure
from percuss.plots.files import check_picture, save
from percuss.plots.registry import picture_of
from percuss.plots.subject import Request, RunTables, Subject
from percuss.session import Session
from percuss.work.curves import run_tables

# Runs that kept no curves are made again: so many of each case, where nothing else is asked for.
FEW_AGAIN = 8


@dataclass(frozen=True)
class Picture:
    """What was drawn: how many sets of axes, and what stands for the picture in words."""

    panels: int
    alt: str


def plot(
    session: Session,
    events: Sequence[Event],
    path: Path,
    request: Request | None = None,
    *,
    style: Style = "screen",
    function: Callable[[Subject], Figure] | None = None,
) -> Picture:
    """Draw events of one sort into a file; by default what the table has for their kind."""
    check_picture(path)

    def tables(event: Event, most: int | None) -> RunTables:
        return run_tables(session, event, most, FEW_AGAIN)

    subject = Subject(session, tuple(events), request or Request(), tables)
    draws = function or picture_of(subject)
    with drawing(style=style):
        figure = draws(subject)
        save(figure.canvas, path, style, subject.request.title)
    return Picture(sum(axis.axison for axis in figure.canvas.axes), figure.alt)
