"""An audit was made: what was drawn to be computed again, by which beacon, and how each result came out."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A result that was drawn: which one of which event, and the verdict with its sentence."""

    event: str
    part: Count
    verdict: str
    sentence: str = ""


@dataclass(frozen=True, kw_only=True)
class AuditMade(Body):
    """`head`: hash of the last event of main that was audited. `rerun`: how many results of each sort were asked for.

    `proofs`: how many faults each has. `anchor`: what was kept outside, in words; empty without one.
    """

    head: str
    events: Count
    holds: bool
    rerun: Count
    beacon: str
    drawn: tuple[Drawn, ...]
    proofs: dict[str, int]
    tiers: dict[str, bool]
    anchor: str = ""


def summary(body: AuditMade) -> str:
    """In a few words."""
    return f"{'holds' if body.holds else 'BROKEN'}, {len(body.drawn)} results computed again"


KIND = Kind(
    "audit.made",
    AuditMade,
    "an audit of the ledger up to here: what was drawn, and the outcome",
    summary=summary,
    made_by="audit",
    asked=("rerun", "beacon"),
)
