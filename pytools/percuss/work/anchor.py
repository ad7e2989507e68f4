"""Make an anchor of a ledger, and hold a ledger against one that was kept elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from percuss.anchors.anchor import (
    Anchor,
    Testimony,
    check_new,
    checkpoint_of,
    grown,
    include,
    missing_from,
    read_anchor,
    write_anchor,
)
from percuss.anchors.witnesses import Finding, Trusted, findings, witness
from percuss.errors import InputError, LedgerError
from percuss.ledger.audit import Walk, prove_chain
from percuss.ledger.place import Place
from percuss.session import Session
from percuss.spelling import counted


@dataclass(frozen=True)
class Request:
    """What an anchor is to hold: proofs for some events and since an older anchor, and who testifies to it.

    `sign`: the file of an SSH key. `stamp`: the address of a time stamp authority.
    """

    events: Sequence[str] = ()
    since: Path | None = None
    sign: str | None = None
    stamp: str | None = None


def make_anchor(session: Session, to: Path, request: Request) -> Anchor:
    """Prove the chains, and write the anchor of them to a file outside of the ledger. Nothing is appended."""
    check_new(to)
    place = session.ledger.place
    walk = prove_chain(place)
    if not walk.proof.holds:
        raise LedgerError(f"{place.root}: is damaged, and is not anchored ({walk.proof.faults[0]})")
    if not walk.head:
        raise InputError(f"{place.root}: has no events yet to anchor")
    older = read_anchor(request.since) if request.since else None
    if older and (faults := faults_of(walk, place, older)):
        raise InputError(f"{request.since}: this ledger does not go on from it ({faults[0]})")
    checkpoint = checkpoint_of(place.id, walk.chains)
    where = {event.id: event for events in walk.streams.values() for event in events}
    included = [where[session.ledger.resolve(reference)] for reference in request.events]
    testimonies = [
        Testimony(kind, witness(kind).testify(checkpoint.text.encode(), address))
        for kind, address in (("ssh", request.sign), ("rfc3161", request.stamp))
        if address is not None
    ]
    anchor = Anchor(
        checkpoint,
        tuple(testimonies),
        older.checkpoint.text if older else None,
        grown(walk.chains, older.checkpoint) if older else {},
        tuple(include(walk.chains, event.id, event.stream, event.seq) for event in included),
    )
    write_anchor(anchor, to)
    return anchor


def faults_of(walk: Walk, place: Place, anchor: Anchor) -> list[str]:
    """In what a ledger is not the one of an anchor, or not gone on from it."""
    if anchor.checkpoint.ledger != place.id:
        return [f"it is of another ledger (id {anchor.checkpoint.ledger}, and this one has {place.id})"]
    return missing_from(walk.chains, anchor.checkpoint)


@dataclass(frozen=True)
class KeptAnchor:
    """What became of the file of an anchor: faults of the ledger against it, and what its testimonies are worth."""

    file: str
    root: str
    events: int
    since: int  # how many events the ledger has that the anchor does not speak of
    faults: Sequence[str]
    testimonies: Sequence[Finding]

    @property
    def holds(self) -> bool:
        """Whether every stream begins as it did, and no testimony is of something else."""
        return not self.faults and all(item.holds for item in self.testimonies)

    @property
    def sentence(self) -> str:
        """What is to be said of it."""
        wrong = [*self.faults, *(item.sentence for item in self.testimonies if not item.holds)]
        if wrong:
            return "; ".join(wrong)
        words = [item.sentence for item in self.testimonies] or ["the file itself is neither signed nor time-stamped"]
        since = f"; of the {counted(self.since, 'event')} since then it says nothing" if self.since else ""
        return f"all {counted(self.events, 'event')} of it are as they were{since}; {'; '.join(words)}"


def check_anchor(walk: Walk, place: Place, path: Path, trusted: Trusted) -> KeptAnchor:
    """Hold a ledger, whose chains were walked, against the file of an anchor."""
    anchor = read_anchor(path)
    events = sum(stream.size for stream in anchor.checkpoint.streams)
    faults = faults_of(walk, place, anchor)
    if not faults:
        # A proof is of a hash: that the event beside it is the one of this hash only the ledger shows.
        places = {f"{e.id} {e.hash} {e.stream} {e.seq}" for stream in walk.streams.values() for e in stream}
        named = [f"{item.event} {item.hash} {item.stream} {item.seq}" for item in anchor.inclusions]
        faults = [f"the file names the event {item[:36]}, and proves another" for item in named if item not in places]
    since = max(0, sum(map(len, walk.streams.values())) - events)
    return KeptAnchor(str(path), anchor.checkpoint.root, events, since, faults, findings(anchor, trusted))
