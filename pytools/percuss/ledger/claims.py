"""Claims: how processes that work on the same thing at once share it out, so that nobody does what another does.

A claim is a lock on one byte of the file `cache/claims`, far beyond its end: the kernel gives it to one process and
takes it back when that process ends, however it ends. Claims are a courtesy, like every lock of a ledger: where the
file system has none, or the cache is deleted meanwhile, work may be done twice, and the projections count it once.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass

from percuss.errors import LedgerError
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.place import Place

# Each name has this many bytes to itself, the last of them for whoever closes the work.
SPAN = 2**32


@dataclass(frozen=True)
class Claims:
    """What this process may claim of one work: the pieces 0, 1, 2, ...; without a handle everything is granted."""

    handle: int | None
    start: int

    def take(self, piece: int) -> bool:
        """Claim a piece; False if another process has it. It is kept until the claims are closed."""
        return self._lock(piece, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def wait_for_closing(self) -> None:
        """Claim the closing of the work, after whoever is at it."""
        self._lock(SPAN - 1, fcntl.LOCK_EX)

    def _lock(self, piece: int, how: int) -> bool:
        if self.handle is None:
            return True
        try:
            fcntl.lockf(self.handle, how, 1, self.start + piece)
        except OSError as fault:
            return fault.errno not in (errno.EACCES, errno.EAGAIN)
        return True


@contextlib.contextmanager
def open_claims(place: Place, name: str) -> Iterator[Claims]:
    """The claims on the work of a name. One at a time in a process: closing the file lets go of all that it locked."""
    # 31 bits of where the name begins and 32 within it: all that an offset in a file has.
    start = int(sha256_hex(name.encode())[:16], 16) % 2**31 * SPAN
    try:
        folder = place.real(place.cache, create=True)
        handle = os.open(folder / "claims", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except (OSError, LedgerError):
        yield Claims(None, start)
        return
    try:
        yield Claims(handle, start)
    finally:
        os.close(handle)
