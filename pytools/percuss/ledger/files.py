"""Files of a ledger: written whole or not at all, self-checking, and never followed out of the folder.

A commit, a sealed segment and a cache file are Parquet files that carry the SHA-256 of their own bytes in the
key-value metadata of the footer, under `percuss.sha256`; while it is computed its 64 digits stand as zeros. So
one flipped byte anywhere shows, although the hash chain is over events and not over files.

Whatever touches a file goes through `system`, one method for each call: tests put another in its place, that fails at a
call, lets writers race, or cuts the power.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from percuss.errors import InputError, LedgerError
from percuss.ledger.canonical import sha256_hex

if TYPE_CHECKING:
    from concurrent.futures import Future

    import polars as pl


Item = TypeVar("Item")
Made = TypeVar("Made")


class System:
    """The calls of the operating system that a ledger needs, and which folders this process has made to last."""

    def __init__(self) -> None:
        self.lasting: set[str] = set()

    def open(self, path: Path, flags: int) -> int:
        """Open a file or folder; never inherited by a program, never through a link."""
        return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)

    def close(self, handle: int) -> None:
        """Let go of a file."""
        os.close(handle)

    def stat(self, handle: int) -> os.stat_result:
        """Size and kind of an open file."""
        return os.fstat(handle)

    def lstat(self, path: Path) -> os.stat_result:
        """Kind and time of what has a name."""
        return os.lstat(path)

    def read(self, handle: int, size: int) -> bytes:
        """Some bytes, at most so many; none at the end."""
        return os.read(handle, size)

    def write(self, handle: int, data: memoryview) -> int:
        """Write some of the bytes; how many."""
        return os.write(handle, data)

    def sync(self, handle: int) -> None:
        """Make what a file holds, or the names in a folder, last."""
        os.fsync(handle)

    def link(self, old: Path, new: Path) -> None:
        """Give a file a second name that nobody has."""
        os.link(old, new)

    def rename(self, old: Path, new: Path) -> None:
        """Give a file another name, no matter who has it."""
        old.rename(new)

    def unlink(self, path: Path) -> None:
        """Take a name away."""
        path.unlink()

    def mkdir(self, path: Path) -> None:
        """Make a folder."""
        path.mkdir()

    def touch(self, path: Path) -> None:
        """Make a file young again."""
        os.utime(path)

    def names(self, folder: Path) -> list[str]:
        """What is in a folder."""
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]

    def together(self, paths: Sequence[str]) -> bytes:
        """Many small self-checking files as one, read, checked and put together by the core while other threads go on.

        A ValueError, without saying which, if one cannot be read or is not as it should be.
        """
        from percuss import _core

        return _core.merge_parquet_files(paths, LARGEST_COMMIT_BYTES, LARGEST_TOGETHER_BYTES)


system = System()

MARK = b"percuss.sha256"
BLANK = b"0" * 64
FILES_AT_A_TIME = 512
# What a table may take in memory: a page of a few bytes can stand for billions of rows. Values that are all the same
# take a thousandth in a file.
LARGEST_TABLE_BYTES = 4 * 1024 * 1024 * 1024
LARGEST_SMALL_TABLE_BYTES, LARGEST_RATIO = 512 * 1024 * 1024, 1000
TEMPORARY = ".tmp-"
# A commit holds events, never payloads: anything near this size is damage or malice.
LARGEST_COMMIT_BYTES = 512 * 1024 * 1024
PIECE_BYTES = 1024 * 1024
# Tables of so many bytes are put together before they are parsed.
LARGEST_TOGETHER_BYTES = 256 * 1024 * 1024
# Threads that read files; more have nothing to do while one parses.
MOST_READERS = 4
UNDONE, LOOK = "nothing was appended", "percuss log shows whether it is there"
# How a folder says that it cannot be synced because it cannot be written to.
READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EINVAL)


def read_regular(path: Path, largest_bytes: int | None = None) -> bytes:
    """Read a regular file, refusing links, devices and files above a size."""
    with opened(path) as (handle, size):
        if largest_bytes is not None and size > largest_bytes:
            raise LedgerError(f"{path}: {size} bytes, and at most {largest_bytes} are read")
        return b"".join(_pieces(path, handle, largest_bytes, min(size + 1, PIECE_BYTES)))


def read_file(path: Path, shown_as: str, largest_bytes: int) -> bytes:
    """The bytes of a file that people bring, links followed."""
    try:
        return read_resolved(path.resolve(strict=True), shown_as, largest_bytes)
    except FileNotFoundError:
        raise InputError(f"{shown_as}: there is no such file") from None
    except (OSError, RuntimeError) as fault:  # a loop of links
        if isinstance(fault, InputError):
            raise
        raise InputError(f"{shown_as}: cannot be read ({getattr(fault, 'strerror', None) or fault})") from None


def read_resolved(place: Path, shown_as: str, largest_bytes: int) -> bytes:
    """The bytes of a regular file of at most so many; a link that has come to stand in this place is not followed."""
    try:
        return read_regular(place, largest_bytes)
    except LedgerError as fault:
        raise InputError(f"{shown_as}: {str(fault).removeprefix(f'{place}: ')}") from None


def pieces_of(path: Path) -> Iterator[bytes]:
    """A regular file piece by piece."""
    with opened(path) as (handle, _):
        yield from _pieces(path, handle, None)


def file_sha256(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a regular file, read piece by piece: a payload may be larger than the memory."""
    state, size = hashlib.sha256(), 0
    for piece in pieces_of(path):
        state.update(piece)
        size += len(piece)
    return state.hexdigest(), size


@contextlib.contextmanager
def opened(path: Path) -> Iterator[tuple[int, int]]:
    """Open a regular file for reading, refusing links and devices: its handle and its size."""
    try:
        handle = system.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        raise LedgerError(f"{path}: missing") from None
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            raise LedgerError(f"{path}: is a symbolic link, which a ledger never holds") from None
        raise _unreadable(path, fault) from fault
    try:
        facts = system.stat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise LedgerError(f"{path}: is not a regular file")
        yield handle, facts.st_size
    except LedgerError:
        raise
    except OSError as fault:
        raise _unreadable(path, fault) from fault
    finally:
        with contextlib.suppress(OSError):  # it was only read
            system.close(handle)


def _pieces(path: Path, handle: int, largest_bytes: int | None, size: int = PIECE_BYTES) -> Iterator[bytes]:
    read = 0
    while piece := system.read(handle, size):
        read += len(piece)
        if largest_bytes is not None and read > largest_bytes:  # it grows while it is read
            raise LedgerError(f"{path}: more than {largest_bytes} bytes, and no more are read")
        yield piece


def _unreadable(path: Path, fault: OSError) -> LedgerError:
    return LedgerError(f"{path}: cannot be read ({fault.strerror})")


def names_in(folder: Path) -> list[str]:
    """The names in a folder; none if there is no folder."""
    try:
        return system.names(folder)
    except FileNotFoundError:
        return []
    except OSError as fault:
        raise _unreadable(folder, fault) from fault


def files_below(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Whatever is below a folder and is no folder itself, with its facts, in order; links are not followed."""
    files = []
    for name in sorted(names_in(folder)):
        path = folder / name
        try:
            facts = system.lstat(path)
        except FileNotFoundError:  # sealed or cleared away since it was listed
            continue
        except OSError as fault:
            raise _unreadable(path, fault) from fault
        files += files_below(path) if stat.S_ISDIR(facts.st_mode) else [(path, facts)]
    return files


def exists(path: Path) -> bool:
    """Whether something has this name."""
    try:
        system.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as fault:
        raise _unreadable(path, fault) from fault
    return True


def blocks_of(items: Sequence[Item], most: int) -> list[Sequence[Item]]:
    """The items in blocks of at most so many."""
    return [items[start : start + most] for start in range(0, len(items), most)]


def side_by_side(function: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """What a function makes of each item, in order, by threads; few are ahead of what is taken, to spare memory."""
    threads = min(MOST_READERS, os.cpu_count() or 1, len(items))
    if threads < 2:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads, thread_name_prefix="read") as pool:
        rest = iter(items)
        ahead: deque[Future[Made]] = deque(pool.submit(function, item) for item in islice(rest, threads + 1))
        try:
            while ahead:
                made = ahead.popleft().result()
                ahead.extend(pool.submit(function, item) for item in islice(rest, 1))
                yield made
        finally:
            for future in ahead:
                future.cancel()


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
    data = read_regular(path, LARGEST_COMMIT_BYTES)
    if not check_bytes(data):
        raise LedgerError(f"{path}: its bytes do not match the digest it carries")
    return parse_parquet(path, data, columns)


def read_frames(
    groups: Iterable[Sequence[str]], schema: pl.Schema, columns: list[str] | None = None
) -> Iterator[pl.DataFrame]:
    """The tables of groups of small self-checking files, a frame for each group, in order."""
    import polars as pl

    blocks = [blocks_of(group, FILES_AT_A_TIME) for group in groups]
    # Across groups, so that files of the next are read while the caller is busy with one.
    frames = side_by_side(lambda some: _read_together(some, schema, columns), [some for few in blocks for some in few])
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
        merged = system.together(paths)
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


@contextlib.contextmanager
def quiet_panics() -> Iterator[None]:
    """Keep stderr still while a file is parsed that a stranger may have made: Rust reports a panic there before it is
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

    stored = len(file) if isinstance(file, bytes) else system.lstat(file).st_size
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


def real_folder(root: Path, *names: str, create: bool = False, lasting: bool = True, undone: str | None = None) -> Path:
    """A folder of a ledger: made if asked for, refused if a link stands anywhere on the way to it.

    The ledger's own folder, `root`, is where the user says it is, be it through a link. One of the cache need not last.
    """
    path = root
    missing = False
    for name in names:
        path = path / name
        try:
            is_folder = stat.S_ISDIR(system.lstat(path).st_mode)
        except FileNotFoundError:
            missing = True
            break
        except OSError as fault:
            raise _unreadable(path, fault) from fault
        if not is_folder:
            raise LedgerError(f"{path}: should be a folder of the ledger and is not")
    path = root.joinpath(*names)
    if create:
        with _named_faults(path, "make the folder", undone or UNDONE):
            where = Path(os.path.realpath(root)).joinpath(*names)
            if not lasting:
                _make_folder(where)
            elif missing or not where.is_dir() or str(where) not in system.lasting:
                _make_lasting(where, len(names))
    return path


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it that are not there."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            system.mkdir(folder)


def _make_lasting(folder: Path, within: int) -> None:
    """Make a folder and those above it, from the top down, each to last before anything is put into it.

    Those that are there may have been made by a writer that was killed before it synced them, so all are synced, once
    in a process. Of what lies above the ledger (`within` folders up) we may have no right to.
    """
    if folder.parent != folder:
        _make_lasting(folder.parent, within - 1)
    if folder.is_dir() and str(folder) in system.lasting:
        return
    _make_folder(folder)
    try:
        _sync_folder(folder.parent)
    except OSError as fault:
        if within > 0 or fault.errno not in READ_ONLY:
            raise
    system.lasting.add(str(folder))


def write_linked(path: Path, data: bytes, undone: str = UNDONE) -> bool:
    """Write a file that appears complete under a name nobody has taken; False if somebody has.

    The hard link decides between writers: it is atomic and fails if the name exists, on local and network file
    systems alike. What goes wrong after it does not undo it, and is said so.
    """
    with _named_faults(path, "write", undone), _temporary(path, data) as temporary:
        try:
            system.link(temporary, path)
        except OSError as fault:
            # A network file system may lose the answer, and say the second time that the name is taken: by us.
            if not _is_same(temporary, path, fault):
                if isinstance(fault, FileExistsError):
                    return False
                raise
    make_last(path)
    return True


def _is_same(temporary: Path, path: Path, fault: OSError) -> bool:
    try:
        return os.path.samestat(system.lstat(temporary), system.lstat(path))
    except FileNotFoundError:
        return False
    except OSError:
        raise LedgerError(
            f"{path}: cannot be written for sure ({fault.strerror}), and whether it is there cannot be seen", hint=LOOK
        ) from fault


def make_last(path: Path) -> None:
    """Make the name of a file that is in place last, no matter who put it there."""
    try:
        _sync_folder(path.parent)
    except OSError as fault:
        raise LedgerError(
            f"{path}: is written, but a power cut now could take it away again: its folder cannot be synced "
            f"({fault.strerror})",
            hint=LOOK,
        ) from fault


def make_names_last(folder: Path) -> None:
    """Make the names in a folder last, as far as it can be written to."""
    try:
        _sync_folder(folder)
    except OSError as fault:
        if fault.errno not in READ_ONLY:
            raise LedgerError(
                f"{folder}: cannot be synced ({fault.strerror}): its newest files may not last"
            ) from fault


def write_renamed(path: Path, data: bytes | Iterable[bytes], *, lasting: bool = True) -> None:
    """Write a file that appears complete, replacing what was there (a blob or a cache: equal names, equal bytes).

    One of the cache checks itself and can be made again: it need not last, and nobody waits for the disk.
    """
    with _named_faults(path, "write"), _temporary(path, data, lasting=lasting) as temporary:
        system.rename(temporary, path)
        if lasting:
            _sync_folder(path.parent)


@contextlib.contextmanager
def _temporary(path: Path, data: bytes | Iterable[bytes], *, lasting: bool = True) -> Iterator[Path]:
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}")
    try:
        handle = system.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            for piece in (data,) if isinstance(data, bytes) else data:
                left = memoryview(piece)
                while left:
                    left = left[system.write(handle, left) :]
            if lasting:
                system.sync(handle)
        finally:
            system.close(handle)
        yield temporary
    finally:
        with contextlib.suppress(OSError):  # percuss doctor lists those that stay
            system.unlink(temporary)


@contextlib.contextmanager
def _named_faults(path: Path, action: str, undone: str = UNDONE) -> Iterator[None]:
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
        raise LedgerError(f"{path}: cannot {action} ({fault.strerror}); {undone}", hint=hint) from fault


def _sync_folder(path: Path) -> None:
    handle = system.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        system.sync(handle)
    finally:
        system.close(handle)
