"""Delete payloads under a policy. Their digests stay, and an event says what was deleted and why.

Only what can be computed again is pruned: never studies, designs, measured data or imported runs. Payloads that other
events carry as well stay. The event is appended first, then files are deleted, so that nothing is ever missing that no
event speaks of; a prune that was killed is gone on with by the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from percuss.errors import InputError, LedgerError
from percuss.kinds.payloads_pruned import PayloadsPruned, Pruned
from percuss.ledger.audit import prove_chain
from percuss.ledger.blobs import blob_path, delete_payload
from percuss.ledger.event import Blob, Draft, Event
from percuss.ledger.files import exists
from percuss.ledger.projections import WORDS
from percuss.ledger.pruned import KIND, may_be_pruned, tombstones
from percuss.session import Session
from percuss.work.doctor import STRAY_AGE_S, age_s
from percuss.work.selection import Selection, read_time

LONGEST = 10_000
# What depends on an event without being a result itself.
CARRIERS = ("campaign.completed", "event.superseded", "stream.adopted", "stream.sealed", KIND)

# Why something stays: of several, and of one.
SHARED = "payloads that other events carry as well"
NOT_AGAIN = "events that cannot be computed again from what stays"
CITED = "events that are cited"
OF_ONE = {
    SHARED: "payload that other events carry as well",
    NOT_AGAIN: "event that cannot be computed again from what stays",
    CITED: "event that is cited",
}


@dataclass(frozen=True)
class Policy:
    """Which payloads: of events before `older_than` (a time, or how long ago), of a kind, of a study.

    `keep_cited`: those stay that a result which is not pruned depends on, or that somebody wrote a note about.
    """

    older_than: str
    kind: str | None = None
    study: str | None = None
    keep_cited: bool = True

    def to_json(self) -> dict[str, Any]:
        """As the event records it."""
        return {
            "older_than": self.older_than,
            "kind": self.kind,
            "study": self.study,
            "keep_cited": self.keep_cited,
        }


@dataclass
class Pruning:
    """What is or was to be done: payloads by event, why others stay, and what became of the files."""

    payloads: list[tuple[Event, Blob]] = field(default_factory=list)
    kept: dict[str, int] = field(default_factory=dict)
    event: Event | None = None
    deleted: int = 0
    freed_bytes: int = 0
    young: int = 0

    def keep(self, why: str) -> None:
        """Count an event or a payload that stays."""
        self.kept[why] = self.kept.get(why, 0) + 1


def plan(session: Session, policy: Policy) -> Pruning:
    """What the policy chooses; nothing is changed."""
    streams = _whole(session)
    done = Pruning()
    chosen = _chosen(session, policy, done)
    gone = tombstones(session.state.events.values())
    users: dict[str, list[tuple[Event, Blob]]] = {}
    for event in streams:
        for blob in event.payloads:
            users.setdefault(blob.sha256, []).append((event, blob))
    for event in chosen.values():
        for blob in event.blobs:
            if gone.of(event, blob):
                continue
            others = [e for e, b in users[blob.sha256] if e.id not in chosen and not gone.of(e, b)]
            if others:
                done.keep(SHARED)
            else:
                done.payloads.append((event, blob))
    return done


def prune(session: Session, policy: Policy, reason: str) -> Pruning:
    """Record what is pruned, then delete it; also what an earlier prune recorded and did not come to."""
    if not reason.strip() or len(reason) > LONGEST:
        raise InputError(f"--reason: {len(reason)} characters; why must be said, in 1 to {LONGEST} of them")
    done = plan(session, policy)
    if done.payloads:
        events = list({event.id: event for event, _ in done.payloads}.values())
        named = tuple(
            Pruned(event=e.id, role=b.role, sha256=b.sha256, digest=b.digest, rows=b.rows, bytes=b.bytes)
            for e, b in done.payloads
        )
        body = PayloadsPruned(payloads=named, reason=reason, policy=policy.to_json())
        done.event = session.append([Draft(KIND, body, inputs=[("pruned", event) for event in events])])[0]
    _delete(session, done)
    return done


def _whole(session: Session) -> list[Event]:
    """The events of all streams, those of shards too; refused where the chain is damaged."""
    walk = prove_chain(session.ledger.place)
    if not walk.proof.holds:
        raise LedgerError(f"{session.ledger.place.root}: is damaged; nothing is pruned before percuss audit holds")
    return [event for events in walk.streams.values() for event in events]


def _chosen(session: Session, policy: Policy, done: Pruning) -> dict[str, Event]:
    import polars as pl

    state = session.state
    before = read_time(policy.older_than, "--older-than")
    frame = Selection(policy.kind, policy.study).of(session.ledger.frame())
    ids = frame.filter(pl.col("at") < before)["id"].to_list()
    chosen = {id: state.events[id] for id in ids if state.events[id].blobs}
    for id, event in list(chosen.items()):
        if not may_be_pruned(event, state.events):
            done.keep(NOT_AGAIN)
            del chosen[id]
    if policy.keep_cited:
        for id in _cited(session, chosen):
            done.keep(CITED)
            del chosen[id]
    return chosen


def _cited(session: Session, chosen: Iterable[str]) -> list[str]:
    """Of these events those that a note is about, or that a result depends on which is not among them and stands."""
    state, among = session.state, set(chosen)
    cited: set[str] = set()
    # From the newest back: what something cited depends on is cited.
    for event in reversed(state.events.values()):
        if event.kind == "note.added":
            cited |= {item.id for item in event.inputs_as("about")}
            continue
        keeps = event.id in cited or (
            event.id not in among and event.kind not in CARRIERS and event.id not in state.superseded
        )
        if keeps:
            cited |= {item.id for item in event.inputs if item.role not in WORDS}
    return [id for id in among if id in cited]


def _delete(session: Session, done: Pruning) -> None:
    """Delete payloads that all their events have tombstones for, unless a writer may be about to use them."""
    session.refresh()
    gone = tombstones(session.state.events.values())
    place = session.ledger.place
    kept = {blob_path(place, blob) for event in _whole(session) for blob in event.payloads if not gone.of(event, blob)}
    for event in session.state.events.values():
        for blob in event.blobs:
            path = blob_path(place, blob)
            if not gone.of(event, blob) or path in kept or not exists(path):
                continue
            # A writer that found the bytes there made the file young, and its event may not be in yet.
            if age_s(path) <= STRAY_AGE_S:
                done.young += 1
                continue
            if delete_payload(place, blob):
                done.deleted += 1
                done.freed_bytes += blob.bytes
