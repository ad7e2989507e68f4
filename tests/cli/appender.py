"""A writing process for the fault tests: forks children that append and print ids, and kills them at random moments.

Not a test by itself. Forking saves starting Python for every child; numpy and polars are imported before the fork but
not used, because the threads of polars do not survive one.

    python appender.py kill LEDGER COUNT SEED       ids of finished appends on stdout, one a line
    python appender.py race LEDGER PROCESSES EACH   every id appended, one a line
"""

from __future__ import annotations

import io
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy  # noqa: F401
import polars  # noqa: F401

from percuss.ledger.event import Draft, Maker, Software
from percuss.ledger.ledger import Ledger

MAKER = Maker(("percuss", "test"), "tester", "here", Software("0", "c0", "rustc; target; profile; 0", "l0"))


def append_for_ever(root: Path, ready: int) -> None:
    """Append events, each with a payload, and tell each id after the append only."""
    import polars as pl

    book = Ledger.open(root, MAKER, create=True)
    pl.DataFrame({"warm": [1.0]}).write_parquet(io.BytesIO())
    os.write(ready, b"!")
    for i in range(1_000_000):
        table = book.put_table("runs", pl.DataFrame({"sample": [i], "pid": [os.getpid()]}))
        event = book.append([Draft("stream.sealed", {"i": i, "text": "x" * 2000}, blobs=[table])])[0]
        os.write(1, f"{event.id}\n".encode())


def append_some(root: Path, count: int) -> None:
    """Append a number of events and tell their ids."""
    book = Ledger.open(root, MAKER, create=True)
    for i in range(count):
        event = book.append([Draft("stream.sealed", {"i": i})])[0]
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
    """Start a writer, kill it, start the next: each must go on where the dead one left off."""
    chance = random.Random(seed)
    started = time.monotonic()
    os.waitpid(start(append_some, root, 40), 0)
    while_appending = (time.monotonic() - started) / 40
    for _ in range(count):
        told, ready = os.pipe()
        child = start(append_for_ever, root, ready)
        os.read(told, 1)
        time.sleep(chance.uniform(0.0, 5 * while_appending))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(told)
        os.close(ready)
        if not os.WIFSIGNALED(status):
            sys.exit("a writer ended before it was killed")


def race(root: Path, processes: int, each: int) -> None:
    """Several writers of one stream at once."""
    children = [start(append_some, root, each) for _ in range(processes)]
    if any(os.waitpid(child, 0)[1] for child in children):
        sys.exit("a writer failed")


if __name__ == "__main__":
    what, folder, first, second = sys.argv[1:]
    {"kill": kill_at_random, "race": race}[what](Path(folder), int(first), int(second))
