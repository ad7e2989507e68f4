"""Proofs that a ledger is what it says: the part that needs no knowledge of models.

Chain, payloads, order and lineage are proved here from the original files alone, never from the cache, and replay as
far as it needs no study. Re-execution needs the simulator and is in `percuss.work.audit`, which puts the six together.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from percuss.errors import InputError, LedgerError
from percuss.kinds.stream_adopted import StreamAdopted
from percuss.kinds.table import KINDS, is_known
from percuss.ledger.blobs import FILE_ROLE, blob_path, get_bytes
from percuss.ledger.event import Event, from_frame
from percuss.ledger.files import (
    LARGEST_COMMIT_BYTES,
    TEMPORARY,
    check_bytes,
    open_regular,
    parse_parquet,
    read_frame,
    read_regular,
)
from percuss.ledger.ledger import MAIN, Ledger, adopted
from percuss.ledger.place import COMMIT_NAME, HEX64, IDENTITY, SEGMENT_NAME, Place
from percuss.ledger.projections import State, fold, state_tables
from percuss.ledger.streams import Listing, list_stream, stream_names
from percuss.ledger.tables import table_digest


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


def prove_chain(place: Place) -> Walk:
    """Every file is as written, every event has the hash of its fields and continues the one before it."""
    proof = Proof("chain", "every event continues the hash chain of its stream, and every file is as it was written")
    streams: dict[str, list[Event]] = {}
    for stream in stream_names(place):
        streams[stream] = _walk_stream(place, stream, proof)
    ids: set[str] = set()
    for events in streams.values():
        for event in events:
            if event.id in ids:
                proof.faults.append(f"event {event.id}: is there twice")
            ids.add(event.id)
    for folder in ("streams", "sealed", "cache"):
        _check_leftovers(place, folder, streams, proof)
    return Walk(proof, streams, _visible(streams, proof))


def _walk_stream(place: Place, stream: str, proof: Proof) -> list[Event]:
    try:
        for _ in range(5):
            listing = list_stream(place, stream)
            found = Proof(proof.name, proof.claim)
            events = _walk_listing(place, stream, listing, found)
            # Faults are faults unless somebody sealed in the meantime.
            if found.holds or list_stream(place, stream) == listing:
                break
    except LedgerError as fault:
        proof.faults.append(str(fault))
        return []
    proof.checked += found.checked
    proof.faults += found.faults
    return events


def _walk_listing(place: Place, stream: str, listing: Listing, proof: Proof) -> list[Event]:
    number, seq = 1, 0
    prev: str | None = place.genesis(stream)
    events: list[Event] = []
    for first, last, path in _files_of(place, stream, listing):
        if first != number:
            proof.faults.append(f"{path}: commit {number} of stream {stream} is missing before it")
        number = last + 1
        try:
            found = from_frame(read_frame(path))
        except LedgerError as fault:
            text = str(fault)
            proof.faults.append(text if text.startswith(str(path)) else f"{path}: {text}")
            prev = None  # the chain is taken up again after the damage, which is named once
            continue
        for event in found:
            expected = seq + 1 if prev else event.seq
            _check_link(event, stream, expected, prev or event.prev, f"{path}: event {event.id}", proof)
            prev, seq = event.hash, event.seq
        events += found
    return events


def _files_of(place: Place, stream: str, listing: Listing) -> list[tuple[int, int, Path]]:
    """First commit, last commit and path of every file that counts."""
    return [
        *((segment.first, segment.last, segment.path) for segment in listing.segments),
        *((number, number, place.commit(stream, number)) for number in listing.loose),
    ]


def _check_leftovers(place: Place, folder: str, streams: Iterable[str], proof: Proof) -> None:
    """Files that are not read, or not as originals: sealed away since, or of the cache."""
    try:
        walked = {path for stream in streams for _, _, path in _files_of(place, stream, list_stream(place, stream))}
        paths = _files_below(place.real(place.root / folder))
    except LedgerError as fault:
        if str(fault) not in proof.faults:
            proof.faults.append(str(fault))
        return
    for path in paths:
        if path in walked or not (COMMIT_NAME.fullmatch(path.name) or SEGMENT_NAME.fullmatch(path.name)):
            continue
        try:
            if not check_bytes(read_regular(path, LARGEST_COMMIT_BYTES)):
                proof.faults.append(f"{path}: its bytes do not match the digest it carries (it can be deleted)")
        except LedgerError as fault:
            # Whoever packed or sealed may have deleted it since it was listed.
            if os.path.lexists(path):
                proof.faults.append(str(fault))


def _check_link(event: Event, stream: str, seq: int, prev: str, where: str, proof: Proof) -> None:
    proof.checked += 1
    if event.stream != stream:
        proof.faults.append(f"{where} belongs to stream {event.stream}")
    if event.seq != seq:
        proof.faults.append(f"{where} has the number {event.seq}, not {seq}")
    if event.prev != prev:
        proof.faults.append(f"{where} does not continue the event before it")
    if event.computed_hash() != event.hash:
        proof.faults.append(f"{where}: its fields do not give its hash")


def _visible(streams: dict[str, list[Event]], proof: Proof) -> list[Event]:
    seen: list[Event] = []
    taken: dict[str, int] = {}
    for event in streams.get(MAIN, []):
        seen.append(event)
        if event.kind != "stream.adopted":
            continue
        try:
            stream, count = adopted(event.body)
        except LedgerError as fault:
            proof.faults.append(f"event {event.id}: {fault}")
            continue
        events = streams.get(stream, [])[:count]
        if len(events) < count or events[-1].hash != StreamAdopted.of(event).head:
            proof.faults.append(f"event {event.id}: the adopted stream {stream} is not the one that was adopted")
        seen += events[taken.get(stream, 0) :]
        taken[stream] = max(count, taken.get(stream, 0))
    return seen


def prove_payloads(place: Place, walk: Walk) -> Proof:
    """Every payload is there, byte for byte and value for value."""
    proof = Proof("payloads", "every payload has the bytes and the content its event says")
    told: dict[str, str] = {}
    for event in (event for events in walk.streams.values() for event in events):
        for blob in event.blobs:
            try:
                path = blob_path(place, blob)
            except LedgerError as fault:
                proof.faults.append(f"event {event.id}: {fault}")
                continue
            key = f"{path} {blob.digest} {blob.rows} {blob.bytes}"
            if key in told:
                continue
            proof.checked += 1
            told[key] = str(path)
            try:
                data = get_bytes(place, blob)
                if len(data) != blob.bytes:
                    proof.faults.append(f"{path}: its size is not that of event {event.id}")
                elif not blob.role.startswith(FILE_ROLE):
                    table = parse_parquet(path, data)
                    if table_digest(table) != blob.digest or table.height != blob.rows:
                        proof.faults.append(f"{path}: its content is not that of event {event.id}")
            except (LedgerError, InputError) as fault:
                proof.faults.append(f"{path}: {str(fault).removeprefix(f'{path}: ')} (event {event.id})")
    _check_unused(place, set(told.values()), proof)
    return proof


def _check_unused(place: Place, known: set[str], proof: Proof) -> None:
    """Payloads that belong to no event: still what their name says."""
    try:
        paths = _files_below(place.real(place.root / "blobs"))
    except LedgerError as fault:
        proof.faults.append(str(fault))
        return
    for path in paths:
        if str(path) in known or not HEX64.fullmatch(path.stem):
            continue
        proof.note = "some payloads belong to no event (a writer was killed); percuss doctor lists them"
        try:
            with open_regular(path) as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != path.stem:
                    proof.faults.append(f"{path}: its bytes do not match its name")
        except LedgerError as fault:
            proof.faults.append(str(fault))


def prove_order(walk: Walk) -> Proof:
    """Every input of an event is an earlier event, with the hash it had then."""
    proof = Proof("order", "every event was made from events before it, as they still are")
    hashes: dict[str, str] = {}
    for event in walk.visible:
        proof.checked += 1
        for item in event.inputs:
            if item.id not in hashes:
                proof.faults.append(f"event {event.id}: its {item.role} {item.id} is not among the events before it")
            elif hashes[item.id] != item.hash:
                proof.faults.append(f"event {event.id}: its {item.role} {item.id} had another hash then")
        hashes[event.id] = event.hash
    return proof


def prove_lineage(walk: Walk) -> Proof:
    """Every result stands on all it needs, down to the study: nothing is missing on the way."""
    proof = Proof("lineage", "every result has all it comes from: study, design, runs (failed ones too), build, seed")
    kinds = {event.id: event.kind for event in walk.visible}
    skipped = 0
    for event in walk.visible:
        if not is_known(event.kind, event.version):
            skipped += 1
            continue
        proof.checked += 1
        kind = KINDS[event.kind]
        if kind.one_of and not event.inputs_as(*kind.one_of):
            proof.faults.append(f"event {event.id} ({event.kind}): has no {' and no '.join(kind.one_of)}")
        for role, allowed in {**kind.needs, **kind.one_of}.items():
            found = event.inputs_as(role)
            if not found and role in kind.needs:
                proof.faults.append(f"event {event.id} ({event.kind}): has no {role}")
            for item in found:
                what = kinds.get(item.id, "missing")
                if allowed and what not in allowed:
                    proof.faults.append(f"event {event.id} ({event.kind}): its {role} {item.id} is {what}")
        software = event.software
        if not (software.version and software.core and software.lock):
            proof.faults.append(f"event {event.id}: does not say with what it was made")
        if kind.seeded and event.seed is None:
            proof.faults.append(f"event {event.id} ({event.kind}): has no seed")
    if skipped:
        proof.note = f"{skipped} events of kinds this percuss does not know were skipped"
    return proof


def prove_replay(ledger: Ledger, state: State) -> Proof:
    """Every table that the original events give is what the events in use, which may come from the cache, give."""
    proof = Proof("replay", "every table comes out of the events again, without the cache, with the digest it had")
    # Writers may be at work: what came since is left out, so that like is compared with like.
    in_use = state_tables(fold(ledger.events()[: len(state.events)]))
    for name, table in state_tables(state).items():
        proof.checked += 1
        if table_digest(table) != table_digest(in_use[name]):
            proof.faults.append(f"table {name}: differs between the events and the cache; delete the cache folder")
    return proof


def find_anchor(walk: Walk, anchor: str) -> Event | None:
    """The event whose hash was kept elsewhere (the whole hash, or its first digits: 16 tell it from all others)."""
    return next((event for event in walk.visible if event.hash.startswith(anchor.lower())), None)


def stray_files(place: Place, walk: Walk) -> list[Path]:
    """Files nothing refers to: temporary ones of killed writers, payloads without an event, commits sealed since."""
    known = {place.root / IDENTITY}
    for stream, events in walk.streams.items():
        known.add(place.stream(stream) / ".lock")
        known |= {path for _, _, path in _files_of(place, stream, list_stream(place, stream))}
        for blob in (blob for event in events for blob in event.blobs if HEX64.fullmatch(blob.sha256)):
            known.add(blob_path(place, blob))
    cache = place.cache
    return [
        path
        for path in _files_below(place.root)
        if path not in known and (not path.is_relative_to(cache) or path.name.startswith(TEMPORARY))
    ]


def is_leftover(place: Place, path: Path) -> bool:
    """Whether a stray file has the name of one that percuss wrote: the others somebody put there, and may want."""
    match path.relative_to(place.root).parts:
        case (*_, name) if name.startswith(TEMPORARY):
            return True
        case ("streams", _, name):
            return COMMIT_NAME.fullmatch(name) is not None
        case ("sealed", _, name):
            return SEGMENT_NAME.fullmatch(name) is not None
        case ("blobs", _, _):
            return HEX64.fullmatch(path.stem) is not None
    return False


def _files_below(folder: Path) -> list[Path]:
    found = []
    for top, _, names in os.walk(folder):
        found += [Path(top) / name for name in names]
    return sorted(found)
