"""One event in full: what it says, how it stands today, the tables it carries, and in which units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from percuss.errors import LedgerError, PercussError
from percuss.export.tables import study_units
from percuss.kinds.note_added import NoteAdded
from percuss.kinds.table import kind_of, plain
from percuss.kinds.trusted import Result
from percuss.ledger.event import FILE_ROLE, Event
from percuss.ledger.notes import note_words
from percuss.ledger.projections import superseded_ids
from percuss.session import Session, standing, superseded
from percuss.trust import Trust

if TYPE_CHECKING:
    import polars as pl

# Fields by which the rows of a body name a parameter or an output of the study.
NAMING = ("name", "parameter", "output")
UNIT = "SI unit"


def standing_words(session: Session, event: Event) -> list[str]:
    """What is to be known before an event is used: that it is superseded, or what it depends on."""
    # Few ledgers have anything superseded, and only those are worth folding whole for one event.
    if not superseded_ids(session.ledger.frame()):
        return []
    return [verdict.line() for verdict in superseded(session.state, event)]


def marks(session: Session, event: Event) -> Trust:
    """What is to be said before an event is drawn or written: gates it failed, what is superseded under it."""
    if superseded_ids(session.ledger.frame()):
        return standing(session.state, event)
    return event.content.trust if isinstance(event.content, Result) else ()


def tables(session: Session, event: Event) -> dict[str, pl.DataFrame]:
    """The tables that an event carries."""
    roles = [blob.role for blob in event.blobs if not blob.role.startswith(FILE_ROLE)]
    return {role: session.table(event, role) for role in roles}


def units(session: Session, event: Event) -> dict[str, str]:
    """SI units of the parameters, outputs and quantities of the study of an event; none where it cannot be read."""
    if event.kind != "study.registered" and not event.inputs_as("study"):
        return {}
    try:
        return {name: unit for name, unit in study_units(session.study(event)).items() if unit}
    except (PercussError, KeyError):
        return {}  # a study of a plugin that is not here, or of a stranger


def column_units(event: Event, role: str, of_study: Mapping[str, str]) -> dict[str, str]:
    """SI units of the columns of a table: those its kind declares, and those of the study's own."""
    kind = kind_of(event.kind)
    declared = kind.tables.get(role) if kind else None
    if declared is None:
        return {}
    own = dict(of_study) if declared.more else {}
    return own | {column: unit for column, unit in declared.columns.items() if unit}


def body(session: Session, event: Event) -> dict[str, Any]:
    """The body of an event, its fields in the order of its kind where it is one that this percuss reads.

    Words of a private note are put in.
    """
    try:
        content = event.content
    except LedgerError:
        return event.data
    if isinstance(content, NoteAdded):
        return {**plain(content), "text": note_words(session.ledger, event)}
    recorded = event.data
    return recorded if content is None else {**plain(content), **(recorded if content.open_ended else {})}


def with_units(data: Any, of_study: Mapping[str, str]) -> Any:
    """A body in which every row that names a parameter or output of the study says its SI unit."""
    if isinstance(data, Mapping):
        inner = {key: with_units(value, of_study) for key, value in data.items()}
        numbers = any(isinstance(value, float) for value in inner.values())
        names = [str(inner[key]) for key in NAMING if isinstance(inner.get(key), str)]
        unit = next((of_study[name] for name in reversed(names) if of_study.get(name, "1") != "1"), None)
        return inner | {UNIT: unit} if unit and numbers and "unit" not in inner else inner
    if isinstance(data, list):
        return [with_units(item, of_study) for item in data]
    return data
