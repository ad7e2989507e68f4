"""What is left of a campaign, shared out between the processes that run it.

Each process claims a batch before it runs it, and looks whether somebody else has recorded it in the meantime. Batches
that another process has claimed are left to it; they come back when it is gone without having recorded them.

Claims: how processes that work on the same thing at once share it out, so that nobody does what another does.

A claim is a lock on one byte of the file `cache/claims`, far beyond its end: the kernel gives it to one process and
takes it back when that process ends, however it ends. Claims are a courtesy, like every lock of a ledger: where the
file system has none, or the cache is deleted meanwhile, work may be done twice, and the projections count it once.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from percuss.designs.design import Design
from percuss.errors import InputError, LedgerError
from percuss.execution.batch import Result, split
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Event
from percuss.ledger.ledger import MAIN, Ledger
from percuss.ledger.place import Place
from percuss.ledger.projections import State, batch_of, fold
from percuss.ledger.rows import from_frame
from percuss.ledger.streams import Head, read_stream
from percuss.session import Session

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


Missing = tuple[str, list[int]]


@dataclass(frozen=True)
class Shard:
    """Part k of n of a campaign, for job arrays: every n-th batch, in a stream of its own."""

    k: int
    n: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `k/n`.

        >>> Shard.parse("2/4")
        Shard(k=2, n=4)
        """
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise InputError(f"--shard {text}: must be k/n with 1 <= k <= n, as 2/4")
        return cls(int(match[1]), int(match[2]))

    def stream(self, design: str) -> str:
        """The stream this shard writes to."""
        return f"shard-{design[:18]}-{self.k}-of-{self.n}"


def missing_batches(state: State, design: Design, shard: Shard | None = None) -> dict[int, Missing]:
    """Cases and samples that no event has yet, by the number of their batch."""
    import numpy as np

    # A byte a run: a campaign may have many millions of them.
    have = {case: np.zeros(len(design.values), bool) for case in design.cases}
    for event in state.batches.get(design.id, []):
        batch = batch_of(event)
        samples = np.array(batch.samples, np.int64)
        if batch.case in have:
            have[batch.case][samples[samples < len(design.values)]] = True
    ranges = split(len(design.values), design.study.model().batch)
    everything = [(case, slice(samples.start, samples.stop)) for case in design.cases for samples in ranges]
    todo: dict[int, Missing] = {}
    for index, (case, place) in enumerate(everything):
        if shard is None or index % shard.n == shard.k - 1:
            missing: list[int] = (place.start + np.flatnonzero(~have[case][place])).tolist()
            if missing:
                todo[index] = case, missing
    return todo


def work_name(design: Design, stream: str) -> str:
    """What claims on the runs of a design go by; shards do not see each other's runs, and do not share claims."""
    return f"runs {design.id} {stream}"


class Queue:
    """Batches that are missing, by their number: `todo`, and `elsewhere` those that another process has claimed."""

    def __init__(self, session: Session, design: Design, stream: str, shard: Shard | None, claims: Claims) -> None:
        self.session, self.design, self.stream, self.shard, self.claims = session, design, stream, shard, claims
        state = session.state if stream == MAIN else with_stream(session.ledger, session.state, stream)
        self.size = design.study.model().batch
        self.head = session.ledger.head(stream)
        self.todo = missing_batches(state, design, shard)
        self.elsewhere: dict[int, Missing] = {}
        self._owed: dict[int, int] = {}
        self._news = 0
        # The state may have been read a while ago.
        known = next((event.hash for event in reversed(state.events.values()) if event.stream == stream), None)
        if known != self.head.hash and self.head.seq:
            self._read()
            self._news = 0

    @property
    def left(self) -> int:
        """How many runs are missing."""
        return sum(len(samples) for _, samples in self.todo.values())

    def index(self, case: str, sample: int) -> int:
        """The number of the batch that a run belongs to."""
        return self.design.cases.index(case) * -(-len(self.design.values) // self.size) + sample // self.size

    def take(self) -> Missing | None:
        """The next batch, which is ours from now on; None when the others have all that is left."""
        while self.todo:
            index = next(iter(self.todo))
            if not self.claims.take(index):
                self.elsewhere[index] = self.todo.pop(index)
                continue
            # Whoever had the claim before may have recorded the batch and gone.
            if self._others_wrote():
                self._read()
            if taken := self.todo.pop(index, None):
                self._owed[index] = len(taken[1])
                return taken
        return None

    def owed(self, index: int) -> int:
        """How many runs of a batch that we took are not in the ledger yet."""
        return self._owed[index]

    def appended(self, results: Sequence[Result], events: Sequence[Event]) -> None:
        """Take note of what we appended."""
        for result in results:
            self._owed[self.index(result.case, result.done[0])] -= len(result.done)
        if events[0].seq == self.head.seq + 1:
            self.head = Head(self.head.commit + 1, events[-1].seq, events[-1].hash)

    def news(self) -> int:
        """How many runs of those that were left have been done by others since this was asked last."""
        count, self._news = self._news, 0
        return count

    def look_again(self) -> int:
        """After a while: what others have recorded is done, what they have let go of is to be done."""
        if self._others_wrote():
            self._read()
        self.todo, self.elsewhere = self.todo | self.elsewhere, {}
        return self.news()

    def _others_wrote(self) -> bool:
        return self.session.ledger.place.commit(self.stream, self.head.commit + 1).exists()

    def _read(self) -> None:
        """Read what others appended. The head comes first: what is appended while we read is read again."""
        self.head = self.session.ledger.head(self.stream)
        state = self.session.refresh()
        if self.stream != MAIN:
            state = with_stream(self.session.ledger, state, self.stream)
        missing = missing_batches(state, self.design, self.shard)
        for waiting in (self.todo, self.elsewhere):
            for index, (_, samples) in list(waiting.items()):
                self._news += len(samples)
                if index in missing:
                    waiting[index] = missing[index]
                    self._news -= len(missing[index][1])
                else:
                    del waiting[index]


def with_stream(ledger: Ledger, state: State, stream: str) -> State:
    """The state with a shard's own events, which are not part of main yet: a shard resumes too."""
    known = state.events
    own = from_frame(read_stream(ledger.place, stream))
    return fold([*known.values(), *(event for event in own if event.id not in known)])
