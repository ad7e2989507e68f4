"""A crate of another ledger: an event made elsewhere, with all it depends on, kept as evidence."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class CrateImported(Body):
    """Which event of which ledger, its hash there, and how many events came with it.

    Rows, description and payloads are carried as files and tables, under the names that they have in the crate.
    """

    event: str
    kind: str
    hash: str
    ledger: str
    events: Count
    licence: str = ""


KIND = Kind(
    "crate.imported",
    CrateImported,
    "a crate of another ledger: an event made elsewhere, with all it depends on",
    summary=lambda body: f"{body.kind} {body.event[:18]} with {body.events} events",
    made_by="import",
    asked=("event", "hash"),
)
