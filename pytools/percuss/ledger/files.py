"""Files of a ledger: written whole or not at all, self-checking, and never followed out of the folder.

A commit, a sealed segment and a cache file are Parquet files that carry the SHA-256 of their own bytes in the
key-value metadata of the footer, under `percuss.sha256`; while it is computed its 64 digits stand as zeros. So
one flipped byte anywhere shows, although the hash chain is over events and not over files.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.errors import LedgerError
from percuss.ledger.canonical import sha256_hex

if TYPE_CHECKING:
    import polars as pl

MARK = b"percuss.sha256"
BLANK = b"0" * 64
TEMPORARY = ".tmp-"
# A commit holds events, never payloads: anything near this size is damage or malice.
LARGEST_COMMIT_BYTES = 512 * 1024 * 1024


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as a self-checking Parquet file."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", metadata={MARK.decode(): BLANK.decode()})
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


def read_regular(path: Path, largest_bytes: int | None = None) -> bytes:
    """Read a regular file, refusing links, devices and files above a size."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if largest_bytes is not None and size > largest_bytes:
            raise LedgerError(f"{path}: {size} bytes, and at most {largest_bytes} are read")
        return file.read()


def open_regular(path: Path) -> io.BufferedReader:
    """Open a regular file for reading, refusing links and devices."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise LedgerError(f"{path}: missing") from None
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            raise LedgerError(f"{path}: is a symbolic link, which a ledger never holds") from None
        raise LedgerError(f"{path}: cannot be read ({fault.strerror})") from fault
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise LedgerError(f"{path}: is not a regular file")
    return os.fdopen(handle, "rb")


def read_frame(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a self-checking Parquet file."""
    data = read_regular(path, LARGEST_COMMIT_BYTES)
    if not check_bytes(data):
        raise LedgerError(f"{path}: its bytes do not match the digest it carries")
    return parse_parquet(path, data, columns)


def parse_parquet(path: Path, data: bytes, columns: list[str] | None = None) -> pl.DataFrame:
    """Bytes that passed their digest as the table they hold; `path` is for the message."""
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(data), columns=columns)
    except (Exception, pl.exceptions.PanicException) as fault:
        first = str(fault).splitlines()[0]
        raise LedgerError(f"{path}: is not a readable Parquet file ({first})") from fault


def real_folder(root: Path, *names: str, create: bool = False) -> Path:
    """A folder of a ledger: made if asked for, refused if a link stands anywhere on the way to it.

    The ledger's own folder, `root`, is where the user says it is, be it through a link.
    """
    path = root
    for name in names:
        path = path / name
        try:
            is_folder = stat.S_ISDIR(path.lstat().st_mode)
        except FileNotFoundError:
            break
        except OSError as fault:
            raise LedgerError(f"{path}: cannot be read ({fault.strerror})") from fault
        if not is_folder:
            raise LedgerError(f"{path}: should be a folder of the ledger and is not")
    path = root.joinpath(*names)
    if create and not path.is_dir():
        with _told(path, "make the folder"):
            root.mkdir(parents=True, exist_ok=True)
            # From the top down, each made to last before anything is put into it.
            for i in range(len(names) + 1):
                folder = root.joinpath(*names[:i])
                folder.mkdir(exist_ok=True)
                _sync_folder(folder.parent)
    return path


def write_linked(path: Path, data: bytes) -> bool:
    """Write a file that appears complete under a name nobody has taken; False if somebody has.

    The hard link decides between writers: it is atomic and fails if the name exists, on local and network file
    systems alike.
    """
    with _told(path, "write"), _temporary(path, data) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        _sync_folder(path.parent)
    return True


def write_renamed(path: Path, data: bytes) -> None:
    """Write a file that appears complete, replacing what was there (a blob or a cache: equal names, equal bytes)."""
    with _told(path, "write"), _temporary(path, data) as temporary:
        temporary.rename(path)
        _sync_folder(path.parent)


@contextlib.contextmanager
def _temporary(path: Path, data: bytes) -> Iterator[Path]:
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


@contextlib.contextmanager
def _told(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except LedgerError:
        raise
    except OSError as fault:
        hint = {
            errno.ENOSPC: "free some space and give the command again",
            errno.EDQUOT: "free some space and give the command again",
            errno.EFBIG: "raise the limit on file sizes (ulimit -f) and give the command again",
            errno.EROFS: "choose a ledger in a folder you may write to (--ledger)",
            errno.EACCES: "choose a ledger in a folder you may write to (--ledger)",
            errno.EPERM: "choose a ledger on a file system with hard links (--ledger)",
        }.get(fault.errno or 0)
        raise LedgerError(f"{path}: cannot {what} ({fault.strerror}); nothing was appended", hint=hint) from fault


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
