"""An event as it stands in the ledger: what it says where no section tells it, who made it, with what, from what."""

from __future__ import annotations

import shlex

from percuss.errors import LedgerError
from percuss.kinds.event_superseded import EventSuperseded
from percuss.kinds.note_added import NoteAdded
from percuss.ledger.event import Event
from percuss.report.blocks import Block, Cell, Code, Notice, Section, Table
from percuss.report.sections.registry import SECTIONS
from percuss.report.source import Source, duration, when

MOST_FIELDS = 60
LONGEST = 300


def section(source: Source, event: Event) -> Section:
    """Words of people first, then the body, then the envelope."""
    blocks: list[Block] = []
    try:
        content = event.content
    except LedgerError:
        content = None  # what it says is shown as far as it can be read
    if isinstance(content, NoteAdded):
        blocks.append(Notice(content.text, "note"))
    elif isinstance(content, EventSuperseded):
        blocks.append(Notice(content.reason or "without a reason", "note"))
    elif content is None or event.kind not in {kind for kind, _ in SECTIONS}:
        blocks.append(_body(event))
    cost = event.cost
    rows: list[list[Cell]] = [
        ["id", f"`{event.id}`"],
        ["hash", f"`{event.hash}`"],
        ["hash before it", f"`{event.prev}`"],
        ["place", f"stream {event.stream}, number {event.seq}"],
        ["kind", f"{event.kind}, version {event.version}"],
        ["outcome", event.outcome if event.reason is None else f"{event.outcome}: {event.reason}"],
        ["made", f"{when(event)} by {event.actor} on {event.host}"],
        ["with", f"percuss {event.software.version}, commit `{event.software.commit}`, core {event.software.core}"],
        ["seed", event.seed],
        ["took", f"{duration(cost.wall_us)}, {duration(cost.cpu_us)} of processors" if cost.wall_us else None],
    ]
    blocks.append(Table("The event", ["", ""], [row for row in rows if row[1] is not None]))
    if event.blobs:
        payloads: list[list[Cell]] = [[b.role, b.rows or None, b.bytes, f"`{b.digest}`"] for b in event.blobs]
        blocks.append(Table("Tables it carries", ["table", "rows", "bytes", "digest"], payloads))
    if event.argv:
        blocks.append(Code(shlex.join(event.argv)))
    return Section("In the ledger", blocks)


def _body(event: Event) -> Table:
    """What the event says, one row per field."""
    try:
        fields = event.data
    except LedgerError as fault:
        return Table(f"Its body cannot be read: {fault}", ["field", "value"], [])
    rows: list[list[Cell]] = []
    for name, value in list(fields.items())[:MOST_FIELDS]:
        if value is None or value == "" or value == [] or value == {}:
            continue
        text = _spoken(value)
        rows.append([str(name), text if len(text) <= LONGEST else f"{text[:LONGEST]}…"])
    return Table("What it says", ["field", "value"], rows)


def _spoken(value: object) -> str:
    """A field as a person writes it: lists without brackets, what is nested as names with values."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_spoken(item)}" for name, item in value.items())
    if isinstance(value, list):
        nested = any(isinstance(item, list | dict) for item in value)
        return ("; " if nested else ", ").join(map(_spoken, value))
    return "none" if value is None else str(value)
