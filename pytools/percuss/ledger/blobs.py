"""Payloads by content: written once under the SHA-256 of their bytes, checked whenever they are read."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.errors import LedgerError
from percuss.ledger import files
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import FILE_ROLE, Blob
from percuss.ledger.files import (
    exists,
    file_sha256,
    make_last,
    parse_parquet,
    pieces_of,
    read_regular,
    write_renamed,
)
from percuss.ledger.place import Place
from percuss.ledger.tables import SlicedDigest, table_digest

if TYPE_CHECKING:
    import polars as pl

# Payloads above this are hashed piece by piece.
LARGE_BYTES = 64 * 1024 * 1024
# Tables above this are looked at in slices of so many numbers, in groups of so many columns.
SLICED_BYTES = 1024 * 1024
NUMBERS_AT_ONCE, COLUMNS_AT_ONCE = 1_000_000, 64


def put_table(place: Place, role: str, frame: pl.DataFrame) -> Blob:
    """Store a table as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    data = buffer.getvalue()
    sha256 = sha256_hex(data)
    return _put(place, data, Blob(role, sha256, table_digest(frame), frame.height, len(data)))


def put_file(place: Place, name: str, data: bytes) -> Blob:
    """Store bytes as they are, in the role `file:NAME`."""
    sha256 = sha256_hex(data)
    return _put(place, data, Blob(FILE_ROLE + name, sha256, sha256, 0, len(data)))


def blob_path(place: Place, blob: Blob) -> Path:
    """The file of a payload: tables end in .parquet, files kept as they came in .bin."""
    return place.blob(blob.sha256, "bin" if blob.role.startswith(FILE_ROLE) else "parquet")


def blob_name(blob: Blob) -> str:
    """The name of that file in a ledger, wherever that is."""
    return f"blobs/{blob.sha256[:2]}/{blob.sha256}.{'bin' if blob.role.startswith(FILE_ROLE) else 'parquet'}"


def _put(place: Place, data: bytes, blob: Blob) -> Blob:
    path = blob_path(place, blob)
    place.real(path.parent, create=True)
    if not _is_there(path, data):
        write_renamed(path, data)
    return blob


def _is_there(path: Path, data: bytes) -> bool:
    """Whether the payload is there already, byte for byte: a damaged one is put right, not referred to."""
    try:
        if read_regular(path, len(data)) != data:
            return False
        files.system.touch(path)  # young again, so that nobody clears it away before its event is in
        make_last(path)  # whoever wrote it may have been killed before it did so
    except OSError:
        return False
    return True


def take_over(source: Place, target: Place, blob: Blob) -> bool:
    """Copy a payload from another place, if it is not here; whether it was copied. Whoever refers to it checks it."""
    path = blob_path(target, blob)
    if exists(path):
        make_last(path)
        return False
    check_payload(source, blob)
    target.real(path.parent, create=True)
    write_renamed(path, pieces_of(blob_path(source, blob)))
    return True


def delete_payload(place: Place, blob: Blob) -> bool:
    """Delete a payload that an event records as gone, for good; whether it was there."""
    path = blob_path(place, blob)
    try:
        files.system.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as fault:
        raise LedgerError(
            f"{path}: cannot be deleted ({fault.strerror})",
            hint="that it goes is recorded, and the same command given again deletes it",
        ) from fault
    files.make_names_last(path.parent)
    return True


def check_payload(place: Place, blob: Blob) -> Path:
    """Make sure, piece by piece, that a payload is the one the event speaks of; its file."""
    path = blob_path(place, blob)
    place.real(path.parent)
    sha256, size = file_sha256(path)
    if size > blob.bytes:
        raise LedgerError(f"{path}: {size} bytes, and at most {blob.bytes} are read")
    if sha256 != blob.sha256:
        raise _other_bytes(path)
    return path


def get_bytes(place: Place, blob: Blob) -> bytes:
    """Read a payload, and make sure that it is the one the event speaks of."""
    path = blob_path(place, blob)
    place.real(path.parent)
    data = read_regular(path, blob.bytes)
    if sha256_hex(data) != blob.sha256:
        raise _other_bytes(path)
    return data


def _other_bytes(path: Path) -> LedgerError:
    return LedgerError(f"{path}: its bytes are not those that were stored (SHA-256 differs)")


def get_table(place: Place, blob: Blob, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a table."""
    if blob.bytes > LARGE_BYTES:
        return parse_parquet(check_payload(place, blob), None, columns)
    return parse_parquet(blob_path(place, blob), get_bytes(place, blob), columns)


def get_rows(place: Place, blob: Blob, start: int, count: int) -> pl.DataFrame:
    """Some rows of a table, of a large one without the others."""
    import polars as pl

    if blob.bytes <= SLICED_BYTES:
        return get_table(place, blob).slice(start, count)
    path = check_payload(place, blob)
    try:
        with files.quiet_panics():
            return pl.scan_parquet(path, cache=False).slice(start, count).collect()
    except (Exception, pl.exceptions.PanicException) as fault:
        raise LedgerError(f"{path}: is not a readable Parquet file ({str(fault).splitlines()[0]})") from fault


def payload_fault(place: Place, blob: Blob) -> str | None:
    """What is wrong with a payload whose bytes are those that were stored: size, rows or content; None if nothing."""
    path = blob_path(place, blob)
    if blob.bytes > SLICED_BYTES:
        return _large_fault(check_payload(place, blob), blob)
    data = get_bytes(place, blob)
    if len(data) != blob.bytes:
        return SIZE
    if blob.role.startswith(FILE_ROLE):
        return None
    table = parse_parquet(path, data)
    return None if table_digest(table) == blob.digest and table.height == blob.rows else CONTENT


SIZE, CONTENT = "its size is not that of", "its content is not that of"


def _large_fault(path: Path, blob: Blob) -> str | None:
    import polars as pl

    if path.stat().st_size != blob.bytes:
        return SIZE
    if blob.role.startswith(FILE_ROLE):
        return None
    try:
        with files.quiet_panics():
            names = list(pl.read_parquet_schema(path))
            digest, rows = SlicedDigest(len(names)), {blob.rows}
            for start in range(0, len(names), COLUMNS_AT_ONCE):
                some = names[start : start + COLUMNS_AT_ONCE]
                rows.add(digest.add(_slices(path, some)))
    except (Exception, pl.exceptions.PanicException) as fault:
        raise LedgerError(f"{path}: is not a readable Parquet file ({str(fault).splitlines()[0]})") from fault
    return None if digest.hexdigest() == blob.digest and rows == {blob.rows} else CONTENT


def _slices(path: Path, names: list[str]) -> Iterator[pl.DataFrame]:
    import polars as pl

    scan = pl.scan_parquet(path, cache=False).select(names)
    step = max(1, NUMBERS_AT_ONCE // len(names))
    for start in itertools.count(0, step):
        piece = scan.slice(start, step).collect()
        if not piece.height and start:
            return
        yield piece
        if piece.height < step:
            return
