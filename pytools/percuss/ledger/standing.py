"""What an event stands on today: its own verdicts, and whether anything it comes from was withdrawn since."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from percuss.ledger.event import Event
from percuss.ledger.projections import State, lineage
from percuss.trust import Trust, Verdict, inherited, read_trust


def standing(state: State, event: Event) -> Trust:
    """The verdicts an event carries, and one for each superseded event among it and all it comes from."""
    return (*read_trust(event.data), *superseded(state, event))


def superseded(state: State, event: Event) -> Trust:
    """A failed verdict for each event, of this one and all it comes from, that is superseded."""
    if not state.superseded:
        return ()
    found = []
    for old in lineage(state, event.id):
        if old.id not in state.superseded:
            continue
        new = state.superseded[old.id]
        by = f" by {new}" if new else ""
        what = "it" if old.id == event.id else f"{old.kind} {old.id}, which it stands on,"
        found.append(Verdict("superseded", False, f"{what} is superseded{by}"))
    return tuple(found)


def inherit(state: State, events: Iterable[Event], about: Collection[str] | None = None) -> Trust:
    """What a result made from these events inherits."""
    return tuple(v for event in events for v in inherited(event.id, standing(state, event), about))
