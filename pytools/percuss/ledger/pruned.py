"""What was pruned: payloads that an event of the kind `payloads.pruned` names may be missing, and no others.

A tombstone speaks of a payload of one event. Events that share its bytes and that no tombstone names must still find
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from percuss.errors import InputError, LedgerError
from percuss.kinds.payloads_pruned import PayloadsPruned, Pruned
from percuss.kinds.table import kind_of
from percuss.ledger.event import Blob, Event

KIND = "payloads.pruned"
NOTE = "note.added"
# What cannot be computed again, or what all else is read by.
NEVER = ("study.registered", "design.created", "observations.imported", "scene.settled", "crate.imported", KIND)


def may_be_pruned(event: Event) -> bool:
    """Whether the payloads of an event may ever be deleted: only what can be computed again from what stays."""
    kind = kind_of(event.kind)
    return kind is not None and bool(kind.repeat) and bool(kind.tables) and event.kind not in NEVER


def may_be_missing(event: Event) -> bool:
    """Whether payloads of an event can be gone as recorded: what may be pruned, and words of private notes."""
    return may_be_pruned(event) or event.kind == NOTE


@dataclass(frozen=True)
class Tombstones:
    """Payloads that were pruned, by event and role, each with the event that says so; and what is wrong with these."""

    named: Mapping[tuple[str, str], Event]
    faults: list[str]

    def of(self, event: Event, blob: Blob) -> Event | None:
        """The event that says that a payload was pruned."""
        return self.named.get((event.id, blob.role))


def tombstones(events: Iterable[Event]) -> Tombstones:
    """All that was pruned, from visible events in order.

    A tombstone that does not fit what it names counts for nothing. That one is superseded changes nothing: what is gone
    is gone.
    """
    seen: dict[str, Event] = {}
    named: dict[tuple[str, str], Event] = {}
    faults: list[str] = []
    for event in events:
        if event.kind == KIND:
            try:
                body = PayloadsPruned.of(event)
            except (LedgerError, InputError) as fault:
                faults.append(f"event {event.id}: {fault}")
                continue
            speaks_of = {item.id for item in event.inputs_as("pruned")}
            for payload in body.payloads:
                if wrong := _fault(payload, seen.get(payload.event), payload.event in speaks_of):
                    faults.append(f"event {event.id}: {wrong}")
                else:
                    named[payload.event, payload.role] = event
        seen[event.id] = event
    return Tombstones(named, faults)


def _fault(payload: Pruned, event: Event | None, is_input: bool) -> str | None:
    what = f"the {payload.role} of {payload.event}"
    if event is None or not is_input:
        return f"prunes {what}, which is not an event before it that it names among its inputs"
    if not may_be_missing(event):
        return f"prunes {what}, and what is of the kind {event.kind} is never pruned"
    blob = event.blob(payload.role)
    if blob is None or (blob.sha256, blob.digest, blob.rows, blob.bytes) != (
        payload.sha256,
        payload.digest,
        payload.rows,
        payload.bytes,
    ):
        return f"prunes {what}, which that event does not carry"
    return None
