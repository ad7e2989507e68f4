"""Words of a person about an event."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class NoteAdded(Body):
    """The words; of a private note they are in the file `words`, which can be redacted, and here there are none."""

    text: str
    private: bool = False


KIND = Kind(
    "note.added",
    NoteAdded,
    "words of a person about an event",
    needs={"about": ()},
    summary=lambda body: "private" if body.private else body.text[:60],
    version=2,
    upcasters={1: lambda body: body},
    made_by="note",
)
