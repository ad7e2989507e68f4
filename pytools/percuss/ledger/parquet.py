"""Parquet files: those of a ledger, which check themselves, and any that a stranger may have made.

A commit, a sealed segment and a cache file carry the SHA-256 of their own bytes in the key-value metadata of the
footer, under `percuss.sha256`; while it is computed its 64 digits stand as zeros. So one flipped byte anywhere shows,
although the hash chain is over events and not over files.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.errors import InputError, LedgerError
from percuss.ledger import files
from percuss.ledger.canonical import sha256_hex

if TYPE_CHECKING:
    import polars as pl

MARK = b"percuss.sha256"
BLANK = b"0" * 64
FILES_AT_A_TIME = 512
# What a table may take in memory: a page of a few bytes can stand for billions of rows. Values that are all the same
# take a thousandth in a file.
LARGEST_TABLE_BYTES = 4 * 1024 * 1024 * 1024
LARGEST_SMALL_TABLE_BYTES, LARGEST_RATIO = 512 * 1024 * 1024, 1000


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as a self-checking Parquet file."""
    buffer = io.BytesIO()
    # Statistics of columns, which nobody asks for, would be half of a commit and of the time to write it.
    frame.write_parquet(buffer, compression="zstd", statistics=False, metadata={MARK.decode(): BLANK.decode()})
    blank = buffer.getvalue()
    place = _digest_place(blank)
    if place is None:
        raise LedgerError("polars wrote a Parquet file without our metadata: this version of polars cannot be used")
    return blank[:place] + sha256_hex(blank).encode() + blank[place + 64 :]


def check_bytes(data: bytes) -> bool:
    """Whether a self-checking file is as it was written."""
    place = _digest_place(data)
    if place is None:
        return False
    blank = data[:place] + BLANK + data[place + 64 :]
    return data[place : place + 64] == sha256_hex(blank).encode()


def _digest_place(data: bytes) -> int | None:
    # The footer's key-value list is the last part of the file that can hold text of ours (it follows the column
    # statistics, which may quote a body), so the last mark is the right one. 0x18 0x40: binary of 64 bytes in
    # Thrift's compact protocol.
    mark = data.rfind(MARK)
    place = mark + len(MARK) + 2
    if mark < 0 or data[place - 2 : place] != b"\x18\x40" or place + 64 > len(data):
        return None
    return place


def read_frame(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a self-checking Parquet file."""
    return parse_parquet(path, _checked_bytes(path), columns)


def read_frames(
    groups: Iterable[Sequence[str]], schema: pl.Schema, columns: list[str] | None = None
) -> Iterator[pl.DataFrame]:
    """The tables of groups of small self-checking files, a frame for each group, in order."""
    import polars as pl

    blocks = [files.blocks_of(group, FILES_AT_A_TIME) for group in groups]
    # Across groups, so that files of the next are read while the caller is busy with one.
    frames = files.side_by_side(
        lambda some: _read_together(some, schema, columns), [some for few in blocks for some in few]
    )
    for few in blocks:
        yield pl.concat(islice(frames, len(few)), rechunk=True)


def _read_together(paths: Sequence[str], schema: pl.Schema, columns: list[str] | None) -> pl.DataFrame:
    """The tables of some files as one.

    polars takes half a millisecond for a file of one row, so the core makes one of them all. What it does not take (a
    file of another writer, a stranger's, a damaged one) is read and parsed one by one, for the message to name it.
    """
    import polars as pl

    expected = {name: schema[name] for name in columns or schema}
    try:
        merged = files.system.together(paths)
        with quiet_panics():
            frame = pl.read_parquet(io.BytesIO(merged), columns=columns).rechunk()
        if dict(frame.schema) == expected:
            return frame
    except (Exception, pl.exceptions.PanicException):
        pass
    frames = [read_frame(Path(path), columns) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        if dict(frame.schema) != expected:
            raise LedgerError(f"{path}: its columns are not those of a commit")
    return pl.concat(frames, rechunk=True)


def _checked_bytes(path: Path) -> bytes:
    data = files.read_regular(path, files.LARGEST_COMMIT_BYTES)
    if not check_bytes(data):
        raise LedgerError(f"{path}: its bytes do not match the digest it carries")
    return data


@contextlib.contextmanager
def quiet_panics() -> Iterator[None]:
    """Keep stderr still while a file is parsed that a stranger may have made: Rust tells of a panic there before it is
    caught. Threads may be at it at once; the last one lets stderr speak again.
    """
    global _quiet_depth, _kept_stderr
    with _quiet_lock:
        if not _quiet_depth:
            with contextlib.suppress(OSError):  # stderr is closed: still enough
                _kept_stderr = os.dup(2)
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, 2)
                os.close(nothing)
        _quiet_depth += 1
    try:
        yield
    finally:
        with _quiet_lock:
            _quiet_depth -= 1
            if not _quiet_depth and _kept_stderr is not None:
                os.dup2(_kept_stderr, 2)
                os.close(_kept_stderr)
                _kept_stderr = None


_quiet_lock = threading.Lock()
_quiet_depth = 0
_kept_stderr: int | None = None


def parse_parquet(path: Path, data: bytes | None, columns: list[str] | None = None) -> pl.DataFrame:
    """Bytes that passed their digest as the table they hold; None: the file itself, which passed it piece by piece."""
    import polars as pl

    try:
        size = check_table_size(path if data is None else data)
        with quiet_panics():
            frame = pl.read_parquet(path if data is None else io.BytesIO(data), columns=columns)
        # A text counts 16 bytes at least, and none is longer than all. To ask takes longer than to read a commit.
        if size // 16 * size > LARGEST_TABLE_BYTES:
            check_text_size(frame.get_columns())
        return frame
    except InputError as fault:
        raise LedgerError(f"{path}: {fault}") from None
    except (Exception, pl.exceptions.PanicException) as fault:
        first = str(fault).splitlines()[0]
        raise LedgerError(f"{path}: is not a readable Parquet file ({first})") from fault


def check_table_size(file: bytes | Path) -> int:
    """Refuse a Parquet file whose table would take more of the memory than any of ours does, before it is unpacked;
    how much it takes, texts that many rows share counted once."""
    from percuss import _core

    stored = len(file) if isinstance(file, bytes) else files.system.lstat(file).st_size
    size = _core.parquet_size(file)
    most = min(LARGEST_TABLE_BYTES, LARGEST_SMALL_TABLE_BYTES + LARGEST_RATIO * stored)
    if size > most:
        raise InputError(f"{stored} bytes that stand for a table of {size}, and at most {most} are read")
    return size


def check_text_size(columns: Iterable[pl.Series]) -> None:
    """Refuse columns whose texts take more than is read: many rows may share one long text, and it is counted once
    before they are laid out."""
    refuse_long_texts(sum(map(_text_bytes, columns)))


def refuse_long_texts(size: int) -> None:
    """Refuse texts of so many bytes in all, if they are more than is read."""
    if size > LARGEST_TABLE_BYTES:
        raise InputError(f"texts of {size} bytes, and at most {LARGEST_TABLE_BYTES} are read")


def _text_bytes(series: pl.Series) -> int:
    import polars as pl

    match series.dtype:
        case pl.String():
            return int(series.str.len_bytes().cast(pl.UInt64).sum())  # a sum of 32 bits would wrap around
        case pl.List() | pl.Array():
            return _text_bytes(series.explode()) if series.dtype.is_nested() and len(series) else 0
        case pl.Struct():
            return sum(map(_text_bytes, series.struct.unnest().get_columns())) if len(series) else 0
    return 0
