"""The section `[timing]` of a study: how well a period is timed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from percuss.settings import Note, Setting, check_table, table_of

SCHEMA = table_of(Setting("tolerance", "number", required=True, unit="s", low=0.0, doc="error of the stop watch"))


def resolve(study: Any, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """The section in SI."""
    return check_table(SCHEMA, table, ("timing",), note)


def check_data(study: Any, note: Note) -> None:
    """It names no files."""
