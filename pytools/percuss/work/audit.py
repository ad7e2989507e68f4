"""Prove that a ledger is what it says: chain, payloads, order, lineage, replay, re-execution.

The first four read the original files and know nothing of models (`percuss.ledger.audit`). What they read is what the
last two start from: the events are folded once for all that follows, and once more from the cache, which replay
compares with them. Every study is built once.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from percuss.anchors.witnesses import Trusted
from percuss.errors import InputError, LedgerError, NotHereError
from percuss.execution.records import CAMPAIGN, campaign_fault
from percuss.kinds.audit_made import AuditMade
from percuss.kinds.table import is_known
from percuss.ledger.audit import (
    Proof,
    find_anchor,
    prove_chain,
    prove_lineage,
    prove_order,
    prove_payloads,
    prove_replay,
)
from percuss.ledger.event import Draft, Event
from percuss.ledger.ledger import MAIN
from percuss.session import Session
from percuss.spelling import counted
from percuss.work.anchor import KeptAnchor, check_anchor
from percuss.work.reexecution import Reexecution, reason_not_here, reexecute
from percuss.work.repetition import STRANGE


@dataclass(frozen=True)
class KeptHash:
    """A hash that was kept elsewhere, and the event that has it with its stream; None: no event has.

    An event of a shard proves nothing of main: a shard that was adopted goes on in a main that was rewritten.
    """

    hash: str
    event: str | None
    stream: str | None

    @property
    def holds(self) -> bool:
        """Whether everything up to there is as it was."""
        return self.stream == MAIN

    @property
    def sentence(self) -> str:
        """What is to be said of it."""
        if self.holds:
            return f"everything up to event {self.event} is as it was"
        if self.event:
            where = f"event {self.event} of the stream {self.stream}"
            return f"that is {where}, which proves nothing of main; keep the head below"
        return f"no event has the hash {self.hash}: cut short or rewritten"


@dataclass(frozen=True)
class Tier:
    """How far a ledger can be relied on in one respect: reached or not, and what that says."""

    name: str
    reached: bool
    sentence: str


@dataclass(frozen=True, repr=False)
class Audit:
    """The six proofs, the hash of the last event, and what became of the anchor if there is one.

    `repeated` says by which beacon results were drawn, and how they came out; None where nothing was tried. `events`
    counts all there are, `sealed` those in sealed segments.
    """

    proofs: list[Proof]
    head: str | None
    anchor: KeptHash | KeptAnchor | None
    repeated: Reexecution | None = None
    events: int = 0
    sealed: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return all(proof.holds for proof in self.proofs) and (self.anchor is None or self.anchor.holds)

    @property
    def tiers(self) -> list[Tier]:
        """What the ledger is: whole, sealed, anchored, repeated. None of them follows from another."""
        whole = all(proof.holds for proof in self.proofs[:-1])
        verdicts = self.repeated.verdicts if self.repeated else Counter[str]()
        compared = verdicts["same"] + verdicts["within"]
        trusted = isinstance(self.anchor, KeptAnchor) and any(item.trusted for item in self.anchor.testimonies)
        by = "and somebody you trust testifies to it" if trusted else "as far as you trust what you kept"
        if isinstance(self.anchor, KeptAnchor) and self.anchor.since:
            by += f"; not the {counted(self.anchor.since, 'event')} since then"
        counts = f"{verdicts['differs']} did not, {verdicts['cannot']} cannot be compared"
        by_claim = self.repeated.by_claim if self.repeated else 0
        if by_claim:
            counts += f" ({by_claim} of them differed, and only the environment they claim excuses them)"
        anchored = self.anchor is not None and self.anchor.holds
        return [
            Tier("whole", whole, "chain, payloads, order, lineage and replay hold" if whole else "something is broken"),
            Tier("sealed", self.sealed > 0, f"{self.sealed} of {self.events} events are in sealed segments"),
            Tier("anchored", anchored, f"against what was kept outside, {by}" if anchored else "by nothing outside"),
            Tier(
                "repeated",
                compared > 0 and not verdicts["differs"] and not by_claim and verdicts["cannot"] <= compared,
                f"{compared} results came out again, {counts}",
            ),
        ]

    def __repr__(self) -> str:
        broken = [proof.name for proof in self.proofs if not proof.holds]
        if self.anchor is not None and not self.anchor.holds:
            broken.append("anchor")
        verdict = f"BROKEN: {', '.join(broken)}" if broken else "holds"
        tiers = "; ".join(f"{tier.name}: {tier.sentence}" for tier in self.tiers if tier.reached)
        return f"<audit of {counted(self.events, 'event')}, {verdict}; {tiers}>"


def audit(
    session: Session,
    rerun: int = 3,
    anchor: str | Path | None = None,
    beacon: str | None = None,
    trusted: Trusted | None = None,
) -> Audit:
    """Prove all there is to prove, with so many results of each sort computed again. Nothing is appended.

    `anchor`: the file of an anchor, or the hash of an event of main, that was kept elsewhere. `beacon`: the text by
    which results are drawn; fresh entropy if there is none. `trusted`: by whom anchors may be testified to.
    """
    file = Path(anchor) if anchor and Path(anchor).is_file() else None
    if anchor and not file and not re.fullmatch("[0-9a-fA-F]{16,64}", str(anchor)):
        raise InputError(
            f"--anchor {str(anchor)[:80]}: must be the file of an anchor, or a hash, or at least its first 16 "
            "hexadecimal digits"
        )
    place = session.ledger.place
    walk = prove_chain(place)
    proofs = [walk.proof, prove_payloads(place, walk), prove_order(walk), prove_lineage(walk)]
    repeated = None
    if all(proof.holds for proof in proofs):
        replayed = prove_replay(session.ledger, session.begin_from(walk.visible))
        repeated = reexecute(session, rerun, beacon)
        proofs += [_prove_campaigns(session, replayed), repeated.proof]
    else:
        damaged = "not tried: what it would start from is damaged"
        proofs += [Proof(name, "", note=damaged) for name in ("replay", "re-execution")]
    kept: KeptHash | KeptAnchor | None = None
    if file:
        kept = check_anchor(walk, place, file, trusted or Trusted())
    elif anchor:
        event = find_anchor(walk, str(anchor))
        kept = KeptHash(str(anchor), event.id if event else None, event.stream if event else None)
    return Audit(proofs, walk.head, kept, repeated, len(walk.visible), walk.sealed)


def record(session: Session, done: Audit, rerun: int) -> Event:
    """Append what was drawn and how it came out, for those who come later. Refused for a ledger that is damaged."""
    repeated = done.repeated
    if repeated is None or done.head is None:
        raise LedgerError(f"{session.ledger.place.root}: is damaged or empty; nothing is appended to it")
    body = AuditMade(
        head=done.head,
        events=done.events,
        holds=done.holds,
        rerun=rerun,
        beacon=repeated.beacon,
        drawn=tuple(repeated.drawn),
        proofs={proof.name: len(proof.faults) for proof in done.proofs},
        tiers={tier.name: tier.reached for tier in done.tiers},
        anchor=done.anchor.sentence if done.anchor else "",
    )
    drawn = [session.state.events[id] for id in dict.fromkeys(item.event for item in repeated.drawn)]
    return session.append([Draft("audit.made", body, inputs=[("drawn", event) for event in drawn])])[0]


def _prove_campaigns(session: Session, proof: Proof) -> Proof:
    """Every campaign, superseded or closed again since as well, is what its runs are."""
    for campaign in [event for event in session.state.events.values() if event.kind == CAMPAIGN]:
        if not is_known(campaign.kind, campaign.version):
            continue
        proof.checked += 1
        try:
            if wrong := campaign_fault(session, campaign):
                proof.faults.append(f"campaign {campaign.id}: {wrong}")
        except NotHereError as missing:
            proof.checked -= 1
            proof.note = f"some campaigns {reason_not_here(campaign, missing)}"
        except STRANGE as fault:  # a stranger's ledger, perhaps
            proof.faults.append(f"campaign {campaign.id}: its runs cannot be put together ({fault})")
    return proof
