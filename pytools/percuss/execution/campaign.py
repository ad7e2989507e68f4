"""A campaign: every run of a design, as many at a time as there are workers, resumable at any point.

The ledger is the only memory: what is missing is what is run. Finished batches are appended together, at least
every `flush_s` seconds, and only what was appended is reported as done. This process alone writes what it had run;
whatever runs the batches (`percuss.execution.engines`) only gives results back, and may lose workers on the way.
Several processes may run the same campaign at once: each takes batches that no other has (`percuss.execution.queue`).

`closed_campaign` gives a campaign to work with: closed first, if all its runs are in and nobody has said so yet.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field

from percuss.designs.design import Design, read_design
from percuss.errors import PercussError
from percuss.execution.batch import LOST, Batch, Result, WorkerLost, joined, make_batch, run_slice
from percuss.execution.queue import Queue, Shard, open_claims, work_name
from percuss.execution.records import draft_campaign, draft_result
from percuss.execution.rest import StatesOfRest, settle_first
from percuss.execution.results import Campaign, designs_of, read_campaign
from percuss.ledger.event import Event
from percuss.ledger.ledger import MAIN, Ledger
from percuss.ledger.projections import State, batch_of
from percuss.ledger.rows import from_frame
from percuss.ledger.streams import read_stream
from percuss.models.model import Settles, under_way
from percuss.session import Session
from percuss.spelling import counted
from percuss.trust import Verdict

# On Ctrl-C runs that are under way are waited for this long; slower ones are given up and run again later.
GRACE_S = 5.0
# Batches in hand for each worker, so that none is idle while this process writes; one where batches are slow, so that
# they are finished one after the other.
IN_HAND = 8
# A batch whose first run has waited this long for its last is appended in parts: so much is lost if we are killed.
PARTS_S = 30.0
# A batch whose worker was lost this often is taken apart; a single run that loses this many is what kills them.
MOST_LOSSES = 3
# How long to wait before looking again for what other processes have done, in seconds.
LOOK_S = 0.25


@dataclass
class Progress:
    """How a campaign went: runs done in this call, failures by reason, time spent in runs (all workers together).

    `elsewhere` are the runs that were missing when it began and that other processes did meanwhile.
    """

    done: int = 0
    failed: int = 0
    left: int = 0
    last: Event | None = None
    reasons: Counter[str] = field(default_factory=Counter)
    work_s: float = 0.0
    lost: int = 0
    elsewhere: int = 0
    started: float = field(default_factory=time.monotonic)

    def count(self, results: Iterable[Result]) -> int:
        """Take in what was appended; returns how many runs it was."""
        before = self.done
        for result in results:
            self.done += len(result.samples) + len(result.failures)
            self.failed += len(result.failures)
            self.reasons.update(map(sort_of_failure, result.failures.values()))
            self.work_s += result.cost.wall_us / 1e6
        self.left -= self.done - before
        return self.done - before

    def note(self) -> str:
        """Rate, failures by reason and cost so far, in one line."""
        rate = self.done / max(time.monotonic() - self.started, 1e-9)
        parts = [f"{rate:.3g} runs/s", f"{span(self.work_s)} of work"]
        if self.failed:
            parts.append(f"{self.failed} failed ({commonest(self.reasons)})")
        if self.elsewhere:
            parts.append(f"{self.elsewhere} more by others at the same time")
        if self.lost:
            parts.append(f"{counted(self.lost, 'batch', 'batches')} lost their worker")
        return ", ".join(parts)


def sort_of_failure(reason: str) -> str:
    """The head of a reason says what kind of failure it was; what follows the colon is of the run."""
    return reason.partition(":")[0][:60]


def commonest(reasons: Counter[str]) -> str:
    """The commonest kinds of failure, with their numbers."""
    kinds = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common(3))
    return kinds + (", ..." if len(reasons) > 3 else "")


def judge_runs(state: State, design: str) -> Verdict:
    """Whether every run of a design that is in finished."""
    # Where nothing failed the runs, of which there may be millions, are counted without being listed.
    batches = state.batches.get(design, [])
    if all(event.kind == "runs.completed" for event in batches):
        return Verdict(
            "runs", True, f"{counted(sum(len(batch_of(event).samples) for event in batches), 'run')} finished", 0, 0
        )
    runs = state.rows(design)
    reasons = Counter(sort_of_failure(reason) for reason in runs.failures().values())
    failed = reasons.total()
    return Verdict(
        "runs", not failed, f"{failed} of {counted(len(runs.sample), 'run')} failed: {commonest(reasons)}", failed, 0
    )


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


def run_campaign(
    session: Session,
    design: Design,
    executor: Executor,
    *,
    workers: Callable[[], int],
    stream: str = MAIN,
    shard: Shard | None = None,
    advance: Callable[[int, str], None] = lambda count, note: None,
) -> Progress:
    """Run what is missing and append it. Raises Interrupted on Ctrl-C, after keeping what had finished."""
    with open_claims(session.ledger.place, work_name(design, stream)) as claims:
        queue = Queue(session, design, stream, shard, claims)
        return _Campaign(session, design, executor, queue, stream, advance).run(workers)


class _Campaign:
    """A campaign under way.

    `finished` holds what is not in the ledger yet, by future, so that Ctrl-C between any two lines makes nothing count
    twice; with the time it came in.
    """

    def __init__(
        self,
        session: Session,
        design: Design,
        executor: Executor,
        queue: Queue,
        stream: str,
        advance: Callable[[int, str], None],
    ) -> None:
        self.session, self.design, self.executor, self.queue = session, design, executor, queue
        self.flush_s, self.stream, self.advance = float(session.setting("flush_s")), stream, advance
        self.rest: StatesOfRest | None = None
        self.progress = Progress(left=queue.left)
        self.again: list[Batch] = []
        self.losses: Counter[tuple[str, tuple[int, ...]]] = Counter()
        self.running: dict[Future[Result], Batch] = {}
        self.finished: dict[Future[Result], tuple[float, Result]] = {}
        self.slow = True

    def run(self, workers: Callable[[], int]) -> Progress:
        """Until nothing is missing."""
        settled = False
        flushed = time.monotonic()
        try:
            if isinstance(self.design.study.model(), Settles):
                self.rest = settle_first(
                    self.session,
                    self.design,
                    list(self.queue.todo.values()),
                    self.executor,
                    flush_s=self.flush_s,
                    stream=self.stream,
                )
            settled = True
            while self._refill(workers()):
                for future in wait(self.running, timeout=self.flush_s or None, return_when=FIRST_COMPLETED).done:
                    self._settle(future)
                if at := under_way():
                    self.advance(0, f"{self.progress.note()}, {at}")
                if self.finished and time.monotonic() - flushed >= self.flush_s:
                    self._flush()
                    flushed = time.monotonic()
            self._flush(parts=True)
        except KeyboardInterrupt:
            for future in self.running:
                future.cancel()
            kept, stuck = wait([future for future in self.running if not future.cancelled()], timeout=GRACE_S)
            now = time.monotonic()
            self.finished.update({future: (now, future.result()) for future in kept if not future.exception()})
            self._flush(parts=True)
            raise Interrupted(self.progress, bool(stuck) or not settled) from None
        except PercussError:
            # The engine is gone or refused the work; what it had given before is kept.
            self._flush(parts=True)
            raise
        finally:
            self.executor.shutdown(wait=False, cancel_futures=True)
        return self.progress

    def _refill(self, workers: int) -> bool:
        """Give the workers what is next; False when everything is done, by us or by others."""
        while True:
            while len(self.running) < workers * (1 if self.slow else IN_HAND) and (batch := self._next()):
                self.running[self.executor.submit(run_slice, batch)] = batch
            if self.running:
                return True
            if not self.queue.elsewhere:
                return False
            # Ours is done; the rest is with other processes, and comes back to us if one of them is gone.
            self._flush(parts=True)
            self.advance(0, f"{self.progress.note()}, waiting for another run of this design")
            time.sleep(LOOK_S)
            self._count_others(self.queue.look_again())

    def _batch(self, case: str, samples: Sequence[int]) -> Batch:
        batch = make_batch(self.design, case, samples)
        return self.rest.starting(batch) if self.rest and self.rest.events else batch

    def _next(self) -> Batch | None:
        if self.again:
            return self.again.pop()
        batch = self.queue.take()
        self._count_others(self.queue.news())
        return self._batch(*batch) if batch else None

    def _count_others(self, count: int) -> None:
        """So many runs of ours to do were done by others."""
        if count:
            self.progress.elsewhere += count
            self.progress.left -= count
            self.advance(count, self.progress.note())

    def _settle(self, future: Future[Result]) -> None:
        batch = self.running[future]
        try:
            result = future.result()
            settled = set(result.done)
            rest = [sample for sample in batch.samples if sample not in settled]
            self.slow = bool(rest)
            if rest:
                self.again.append(self._batch(batch.case, rest))
            self.finished[future] = time.monotonic(), result
        except WorkerLost:
            self.progress.lost += 1
            self.losses[batch.case, batch.samples] += 1
            if self.losses[batch.case, batch.samples] < MOST_LOSSES:
                self.again.append(batch)
            elif len(batch.samples) > 1:
                self.again.extend(self._batch(batch.case, [sample]) for sample in batch.samples)
            else:
                lost = Result(batch.case, failures={batch.samples[0]: LOST})
                self.finished[future] = time.monotonic(), lost
        self.running.pop(future)

    def _flush(self, parts: bool = False) -> None:
        """Append the batches that are whole or have waited long; with `parts` all that there is."""
        by_batch: dict[int, list[Future[Result]]] = {}
        for future, (_, result) in self.finished.items():
            by_batch.setdefault(self.queue.index(result.case, result.done[0]), []).append(future)
        old = time.monotonic() - PARTS_S
        futures: list[Future[Result]] = []
        results: list[Result] = []
        for index, batch_futures in sorted(by_batch.items()):
            size = sum(len(self.finished[future][1].done) for future in batch_futures)
            if (
                parts
                or size == self.queue.owed(index)
                or min(self.finished[future][0] for future in batch_futures) < old
            ):
                futures += batch_futures
                results += joined(self.finished[future][1] for future in batch_futures)
        if not results:
            return
        with _undisturbed():
            drafts = [draft for result in results for draft in draft_result(self.session.ledger, self.design, result)]
            events = self.session.append(drafts, self.stream)
            self.queue.appended(results, events)
            for future in futures:
                del self.finished[future]
            self.progress.last = events[-1]
            count = self.progress.count(results)
        self.advance(count, self.progress.note())


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


def close_campaign(session: Session, design: Design) -> Event:
    """The event that says every run of a design is in; appended unless it is there and nothing came after it."""
    if closed := _closing(session.state, design):
        return closed
    with open_claims(session.ledger.place, work_name(design, MAIN)) as claims:
        claims.wait_for_closing()
        session.refresh()
        return _closing(session.state, design) or session.append([draft_campaign(session, design)])[0]


def _closing(state: State, design: Design) -> Event | None:
    batches = {event.id for event in state.batches.get(design.id, [])}
    closed = state.campaigns.get(design.id)
    return closed if closed and {item.id for item in closed.inputs_as("runs")} == batches else None


def last_event(ledger: Ledger, stream: str) -> Event | None:
    """The newest event of a stream."""
    events = from_frame(read_stream(ledger.place, stream).tail(1))
    return events[0] if events else None


def closed_campaign(session: Session, event: Event) -> Campaign:
    """The runs of a design, given by itself, its campaign or runs of it, and of those it extends.

    Appends the closing event of a design whose runs are all in where there is none. Raises InputError when runs are
    missing or the tables are not those the events speak of.
    """
    designs = designs_of(session, event)
    return read_campaign(session, designs, [close_campaign(session, design) for design in designs])


def recorded_campaign(
    session: Session, event: Event, role: str = "campaign", *, oldest_first: bool = False
) -> Campaign:
    """The runs that a result was made from, as its inputs name them; most results name the newest first."""
    closings = [session.state.events[item.id] for item in event.inputs_as(role)]
    ordered = closings if oldest_first else closings[::-1]
    designs = [read_design(session, session.state.events[closing.input("design")]) for closing in ordered]
    return read_campaign(session, designs, ordered)
