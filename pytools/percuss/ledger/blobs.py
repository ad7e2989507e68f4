"""Payloads by content: written once under the SHA-256 of their bytes, checked whenever they are read."""

from __future__ import annotations

import io
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
from percuss.ledger.tables import columns_digest, table_digest

if TYPE_CHECKING:
    import polars as pl

# Payloads above this are hashed piece by piece and looked at column by column.
LARGE_BYTES = 64 * 1024 * 1024


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


def payload_fault(place: Place, blob: Blob) -> str | None:
    """What is wrong with a payload whose bytes are those that were stored: size, rows or content; None if nothing."""
    path = blob_path(place, blob)
    if blob.bytes > LARGE_BYTES:
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
            names = pl.read_parquet_schema(path)
    except (Exception, pl.exceptions.PanicException) as fault:
        raise LedgerError(f"{path}: is not a readable Parquet file ({str(fault).splitlines()[0]})") from fault
    heights = set()

    def columns() -> Iterator[pl.Series]:
        for name in names:
            column = parse_parquet(path, None, [name])[name]
            heights.add(len(column))
            yield column

    return None if columns_digest(columns(), len(names)) == blob.digest and heights <= {blob.rows} else CONTENT
