"""What a text means that may name a study or an event."""

from __future__ import annotations

from pathlib import Path

from percuss.errors import InputError
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.study.load import named_study, study_path
from percuss.study.study import Study

ID_CHARACTERS = frozenset("0123456789abcdef-")


def subject(text: str, studies: Path) -> Path | str:
    """The path of a study, or a reference to an event.

    A study that is there comes first, also one whose name could be the beginning of an id (`facade`). What is no study
    is an event if it looks like one: `@last...`, or the hexadecimal of an id. Raises InputError for anything else.
    """
    if path := named_study(text, studies):
        return path
    if text.startswith("@") or (text and set(text.lower()) <= ID_CHARACTERS):
        return text
    return study_path(text, studies)


def study_of(session: Session, event: Event) -> Study:
    """The study that an event belongs to."""
    registered = session.state.studies.get(event.study.digest) if event.study else None
    if registered is None:
        raise InputError(f"event {event.id} ({event.kind}): belongs to no study")
    return session.study(registered)
