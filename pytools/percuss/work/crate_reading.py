"""Read a crate, in a folder or zip, and prove what can be proven without computing anything.

A crate may come from a stranger: no name in it leads out of it, no link is followed, nothing unpacks to more than its
event says, and what does not fit together is refused with one sentence.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from percuss.errors import InputError, LedgerError, PercussError
from percuss.export.crate_metadata import EVENTS, HASH, METADATA
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import FILE_ROLE, Blob, Event
from percuss.ledger.files import LARGEST_COMMIT_BYTES, PIECE_BYTES, check_bytes, parse_parquet
from percuss.ledger.place import HEX64
from percuss.ledger.projections import fold, lineage
from percuss.ledger.rows import from_frame
from percuss.study.schema import attached_path

LARGEST_METADATA = 64_000_000
# What is unpacked of a zip whose events nobody vouches for: a few kilobytes can unpack to any size.
LARGEST_UNPROVEN = 1_000_000_000
TABLE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}")
# Files that others may put beside.
TOLERATED = {"ro-crate-preview.html"}


@dataclass(frozen=True)
class Crate:
    """What was read and proven: the events, the last of which the crate is about, and where their payloads lie."""

    events: tuple[Event, ...]
    ledger: str
    document: dict[str, Any]
    paths: dict[str, str]

    @property
    def root(self) -> Event:
        """The event that the crate is about."""
        return self.events[-1]


class Source(Protocol):
    """A folder or a zip, read by name."""

    def names(self) -> set[str]:
        """All files in it."""

    def pieces(self, name: str, limit: int) -> Iterator[bytes]:
        """One of them piece by piece, of at most so many bytes: never more, whatever it unpacks to."""


def payload_paths(events: Sequence[Event]) -> dict[str, str]:
    """Where each payload lies in a crate, by its SHA-256: under the first event that carries it."""
    paths: dict[str, str] = {}
    for event in events:
        for blob in event.blobs:
            paths.setdefault(blob.sha256, _payload_path(event, blob))
        if event.environment:
            paths.setdefault(event.environment.sha256, f"environments/{event.environment.sha256}.json")
    return paths


def _payload_path(event: Event, blob: Blob) -> str:
    folder = f"events/{event.id}"
    if blob.role.startswith(FILE_ROLE):
        return f"{folder}/files/{attached_path(blob.role.removeprefix(FILE_ROLE))}"
    if not TABLE_NAME.fullmatch(blob.role):
        raise InputError(f"event {event.id}: its table {blob.role[:80]!r} has no name of a file")
    return f"{folder}/{blob.role}.parquet"


def is_crate(path: Path) -> bool:
    """Whether a path is a crate, as far as its name goes."""
    return (path / METADATA).is_file() if path.is_dir() else path.suffix == ".zip" and path.is_file()


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """A crate in a folder or zip, for reading."""
    if path.is_dir():
        yield _Folder(path)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            yield _Zip(path, archive)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as fault:
        if isinstance(fault, PercussError):
            raise
        raise InputError(f"{path}: is no readable zip ({getattr(fault, 'strerror', None) or fault})") from fault


@dataclass(frozen=True)
class _Folder:
    root: Path

    def names(self) -> set[str]:
        """All files in it; a link counts as one, and is refused when it is read."""
        return {str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_symlink() or not p.is_dir()}

    def pieces(self, name: str, limit: int) -> Iterator[bytes]:
        """One of them piece by piece."""
        path = self.root / name
        try:
            if any(stat.S_ISLNK(os.lstat(p).st_mode) for p in (path, *list(path.parents)[: name.count("/")])):
                raise InputError(f"{path}: is a link, and a crate holds what it describes")
            if not path.is_file():
                raise InputError(f"{path}: is missing, or no regular file")
            with path.open("rb") as file:
                yield from _pieces(file, limit, str(path))
        except OSError as fault:
            if isinstance(fault, PercussError):
                raise
            raise InputError(f"{path}: cannot be read ({fault.strerror})") from fault


@dataclass(frozen=True)
class _Zip:
    path: Path
    archive: zipfile.ZipFile

    def names(self) -> set[str]:
        """All files in it."""
        names = [name for name in self.archive.namelist() if not name.endswith("/")]
        if len(set(names)) != len(names):
            raise InputError(f"{self.path}: has files of the same name")
        return set(names)

    def pieces(self, name: str, limit: int) -> Iterator[bytes]:
        """One of them piece by piece."""
        try:
            with self.archive.open(name) as file:
                yield from _pieces(file, limit, f"{self.path}: {name}")
        except KeyError:
            raise InputError(f"{self.path}: {name} is missing") from None
        except InputError:
            raise
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as fault:
            raise InputError(f"{self.path}: {name} cannot be read ({fault})") from fault


def _pieces(file: IO[bytes], limit: int, name: str) -> Iterator[bytes]:
    left = limit
    while piece := file.read(PIECE_BYTES):
        left -= len(piece)
        if left < 0:
            raise InputError(f"{name}: is larger than the {limit} bytes it should have")
        yield piece


def read_whole(source: Source, name: str, limit: int) -> bytes:
    """A file of a crate that is read at once."""
    return b"".join(source.pieces(name, limit))


def read_crate(path: Path, source: Source, hash: str | None = None) -> Crate:
    """Read a crate and prove all there is to prove without computing anything; one sentence says what is wrong.

    `hash`: that of its event, as its writer gave it by another way. It covers how large payloads are, and is looked at
    before any of them is unpacked.
    """
    names = source.names()
    document = _document(path, read_whole(source, METADATA, LARGEST_METADATA))
    rows = read_whole(source, EVENTS, LARGEST_COMMIT_BYTES)
    if not check_bytes(rows):
        raise _changed(path, f"{EVENTS} does not match the digest it carries")
    try:
        events = tuple(from_frame(parse_parquet(path / EVENTS, rows)))
        paths = payload_paths(events)
    except LedgerError as fault:
        raise _changed(path, f"{EVENTS}: {fault}") from None
    _check_events(path, events)
    root = events[-1]
    if hash is not None and root.hash != hash.lower():
        raise InputError(f"crate {path}: its event has the hash {root.hash}, not {hash[:80]}")
    entities = {str(item.get("@id")): item for item in document["@graph"]}
    if entities.get(HASH, {}).get("value") != root.hash:
        raise _changed(path, f"its description is of another event than {root.id}")
    for name in sorted(names - {METADATA, EVENTS} - TOLERATED - set(paths.values())):
        raise _changed(path, f"{name} belongs to no event")
    stored = {blob.sha256: blob for event in events for blob in event.payloads}
    for sha256, name in {**paths, sha256_hex(rows): EVENTS}.items():
        size = len(rows) if name == EVENTS else stored[sha256].bytes
        entity = entities.get(name, {})
        if entity.get("sha256") != sha256 or entity.get("contentSize") != str(size):
            raise _changed(path, f"its description of {name} does not fit the events")
    size = sum(stored[sha256].bytes for sha256 in paths)
    if hash is None and path.is_file() and size > LARGEST_UNPROVEN:
        raise InputError(
            f"crate {path}: its payloads are {size} bytes, and at most {LARGEST_UNPROVEN} are unpacked of a zip",
            hint="--hash, as its writer gave it by another way, vouches for them; or unpack it yourself to a folder",
        )
    for sha256, name in paths.items():
        state = hashlib.sha256()
        for piece in source.pieces(name, stored[sha256].bytes):
            state.update(piece)
        if state.hexdigest() != sha256:
            raise _changed(path, f"{name} has other bytes than its event says")
    ledger = str(entities[HASH].get("name", "")).rpartition(" ")[2]
    return Crate(events, ledger, document, paths)


def _changed(path: Path, what: str) -> InputError:
    return InputError(f"crate {path}: {what}; it was damaged or changed, and is refused")


def _document(path: Path, data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
        graph = document["@graph"]
        if not isinstance(graph, list) or not all(isinstance(item, dict) for item in graph):
            raise ValueError("its @graph is no list of entities")
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise InputError(f"crate {path}: {METADATA} is not one of an RO-Crate ({fault})") from None
    whole: dict[str, Any] = document
    return whole


def _check_events(path: Path, events: Sequence[Event]) -> None:
    """Every event has the hash of its fields, and depends on events before it with the hashes they have."""
    if not events:
        raise _changed(path, "it has no events")
    hashes: dict[str, str] = {}
    for event in events:
        if event.computed_hash() != event.hash:
            raise _changed(path, f"the fields of event {event.id} do not give its hash")
        if event.id in hashes:
            raise _changed(path, f"event {event.id} is there twice")
        for item in event.inputs:
            if hashes.get(item.id) != item.hash:
                raise _changed(path, f"event {event.id} was made from another {item.role} than {item.id} here")
        for blob in event.payloads:
            if not HEX64.fullmatch(blob.sha256):
                raise _changed(path, f"event {event.id} has a payload without a digest")
        hashes[event.id] = event.hash
    under = {event.id for event in lineage(fold(events), events[-1].id)}
    for event in events:
        if event.id not in under:
            raise _changed(path, f"event {event.id} is nothing that {events[-1].id} depends on")
