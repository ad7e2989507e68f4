"""Adoption: take the verified chain of a detached stream (a shard) into main, in one event."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.errors import InputError, LedgerError
from percuss.ledger.blobs import check_payload, take_over
from percuss.ledger.event import Draft, Event
from percuss.ledger.files import make_last, read_regular, write_linked
from percuss.ledger.ledger import MAIN, Ledger, adopted
from percuss.ledger.place import Place
from percuss.ledger.rows import from_frame
from percuss.ledger.streams import list_stream, read_stream


@dataclass(frozen=True)
class Adoption:
    """What was taken in; `event` is the one that was there already if there was nothing new."""

    event: Event
    events: int
    copied: int


def adopt_stream(ledger: Ledger, stream: str, source: Place | None = None) -> Adoption:
    """Verify a stream, copy it and its payloads from `source` (a copy of this ledger elsewhere), and adopt it."""
    if stream == MAIN:
        raise InputError("stream main: is what others are adopted into")
    copied = _copy_stream(ledger.place, source, stream) if source else 0
    events = verified_events(ledger.place, stream)
    if not events:
        raise InputError(f"stream {stream}: there is none with events in {(source or ledger.place).root}")
    for event in events:
        for blob in event.payloads:
            check_payload(ledger.place, blob)
    visible = ledger.events()
    old = [e for e in visible if e.kind == "stream.adopted" and adopted(e.body)[0] == stream]
    taken = adopted(old[-1].body)[1] if old else 0
    if taken == len(events):
        return Adoption(old[-1], 0, copied)
    _check_inputs({event.id: event.hash for event in visible}, events[taken:], stream)
    body = {"stream": stream, "events": len(events), "head": events[-1].hash}
    event = ledger.append([Draft("stream.adopted", body)])[-1]
    return Adoption(event, len(events) - taken, copied)


def verified_events(place: Place, stream: str) -> list[Event]:
    """The events of a stream, or an error at the first that does not continue the chain."""
    events = from_frame(read_stream(place, stream, cached=False))
    prev = place.genesis(stream)
    for event in events:
        if event.prev != prev or event.computed_hash() != event.hash or event.stream != stream:
            raise LedgerError(f"stream {stream}: event {event.seq} does not continue the chain; nothing was adopted")
        prev = event.hash
    return events


def _check_inputs(known: dict[str, str], events: list[Event], stream: str) -> None:
    """What events of a shard were made from must be here too, or the adopted events would depend on nothing."""
    for event in events:
        for item in event.inputs:
            if known.get(item.id) != item.hash:
                raise InputError(
                    f"stream {stream}: event {event.id} was made from the {item.role} {item.id}, which this ledger "
                    "does not have; nothing was adopted",
                    hint="the shard's copy of the ledger has gone its own way; percuss log --ledger shows how",
                )
        known[event.id] = event.hash


def _copy_stream(target: Place, source: Place, stream: str) -> int:
    if source.id != target.id:
        raise InputError(
            f"{source.root}: is a ledger of its own (id {source.id}), not a copy of {target.root}",
            hint="a shard runs on a copy of the ledger; percuss import takes runs from anywhere else",
        )
    copied = 0
    for event in verified_events(source, stream):
        for blob in event.payloads:
            copied += take_over(source, target, blob)
    listing = list_stream(source, stream)
    if listing.segments:
        raise InputError(f"stream {stream}: is sealed in {source.root}; adopt it before sealing")
    target.real(target.stream(stream), create=True)
    for number in listing.loose:
        data = read_regular(source.commit(stream, number))
        path = target.commit(stream, number)
        if write_linked(path, data):
            copied += 1
        elif read_regular(path) != data:
            raise LedgerError(
                f"{path}: differs from the commit of the same number in {source.root}; nothing was adopted"
            )
        else:
            make_last(path)  # by one that was killed, perhaps before it did so
    return copied
