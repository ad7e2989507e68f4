"""A batch: consecutive runs of one case, done by a pure function anywhere, appended as one event.

Which samples form a batch follows from the model kind alone, never from timing or the number of workers, so that a
campaign has the same payloads, digest for digest, however it was run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from percuss.designs.design import Design, run_seed
from percuss.errors import InputError
from percuss.ledger.event import NO_COST, Cost, Draft, Event
from percuss.maker import peak_bytes
from percuss.models.model import Done, Mixing, Outcome, Runner, Settles, Value
from percuss.models.seeds import Mixture, Seed
from percuss.study.study import Study

if TYPE_CHECKING:
    from numpy import ndarray

# A worker gives back what it has after this long, and is asked for the rest again: so that what is slow can be kept.
SLICE_S = 1.0
# A slice is never more than this many times the one before: the first run of a batch may not tell how slow the rest is.
GROWTH = 4

LOST = "lost its worker every time it was run: it may need more memory than a worker has, or crash it"


class WorkerLost(Exception):  # noqa: N818 (it says what happened to the batch, which is run again)
    """Whoever ran a batch is gone: killed, out of memory, out of time."""


@dataclass(frozen=True)
class Batch:
    """What is to be run: it can be pickled, and running it twice gives the same bits.

    `starts` are the states of rest that the runs start from, `settled` the events they come from; without them each
    run settles by itself, to the same bits. `mixtures` stand for the seeds where a design says from which of them the
    random numbers of its runs are mixed.
    """

    study: Study
    case: str
    samples: tuple[int, ...]
    points: tuple[Mapping[str, Value], ...]
    seeds: tuple[int, ...]
    keep_curves: bool
    starts: tuple[bytes | None, ...] = ()
    settled: tuple[Event | Draft, ...] = ()
    mixtures: tuple[Mixture, ...] = ()

    @property
    def drawn_from(self) -> tuple[Seed, ...]:
        """What each run draws its random numbers from."""
        return self.mixtures or self.seeds


def make_batch(design: Design, case: str, samples: Sequence[int], rows: Sequence[int] | None = None) -> Batch:
    """These samples of a case of a design, ready to be run; `rows`: where they are in a design read in part."""
    names = design.names
    places = samples if rows is None else rows
    points = tuple(
        design.study.point(case, {**design.fixed, **dict(zip(names, design.values[i].tolist(), strict=True))})
        for i in places
    )
    seeds = tuple(run_seed(design.seed, design.digest, i) for i in samples)
    mixtures = tuple(design.mixtures[i] for i in places) if design.mixtures else ()
    return Batch(design.study, case, tuple(samples), points, seeds, design.keep_curves, mixtures=mixtures)


@dataclass
class Result:
    """What came out: outputs of the runs that finished, reasons of those that did not, tables if they were kept.

    For external programs also what they printed and what they are.
    """

    case: str
    samples: list[int] = field(default_factory=list)
    outputs: list[dict[str, float]] = field(default_factory=list)
    tables: dict[str, list[tuple[int, dict[str, ndarray]]]] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    cost: Cost = NO_COST
    printed: dict[int, Mapping[str, str]] = field(default_factory=dict)
    program: dict[str, str] | None = None
    settled: tuple[Event | Draft, ...] = ()

    @property
    def done(self) -> list[int]:
        """The samples it speaks of, whether they failed or not."""
        return sorted([*self.samples, *self.failures])


def run_batch(batch: Batch, limit_s: float = math.inf) -> Result:
    """Run a batch. A run that fails is a result; an exception is a fault of the program.

    With a limit only the beginning of the batch may be done: no run is begun that would end long after it, and one
    always is done. Runs are pure, so how they are sliced does not show in what they give.
    """
    wall, cpu = time.perf_counter(), time.thread_time()
    result = Result(batch.case, settled=batch.settled)
    model = batch.study.model()
    completed, size = 0, len(batch.samples) if limit_s == math.inf else 1
    while True:
        part = slice(completed, completed + size)
        if batch.starts and isinstance(model, Settles):
            outcomes = model.run_from(batch.points[part], batch.seeds[part], batch.starts[part])
        elif isinstance(model, Mixing):
            outcomes = model.run(batch.points[part], batch.drawn_from[part])
        else:
            outcomes = model.run(batch.points[part], batch.seeds[part])
        for sample, outcome in zip(batch.samples[part], outcomes, strict=True):
            _take(result, batch, sample, outcome)
        completed += len(outcomes)
        spent = time.perf_counter() - wall
        if completed >= len(batch.samples) or spent >= limit_s:
            break
        size = max(1, min(GROWTH * size, int(completed * (limit_s - spent) / max(spent, 1e-9))))
    result.program = model.program() if isinstance(model, Runner) else None
    result.cost = Cost(_us(time.perf_counter() - wall), _us(time.thread_time() - cpu), peak_bytes())
    return result


def run_slice(batch: Batch) -> Result:
    """Run the beginning of a batch, for about as long as a slice takes; all of it where that is enough."""
    return run_batch(batch, SLICE_S)


def _take(result: Result, batch: Batch, sample: int, outcome: Outcome) -> None:
    """Put what one run gave into the result of its batch."""
    if outcome.printed:
        result.printed[sample] = outcome.printed
    if not isinstance(outcome, Done):
        result.failures[sample] = outcome.reason
        return
    try:
        outputs = batch.study.evaluate(outcome.values, outcome.curves)
    except InputError as fault:
        result.failures[sample] = str(fault)
        return
    result.samples.append(sample)
    result.outputs.append(outputs)
    if batch.keep_curves:
        kept = outcome.tables | ({"curves": outcome.curves} if outcome.curves else {})
        for name, columns in kept.items():
            result.tables.setdefault(name, []).append((sample, columns))


def joined(parts: Iterable[Result]) -> list[Result]:
    """Slices of one batch as what the batch would have given at once, in the order of the samples.

    One result for each program that ran them: it may have been replaced in between.
    """
    results: list[Result] = []
    for part in sorted(parts, key=lambda part: part.done[0]):
        whole = next((other for other in results if other.program == part.program), None)
        if whole is None:
            results.append(whole := Result(part.case, program=part.program))
        whole.samples += part.samples
        whole.outputs += part.outputs
        for name, rows in part.tables.items():
            whole.tables.setdefault(name, []).extend(rows)
        whole.failures |= part.failures
        whole.printed |= part.printed
        whole.settled += tuple(event for event in part.settled if event not in whole.settled)
        a, b = whole.cost, part.cost
        whole.cost = Cost(a.wall_us + b.wall_us, a.cpu_us + b.cpu_us, max(a.peak_bytes, b.peak_bytes))
    return results


def split(count: int, size: int) -> Sequence[range]:
    """The samples 0..count-1 in batches of a size.

    >>> split(5, 2)
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


def _us(seconds: float) -> int:
    return round(seconds * 1e6)
