"""Commits were packed into one file; rows and hashes unchanged."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class StreamSealed(Body):
    """Which commits of which stream, how many events they hold, and the hash of the last of them."""

    stream: str
    first_commit: Count
    last_commit: Count
    events: Count
    head: str


KIND = Kind(
    "stream.sealed",
    StreamSealed,
    "commits were packed into one file; rows and hashes unchanged",
    summary=lambda body: f"{body.stream}, {counted(body.events, 'event')}",
    made_by="seal",
)
