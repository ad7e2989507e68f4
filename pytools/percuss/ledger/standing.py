"""What an event stands on today: its own verdicts, and whether anything it comes from was superseded since."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from percuss.kinds.event_superseded import EventSuperseded
from percuss.kinds.trusted import Result
from percuss.ledger.event import Draft, Event
from percuss.ledger.projections import State
from percuss.trust import Trust, Verdict, accept, inherited

GATE = "superseded"


def standing(state: State, event: Event) -> Trust:
    """The verdicts an event carries, and one for each superseded event among it and all it comes from.

    Whether something is superseded is always asked anew: it may have been withdrawn since the event was made.
    """
    own = (verdict for verdict in _own(event) if verdict.gate != GATE)
    return (*own, *superseded(state, event))


def superseded(state: State, event: Event) -> Trust:
    """A failed verdict for each event, of this one and all it comes from, that is superseded.

    What was accepted when the event was made stays accepted.
    """
    under = state.stands_on(event.id)
    if event.id not in state.superseded and not under:
        return ()
    accepted = {verdict.source for verdict in _own(event) if verdict.gate == GATE and verdict.accepted}
    verdicts = [Verdict(GATE, False, f"{event.kind} {_why(state, event.id)}")] if event.id in state.superseded else []
    for id in under:
        sentence = f"{state.events[id].kind}, on which it stands, {_why(state, id)}"
        verdicts.append(Verdict(GATE, False, sentence, accepted=id in accepted, source=id))
    return tuple(verdicts)


def inherit(state: State, events: Iterable[Event], about: Collection[str] | None = None) -> Trust:
    """What a result made from these events inherits, each verdict once."""
    verdicts = (v for event in events for v in inherited(event.id, standing(state, event), about))
    return tuple(dict.fromkeys(verdicts))


def judged(
    state: State,
    draft: Draft,
    accepted: Collection[str],
    own: Iterable[Verdict] = (),
    about: Collection[str] | None = None,
) -> tuple[Draft, Trust]:
    """A draft with its verdicts: its own and those it inherits from all it is made from; some gates are accepted.

    `about`: what it uses of that; verdicts that concern nothing of it stay behind.
    """
    made_from = [source for _, source in draft.inputs if isinstance(source, Event)]
    trust = accept((*inherit(state, made_from, about), *own), accepted)
    assert isinstance(draft.body, Result)
    return replace(draft, body=replace(draft.body, trust=trust)), trust


def _why(state: State, id: str) -> str:
    withdrawal = EventSuperseded.of(state.superseded[id])
    by = f" by {withdrawal.new}" if withdrawal.new else ""
    reason = f": {withdrawal.reason}" if withdrawal.reason else ""
    return f"is superseded{by}{reason}"


def _own(event: Event) -> Trust:
    return event.content.trust if isinstance(event.content, Result) else ()
