"""What events say that can be held against what they depend on: the study they are of, and verdicts they must carry on.

Somebody who rewrites a ledger from some event on can make hashes fit. These are claims of one event about another that
have to fit as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from percuss.errors import InputError, LedgerError
from percuss.kinds.note_added import NoteAdded
from percuss.kinds.table import KINDS
from percuss.kinds.trusted import Result
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Event
from percuss.ledger.projections import WORDS

# Whether something is superseded is asked again each time, and may have been taken back since.
ASKED_ANEW = "superseded"


def inconsistencies(event: Event, earlier: Mapping[str, Event]) -> Iterator[str]:
    """What an event says otherwise than the events it depends on; its body must be one that this percuss reads."""
    yield from _of_study(event, earlier)
    try:
        body = event.content
        if isinstance(body, NoteAdded) and not body.names and not event.inputs_as("about"):
            yield "has no about"
        yield from _of_verdicts(event, earlier)
    except (LedgerError, InputError) as fault:
        yield f"its body cannot be read ({fault})"


def _of_study(event: Event, earlier: Mapping[str, Event]) -> Iterator[str]:
    if event.kind == "study.registered":
        digest = sha256_hex(event.body.encode())
        if event.study and event.study.digest != digest:
            yield f"the study it holds has the digest {digest}, which is not the one it names"
        return
    for item in event.inputs_as("study"):
        registered = earlier.get(item.id)
        if registered and event.study and registered.study != event.study:
            yield f"is of the study {event.study.name}, and made from {registered.id}, which is another one"


def _of_verdicts(event: Event, earlier: Mapping[str, Event]) -> Iterator[str]:
    """Failures of the whole of what it is made from, which every result carries on whatever it uses of it."""
    kind = KINDS[event.kind]
    if not issubclass(kind.body, Result):
        return
    body = event.content
    assert isinstance(body, Result)
    carried = {(verdict.gate, verdict.source) for verdict in body.trust if not verdict.passed}
    for item in event.inputs:
        source = earlier.get(item.id)
        if source is None or item.role in WORDS or source.kind not in KINDS:
            continue
        # Bodies of older versions are of times when other verdicts were carried on; but what wrote them read no newer.
        if event.version != kind.version and source.version != KINDS[source.kind].version:
            continue
        below = source.content
        for verdict in below.trust if isinstance(below, Result) else ():
            if verdict.passed or verdict.about or verdict.gate == ASKED_ANEW:
                continue
            if (verdict.gate, verdict.source or source.id) not in carried:
                yield f"does not say that its {item.role} {source.id} failed {verdict.gate}"
