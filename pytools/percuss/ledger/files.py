"""Files of a ledger: written whole or not at all, and never followed out of the folder.

Whatever touches a file goes through `system`, one method for each call: tests put another in its place, that fails at a
call, lets writers race, or cuts the power.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from percuss.errors import InputError, LedgerError

if TYPE_CHECKING:
    from concurrent.futures import Future


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
        """Give a file another name, whoever has it."""
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

TEMPORARY = ".tmp-"
# A commit holds events, never payloads: anything near this size is damage or malice.
LARGEST_COMMIT_BYTES = 512 * 1024 * 1024
PIECE_BYTES = 1024 * 1024
# Tables of so many bytes are put together before they are parsed.
LARGEST_TOGETHER_BYTES = 256 * 1024 * 1024
# Threads that read files; more have nothing to do while one parses.
MOST_READERS = 4
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


UNDONE = "nothing was appended"


def write_linked(path: Path, data: bytes, undone: str = UNDONE) -> bool:
    """Write a file that appears complete under a name nobody has taken; False if somebody has.

    The hard link decides between writers: it is atomic and fails if the name exists, on local and network file
    systems alike. What goes wrong after it does not undo it, and is told so.
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


LOOK = "percuss log shows whether it is there"


def make_last(path: Path) -> None:
    """Make the name of a file that is in place last, whoever put it there."""
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
