"""Add words of a person to an event."""

from __future__ import annotations

from percuss.errors import InputError
from percuss.kinds.note_added import NoteAdded
from percuss.ledger.event import Draft, Event
from percuss.ledger.words import WORDS, salted
from percuss.session import Session

LONGEST = 10_000


def add_note(session: Session, about: Event, text: str, *, private: bool = False, names: str = "") -> Event:
    """Nothing is ever edited: a note is an event of its own. The words of a private one can be redacted.

    `names`: they are the name of this actor, who the event is by.
    """
    if names and not private:
        raise InputError("--names: is for private notes; a name in a note that is not private stays for ever")
    if names and names != about.actor:
        raise InputError(f"--names {names[:80]}: event {about.id} is by {about.actor}")
    if not text.strip() or len(text) > LONGEST:
        raise InputError(f"text: {len(text)} characters; a note has 1 to {LONGEST}")
    blobs = [session.ledger.put_file(WORDS, salted(text))] if private else []
    note = NoteAdded(text="" if private else text, private=private, names=names)
    return session.append([Draft("note.added", note, about.study, [("about", about)], blobs)])[0]
