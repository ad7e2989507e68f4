"""Words of notes: in the event itself, or of private ones in a file beside it that can be redacted."""

from __future__ import annotations

import json

from percuss.errors import LedgerError, PrunedError
from percuss.kinds.note_added import KIND, NoteAdded
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.rows import from_frame
from percuss.ledger.words import WORDS


def name_of(ledger: Ledger, actor: str) -> str | None:
    """The name of an actor by the newest note that says it, or that it was redacted; None where none does."""
    import polars as pl

    frame = ledger.frame().filter(
        (pl.col("kind") == KIND.name) & pl.col("body").str.contains('"names":"', literal=True)
    )
    for event in reversed(from_frame(frame)):
        if NoteAdded.of(event).names == actor:
            return note_words(ledger, event)
    return None


def note_words(ledger: Ledger, event: Event) -> str:
    """The words of a note; of a private one that was redacted, that it was."""
    note = NoteAdded.of(event)
    if not note.private:
        return note.text
    try:
        return str(json.loads(ledger.files(event)[WORDS])["text"])
    except PrunedError as redacted:
        return f"redacted: {redacted}"
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise LedgerError(f"event {event.id}: its words cannot be read ({fault})") from fault
