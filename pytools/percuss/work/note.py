"""Add words of a person to an event."""

from __future__ import annotations

from percuss.errors import InputError
from percuss.kinds.note_added import NoteAdded
from percuss.ledger.event import Draft, Event
from percuss.session import Session

LONGEST = 10_000


def add_note(session: Session, about: Event, text: str) -> Event:
    """Nothing is ever edited: a note is an event of its own."""
    if not text.strip() or len(text) > LONGEST:
        raise InputError(f"text: {len(text)} characters; a note has 1 to {LONGEST}")
    return session.append([Draft("note.added", NoteAdded(text=text), about.study, [("about", about)])])[0]
