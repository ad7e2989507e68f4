"""Compute an event and all it depends on again, and compare with what was recorded.

Every event is computed again from its recorded inputs by the function that its kind names (`percuss.work.repetition`),
and nothing is appended. Where each comes out of its inputs, so does the last one out of the study and the data: errors
cannot cancel on the way, as each step is compared by itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from percuss.errors import NotHereError
from percuss.execution.records import CAMPAIGN, campaign_fault
from percuss.kinds.kind import Kind, resolved
from percuss.kinds.table import kind_of
from percuss.ledger.event import Event
from percuss.ledger.projections import WORD_KINDS, lineage
from percuss.session import Session
from percuss.spelling import counted
from percuss.work.repetition import STRANGE, Repetition

SAME, WITHIN, CANNOT, DIFFERS = "same", "within", "cannot", "differs"
# From the best to the worst: what is said of several results is the worst that is said of one.
ORDER = (SAME, WITHIN, CANNOT, DIFFERS)
WORDS = {
    SAME: "same bits",
    WITHIN: "same within a stated bound",
    CANNOT: "cannot be compared here",
    DIFFERS: "DIFFERS",
}
# What is in a ledger about the ledger, and words of people: there is nothing to compute.
NOT_COMPUTED = (*WORD_KINDS, "stream.adopted", "stream.sealed")


@dataclass
class Outcome:
    """What came of one event: the worst verdict on its results, how many were compared of how many, and why."""

    event: Event
    parts: int
    verdict: str = SAME
    compared: int = 0
    sentences: dict[str, int] = field(default_factory=dict)

    def add(self, repetition: Repetition) -> None:
        """Count one result."""
        self.verdict = max(self.verdict, repetition.verdict, key=ORDER.index)
        self.compared += repetition.checked
        if repetition.sentence:
            self.sentences[repetition.sentence] = self.sentences.get(repetition.sentence, 0) + 1


@dataclass(frozen=True, repr=False)
class Reproduction:
    """What came of an event and of all it depends on, in ledger order, the event itself last."""

    event: Event
    outcomes: Sequence[Outcome]

    @property
    def verdict(self) -> str:
        """The worst of what could be compared; CANNOT where nothing could."""
        compared = [outcome.verdict for outcome in self.outcomes if outcome.verdict != CANNOT]
        return max(compared, key=ORDER.index, default=CANNOT)

    @property
    def holds(self) -> bool:
        """Whether nothing differs and something was compared."""
        return self.verdict in (SAME, WITHIN)

    def __repr__(self) -> str:
        events = counted(len(self.outcomes), "event")
        return f"<{self.event.kind} {self.event.id} computed again, {events}: {WORDS[self.verdict]}>"


def reproduce(session: Session, event: Event, runs: int | None = None) -> Reproduction:
    """Compute it all again. `runs`: so many results of each event at most, drawn again each time; None: all of them."""
    if session.allow_command:
        for registered in session.state.studies.values():
            session.consented(session.study(registered))
    events = [item for item in lineage(session.state, event.id) if item.kind not in NOT_COMPUTED]
    outcomes = []
    with session.voice.progress("computing again", len(events)) as advance:
        for item in events:
            outcomes.append(_reproduced(session, item, runs))
            advance(1, item.kind)
    return Reproduction(event, outcomes)


def _reproduced(session: Session, event: Event, runs: int | None) -> Outcome:
    kind = kind_of(event.kind)
    outcome = Outcome(event, 1)
    try:
        count = kind.parts(event.content) if kind and event.content is not None else 1
        outcome.parts = count
        if reason := _reason_not_to(session, event, kind):
            outcome.add(Repetition("cannot", 0, reason))
            return outcome
        for part in _drawn(count, runs):
            outcome.add(_repeat(session, event, kind, part))
    except NotHereError as missing:
        outcome.add(Repetition("cannot", 0, f"{missing}"))
    except STRANGE as fault:  # a stranger's ledger, perhaps
        outcome.add(Repetition("differs", 0, f"cannot be computed again: {fault}"))
    return outcome


def _drawn(count: int, most: int | None) -> Sequence[int]:
    """Which results: nobody can know beforehand."""
    if most is None or most >= count:
        return range(count)
    return sorted(secrets.SystemRandom().sample(range(count), most))


def _reason_not_to(session: Session, event: Event, kind: Kind | None) -> str | None:
    if kind is None or event.content is None:
        return f"this percuss does not know events of the kind {event.kind}, version {event.version}"
    why_not = resolved(kind.unrepeatable)
    reason: str | None = why_not(session, event) if why_not else None
    return reason


def _repeat(session: Session, event: Event, kind: Kind | None, part: int) -> Repetition:
    assert kind is not None
    if repeat := kind.repeater():
        repetition: Repetition = repeat(session, event, part)
        return repetition
    if event.kind == "study.registered":
        digest = session.study(event).digest
        if event.study and digest == event.study.digest:
            return Repetition("same", 1)
        return Repetition("differs", 1, f"the study it holds has the digest {digest}")
    if event.kind == CAMPAIGN:
        wrong = campaign_fault(session, event)
        return Repetition("differs", 1, wrong) if wrong else Repetition("same", 1)
    return Repetition("cannot", 0, f"events of the kind {event.kind} are not computed again")
