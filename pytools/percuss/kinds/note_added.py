"""Words of a person about an event."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class NoteAdded(Body):
    """The words; of a private note they are in the file `words`, which can be redacted, and here there are none.

    `names`: the words are the name of this actor, who stands in the events under another. Such a note may be about no
    event: a private call begins with one.
    """

    text: str
    private: bool = False
    names: str = ""


def summary(body: NoteAdded) -> str:
    """In a few words."""
    if body.names:
        return f"who {body.names} is, private"
    return "private" if body.private else body.text[:60]


KIND = Kind(
    "note.added",
    NoteAdded,
    "a note of a person on an event",
    summary=summary,
    version=3,
    upcasters={1: lambda body: body, 2: lambda body: body},
    made_by="note",
)
