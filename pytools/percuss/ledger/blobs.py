"""Payloads by content: written once under the SHA-256 of their bytes, checked whenever they are read."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.errors import LedgerError
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Blob
from percuss.ledger.files import parse_parquet, read_regular, write_renamed
from percuss.ledger.place import Place
from percuss.ledger.tables import table_digest

if TYPE_CHECKING:
    import polars as pl

# Role prefix of payloads that are kept as they came, byte for byte: their two digests are equal.
FILE_ROLE = "file:"


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
        os.utime(path)  # young again, so that nobody clears it away before its event is in
    except OSError:
        return False
    return True


def get_bytes(place: Place, blob: Blob) -> bytes:
    """Read a payload, and make sure that it is the one the event speaks of."""
    path = blob_path(place, blob)
    place.real(path.parent)
    data = read_regular(path, blob.bytes)
    if sha256_hex(data) != blob.sha256:
        raise LedgerError(f"{path}: its bytes are not those that were stored (SHA-256 differs)")
    return data


def get_table(place: Place, blob: Blob, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a table."""
    return parse_parquet(blob_path(place, blob), get_bytes(place, blob), columns)
