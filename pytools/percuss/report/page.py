"""From a lineage to a page: the sections its events have, and the head above them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from percuss.errors import LedgerError
from percuss.ledger.event import Event
from percuss.plots.drawing import drawing
from percuss.report.blocks import Notice, Page, Section
from percuss.report.sections.registry import planned, section_of
from percuss.report.source import Source, when
from percuss.session import standing
from percuss.spelling import counted
from percuss.trust import failures

# Digits of an id in a heading, at least.
SHORTEST_ID = 8


def build_page(
    source: Source, advance: Callable[[int, str], None] = lambda count, note: None, *, pictures: bool = True
) -> Page:
    """The whole report; `advance` is told of every section that is done."""
    sections: list[Section] = []
    events: list[Event] = []
    with drawing(pictures):
        for module, event, folded in planned(source):
            part = _readable(module, source, event)
            if part is not None:
                sections.append(replace(part, folded=folded, short=_trusted(source, event, part)))
                events.append(event)
            advance(1, module)
    sections = _told_apart(sections, events)
    root = source.roots[0]
    about = next((source.study(event) for event in source.of_kind("study.registered")), None)
    facts = [
        ("Study", root.study.name if root.study else "none"),
        ("Made", when(root)),
        ("By", f"{root.actor} on {root.host}"),
        ("percuss", f"{root.software.version} ({root.software.commit[:12]})"),
        ("Event", f"`{root.id}`"),
        ("Hash", f"`{root.hash}`"),
    ]
    words = ", ".join(dict.fromkeys(event.kind for event in source.roots))
    title = about.title if about else root.kind
    footer = (
        f"Made by percuss from {counted(len(source.events), 'event')} of a ledger; the same ledger gives the same page."
    )
    first = [Notice(verdict.line()) for verdict in failures(source.trust)]
    return Page(title, f"Report on {words}", facts, sections, footer, first)


def _told_apart(sections: list[Section], events: list[Event]) -> list[Section]:
    """Sections of different events with the same heading get as much of their ids as tells them apart."""
    alike: dict[str, list[str]] = {}
    for section, event in zip(sections, events, strict=True):
        alike.setdefault(section.title, []).append(event.id)
    apart: list[Section] = []
    for section, event in zip(sections, events, strict=True):
        ids = alike[section.title]
        if len(set(ids)) > 1:
            length = next(
                n for n in range(SHORTEST_ID, len(event.id) + 1) if len({i[:n] for i in ids}) == len(set(ids))
            )
            section = replace(section, title=f"{section.title}, {event.id[:length]}")
        apart.append(section)
    return apart


def _trusted(source: Source, event: Event, section: Section) -> Sequence[str | Notice]:
    """What may stand at the top: of a result that failed as a whole, its warnings and what failed, and no claim.

    What a gate says of some outputs alone is for the section itself, which knows what its claims are about.
    """
    failed = [verdict for verdict in failures(standing(source.state, event)) if verdict.stops and not verdict.about]
    if not failed:
        return section.short
    warnings = [item for item in section.short if isinstance(item, Notice) and item.tone == "warning"]
    named = [Notice(f"{section.title}: {verdict.sentence}.") for verdict in failed if verdict.source is None]
    return [*warnings, *(notice for notice in named if all(notice.text != other.text for other in warnings))]


def _readable(module: str, source: Source, event: Event) -> Section | None:
    """A section; a ledger may come from a stranger, and columns that its tables lack are their fault."""
    try:
        return section_of(module, source, event)
    except pl.exceptions.PolarsError as fault:
        message = f"{type(fault).__name__}: {fault}"
        raise LedgerError(f"event {event.id} ({event.kind}): cannot be reported on ({message})") from fault
