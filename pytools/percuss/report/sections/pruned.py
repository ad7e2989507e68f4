"""Payloads that were deleted: why, by which rule, and which ones."""

from __future__ import annotations

from percuss.kinds.payloads_pruned import PayloadsPruned
from percuss.ledger.event import Event
from percuss.report.blocks import Cell, Section, Table, Text
from percuss.report.source import Source
from percuss.spelling import counted


def section(source: Source, event: Event) -> Section:
    """One row for each payload; its digests stay in the event it is of."""
    body = PayloadsPruned.of(event)
    size_mb = sum(item.bytes for item in body.payloads) / 1e6
    rule = ", ".join(
        f"{name.replace('_', ' ')} {_value_text(value)}" for name, value in body.policy.items() if value is not None
    )
    words = f"{counted(len(body.payloads), 'payload')}, {size_mb:.2g} MB: {body.reason}."
    rows: list[list[Cell]] = []
    for item in body.payloads:
        of = source.state.events.get(item.event)
        rows.append(
            [of.kind if of else None, f"`{item.event}`", item.role, item.rows or None, item.bytes, f"`{item.digest}`"]
        )
    heads = ["kind", "event", "table", "rows", "bytes", "digest"]
    return Section(
        "Deleted payloads", [Text(f"{words} Rule: {rule}."), Table("What was deleted", heads, rows)], [words]
    )


def _value_text(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
