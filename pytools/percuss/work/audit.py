"""Prove that a ledger is what it says: chain, payloads, order, lineage, replay, re-execution.

The first four read the original files and know nothing of models (`percuss.ledger.audit`). What they read is what the
last two start from: the events are folded once for all that follows, and once more from the cache, which replay
compares with them. Every study is built once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from percuss.designs.records import read_design
from percuss.errors import InputError, NotHereError
from percuss.execution.records import campaign_table
from percuss.kinds.campaign_completed import CampaignCompleted
from percuss.ledger.audit import (
    Proof,
    find_anchor,
    prove_chain,
    prove_lineage,
    prove_order,
    prove_payloads,
    prove_replay,
)
from percuss.ledger.ledger import MAIN
from percuss.ledger.tables import table_digest
from percuss.session import Session
from percuss.work.reexecution import Reexecution, reason_not_here, reexecute
from percuss.work.repetition import STRANGE


@dataclass(frozen=True)
class Anchor:
    """A hash that was kept elsewhere, and the event that has it with its stream; None: no event has.

    An event of a shard proves nothing of main: a shard that was adopted goes on in a main that was written anew.
    """

    hash: str
    event: str | None
    stream: str | None

    @property
    def holds(self) -> bool:
        """Whether everything up to there is as it was."""
        return self.stream == MAIN


@dataclass(frozen=True)
class Audit:
    """The six proofs, the hash of the last event, and what became of the anchor if there is one.

    `repeated` says by which beacon results were drawn, and how they came out; None where nothing was tried.
    """

    proofs: list[Proof]
    head: str | None
    anchor: Anchor | None
    repeated: Reexecution | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return all(proof.holds for proof in self.proofs) and (self.anchor is None or self.anchor.holds)


def audit(session: Session, rerun: int = 3, anchor: str | None = None, beacon: str | None = None) -> Audit:
    """Prove all there is to prove, with so many results of each sort computed again. Nothing is appended.

    `beacon`: the text by which results are drawn; fresh entropy if there is none.
    """
    if anchor and not re.fullmatch("[0-9a-fA-F]{16,64}", anchor):
        raise InputError(f"--anchor {anchor[:80]}: must be a hash, or at least its first 16 hexadecimal digits")
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
    kept = None
    if anchor:
        event = find_anchor(walk, anchor)
        kept = Anchor(anchor, event.id if event else None, event.stream if event else None)
    return Audit(proofs, walk.head, kept, repeated)


def _prove_campaigns(session: Session, proof: Proof) -> Proof:
    """Every campaign gives, from its runs, the digest it recorded."""
    state = session.state
    for design, campaign in state.campaigns.items():
        proof.checked += 1
        try:
            # Its own runs, whether or not some of them were superseded or run twice since.
            batches = [state.events[item.id] for item in campaign.inputs_as("runs")]
            table = campaign_table(session.ledger, batches, read_design(session, state.events[design]))
            if table_digest(table) != CampaignCompleted.of(campaign).content:
                proof.faults.append(f"campaign {campaign.id}: its runs do not give the digest it recorded")
        except NotHereError as missing:
            proof.checked -= 1
            proof.note = f"some campaigns {reason_not_here(campaign, missing)}"
        except STRANGE as fault:  # a stranger's ledger, perhaps
            proof.faults.append(f"campaign {campaign.id}: its runs cannot be put together ({fault})")
    return proof
