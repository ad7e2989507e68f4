"""Add words of a person to an event."""

from __future__ import annotations

from percuss.errors import InputError
from percuss.kinds.note_added import NoteAdded
from percuss.ledger.event import Draft, Event
from percuss.ledger.notes import WORDS, salted
from percuss.session import Session

LONGEST = 10_000


def add_note(session: Session, about: Event, text: str, *, private: bool = False) -> Event:
    """Nothing is ever edited: a note is an event of its own. The words of a private one can be redacted."""
    if not text.strip() or len(text) > LONGEST:
        raise InputError(f"text: {len(text)} characters; a note has 1 to {LONGEST}")
    blobs = [session.ledger.put_file(WORDS, salted(text))] if private else []
    note = NoteAdded(text="" if private else text, private=private)
    return session.append([Draft("note.added", note, about.study, [("about", about)], blobs)])[0]
