"""A batch: consecutive runs of one case, done by a pure function anywhere, appended as one event.

Which samples form a batch follows from the model kind alone, never from timing or the number of workers, so that a
campaign has the same payloads, digest for digest, however it was run.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from percuss.errors import InputError
from percuss.ledger.event import NO_COST, Cost, Draft, Event
from percuss.models.model import Done, Runner, Settles, Value
from percuss.study.study import Study

if TYPE_CHECKING:
    from numpy import ndarray

LOST = "lost its worker every time it was run: it may need more memory than a worker has, or crash it"


class WorkerLost(Exception):  # noqa: N818 (it says what happened to the batch, which is run again)
    """Whoever ran a batch is gone: killed, out of memory, out of time."""


@dataclass(frozen=True)
class Batch:
    """What is to be run: it can be pickled, and running it twice gives the same bits.

    `starts` are the states of rest that the runs start from, `settled` the events they come from; without them each
    run settles by itself, to the same bits.
    """

    study: Study
    case: str
    samples: tuple[int, ...]
    points: tuple[Mapping[str, Value], ...]
    seeds: tuple[int, ...]
    keep_curves: bool
    starts: tuple[bytes | None, ...] = ()
    settled: tuple[Event | Draft, ...] = ()


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


def run_batch(batch: Batch) -> Result:
    """Run a batch. A run that fails is a result; an exception is a fault of the program."""
    wall, cpu = time.perf_counter(), time.thread_time()
    result = Result(batch.case, settled=batch.settled)
    model = batch.study.model()
    if batch.starts and isinstance(model, Settles):
        outcomes = model.run_from(batch.points, batch.seeds, batch.starts)
    else:
        outcomes = model.run(batch.points, batch.seeds)
    result.program = model.program() if isinstance(model, Runner) else None
    for sample, outcome in zip(batch.samples, outcomes, strict=True):
        if outcome.printed:
            result.printed[sample] = outcome.printed
        if not isinstance(outcome, Done):
            result.failures[sample] = outcome.reason
            continue
        try:
            outputs = batch.study.evaluate(outcome.values, outcome.curves)
        except InputError as fault:
            result.failures[sample] = str(fault)
            continue
        result.samples.append(sample)
        result.outputs.append(outputs)
        if batch.keep_curves:
            kept = outcome.tables | ({"curves": outcome.curves} if outcome.curves else {})
            for name, columns in kept.items():
                result.tables.setdefault(name, []).append((sample, columns))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    result.cost = Cost(_us(time.perf_counter() - wall), _us(time.thread_time() - cpu), peak)
    return result


def split(count: int, size: int) -> Sequence[range]:
    """The samples 0..count-1 in batches of a size.

    >>> split(5, 2)
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


def _us(seconds: float) -> int:
    return round(seconds * 1e6)
