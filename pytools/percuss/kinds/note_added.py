"""Words of a person about an event."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class NoteAdded(Body):
    """The words."""

    text: str


KIND = Kind(
    "note.added",
    NoteAdded,
    "words of a person about an event",
    needs={"about": ()},
    summary=lambda body: body.text[:60],
    made_by="note",
)
