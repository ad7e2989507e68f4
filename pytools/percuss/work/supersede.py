"""Say that an event is not to be used any more, or take that back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from percuss.errors import InputError
from percuss.kinds.event_superseded import EventSuperseded
from percuss.ledger.event import Draft, Event
from percuss.ledger.projections import WORD_KINDS, State, descendants
from percuss.session import Session

SUPERSEDING = "event.superseded"
LONGEST = 10_000


@dataclass(frozen=True)
class Superseded:
    """What was said of which event, and what was made from it before."""

    event: Event
    old: Event
    later: Sequence[Event]


def supersede(session: Session, event: Event, reason: str, by: Event | None = None) -> Superseded:
    """The event stays in the ledger and is not used any more; what was made from it is marked from then on."""
    _check_reason(reason)
    state = session.state
    if event.id in state.superseded:
        raise InputError(f"event {event.id}: is superseded already", hint="--withdraw takes that back")
    if event.kind in (SUPERSEDING, "stream.adopted", "stream.sealed", "payloads.pruned"):
        hint = "--withdraw takes back what it says" if event.kind == SUPERSEDING else None
        raise InputError(f"event {event.id}: is of the kind {event.kind}, which cannot be superseded", hint=hint)
    return _say(session, event, [event], reason, by)


def withdraw(session: Session, event: Event, reason: str) -> Superseded:
    """Take back what superseded an event, or an event that supersedes."""
    _check_reason(reason)
    return _say(session, event, _in_force(session.state, event), reason, None)


def _check_reason(reason: str) -> None:
    if not reason.strip() or len(reason) > LONGEST:
        raise InputError(f"--reason: {len(reason)} characters; why must be said, in 1 to {LONGEST} of them")


def _say(session: Session, event: Event, targets: Sequence[Event], reason: str, by: Event | None) -> Superseded:
    state = session.state
    later = [e for e in descendants(state, event.id) if e.kind not in WORD_KINDS and e.id not in state.superseded]
    drafts = [
        Draft(
            SUPERSEDING,
            EventSuperseded(old=old.id, new=by.id if by else None, reason=reason),
            old.study,
            [("old", old)] + ([("new", by)] if by else []),
        )
        for old in targets
    ]
    return Superseded(session.append(drafts)[-1], targets[-1], later)


def _in_force(state: State, event: Event) -> list[Event]:
    """What is to be superseded itself so that an event is to be used again, or has no force any more."""
    if event.kind == SUPERSEDING:
        if event.id in state.superseded:
            raise InputError(f"event {event.id}: is taken back already")
        return [event]
    standing = (e for e in state.events.values() if e.kind == SUPERSEDING and e.id not in state.superseded)
    targets = [e for e in standing if e.input("old") == event.id]
    if not targets:
        raise InputError(f"event {event.id}: is not superseded, so there is nothing to take back")
    return targets
