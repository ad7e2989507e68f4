"""What was pruned: payloads that an event of the kind `payloads.pruned` names may be missing, and no others.

A tombstone speaks of one payload of one event, by its role and its bytes: of the words of a private note, or of what
can be computed again from what stays. Events that share its bytes and that no tombstone names must still find them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from percuss.errors import InputError, LedgerError
from percuss.kinds.design_created import IMPORTED, DesignCreated
from percuss.kinds.note_added import NoteAdded
from percuss.kinds.payloads_pruned import PayloadsPruned, Pruned
from percuss.kinds.table import kind_of
from percuss.ledger.event import Blob, Event
from percuss.ledger.words import ROLE

KIND = "payloads.pruned"
NOTE = "note.added"
# What cannot be computed again, or what all else is read by.
NEVER = ("study.registered", "design.created", "observations.imported", "scene.settled", "crate.imported", KIND)


def may_be_pruned(event: Event, earlier: Mapping[str, Event]) -> bool:
    """Whether the payloads of an event may ever be deleted: only what can be computed again from what stays, and runs
    that were imported cannot. `earlier`: events by id, its design among them.
    """
    kind = kind_of(event.kind)
    if kind is None or not kind.repeat or not kind.tables or event.kind in NEVER:
        return False
    designs = [earlier[item.id] for item in event.inputs_as("design") if item.id in earlier]
    return not any(DesignCreated.of(design).sampler == IMPORTED for design in designs)


def has_words(event: Event) -> bool:
    """Whether an event is a note whose words are kept apart, and can be redacted."""
    return event.kind == NOTE and NoteAdded.of(event).private and event.blob(ROLE) is not None


@dataclass(frozen=True)
class Tombstones:
    """Payloads that were pruned, by event, role and digest, each with the event that says so; and what is wrong with
    these."""

    named: Mapping[tuple[str, str, str], Event]
    faults: list[str]

    def of(self, event: Event, blob: Blob) -> Event | None:
        """The event that says that a payload was pruned."""
        return self.named.get((event.id, blob.role, blob.sha256))


def tombstones(events: Iterable[Event]) -> Tombstones:
    """All that was pruned, from visible events in order.

    A tombstone that does not fit what it names counts for nothing. That one is superseded changes nothing: what is gone
    is gone.
    """
    seen: dict[str, Event] = {}
    named: dict[tuple[str, str, str], Event] = {}
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
                if wrong := _fault(payload, seen, payload.event in speaks_of):
                    faults.append(f"event {event.id}: {wrong}")
                else:
                    named[payload.event, payload.role, payload.sha256] = event
        seen[event.id] = event
    return Tombstones(named, faults)


def _fault(payload: Pruned, earlier: Mapping[str, Event], is_input: bool) -> str | None:
    what, event = f"the {payload.role} of {payload.event}", earlier.get(payload.event)
    if event is None or not is_input:
        return f"prunes {what}, which is not an event before it that it names among its inputs"
    try:
        if not (payload.role == ROLE and has_words(event)) and not may_be_pruned(event, earlier):
            return f"prunes {what}, which is of the kind {event.kind} and cannot be computed again"
    except (LedgerError, InputError) as fault:
        return f"prunes {what}, and of what kind that is cannot be read ({fault})"
    named = Blob(payload.role, payload.sha256, payload.digest, payload.rows, payload.bytes)
    return None if named in event.blobs else f"prunes {what}, which that event does not carry"
