"""Crates: an event and all it depends on, in a folder or zip that needs no ledger.

A crate has the rows of the events and every payload. As each event has the hash of its fields, and names its inputs by
their hashes, the hash of the last one covers everything in the crate but the words of its description: who has
that hash from elsewhere knows that nothing was changed. The place in the ledger is kept (`prev`), the events around
them are not: a crate cannot become part of another ledger's chain, and does not pretend to.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from percuss.errors import InputError, PercussError
from percuss.export.crate_metadata import EVENTS, METADATA, Described, licence_in, metadata
from percuss.kinds.crate_imported import CrateImported
from percuss.ledger.blobs import blob_path, get_bytes, payload_fault, take_over
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import FILE_ROLE, Blob, Draft, Event, OpenCall
from percuss.ledger.files import LARGEST_COMMIT_BYTES, parquet_bytes
from percuss.ledger.ledger import Ledger
from percuss.ledger.place import Place, check_outside
from percuss.ledger.projections import lineage
from percuss.ledger.rows import to_frame
from percuss.maker import this_maker
from percuss.session import Session, Voice
from percuss.study.file_rights import file_rights
from percuss.work.crate_reading import Crate, Source, opened, payload_paths, read_crate, read_whole
from percuss.work.log import summary

# A zip with these dates is the same bits whenever it is written.
NO_DATE = (1980, 1, 1, 0, 0, 0)


def write_crate(session: Session, event: Event, to: Path, licence: str = "") -> Described:
    """Write an event and all it depends on as a crate: a zip if the name ends so, else a folder. Overwrites nothing."""
    check_outside(to)
    if os.path.lexists(to):
        raise InputError(f"{to}: is there already, and nothing is overwritten")
    if not licence.isprintable() or len(licence) > 200 or " " in licence:
        raise InputError(f"--licence {licence[:60]!r}: must be an SPDX identifier, as CC-BY-4.0, or a URL")
    events = lineage(session.state, event.id)
    for item in events:
        for blob in item.blobs:
            session.ledger.refuse_pruned(item, blob)
    rows = parquet_bytes(to_frame(events))
    described = Described(
        root=event,
        events=events,
        ledger=session.ledger.place.id,
        summaries={item.id: summary(item) for item in events},
        paths=payload_paths(events),
        title=f"{event.study.name if event.study else 'percuss'}: {event.kind}",
        licence=licence,
        rights=_rights(session, events),
        environments={e.environment.sha256: session.ledger.environment(e) or {} for e in events if e.environment},
        events_file=(sha256_hex(rows), len(rows)),
    )
    document = json.dumps(metadata(described), indent=2, ensure_ascii=False).encode()
    stored = {blob.sha256: blob for item in events for blob in item.payloads}
    try:
        with _writer(to) as put:
            put(METADATA, document)
            put(EVENTS, rows)
            for sha256, path in described.paths.items():
                put(path, get_bytes(session.ledger.place, stored[sha256]))
    except OSError as fault:
        if isinstance(fault, PercussError):
            raise
        raise InputError(f"{to}: cannot be written ({fault.strerror})") from fault
    return described


def _rights(session: Session, events: Sequence[Event]) -> dict[str, tuple[str, str]]:
    """Licence and DOI of the data files that studies tell them of, by the SHA-256 of the files."""
    rights = {}
    for event in (item for item in events if item.kind == "study.registered"):
        for name, said_of in file_rights(session.study(event)).items():
            if blob := event.blob(FILE_ROLE + name):
                rights[blob.sha256] = (said_of.licence, said_of.doi)
    return rights


@contextmanager
def _writer(to: Path) -> Iterator[Callable[[str, bytes], None]]:
    """What puts files by name into a folder or zip beside `to`, which gets its name when all is there."""
    scratch = Path(tempfile.mkdtemp(prefix=".crate-", dir=to.absolute().parent))
    inside = scratch / "crate"
    try:
        if to.suffix == ".zip":
            with zipfile.ZipFile(inside, "x", zipfile.ZIP_DEFLATED) as archive:
                yield lambda name, data: archive.writestr(_zip_entry(name), data)
        else:
            inside.mkdir()
            yield lambda name, data: _put(inside / name, data)
        inside.rename(to)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _zip_entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, NO_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)


@contextmanager
def crate_session(
    path: Path, hash: str | None = None, *, allow_command: bool = False, voice: Voice | None = None
) -> Iterator[tuple[Session, Crate]]:
    """A session over the events of a crate, in a ledger that lasts as long as it is needed; nothing is appended.

    `hash`: that of its event, as its writer gave it by another way.
    """
    with tempfile.TemporaryDirectory(prefix="percuss-crate-") as scratch, opened(path) as source:
        crate = read_crate(path, source, hash)
        book = Ledger.open(Path(scratch) / "ledger", this_maker([], OpenCall("command", "reproduce", [])), create=True)
        for event in crate.events:
            for blob in event.payloads:
                _take_in(book.place, blob, source, crate.paths[blob.sha256])
        session = Session(book, allow_command=allow_command, voice=voice)
        session.begin_from(crate.events)
        yield session, crate


def _take_in(place: Place, blob: Blob, source: Source, name: str) -> None:
    target = blob_path(place, blob)
    place.real(target.parent, create=True)
    if not target.exists():
        with target.open("xb") as file:
            for piece in source.pieces(name, blob.bytes):
                file.write(piece)
    if fault := payload_fault(place, blob):
        raise InputError(f"{name}: {fault} its event; the crate was damaged or changed, and is refused")


def import_crate(session: Session, path: Path, hash: str | None = None) -> tuple[Event, Crate]:
    """Take a crate in as one event that carries its rows and payloads: evidence, not events of this ledger."""
    with crate_session(path, hash) as (inner, crate), opened(path) as source:
        rows = read_whole(source, EVENTS, LARGEST_COMMIT_BYTES)
        blobs = [
            session.ledger.put_file(METADATA, json.dumps(crate.document, ensure_ascii=False).encode()),
            session.ledger.put_file(EVENTS, rows),
        ]
        for blob in {blob.sha256: blob for event in crate.events for blob in event.payloads}.values():
            blobs.append(_kept(session.ledger.place, inner.ledger.place, crate.paths[blob.sha256], blob))
    root = crate.root
    body = CrateImported(
        event=root.id,
        kind=root.kind,
        hash=root.hash,
        ledger=crate.ledger,
        events=len(crate.events),
        licence=licence_in(crate.document),
    )
    return session.append([Draft("crate.imported", body, blobs=blobs)])[0], crate


def _kept(target: Place, source: Place, path: str, blob: Blob) -> Blob:
    """A payload of a crate as one of this ledger, under the path it has in the crate."""
    take_over(source, target, blob)
    role = FILE_ROLE + path if blob.role.startswith(FILE_ROLE) else path
    return Blob(role, blob.sha256, blob.digest, blob.rows, blob.bytes)
