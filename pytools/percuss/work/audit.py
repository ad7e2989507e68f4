"""Prove that a ledger is what it says: chain, payloads, order, lineage, replay, re-execution.

The first four read the original files and know nothing of models (`percuss.ledger.audit`). What they read is what the
last two start from: the events are folded once for all that follows, and once more from the cache, which replay
compares with them. Every study is built once.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from percuss.designs.records import read_design
from percuss.errors import InputError, PercussError
from percuss.execution.records import campaign_table
from percuss.kinds.campaign_completed import CampaignCompleted
from percuss.kinds.kind import resolved
from percuss.kinds.table import KINDS, is_known
from percuss.ledger.audit import (
    Proof,
    find_anchor,
    prove_chain,
    prove_lineage,
    prove_order,
    prove_payloads,
    prove_replay,
)
from percuss.ledger.event import Event
from percuss.ledger.ledger import MAIN
from percuss.ledger.tables import table_digest
from percuss.plugins import UnknownNameError
from percuss.session import Session


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
    """The six proofs, the hash of the last event, and what became of the anchor if there is one."""

    proofs: list[Proof]
    head: str | None
    anchor: Anchor | None

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return all(proof.holds for proof in self.proofs) and (self.anchor is None or self.anchor.holds)


def audit(session: Session, rerun: int = 3, anchor: str | None = None) -> Audit:
    """Prove all there is to prove, with so many results of each sort computed again. Nothing is appended."""
    if anchor and not re.fullmatch("[0-9a-fA-F]{16,64}", anchor):
        raise InputError(f"--anchor {anchor[:80]}: must be a hash, or at least its first 16 hexadecimal digits")
    place = session.ledger.place
    walk = prove_chain(place)
    proofs = [walk.proof, prove_payloads(place, walk), prove_order(walk), prove_lineage(walk)]
    if all(proof.holds for proof in proofs):
        replayed = prove_replay(session.ledger, session.begin_from(walk.visible))
        proofs += [_prove_campaigns(session, replayed), _prove_reexecution(session, rerun)]
    else:
        damaged = "not tried: what it would start from is damaged"
        proofs += [Proof(name, "", note=damaged) for name in ("replay", "re-execution")]
    kept = None
    if anchor:
        event = find_anchor(walk, anchor)
        kept = Anchor(anchor, event.id if event else None, event.stream if event else None)
    return Audit(proofs, walk.head, kept)


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
        except UnknownNameError as missing:
            proof.checked -= 1
            proof.note = f"some campaigns {_not_here(campaign, missing)}"
        except (PercussError, KeyError, TypeError, ValueError, IndexError) as fault:  # a stranger's ledger, perhaps
            proof.faults.append(f"campaign {campaign.id}: its runs cannot be put together ({fault})")
    return proof


def _prove_reexecution(session: Session, count: int) -> Proof:
    """Compute some results of every kind that can be computed again, and compare.

    External programs are run again only with the consent of the user.
    """
    proof = Proof("re-execution", "some runs and posteriors, made again, give the same bits")
    if session.allow_command:
        for registered in session.state.studies.values():
            session.consented(session.study(registered))
    notes: list[str] = []
    for sort, events in _repeatable(session).items():
        notes += _prove_sort(session, proof, sort, events, count)
    proof.note = "; ".join(notes) or "0 of 0 runs"
    if count and notes and not proof.checked and proof.holds:
        # Nothing was computed again, which proves nothing.
        proof.note = f"not tried: {proof.note}"
    return proof


def _not_here(event: Event, missing: UnknownNameError) -> str:
    """Why an event cannot be repeated here, and with which plugins it was made."""
    missing_part = str(missing).split(": known")[0].split("; did")[0].split(": did")[0]
    _, _, plugins = event.software.version.partition("; ")
    return f"cannot be repeated here: {missing_part}" + (f" (made with {plugins})" if plugins else "")


def _repeatable(session: Session) -> dict[str, list[Event]]:
    """Events that stand and whose kind can be computed again, by what they hold: runs, posteriors."""
    sorts: dict[str, list[Event]] = {}
    for event in session.state.events.values():
        readable = is_known(event.kind, event.version) and event.id not in session.state.superseded
        if readable and KINDS[event.kind].repeat:
            sort = event.kind.split(".")[0]
            sorts.setdefault(_several(sort), []).append(event)
    return sorts


def _several(sort: str) -> str:
    """The plural of what events of a kind hold.

    >>> _several("runs"), _several("posterior"), _several("reliability")
    ('runs', 'posteriors', 'reliabilities')
    """
    if sort.endswith("s"):
        return sort
    return f"{sort[:-1]}ies" if sort.endswith("y") else f"{sort}s"


def _prove_sort(session: Session, proof: Proof, sort: str, events: list[Event], count: int) -> Iterator[str]:
    """Compute so many results of one sort again; yields what is to be noted."""
    left_out: dict[str, set[str]] = {}
    results = []
    for event in events:
        kind = KINDS[event.kind]
        try:
            why_not = resolved(kind.unrepeatable)
            if reason := why_not(session, event) if why_not else None:
                # Said of what such events have in common, which is their design.
                left_out.setdefault(reason, set()).add(event.input("design"))
            else:
                results += [(event, part) for part in range(kind.parts(event.content))]
        except UnknownNameError as missing:
            left_out.setdefault(_not_here(event, missing), set()).add(event.id)
        except (PercussError, KeyError, TypeError, ValueError, IndexError) as fault:  # a stranger's ledger, perhaps
            proof.faults.append(f"event {event.id}: {fault}")
    # Which ones: spread by a hash of their place, so that nobody, the writer included, can choose them.
    results.sort(key=lambda result: hashlib.sha256(f"{result[0].hash} {result[1]}".encode()).digest())
    repeated = 0
    remarks: Counter[str] = Counter()
    for event, part in results if count else ():
        repeat = KINDS[event.kind].repeater()
        assert repeat is not None
        try:
            again = repeat(session, event, part)
        except UnknownNameError as missing:
            # Of a plugin that is not installed, or a function that is not defined here: neither proof nor fault.
            remarks[_not_here(event, missing)] += 1
        except (
            PercussError,
            KeyError,
            TypeError,
            ValueError,
            IndexError,
        ) as trouble:  # a ledger may come from a stranger
            repeated += 1
            proof.checked += 1
            proof.faults.append(f"event {event.id}: cannot be computed again ({trouble})")
        else:
            repeated += again.verdict != "cannot"
            proof.checked += again.checked
            if again.verdict == "differs":
                proof.faults.append(f"event {event.id}: {again.sentence}")
            elif again.sentence:
                remarks[again.sentence] += 1
        if repeated >= count:
            break
    yield f"{repeated} of {len(results)} {sort}"
    yield from (f"{number} {sentence}" for sentence, number in remarks.items())
    yield from (f"{len(designs)} {reason}" for reason, designs in left_out.items())
