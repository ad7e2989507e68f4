"""Compute some recorded results again, drawn so that the writer of the ledger could not know which.

Results are taken in the order of SHA-256(beacon, hash of the event, number of the result). The beacon is fresh entropy,
or a public value that nobody could foresee when the ledger was written (a block of a randomness beacon, the draw of a
lottery): given back, it draws the same results again, so that others can see what was seen.
"""

from __future__ import annotations

import hashlib
import heapq
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from percuss.errors import InputError, NotHereError
from percuss.kinds.audit_made import Drawn
from percuss.kinds.kind import resolved
from percuss.kinds.table import KINDS, is_known
from percuss.ledger.audit import Proof
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.repetition import STRANGE, Repetition

LONGEST_BEACON = 1000
# How many results are drawn at once: more than are asked for, since some cannot be computed here.
AT_ONCE = 256
# So many more results than are asked for are tried at most: if these cannot be compared here, others cannot either.
MORE_TRIES = 32


@dataclass
class Reexecution:
    """What came of it: by which beacon results were drawn, which ones in order, and how many had which verdict.

    `by_claim` counts those that differed, which only the environment that they claim excuses.
    """

    beacon: str
    proof: Proof
    verdicts: Counter[str] = field(default_factory=Counter)
    drawn: list[Drawn] = field(default_factory=list)
    by_claim: int = 0

    def add(self, event: Event, part: int, again: Repetition) -> None:
        """Count a result that was drawn."""
        self.verdicts[again.verdict] += 1
        self.by_claim += again.by_claim
        self.proof.checked += again.checked
        self.drawn.append(Drawn(event=event.id, part=part, verdict=again.verdict, sentence=again.sentence))
        if again.verdict == "differs" and (fault := f"event {event.id}: {again.sentence}") not in self.proof.faults:
            self.proof.faults.append(fault)


def reexecute(session: Session, count: int, beacon: str | None = None) -> Reexecution:
    """Compute so many results of every kind that can be computed again, and compare.

    External programs are run again only with the consent of the user.
    """
    if beacon is not None and not 0 < len(beacon) <= LONGEST_BEACON:
        raise InputError(f"--beacon: must be a text of 1 to {LONGEST_BEACON} characters")
    done = Reexecution(
        beacon or secrets.token_hex(16), Proof("re-execution", "some results of each sort, computed again, come out")
    )
    if session.allow_command:
        for registered in session.state.studies.values():
            session.consented(session.study(registered))
    notes: list[str] = []
    # What stands is computed again from what it was made from, which may have been superseded since.
    repeating = session.for_telling()
    for sort, events in _repeatable(session).items():
        notes += _repeat_sort(repeating, done, sort, events, count)
    proof = done.proof
    proof.note = "; ".join(notes) or "0 of 0 runs"
    if count and notes and not proof.checked and proof.holds:
        # Nothing was computed again, which proves nothing.
        proof.note = f"not tried: {proof.note}"
    return done


def reason_not_here(event: Event, missing: NotHereError) -> str:
    """Why an event cannot be repeated here, and with which plugins it was made."""
    what = str(missing).split(": known")[0].split("; did")[0].split(": did")[0]
    _, _, plugins = event.software.version.partition("; ")
    return f"cannot be repeated here: {what}" + (f" (made with {plugins})" if plugins else "")


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


@dataclass
class _Results:
    """The results of one sort that can be computed again: how many, and those that cannot, by the reason."""

    events: list[tuple[Event, int]] = field(default_factory=list)
    left_out: dict[str, set[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many results there are."""
        return sum(parts for _, parts in self.events)

    def drawn(self, key: Callable[[Event, int], bytes]) -> Iterator[tuple[Event, int]]:
        """The results in the order of a key; no more than some are held at a time."""

        def keyed(least: bytes) -> Iterator[tuple[bytes, int, int]]:
            for number, (event, parts) in enumerate(self.events):
                for part in range(parts):
                    if (digest := key(event, part)) > least:
                        yield digest, number, part

        least = b""
        while some := heapq.nsmallest(AT_ONCE, keyed(least)):
            for _, number, part in some:
                yield self.events[number][0], part
            least = some[-1][0]


def _results(session: Session, proof: Proof, events: list[Event]) -> _Results:
    results = _Results()
    for event in events:
        kind = KINDS[event.kind]
        try:
            why_not = resolved(kind.unrepeatable)
            if reason := why_not(session, event) if why_not else None:
                # Said of what such events have in common, which is their design.
                results.left_out.setdefault(reason, set()).add(event.input("design"))
            else:
                results.events.append((event, kind.parts(event.content)))
        except NotHereError as missing:
            results.left_out.setdefault(reason_not_here(event, missing), set()).add(event.id)
        except STRANGE as fault:  # a stranger's ledger, perhaps
            proof.faults.append(f"event {event.id}: {fault}")
    return results


def _repeat_sort(session: Session, done: Reexecution, sort: str, events: list[Event], count: int) -> Iterator[str]:
    """Compute so many results of one sort again; yields what is to be noted."""
    proof = done.proof
    results = _results(session, proof, events)
    compared = 0
    remarks: Counter[str] = Counter()

    def key(event: Event, part: int) -> bytes:
        return hashlib.sha256(f"{done.beacon} {event.hash} {part}".encode(errors="surrogateescape")).digest()

    for event, part in islice(results.drawn(key), count + MORE_TRIES if count else 0):
        repeat = KINDS[event.kind].repeater()
        assert repeat is not None
        try:
            again = repeat(session, event, part)
        except NotHereError as missing:
            # Of a plugin that is not installed, or a function that is not defined here: neither proof nor fault.
            again = Repetition("cannot", 0, reason_not_here(event, missing))
        except STRANGE as trouble:  # a ledger may come from a stranger
            again = Repetition("differs", 1, f"cannot be computed again ({trouble})")
        done.add(event, part, again)
        compared += again.verdict != "cannot"
        if again.sentence and again.verdict != "differs":
            remarks[again.sentence] += 1
        if compared >= count:
            break
    yield f"{compared} of {results.count} {sort}"
    yield from (f"{number} {sentence}" for sentence, number in remarks.items())
    yield from (f"{len(designs)} {reason}" for reason, designs in results.left_out.items())
