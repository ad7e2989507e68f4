"""What a text means that may name a study or an event."""

from __future__ import annotations

from pathlib import Path

from percuss.errors import InputError
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.study.study import Study

ID_CHARACTERS = frozenset("0123456789abcdef-")


def named_study(text: str, studies: Path) -> Path | None:
    """A study by path, or by its name in the folder of studies; None where there is no such."""
    path = Path(text)
    if path.exists():
        return path
    named = studies / text
    return named if named.is_dir() and "/" not in text and text not in ("", ".", "..") else None


def study_path(text: str, studies: Path) -> Path:
    """A study by path or by name; raise InputError where there is no such."""
    from percuss.spelling import did_you_mean
    from percuss.study.load import find_studies
    from percuss.study.shipped import EXAMPLES

    if path := named_study(text, studies):
        return path
    example = text.removeprefix(f"{studies}/")
    raise InputError(
        f"study {text!r}: neither a path nor a name in {studies}",
        hint=f"percuss study copy {example} brings the example of that name"
        if example in find_studies(EXAMPLES)
        else did_you_mean(text, find_studies(studies)),
    )


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


def registered_event(session: Session, study: Study) -> Event:
    """The event that registered this very study; appended if it is new."""
    source = session.registered(study)
    if not isinstance(source, Event):
        session.append([source])
        source = session.registered(study)
    assert isinstance(source, Event)
    return source
