"""Payloads by content: written once under the SHA-256 of their bytes, checked whenever they are read.

A table has a digest of its logical content beside that, whatever Parquet writer stored it: two tables have the same
exactly if they have the same columns in the same order with the same types and the same values bit for bit
(docs/ledger-format.md).
"""

from __future__ import annotations

import hashlib
import io
import itertools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING

from percuss.errors import InputError, LedgerError
from percuss.ledger import files
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import FILE_ROLE, Blob
from percuss.ledger.files import (
    check_table_size,
    exists,
    file_sha256,
    make_last,
    parse_parquet,
    pieces_of,
    read_regular,
    refuse_long_texts,
    write_renamed,
)
from percuss.ledger.place import Place

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


# Payloads above this are hashed piece by piece.
LARGE_BYTES = 64 * 1024 * 1024
# Tables above this are looked at in slices of so many numbers, in groups of so many columns.
SLICED_BYTES = 1024 * 1024
NUMBERS_AT_ONCE, COLUMNS_AT_ONCE = 131_072, 64


def put_table(place: Place, role: str, frame: pl.DataFrame) -> Blob:
    """Store a table as Parquet."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    data = buffer.getvalue()
    try:
        check_table_size(data)  # what is not read is not written
    except InputError as fault:
        raise InputError(f"table {role}: {fault}", hint="spread it over several events") from None
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
    if not exists(path):
        return False
    try:
        if read_regular(path, len(data)) != data:
            return False
        files.system.touch(path)  # young again, so that nobody clears it away before its event is in
        make_last(path)  # who wrote it may have been killed before it did so
    except OSError:
        return False
    return True


def take_over(source: Place, target: Place, blob: Blob) -> bool:
    """Copy a payload from another place, if it is not here; whether it was copied. Who refers to it checks it."""
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
        check_table_size(path)
        with files.quiet_panics():
            return pl.scan_parquet(path, cache=False).slice(start, count).collect()
    except InputError as fault:
        raise LedgerError(f"{path}: {fault}") from None
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
        check_table_size(path)
        with files.quiet_panics():
            names = list(pl.read_parquet_schema(path))
            digest, rows = SlicedDigest(len(names)), {blob.rows}
            for start in range(0, len(names), COLUMNS_AT_ONCE):
                some = names[start : start + COLUMNS_AT_ONCE]
                rows.add(digest.add(_slices(path, some)))
    except InputError as fault:
        raise LedgerError(f"{path}: {fault}") from None
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


# What the digest of a column is over is kept in memory up to this many bytes, and on disk beyond.
HELD_BYTES = 1 << 20


def table_digest(frame: pl.DataFrame) -> str:
    """SHA-256 over the columns: for each its name, its type, the number of rows, which are null, the values.

    >>> import polars as pl
    >>> table_digest(pl.DataFrame({"x": [1.0, 2.0]})) == table_digest(pl.DataFrame({"x": [1.0, 2.0]}).rechunk())
    True
    >>> table_digest(pl.DataFrame({"x": [1.0]})) == table_digest(pl.DataFrame({"x": [1]}))
    False
    """
    state = _begun(frame.width)
    for column in frame.get_columns():
        _name(state, column.name)
        _add_series(state, column)
    return state.hexdigest()


class SlicedDigest:
    """The digest of a table that is never in memory as a whole: its columns come in groups, each in slices of rows."""

    def __init__(self, width: int) -> None:
        self._state = _begun(width)

    def add(self, slices: Iterable[pl.DataFrame]) -> int:
        """The next columns, slice by slice from the first row on; how many rows they have. One slice at least."""
        columns: dict[str, _Column] = {}
        with ExitStack() as stack:
            for piece in slices:
                for series in piece.get_columns():
                    if series.name not in columns:
                        columns[series.name] = _Column(series.dtype, stack)
                    columns[series.name].add(series)
            for name, column in columns.items():
                _name(self._state, name)
                column.into(self._state)
        return next(iter(columns.values())).rows if columns else 0

    def hexdigest(self) -> str:
        """The digest of all columns so far."""
        return self._state.hexdigest()


class _Column:
    """A column as its slices come: the digest has all its nulls before all its values, so that they are put by."""

    def __init__(self, dtype: pl.DataType, stack: ExitStack) -> None:
        import polars as pl

        self.dtype = dtype
        self.rows = 0
        self.parts = [stack.enter_context(SpooledTemporaryFile(HELD_BYTES)) for _ in range(3)]  # noqa: SIM115
        self.items = _Column(dtype.inner, stack) if isinstance(dtype, pl.List) else None  # type: ignore[arg-type]

    def add(self, series: pl.Series) -> None:
        nulls, lengths, values, items = _parts(series)
        self.rows += len(series)
        for kept, part in zip(self.parts, (nulls, lengths, values), strict=True):
            kept.write(part)
        if self.items is not None and items is not None:
            self.items.add(items)

    def into(self, state: hashlib._Hash) -> None:
        state.update(_head(self.dtype) + self.rows.to_bytes(8, "little"))
        for kept in self.parts:
            kept.seek(0)
            while piece := kept.read(HELD_BYTES):
                state.update(piece)
        if self.items is not None:
            self.items.into(state)


def _begun(width: int) -> hashlib._Hash:
    return hashlib.sha256(width.to_bytes(8, "little"))


def _name(state: hashlib._Hash, name: str) -> None:
    text = name.encode()
    state.update(len(text).to_bytes(8, "little") + text)


def _add_series(state: hashlib._Hash, series: pl.Series) -> None:
    nulls, lengths, values, items = _parts(series)
    state.update(_head(series.dtype) + len(series).to_bytes(8, "little") + nulls + lengths)
    state.update(values)
    if items is not None:
        _add_series(state, items)


def _types() -> dict[object, tuple[bytes, str]]:
    import polars as pl

    return {
        pl.Float64: (b"f64", "<f8"),
        pl.Float32: (b"f32", "<f4"),
        pl.Int64: (b"i64", "<i8"),
        pl.Int32: (b"i32", "<i4"),
        pl.UInt64: (b"u64", "<u8"),
        pl.UInt32: (b"u32", "<u4"),
        pl.UInt8: (b"u8", "<u1"),
        pl.Boolean: (b"bool", "<u1"),
        pl.String: (b"text", ""),
        pl.List: (b"list", ""),
    }


def _head(dtype: pl.DataType) -> bytes:
    name = _types()[dtype.base_type()][0]
    return len(name).to_bytes(8, "little") + name


def _parts(series: pl.Series) -> tuple[bytes, bytes, bytes, pl.Series | None]:
    """What the digest of a column is over: nulls, lengths of what has any, values; of lists their items, all in one."""
    import polars as pl

    kind = series.dtype.base_type()
    if kind not in _types():
        raise InputError(f"column {series.name}: a payload cannot hold the type {series.dtype}")
    # Expressions on a series are queries with a start of their own, a hundred times what a short column takes: most
    # columns have no nulls, and need none.
    whole = series.null_count() == 0
    nulls = bytes(len(series)) if whole else series.is_null().cast(pl.UInt8).to_numpy().tobytes()
    if kind is pl.String:
        filled = series if whole else series.fill_null("")
        counts = _counts(filled.str.len_bytes())
        refuse_long_texts(int(counts.sum()))
        text = str(filled.str.join("").item()).encode() if len(series) else b""
        return nulls, counts.tobytes(), text, None
    if kind is pl.List:
        count = series.list.len()
        return nulls, _counts(count.fill_null(0)).tobytes(), b"", series.filter(count > 0).explode()
    code = _types()[kind][1]
    filled = series if whole else series.fill_null(False if kind is pl.Boolean else 0)
    return nulls, b"", filled.to_numpy().astype(code, copy=False).tobytes(), None


def _counts(counts: pl.Series) -> NDArray[np.uint64]:
    import polars as pl

    return counts.cast(pl.UInt64).to_numpy().astype("<u8", copy=False)
