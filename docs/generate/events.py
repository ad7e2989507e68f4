"""The kinds of events that a ledger holds, from the table of kinds."""

from __future__ import annotations

import dataclasses

import cells as md

from percuss.kinds.kind import Kind
from percuss.kinds.table import KINDS


def pages() -> dict[str, str]:
    """One page with a section per kind."""
    head = (
        "# Kinds of events\n\nWhat each event of a ledger says, what it must be made from, and the tables it carries."
        " Bodies and tables are in SI. [ledger-format.md](../ledger-format.md) says how events lie on disk.\n"
    )
    return {"reference/events.md": "\n\n".join([head, *(_section(kind) for kind in KINDS.values())]) + "\n"}


def _section(kind: Kind) -> str:
    parts = [
        f"## {kind.name}",
        f"{md.text(kind.says[:1].upper() + kind.says[1:]).rstrip('.')}. Version {kind.version}.",
    ]
    for words, roles in (("Made from", kind.needs), ("Made from at least one of", kind.one_of)):
        if roles:
            listed = ", ".join(f"{role} ({' or '.join(map(md.code, kinds))})" for role, kinds in roles.items())
            parts.append(f"{words}: {listed}.")
    fields = [(md.code(field.name), md.code(field.type)) for field in dataclasses.fields(kind.body)]
    if fields:
        parts.append(md.table(("field of the body", "type"), fields))
    rows = []
    for role, table in kind.tables.items():
        columns = [
            md.code(name) + (f" ({unit})" if unit not in ("", "1") else "") for name, unit in table.columns.items()
        ]
        columns += [f"the study's {more}" for more in table.more]
        rows.append((md.code(role), md.text(table.row), ", ".join(columns)))
    if rows:
        parts.append(md.table(("table", "a row is", "columns"), rows))
    return "\n\n".join(parts)
