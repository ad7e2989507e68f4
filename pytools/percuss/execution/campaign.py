"""A campaign: every run of a design, as many at a time as there are workers, resumable at any point.

The ledger is the only memory: what is missing is what is run. Finished batches are appended together, at least
every `flush_s` seconds, and only what was appended is reported as done. This process is the only writer; whatever runs
the batches (`percuss.execution.engines`) only gives results back, and may lose workers on the way.
"""

from __future__ import annotations

import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

from percuss.errors import InputError, PercussError
from percuss.execution.batch import LOST, Batch, Result, WorkerLost, run_batch, split
from percuss.execution.records import DesignRecord, draft_campaign, draft_result
from percuss.execution.rest import settle_first
from percuss.ledger.event import Event, from_frame
from percuss.ledger.ledger import MAIN, Ledger
from percuss.ledger.projections import State, fold
from percuss.ledger.streams import read_stream
from percuss.models import under_way

# On Ctrl-C batches that are under way are waited for this long; slower ones are given up and run again later.
GRACE_S = 5.0
# Batches in hand for each worker, so that none is idle while this process writes.
IN_HAND = 8
# A batch whose worker was lost this often is taken apart; a single run that loses this many is what kills them.
MOST_LOSSES = 3


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


@dataclass
class Progress:
    """How a campaign went: runs done in this call, failures by reason, time spent in runs (all workers together)."""

    done: int = 0
    failed: int = 0
    left: int = 0
    last: Event | None = None
    reasons: Counter[str] = field(default_factory=Counter)
    work_s: float = 0.0
    lost: int = 0
    started: float = field(default_factory=time.monotonic)

    def count(self, results: Iterable[Result]) -> int:
        """Take in what was appended; returns how many runs it was."""
        before = self.done
        for result in results:
            self.done += len(result.samples) + len(result.failures)
            self.failed += len(result.failures)
            # The head of a reason says what kind of failure it was; what follows the colon is of the run.
            self.reasons.update(reason.partition(":")[0][:60] for reason in result.failures.values())
            self.work_s += result.cost.wall_us / 1e6
        self.left -= self.done - before
        return self.done - before

    def note(self) -> str:
        """Rate, failures by reason and cost so far, in one line."""
        rate = self.done / max(time.monotonic() - self.started, 1e-9)
        parts = [f"{rate:.3g} runs/s", f"{span(self.work_s)} of work"]
        if self.failed:
            kinds = ", ".join(f"{count} {reason}" for reason, count in self.reasons.most_common(3))
            parts.append(f"{self.failed} failed ({kinds}{', ...' if len(self.reasons) > 3 else ''})")
        if self.lost:
            parts.append(f"{self.lost} batches lost their worker")
        return ", ".join(parts)


def span(seconds: float) -> str:
    """A span of time as people say it.

    >>> span(0.5), span(90), span(10_000), span(1e6)
    ('0.5 s', '90 s', '2.78 h', '278 h')
    """
    if seconds < 600:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


class Interrupted(Exception):  # noqa: N818 (it is an answer to Ctrl-C, not an error)
    """Ctrl-C: what had finished is in the ledger. `stuck` says that a batch is still running in a thread."""

    def __init__(self, progress: Progress, stuck: bool) -> None:
        super().__init__("interrupted")
        self.progress = progress
        self.stuck = stuck


def local_executor(jobs: int) -> Executor:
    """One batch a thread: the core releases the interpreter while it computes."""
    import os

    return ThreadPoolExecutor(jobs or os.cpu_count() or 1, thread_name_prefix="run")


def missing_batches(state: State, record: DesignRecord, shard: Shard | None = None) -> list[tuple[str, list[int]]]:
    """Cases and samples that no event has yet, batch by batch."""
    import numpy as np

    # A byte a run: a campaign may have many millions of them.
    have = {case: np.zeros(len(record.values), bool) for case in record.cases}
    for event in state.batches.get(record.event.id, []):
        samples = np.array(event.data["samples"], np.int64)
        if event.data["case"] in have:
            have[event.data["case"]][samples[samples < len(record.values)]] = True
    ranges = split(len(record.values), record.study.model().batch)
    everything = [(case, slice(samples.start, samples.stop)) for case in record.cases for samples in ranges]
    if shard:
        everything = everything[shard.k - 1 :: shard.n]
    todo = [(case, (batch.start + np.flatnonzero(~have[case][batch])).tolist()) for case, batch in everything]
    return [(case, samples) for case, samples in todo if samples]


def run_campaign(
    ledger: Ledger,
    record: DesignRecord,
    executor: Executor,
    *,
    workers: Callable[[], int],
    flush_s: float,
    stream: str = MAIN,
    shard: Shard | None = None,
    advance: Callable[[int, str], None] = lambda count, note: None,
    state: State | None = None,
) -> Progress:
    """Run what is missing and append it. Raises Interrupted on Ctrl-C, after keeping what had finished."""
    state = state or fold(ledger.events())
    todo = missing_batches(state, record, shard)
    progress = Progress(left=sum(len(samples) for _, samples in todo))
    again: list[Batch] = []
    losses: Counter[tuple[str, tuple[int, ...]]] = Counter()
    # By future, so that Ctrl-C between any two lines below makes nothing count twice.
    finished: dict[Future[Result], Result] = {}
    running: dict[Future[Result], Batch] = {}

    def settle(future: Future[Result]) -> None:
        try:
            finished[future] = future.result()
        except WorkerLost:
            batch = running[future]
            progress.lost += 1
            losses[batch.case, batch.samples] += 1
            if losses[batch.case, batch.samples] < MOST_LOSSES:
                again.append(batch)
            elif len(batch.samples) > 1:
                again.extend(record.batch(batch.case, [sample]) for sample in batch.samples)
            else:
                finished[future] = Result(batch.case, failures={batch.samples[0]: LOST})
        running.pop(future)

    def flush() -> None:
        _flush(ledger, record, finished, stream, progress, advance)

    flushed = time.monotonic()
    settled = False
    try:
        record = settle_first(ledger, record, todo, executor, flush_s=flush_s, stream=stream, state=state)
        settled = True
        waiting = iter(record.batch(case, samples) for case, samples in todo)
        while True:
            limit = IN_HAND * workers()
            while len(running) < limit and (batch := again.pop() if again else next(waiting, None)):
                running[executor.submit(run_batch, batch)] = batch
            if not running:
                break
            for future in wait(running, timeout=flush_s or None, return_when=FIRST_COMPLETED).done:
                settle(future)
            if at := under_way.note():
                advance(0, f"{progress.note()}, {at}")
            if finished and time.monotonic() - flushed >= flush_s:
                flush()
                flushed = time.monotonic()
        flush()
    except KeyboardInterrupt:
        for future in running:
            future.cancel()
        kept, stuck = wait([future for future in running if not future.cancelled()], timeout=GRACE_S)
        finished.update({future: future.result() for future in kept if not future.exception()})
        flush()
        raise Interrupted(progress, bool(stuck) or not settled) from None
    except PercussError:
        # The engine is gone or refused the work; what it had given before is kept.
        flush()
        raise
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    return progress


def _flush(
    ledger: Ledger,
    record: DesignRecord,
    finished: dict[Future[Result], Result],
    stream: str,
    progress: Progress,
    advance: Callable[[int, str], None],
) -> None:
    results = sorted(finished.values(), key=lambda result: (result.case, min([*result.samples, *result.failures])))
    if not results:
        return
    with _undisturbed():
        drafts = [draft for result in results for draft in draft_result(ledger, record, result)]
        progress.last = ledger.append(drafts, stream)[-1]
        finished.clear()
        count = progress.count(results)
    advance(count, progress.note())


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back until an append is over: what is in the ledger is counted, what is counted is in the ledger."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came and callable(before):
        before(came[0], None)


def close_campaign(ledger: Ledger, record: DesignRecord, state: State) -> Event:
    """The event that says every run of a design is in; appended unless it is there and nothing came after it."""
    batches = {event.id for event in state.batches.get(record.event.id, [])}
    closed = state.campaigns.get(record.event.id)
    if closed and {item.id for item in closed.inputs_as("runs")} == batches:
        return closed
    return ledger.append([draft_campaign(ledger, state, record)])[0]


def with_stream(ledger: Ledger, state: State, stream: str) -> State:
    """The state with a shard's own events, which are not part of main yet: a shard resumes too."""
    known = state.events
    own = from_frame(read_stream(ledger.place, stream))
    return fold([*known.values(), *(event for event in own if event.id not in known)])


def last_event(ledger: Ledger, stream: str) -> Event | None:
    """The newest event of a stream."""
    events = from_frame(read_stream(ledger.place, stream).tail(1))
    return events[0] if events else None
