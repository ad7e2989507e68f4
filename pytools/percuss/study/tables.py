"""Read single tables and keys of parsed TOML: each function notes what is wrong and returns what it can."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from percuss.errors import InputError
from percuss.settings import KeyPath, Note, wrong_type
from percuss.units import dimension, same_dimension

MAX_DEPTH = 32
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


def plain_data(raw: Mapping[str, Any], note: Note) -> bool:
    """Check that all is JSON data: no dates, no NaN or infinities, not nested beyond reason."""
    fine = True
    pending: list[tuple[KeyPath, object]] = [((), raw)]
    while pending:
        path, value = pending.pop()
        if len(path) > MAX_DEPTH:
            note(path[:1], f"is nested more than {MAX_DEPTH} levels deep")
            return False
        children: Iterable[tuple[str | int, object]] = ()
        if isinstance(value, dict):
            children = value.items()
        elif isinstance(value, list):
            children = enumerate(value)
        elif isinstance(value, float) and not math.isfinite(value):
            note(path, f"{value} is not a finite number")
            fine = False
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**63:
            note(path, "is a whole number beyond 64 bits")
            fine = False
        elif not isinstance(value, str | int | float):
            note(path, f"{value} is a date or time: write it as a text")
            fine = False
        pending.extend(((*path, key), child) for key, child in children)
    return fine


def subtable(raw: Mapping[str, Any], key: str, note: Note, path: KeyPath = ()) -> dict[str, Any]:
    """Return the table under a key, empty when it is missing or no table."""
    value = raw.get(key, {})
    if not isinstance(value, dict):
        note((*path, key), wrong_type(value, "a table"))
        return {}
    return value


def named_tables(tables: Mapping[str, Any], section: str, note: Note) -> Iterable[tuple[str, dict[str, Any]]]:
    """Go through the tables [section.NAME] whose name and type are right."""
    for name in tables:
        if not _NAME.fullmatch(name):
            note((section, name), "a name holds letters, digits, `_`, `-` and `.`, at most 64")
        else:
            table = tables[name]
            if isinstance(table, dict):
                yield name, table
            else:
                note((section, name), wrong_type(table, "a table"))


def display_unit(
    table: Mapping[str, Any], si: str | None, path: KeyPath, note: Note, others: tuple[str, ...] = ()
) -> str | None:
    """Read a unit of the dimension of `si` or `others`, or of any when that is not known; `si` after a fault."""
    unit = table.get("unit", si)
    if unit is None:
        return None
    if not isinstance(unit, str):
        note((*path, "unit"), wrong_type(unit, "a text"))
        return si
    try:
        if any(same_dimension(unit, known) for known in (si or unit, *others)):
            return unit
        expected = f"{si} ({dimension(si or unit)})"
        note((*path, "unit"), f"{unit} ({dimension(unit)}) is not of the dimension of {expected}")
    except InputError as fault:
        note((*path, "unit"), str(fault))
    return si
