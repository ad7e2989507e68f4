"""From a lineage to a page: the sections its events have, and the head above them."""

from __future__ import annotations

from collections.abc import Callable

from percuss.report.blocks import Page, Section
from percuss.report.drawing import drawing
from percuss.report.sections.registry import planned, section_of
from percuss.report.source import Source, when


def build_page(source: Source, advance: Callable[[int, str], None] = lambda count, note: None) -> Page:
    """The whole report; `advance` is told of every section that is done."""
    sections: list[Section] = []
    with drawing():
        for module, event in planned(source):
            found = section_of(module, source, event)
            if found is not None:
                sections.append(found)
            advance(1, module)
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
    footer = f"Made by percuss from {len(source.events)} events of a ledger; the same ledger gives the same page."
    return Page(title, f"Report on {words}", facts, sections, footer)
