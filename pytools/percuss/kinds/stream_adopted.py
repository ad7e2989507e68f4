"""The events of another stream, up to a hash, became part of this one."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class StreamAdopted(Body):
    """Which stream, how many of its events, and the hash of the last of them."""

    stream: str
    events: Count
    head: str


KIND = Kind(
    "stream.adopted",
    StreamAdopted,
    "the events of another stream, up to a hash, became part of this one",
    summary=lambda body: f"{body.stream}, {counted(body.events, 'event')}",
    made_by="adopt",
)
