"""Proofs that a ledger is what it says: the part that needs no knowledge of models.

Chain, payloads, order and lineage are proved here from the original files alone, never from the cache, and replay as
far as it needs no study. Re-execution needs the simulator and is in `percuss.work.audit`, which puts the six together.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.errors import InputError, LedgerError
from percuss.kinds.stream_adopted import StreamAdopted
from percuss.kinds.stream_sealed import StreamSealed
from percuss.kinds.table import KINDS, is_known
from percuss.ledger.blobs import blob_path, payload_fault
from percuss.ledger.consistency import inconsistencies
from percuss.ledger.event import RECORD, Blob, Event
from percuss.ledger.files import FILES_AT_A_TIME, blocks_of, exists, file_sha256, files_below, read_frame, side_by_side
from percuss.ledger.ledger import MAIN, Ledger, adopted, read_environment
from percuss.ledger.leftovers import FORKED, HIDDEN, check_leftovers, hider
from percuss.ledger.place import HEX64, Place
from percuss.ledger.projections import State, runs_slices, small_tables
from percuss.ledger.pruned import NOTE, tombstones
from percuss.ledger.rows import from_frame, widened
from percuss.ledger.streams import (
    Listing,
    Part,
    Segment,
    list_stream,
    read_commits,
    read_segment,
    read_stream,
    stream_names,
)
from percuss.spelling import counted

if TYPE_CHECKING:
    import polars as pl

# How many events are made of the rows of a frame at once.
EVENTS_AT_ONCE = 1024
PAYLOADS_AT_A_TIME = 64
# Clocks of machines that write to one ledger may differ by as much.
CLOCK_SLACK_US = 60_000_000


@dataclass
class Proof:
    """One thing proved or not: how many items were looked at, and every fault with the file or event it is in."""

    name: str
    claim: str
    checked: int = 0
    faults: list[str] = field(default_factory=list)
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether no fault was found."""
        return not self.faults


@dataclass
class Walk:
    """The events as the original files give them, and the proof that they form chains."""

    proof: Proof
    streams: dict[str, list[Event]]
    visible: list[Event]
    sealed: int = 0  # how many events are in sealed segments

    @cached_property
    def chains(self) -> dict[str, list[str]]:
        """The hashes of the events of each stream, in order."""
        return {name: [event.hash for event in events] for name, events in self.streams.items()}

    @property
    def head(self) -> str | None:
        """What to keep elsewhere: the hash of the last event of main, which covers all of main and all it adopted."""
        return self.chains[MAIN][-1] if self.chains.get(MAIN) else None


def prove_chain(place: Place) -> Walk:
    """Every file is as written, every event has the hash of its fields and continues the one before it."""
    proof = Proof("chain", "every event continues the hash chain of its stream, and every file is as it was written")
    streams: dict[str, list[Event]] = {}
    segments: dict[str, list[tuple[Segment, Event]]] = {}
    for stream in stream_names(place):
        streams[stream], segments[stream] = _walk_stream(place, stream, proof)
    ids: set[str] = set()
    for events in streams.values():
        for event in events:
            if event.id in ids:
                proof.faults.append(f"event {event.id}: is there twice")
            ids.add(event.id)
    sealed = _check_names(streams, segments, proof)
    walk = Walk(proof, streams, _visible(streams, proof), sealed)
    for path, standing in check_leftovers(place, walk.chains):
        if standing == FORKED and proof.holds:
            proof.note = f"{path.name} of a writer that was killed was never part of the chain; percuss doctor lists it"
        elif standing in (HIDDEN, FORKED):
            proof.faults.append(f"{path}: holds events that the stream lacks; {hider(place, path)} hides it")
        elif standing and standing not in proof.faults:
            proof.faults.append(standing)
    return walk


# Each is made from the start, because files that it was to read had become part of a segment.
WALKS = 20


def _walk_stream(place: Place, stream: str, proof: Proof) -> tuple[list[Event], list[tuple[Segment, Event]]]:
    for _ in range(WALKS):
        try:
            listing = list_stream(place, stream)
            chain = _Chain(place, stream, Proof(proof.name, proof.claim), place.genesis(stream))
            _walk_listing(chain, listing)
            # Faults are faults unless somebody sealed in the meantime.
            if chain.proof.holds or list_stream(place, stream) == listing:
                break
        except LedgerError as fault:
            proof.faults.append(str(fault))
            return [], []
    else:
        raise LedgerError(
            f"stream {stream}: was sealed again during each of {WALKS} walks along it",
            hint="audit it again when others write less, or a copy of it",
        )
    proof.checked += len(chain.events)
    proof.faults += chain.proof.faults
    return chain.events, chain.segments


def _walk_listing(chain: _Chain, listing: Listing) -> None:
    for segment in listing.segments:
        chain.take_segment(segment)
    # Together, because that is faster; one by one if something is wrong, to name the file.
    blocks = blocks_of(listing.loose, FILES_AT_A_TIME)
    for numbers, frame in zip(blocks, side_by_side(chain.read_many, blocks), strict=True):
        if frame is None or not chain.take_many(numbers, frame):
            for number in numbers:
                chain.take_commit(number)


@dataclass
class _Chain:
    """A stream as it is walked: the events so far, and what must come next."""

    place: Place
    stream: str
    proof: Proof
    prev: str | None
    number: int = 1
    seq: int = 0
    events: list[Event] = field(default_factory=list)
    segments: list[tuple[Segment, Event]] = field(default_factory=list)

    def take_segment(self, segment: Segment) -> None:
        """Walk a segment."""
        self._take(segment.first, segment.last, segment.path, lambda: from_frame(read_segment(segment)))
        if self.prev:
            self.segments.append((segment, self.events[-1]))

    def take_commit(self, number: int) -> None:
        """Walk a loose commit."""
        path = self.place.commit(self.stream, number)
        self._take(number, number, path, lambda: from_frame(read_frame(path)))

    def read_many(self, numbers: Sequence[int]) -> pl.DataFrame | None:
        """The rows of loose commits; None if something is wrong with one of them."""
        try:
            return read_commits(self.place, self.stream, numbers)
        except LedgerError:
            return None

    def take_many(self, numbers: Sequence[int], frame: pl.DataFrame) -> bool:
        """Walk loose commits if nothing is wrong with any of them; whether it was so."""
        if not self.prev or list(numbers) != list(range(self.number, self.number + len(numbers))):
            return False
        try:
            events = from_frame(frame)
        except LedgerError:
            return False
        prev = self.prev
        for seq, event in enumerate(events, start=self.seq + 1):
            if _link_faults(event, self.stream, seq, prev):
                return False
            prev = event.hash
        self.prev, self.seq, self.number = prev, self.seq + len(events), numbers[-1] + 1
        self.events += events
        return True

    def _take(self, first: int, last: int, path: Path, read: Callable[[], list[Event]]) -> None:
        if first != self.number:
            self.proof.faults.append(f"{path}: commit {self.number} of stream {self.stream} is missing before it")
        self.number = last + 1
        try:
            events = read()
            if not events:
                raise LedgerError("has no events")
        except LedgerError as fault:
            text = str(fault)
            self.proof.faults.append(text if text.startswith(str(path)) else f"{path}: {text}")
            self.prev = None  # the chain is taken up again after the damage, which is named once
            return
        for event in events:
            expected = self.seq + 1 if self.prev else event.seq
            for wrong in _link_faults(event, self.stream, expected, self.prev or event.prev):
                self.proof.faults.append(f"{path}: event {event.id}{wrong}")
            self.prev, self.seq = event.hash, event.seq
        self.events += events


def _link_faults(event: Event, stream: str, seq: int, prev: str) -> list[str]:
    faults = []
    if event.stream != stream:
        faults.append(f" belongs to stream {event.stream}")
    if event.seq != seq:
        faults.append(f" has the number {event.seq}, not {seq}")
    if event.prev != prev:
        faults.append(" does not continue the event before it")
    if event.computed_hash() != event.hash:
        faults.append(": its fields do not give its hash")
    return faults


def _check_names(
    streams: dict[str, list[Event]], segments: dict[str, list[tuple[Segment, Event]]], proof: Proof
) -> int:
    """Make sure that segments hold what their names and the events on sealing say; how many events are in
    segments of which such an event tells.

    A sealer that was killed told nothing; then the rows, and that no leftover has more of them, are what there is, and
    nobody said that they are sealed.
    """
    sealed_events = 0
    sealed_commits: dict[tuple[str, str], list[int]] = {}
    for event in (e for events in streams.values() for e in events if e.kind == "stream.sealed"):
        with contextlib.suppress(LedgerError, InputError):  # a body that cannot be read names no segment
            sealed = StreamSealed.of(event)
            sealed_commits.setdefault((sealed.stream, sealed.head), []).append(sealed.last_commit)
    for stream, stream_segments in segments.items():
        before = 0
        for segment, last in stream_segments:
            last_commits = sealed_commits.get((stream, last.hash), [])
            sealed_events += last.seq - before if segment.last in last_commits else 0
            before = last.seq
            if last_commits and segment.last not in last_commits:
                proof.faults.append(
                    f"{segment.path}: ends with event {last.id}, and was sealed as the commits up to "
                    f"{last_commits[0]}: its name is not the one it was given"
                )
    return sealed_events


def _visible(streams: dict[str, list[Event]], proof: Proof) -> list[Event]:
    seen: list[Event] = []
    taken: dict[str, int] = {}
    for event in streams.get(MAIN, []):
        seen.append(event)
        if event.kind != "stream.adopted":
            continue
        try:
            stream, count = adopted(event.body)
            head = StreamAdopted.of(event).head
        except (LedgerError, InputError) as fault:
            proof.faults.append(f"event {event.id}: {fault}")
            continue
        events = streams.get(stream, [])[:count]
        if len(events) < count or events[-1].hash != head:
            proof.faults.append(f"event {event.id}: the adopted stream {stream} is not the one that was adopted")
        seen += events[taken.get(stream, 0) :]
        taken[stream] = max(count, taken.get(stream, 0))
    return seen


def prove_payloads(place: Place, walk: Walk) -> Proof:
    """Every payload is there, byte for byte and value for value."""
    proof = Proof("payloads", "every payload has the bytes and the content its event says")
    payloads: dict[str, tuple[Event, Blob, Path]] = {}
    graves = tombstones(walk.visible)
    proof.faults += graves.faults
    missing = redacted = 0
    for event in (event for events in walk.streams.values() for event in events):
        for blob in event.payloads:
            try:
                path = blob_path(place, blob)
            except LedgerError as fault:
                proof.faults.append(f"event {event.id}: {fault}")
                continue
            # Of every event by itself: another one may carry the same bytes, and no tombstone for them.
            if graves.of(event, blob) and not exists(path):
                missing += 1
                redacted += event.kind == NOTE
                continue
            # Bytes that others carry as well are a record of an environment for those who name them so.
            is_record = blob.role == RECORD
            payloads.setdefault(f"{path} {blob.digest} {blob.rows} {blob.bytes} {is_record}", (event, blob, path))
    proof.checked = len(payloads)
    listed = list(payloads.values())
    blocks = blocks_of(listed, PAYLOADS_AT_A_TIME)
    for faults in side_by_side(lambda some: [_payload_fault(place, *item) for item in some], blocks):
        proof.faults += filter(None, faults)
    _check_unused(place, {str(path) for _, _, path in listed}, proof)
    if graves.named:
        there = len(graves.named) - missing
        words = f"{counted(missing, 'payload was', 'payloads were')} pruned, as recorded"
        words += f", {redacted} of them words that were redacted" if redacted else ""
        words += f"; {counted(there, 'more is', 'more are')} still there" if there else ""
        proof.note = "; ".join(filter(None, (words, proof.note)))
    return proof


def _payload_fault(place: Place, event: Event, blob: Blob, path: Path) -> str | None:
    try:
        if wrong := payload_fault(place, blob):
            return f"{path}: {wrong} event {event.id}"
        if blob.role == RECORD and event.environment:
            # What cannot be read would excuse whatever does not come out again.
            read_environment(place, event)
    except (LedgerError, InputError) as fault:
        return f"{path}: {str(fault).removeprefix(f'{path}: ')} (event {event.id})"
    return None


def _check_unused(place: Place, known: set[str], proof: Proof) -> None:
    """Payloads that belong to no event: still what their name says."""
    try:
        files = files_below(place.real(place.root / "blobs"))
    except LedgerError as fault:
        proof.faults.append(str(fault))
        return
    for path, _ in files:
        if str(path) in known or not HEX64.fullmatch(path.stem):
            continue
        proof.note = "some payloads belong to no event (a writer was killed); percuss doctor lists them"
        try:
            if file_sha256(path)[0] != path.stem:
                proof.faults.append(f"{path}: its bytes do not match its name")
        except LedgerError as fault:
            proof.faults.append(str(fault))


def prove_order(walk: Walk) -> Proof:
    """Every input of an event is an earlier event, with the hash it had then."""
    proof = Proof("order", "every event was made from events before it, as they still are")
    hashes: dict[str, str] = {}
    proof.note = _clock_words(walk)
    for event in walk.visible:
        proof.checked += 1
        for item in event.inputs:
            if item.id not in hashes:
                proof.faults.append(f"event {event.id}: its {item.role} {item.id} is not among the events before it")
            elif hashes[item.id] != item.hash:
                proof.faults.append(f"event {event.id}: its {item.role} {item.id} had another hash then")
        hashes[event.id] = event.hash
    return proof


def _clock_words(walk: Walk) -> str:
    """What the clocks of writers say that cannot be: no fault, for clocks go wrong; but times are only claims."""
    latest = time.time_ns() // 1000 + CLOCK_SLACK_US
    future = sum(event.at_us > latest for events in walk.streams.values() for event in events)
    back = sum(
        event.at_us + CLOCK_SLACK_US < before.at_us
        for events in walk.streams.values()
        for before, event in pairwise(events)
    )
    words = [f"{counted(future, 'event')} dated in the future"] if future else []
    words += [f"{counted(back, 'event')} dated before the one that it follows"] if back else []
    return "; ".join(words)


def prove_lineage(walk: Walk) -> Proof:
    """Every result depends on all it needs, down to the study: nothing is missing on the way."""
    proof = Proof("lineage", "every result has all it comes from: study, design, runs (failed ones too), build, seed")
    events = {event.id: event for event in walk.visible}
    kinds = {id: event.kind for id, event in events.items()}
    skipped = superseding = 0
    for event in walk.visible:
        if not is_known(event.kind, event.version):
            skipped += 1
            continue
        superseding += event.kind == "event.superseded"
        proof.faults += (f"event {event.id} ({event.kind}): {wrong}" for wrong in inconsistencies(event, events))
        proof.checked += 1
        kind = KINDS[event.kind]
        if kind.one_of and not event.inputs_as(*kind.one_of):
            proof.faults.append(f"event {event.id} ({event.kind}): has no {' and no '.join(kind.one_of)}")
        for role, allowed in {**kind.needs, **kind.one_of}.items():
            inputs = event.inputs_as(role)
            if not inputs and role in kind.needs:
                proof.faults.append(f"event {event.id} ({event.kind}): has no {role}")
            for item in inputs:
                input_kind = kinds.get(item.id, "missing")
                if allowed and input_kind not in allowed:
                    proof.faults.append(f"event {event.id} ({event.kind}): its {role} {item.id} is {input_kind}")
        software = event.software
        if not (software.version and software.core and software.lock):
            proof.faults.append(f"event {event.id}: does not say with what it was made")
        if kind.seeded and event.seed is None:
            proof.faults.append(f"event {event.id} ({event.kind}): has no seed")
    notes = [f"{skipped} events of kinds this percuss does not know were skipped"] if skipped else []
    # Nothing is wrong with that; but what was withdrawn is not computed again, and a reader should look why.
    notes += [f"{superseding} times something was superseded, which is not computed again"] if superseding else []
    proof.note = "; ".join(notes)
    return proof


def prove_replay(ledger: Ledger, state: State) -> Proof:
    """The events in use, which may come from the cache, are the original ones, and all tables come out of these."""
    proof = Proof("replay", "every table comes out of the events again, and the cache has no others than these")
    streams: dict[str, list[Event]] = {}
    for event in state.events.values():
        streams.setdefault(event.stream, []).append(event)
    for stream, originals in streams.items():
        proof.faults += _cache_faults(ledger.place, stream, originals)
    for _ in runs_slices(state):
        pass
    proof.checked = 1 + len(small_tables(state))
    return proof


def _cache_faults(place: Place, stream: str, originals: Sequence[Event]) -> list[str]:
    """What readers get of a stream otherwise than its original files have it, looked at file by file."""

    others: dict[str, None] = {}
    read: set[int] = set()

    def compared(frame: pl.DataFrame) -> pl.DataFrame:
        for start in range(0, frame.height, EVENTS_AT_ONCE):
            for event in from_frame(widened(frame.slice(start, EVENTS_AT_ONCE))):
                # Writers may be at work: what came since is left out, so that like is compared with like.
                if event.seq <= len(originals):
                    read.add(event.seq)
                    if event != (original := originals[event.seq - 1]):
                        others[f"event {original.id}: is another one in the cache; delete the cache folder"] = None
        return frame.clear()

    read_stream(place, stream, part=Part(keep=compared))
    if len(read) < len(originals):
        others[f"the cache has {len(read)} events of {len(originals)}; delete the cache folder"] = None
    return list(others)


def find_anchor(walk: Walk, anchor: str) -> Event | None:
    """The event whose hash was kept elsewhere (the whole hash, or its first digits: 16 tell it from all others).

    If it is not of main it proves nothing of main: a shard that was adopted goes on in a main that was rewritten.
    """
    streams = [walk.streams.get(MAIN, []), *(events for name, events in walk.streams.items() if name != MAIN)]
    return next((event for events in streams for event in events if event.hash.startswith(anchor.lower())), None)
