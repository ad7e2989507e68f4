"""A writing process for the fault tests: forks children that append and print ids, and kills them at random moments.

Not a test by itself. Forking saves starting Python for every child; numpy and polars are imported before the fork but
not used, because the threads of polars do not survive one.

    python appender.py kill LEDGER COUNT SEED       ids of finished appends on stdout, one a line
    python appender.py race LEDGER PROCESSES EACH   every id appended, one a line
    python appender.py mixed LEDGER PROCESSES EACH  the same, among readers and sealers
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy  # noqa: F401
import polars  # noqa: F401

from percuss.errors import InputError, LedgerError
from percuss.ledger import streams
from percuss.ledger.audit import prove_chain
from percuss.ledger.event import Maker, Software
from percuss.ledger.ledger import Ledger
from percuss.ledger.place import open_place
from percuss.ledger.seal import seal_stream

# Called as a program, from any folder.
sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.drafts import study_draft

MAKER = Maker(("percuss", "test"), "tester", "here", Software("0", "c0", "rustc; target; profile; 0", "l0"))


def append_for_ever(root: Path, ready: int) -> None:
    """Append events, each with a payload, and tell each id after the append only."""
    import polars as pl

    book = Ledger.open(root, MAKER, create=True)
    pl.DataFrame({"warm": [1.0]}).write_parquet(io.BytesIO())
    os.write(ready, b"!")
    for i in range(1_000_000):
        table = book.put_table("runs", pl.DataFrame({"sample": [i], "pid": [os.getpid()]}))
        event = book.append([study_draft([table], notes=f"{i} {'x' * 2000}")])[0]
        os.write(1, f"{event.id}\n".encode())
        os.write(ready, b"!")


def append_some(root: Path, count: int) -> None:
    """Append a number of events and tell their ids."""
    book = Ledger.open(root, MAKER, create=True)
    for i in range(count):
        event = book.append([study_draft(notes=str(i))])[0]
        os.write(1, f"{event.id}\n".encode())


def start(work: Callable[[Path, int], None], root: Path, argument: int) -> int:
    """Fork a child that writes."""
    child = os.fork()
    if child == 0:
        try:
            work(root, argument)
            os._exit(0)
        except BaseException as fault:
            os.write(2, f"{type(fault).__name__}: {fault}\n".encode())
            os._exit(3)
    return child


def kill_at_random(root: Path, count: int, seed: int) -> None:
    """Start a writer, kill it, start the next: each must go on where the dead one left off.

    The moment: at any time in the append that follows none, one or two of its appends.
    """
    chance = random.Random(seed)
    started = time.monotonic()
    os.waitpid(start(append_some, root, 40), 0)
    while_appending = (time.monotonic() - started) / 40
    for _ in range(count):
        told, ready = os.pipe()
        child = start(append_for_ever, root, ready)
        for _ in range(chance.randrange(1, 4)):
            os.read(told, 1)
        time.sleep(chance.uniform(0.0, 1.5 * while_appending))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(told)
        os.close(ready)
        if not os.WIFSIGNALED(status):
            sys.exit("a writer ended before it was killed")


def race(root: Path, processes: int, each: int) -> None:
    """Several writers of one stream at once."""
    children = [start(append_some, root, each) for _ in range(processes)]
    if max(os.waitpid(child, 0)[1] for child in children):
        sys.exit("a writer failed")


def seal_often(root: Path, stop: int) -> None:
    """Seal again and again, in two processes at once, until told to stop."""
    book = Ledger.open(root, MAKER, create=True)
    while not select.select([stop], [], [], 0.01)[0]:
        # Too little to pack, or packed by the other one in the meantime.
        with contextlib.suppress(InputError, LedgerError):
            seal_stream(book, "main")


def read_often(root: Path, stop: int) -> None:
    """Read with a small cache, and audit, until told to stop: always a whole chain."""
    streams.LOOSE_BEFORE_CACHING = 3
    Ledger.open(root, MAKER, create=True)
    seen = 0
    while not select.select([stop], [], [], 0)[0]:
        events = Ledger.open(root).events()
        if [event.seq for event in events] != list(range(1, len(events) + 1)) or len(events) < seen:
            raise SystemError(f"read {len(events)} events after {seen}")
        seen = len(events)
        walk = prove_chain(open_place(root))
        if not walk.proof.holds or len(walk.visible) < seen:
            raise SystemError(f"{len(walk.visible)} events, {walk.proof.faults}")


def mixed(root: Path, processes: int, each: int) -> None:
    """Writers, two sealers and a reader at once."""
    stop, ring = os.pipe()
    others = [start(work, root, stop) for work in (seal_often, seal_often, read_often)]
    writers = [start(append_some, root, each) for _ in range(processes)]
    failed = max(os.waitpid(child, 0)[1] for child in writers)
    os.write(ring, b"!")
    if max(os.waitpid(child, 0)[1] for child in others) or failed:
        sys.exit("somebody failed")


if __name__ == "__main__":
    what, folder, first, second = sys.argv[1:]
    {"kill": kill_at_random, "race": race, "mixed": mixed}[what](Path(folder), int(first), int(second))
