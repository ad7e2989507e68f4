"""Proofs that a ledger is what it says: the part that needs no knowledge of models.

Chain, payloads, order and lineage are proved here from the original files alone, never from the cache. Replay and
re-execution need the simulator and live in `percuss.execution.proofs`; the command puts the six together.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from percuss.errors import LedgerError
from percuss.ledger.blobs import FILE_ROLE, blob_path
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Event, from_frame
from percuss.ledger.files import check_bytes, parse_parquet, read_frame, read_regular
from percuss.ledger.kinds import KINDS, is_known
from percuss.ledger.ledger import MAIN, adopted
from percuss.ledger.place import COMMIT_NAME, HEX64, SEGMENT_NAME, Place
from percuss.ledger.streams import list_segments, list_stream, stream_names
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
    for path in _files_below(place.cache):
        try:
            if not check_bytes(read_regular(path)):
                proof.faults.append(f"{path}: its bytes do not match the digest it carries (a cache: delete it)")
        except LedgerError as fault:
            proof.faults.append(str(fault))
    return Walk(proof, streams, _visible(streams, proof))


def _walk_stream(place: Place, stream: str, proof: Proof) -> list[Event]:
    try:
        listing = list_stream(place, stream)
        segments = list_segments(place.sealed(stream))
    except LedgerError as fault:
        proof.faults.append(str(fault))
        return []
    number, seq = 1, 0
    prev: str | None = place.genesis(stream)
    events: list[Event] = []
    for first, last, path in [
        *((segment.first, segment.last, segment.path) for segment in segments),
        *((loose, loose, place.commit(stream, loose)) for loose in listing.loose),
    ]:
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
        stream, count = adopted(event.body)
        events = streams.get(stream, [])[:count]
        if len(events) < count or events[-1].hash != event.data.get("head"):
            proof.faults.append(f"event {event.id}: the adopted stream {stream} is not the one that was adopted")
        seen += events[taken.get(stream, 0) :]
        taken[stream] = count
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
                data = read_regular(path)
                if sha256_hex(data) != blob.sha256 or len(data) != blob.bytes:
                    proof.faults.append(f"{path}: its bytes are not those of event {event.id}")
                elif not blob.role.startswith(FILE_ROLE):
                    table = parse_parquet(path, data)
                    if table_digest(table) != blob.digest or table.height != blob.rows:
                        proof.faults.append(f"{path}: its content is not that of event {event.id}")
            except LedgerError as fault:
                proof.faults.append(f"{fault} (event {event.id})")
    known = set(told.values())
    for path in _files_below(place.root / "blobs"):
        if str(path) not in known and HEX64.fullmatch(path.stem):
            proof.note = "some payloads belong to no event (a writer was killed); percuss doctor lists them"
            if sha256_hex(read_regular(path)) != path.stem:
                proof.faults.append(f"{path}: its bytes do not match its name")
    return proof


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
        for role, allowed in KINDS[event.kind].needs.items():
            found = event.inputs_as(role)
            if not found:
                proof.faults.append(f"event {event.id} ({event.kind}): has no {role}")
            for item in found:
                kind = kinds.get(item.id, "missing")
                if allowed and kind not in allowed:
                    proof.faults.append(f"event {event.id} ({event.kind}): its {role} {item.id} is {kind}")
        software = event.software
        if not (software.version and software.core and software.lock):
            proof.faults.append(f"event {event.id}: does not say with what it was made")
        if event.kind == "design.created" and event.seed is None:
            proof.faults.append(f"event {event.id}: a design without a seed")
    if skipped:
        proof.note = f"{skipped} events of kinds this percuss does not know were skipped"
    return proof


def find_anchor(walk: Walk, anchor: str) -> Event | None:
    """The event whose hash was kept elsewhere (the whole hash, or its first 16 digits or more)."""
    if len(anchor) < 16:
        return None
    return next((event for event in walk.visible if event.hash.startswith(anchor.lower())), None)


def stray_files(place: Place, walk: Walk) -> list[Path]:
    """Files nothing refers to: temporary ones of killed writers, payloads without an event, commits sealed since."""
    known = {str(blob_path(place, b)) for events in walk.streams.values() for e in events for b in e.blobs}
    found = []
    for path in _files_below(place.root):
        inside = path.relative_to(place.root).parts
        if path.name.startswith(".tmp-") or (inside[0] == "blobs" and str(path) not in known):
            found.append(path)
        elif inside[0] == "streams":
            match = COMMIT_NAME.fullmatch(path.name)
            if path.name != ".lock" and not (match and int(match[1]) in list_stream(place, inside[1]).loose):
                found.append(path)
        elif inside[0] == "sealed":
            if not SEGMENT_NAME.fullmatch(path.name):
                found.append(path)
        elif inside[0] not in ("blobs", "cache") and inside != ("ledger.toml",):
            found.append(path)
    return found


def _files_below(folder: Path) -> list[Path]:
    found = []
    for top, _, names in os.walk(folder):
        found += [Path(top) / name for name in names]
    return sorted(found)
