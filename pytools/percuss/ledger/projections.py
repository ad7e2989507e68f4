"""Projections: pure folds of the events. The same events always give the same state; nothing else is state.

Runs of many batches are put in order some at a time: a campaign may have millions, and memory must not grow with them.
A batch holds consecutive samples, so that cutting the samples where batches begin puts every batch into one window, or
into few. Batches that a stranger made otherwise are read for every window that they reach into.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from percuss.errors import LedgerError
from percuss.kinds.design_created import DIRECT, DesignCreated
from percuss.kinds.event_superseded import EventSuperseded
from percuss.kinds.runs_completed import RunsCompleted
from percuss.kinds.runs_failed import RunsFailed
from percuss.kinds.scene_settled import SceneSettled
from percuss.kinds.table import is_known
from percuss.ledger.event import Event

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


# Roles of inputs that an event speaks of and is not made from.
WORDS = ("old", "new", "about", "pruned", "drawn")
# Kinds that speak of events and are not made from them.
WORD_KINDS = ("note.added", "event.superseded", "payloads.pruned", "audit.made")


@dataclass(frozen=True, eq=False)
class RunRows:
    """Runs of a design in the order of case and sample: numbers of `cases` and of `batches`, and the samples."""

    batches: Sequence[Event]
    cases: Sequence[str]
    case: NDArray[np.int64]
    sample: NDArray[np.int64]
    batch: NDArray[np.int64]

    def failures(self) -> dict[int, str]:
        """Why runs failed, by the number of their row."""
        failures: dict[int, str] = {}
        for number, event in enumerate(self.batches):
            if event.kind == "runs.failed":
                reasons = RunsFailed.of(event).reasons
                for row in (self.batch == number).nonzero()[0].tolist():
                    if (reason := reasons.get(str(self.sample[row]))) is not None:
                        failures[row] = reason
        return failures


@dataclass
class State:
    """What the events add up to. Superseded events are still among `events` and in none of the other maps.

    `superseded` gives for each of them the event that says so.
    """

    events: dict[str, Event] = field(default_factory=dict)
    superseded: dict[str, Event] = field(default_factory=dict)
    studies: dict[str, Event] = field(default_factory=dict)
    designs: dict[str, Event] = field(default_factory=dict)
    settled: dict[tuple[str, str], Event] = field(default_factory=dict)  # by key and build of the core
    batches: dict[str, list[Event]] = field(default_factory=dict)
    campaigns: dict[str, Event] = field(default_factory=dict)
    skipped: int = 0
    _stands_on: dict[str, tuple[str, ...]] | None = field(default=None, init=False, repr=False, compare=False)

    def stands_on(self, id: str) -> tuple[str, ...]:
        """The superseded events that an event comes from, itself not counted."""
        if self._stands_on is None:
            rows = ((e.id, [(item.role, item.id) for item in e.inputs]) for e in self.events.values())
            self._stands_on = standing_on(rows, self.superseded)
        return self._stands_on.get(id, ())

    def runs(self, design: str) -> dict[tuple[str, int], tuple[Event, str | None]]:
        """Every run of a design: (case, sample) to the event that holds it and, if it failed, the reason.

        A sample that two writers ran (two shards given the same part) counts once, where it came first.
        """
        runs: dict[tuple[str, int], tuple[Event, str | None]] = {}
        for event in self.batches.get(design, []):
            batch = batch_of(event)
            reasons = batch.reasons if isinstance(batch, RunsFailed) else {}
            for sample in batch.samples:
                runs.setdefault((batch.case, sample), (event, reasons.get(str(sample))))
        return runs

    def rows(self, design: str) -> RunRows:
        """The same as `runs`, as arrays: a campaign may have millions of them."""
        import numpy as np

        batches = self.batches.get(design, [])
        cases = sorted({batch_of(event).case for event in batches})
        samples = [np.array(batch_of(event).samples, np.int64) for event in batches]
        case = [np.full(len(part), cases.index(batch_of(e).case)) for e, part in zip(batches, samples, strict=True)]
        batch = [np.full(len(part), number) for number, part in enumerate(samples)]
        empty = np.zeros(0, np.int64)
        where = [np.concatenate([empty, *parts]) for parts in (case, samples, batch)]
        # Stable: of a sample that was run twice the first comes first, and counts.
        order = np.lexsort((where[1], where[0]))
        where = [part[order] for part in where]
        first = np.ones(len(order), bool)
        first[1:] = (np.diff(where[0]) != 0) | (np.diff(where[1]) != 0)
        return RunRows(batches, cases, *(part[first] for part in where))

    def advanced(self, events: Sequence[Event]) -> State:
        """The state after some more events: this one, gone on with, unless something was superseded."""
        if any(event.kind == "event.superseded" for event in events):
            return fold([*self.events.values(), *events])
        for event in events:
            _take(self, event)
        self._stands_on = None
        return self


def fold(events: Iterable[Event]) -> State:
    """Fold the events, in order, into the state."""
    listed = list(events)
    superseding = {e.id: e for e in listed if e.kind == "event.superseded" and is_known(e.kind, e.version)}
    in_force = _in_force([(id, event.input("old")) for id, event in superseding.items()])
    state = State(superseded={old: superseding[id] for old, id in in_force.items()})
    for event in listed:
        _take(state, event)
    return state


def _take(state: State, event: Event) -> None:
    """Take one event in."""
    state.events[event.id] = event
    if not is_known(event.kind, event.version):
        state.skipped += 1
        return
    if event.id in state.superseded:
        return
    match event.kind:
        case "study.registered" if event.study:
            state.studies[event.study.digest] = event
        case "design.created":
            state.designs[event.id] = event
        case "scene.settled":
            state.settled.setdefault((SceneSettled.of(event).key, event.software.core), event)
        case "runs.completed" | "runs.failed":
            state.batches.setdefault(event.input("design"), []).append(event)
        case "campaign.completed":
            state.campaigns[event.input("design")] = event


def is_direct(event: Event) -> bool:
    """Whether it is a design whose points a result chose as it went."""
    try:
        body = event.content
    except LedgerError:
        return False
    return isinstance(body, DesignCreated) and body.sampler == DIRECT


def batch_of(event: Event) -> RunsCompleted | RunsFailed:
    """The body of an event that holds runs."""
    return RunsFailed.of(event) if event.kind == "runs.failed" else RunsCompleted.of(event)


def _in_force(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Which events are superseded, each with the event that says so, from all that say so of another, oldest first.

    From the newest back: an event that supersedes has no force once it is superseded itself by one that has.
    """
    successors: dict[str, str] = {}
    for id, old in reversed(pairs):
        if id not in successors:
            successors.setdefault(old, id)
    return successors


def standing_on(
    rows: Iterable[tuple[str, Iterable[tuple[str, str]]]], superseded: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """For events, in ledger order with the roles and ids of their inputs: the superseded ones each comes from.

    Events that come from none are left out. Words about an event do not depend on it.
    """
    stale_sources: dict[str, tuple[str, ...]] = {}
    if superseded:
        for id, inputs in rows:
            sources = [source for role, source in inputs if role not in WORDS]
            under = [old for source in sources for old in stale_sources.get(source, ())]
            under += [source for source in sources if source in superseded]
            if under:
                stale_sources[id] = tuple(dict.fromkeys(under))
    return stale_sources


def mark(state: State, id: str) -> str:
    """How an event is marked in lists; empty for one that stands."""
    return mark_of(id in state.superseded, state.stands_on(id))


def mark_of(superseded: bool, stands_on: Collection[str]) -> str:
    """The words of a mark."""
    return "superseded" if superseded else "depends on superseded" if stands_on else ""


def superseded_ids(frame: pl.DataFrame) -> set[str]:
    """Ids of superseded events, straight from the frame."""
    import polars as pl

    rows = frame.filter(pl.col("kind") == "event.superseded").select("id", "inputs").rows()
    return set(_in_force([(id, item["id"]) for id, inputs in rows for item in inputs if item["role"] == "old"]))


def superseded_under(frame: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """The superseded events that each event comes from, straight from the frame; only events that come from any."""
    gone = superseded_ids(frame)
    rows = frame.select("id", "inputs").iter_rows() if gone else ()
    return standing_on(((id, [(item["role"], item["id"]) for item in inputs]) for id, inputs in rows), gone)


def state_tables(state: State) -> dict[str, pl.DataFrame]:
    """The state as tables, in a fixed order of rows: what `replay` writes."""
    import polars as pl

    runs = pl.concat([pl.DataFrame(schema=_run_columns()), *runs_slices(state)])
    small = small_tables(state)
    return {"studies": small["studies"], "designs": small["designs"], "runs": runs, "superseded": small["superseded"]}


def small_tables(state: State) -> dict[str, pl.DataFrame]:
    """The tables but that of the runs, which may be many."""
    import polars as pl

    studies = [
        {"digest": digest, "event": event.id, "name": event.study.name if event.study else ""}
        for digest, event in sorted(state.studies.items())
    ]
    designs = [
        {
            "design": id,
            "study": event.study.name if event.study else "",
            "sampler": DesignCreated.of(event).sampler,
            "points": DesignCreated.of(event).n,
            "seed": event.seed,
        }
        for id, event in state.designs.items()
    ]
    superseded = [
        {"event": old, "by": EventSuperseded.of(event).new} for old, event in sorted(state.superseded.items())
    ]
    text, number = pl.String(), pl.Int64()
    return {
        "studies": pl.DataFrame(studies, {"digest": text, "event": text, "name": text}),
        "designs": pl.DataFrame(
            designs, {"design": text, "study": text, "sampler": text, "points": number, "seed": number}
        ),
        "superseded": pl.DataFrame(superseded, {"event": text, "by": text}),
    }


def _run_columns() -> dict[str, pl.DataType]:
    import polars as pl

    text = pl.String()
    return {"design": text, "case": text, "sample": pl.Int64(), "event": text, "failed": text}


def runs_slices(state: State) -> Iterator[pl.DataFrame]:
    """The table of all runs some rows at a time, in its order: designs as they came, then cases, then samples.

    A sample that two writers ran counts once, where it came first.
    """
    import polars as pl

    schema = _run_columns()
    for design in state.designs:
        by_case: dict[str, list[tuple[Event, Span]]] = {}
        for event in state.batches.get(design, []):
            batch = batch_of(event)
            by_case.setdefault(batch.case, []).append((event, Span.of(batch.samples)))
        for case, listed in sorted(by_case.items()):
            for window in windows([span for _, span in listed]):
                samples: list[int] = []
                events: list[str] = []
                failed: list[str | None] = []
                for event in (listed[number][0] for number in window.batches):
                    batch = batch_of(event)
                    inside = [sample for sample in batch.samples if window.low <= sample < window.end]
                    reasons = batch.reasons if isinstance(batch, RunsFailed) else {}
                    samples += inside
                    events += [event.id] * len(inside)
                    failed += [reasons.get(str(sample)) for sample in inside] if reasons else [None] * len(inside)
                columns = {"design": design, "case": case, "sample": samples, "event": events, "failed": failed}
                rows = pl.DataFrame(columns, schema)
                yield rows.unique("sample", keep="first", maintain_order=True).sort("sample")


def lineage(state: State, id: str) -> list[Event]:
    """An event and everything it comes from, in ledger order."""
    seen: set[str] = set()
    todo = [id]
    while todo:
        current = todo.pop()
        if current not in seen and current in state.events:
            seen.add(current)
            todo += [item.id for item in state.events[current].inputs]
    return [event for key, event in state.events.items() if key in seen]


def descendants(state: State, id: str) -> list[Event]:
    """Everything that was made from an event, in ledger order."""
    known = {id}
    reached: list[Event] = []
    for event in state.events.values():
        if any(item.id in known for item in event.inputs):
            known.add(event.id)
            reached.append(event)
    return reached


# How many runs are put in order at once.
RUNS_AT_ONCE = 8192


@dataclass(frozen=True)
class Span:
    """What a batch reaches over: its lowest and highest sample, and how many it has."""

    low: int
    high: int
    count: int

    @classmethod
    def of(cls, samples: Sequence[int]) -> Span:
        """The span of some samples; of none, one that reaches over nothing."""
        return cls(min(samples), max(samples), len(samples)) if len(samples) else cls(0, -1, 0)


@dataclass(frozen=True)
class Window:
    """Samples from `low` up to, not including, `end`, and the numbers of the batches that have any of them."""

    low: int
    end: int
    batches: list[int] = field(default_factory=list)


def windows(spans: Sequence[Span], most: int | None = None) -> list[Window]:
    """Windows, in order, over batches with these spans, each of about as many runs as are put in order at once.

    >>> [(w.low, w.end, w.batches) for w in windows([Span(4, 7, 4), Span(0, 3, 4), Span(6, 9, 4)], 4)]
    [(0, 4, [1]), (4, 6, [0]), (6, 10, [0, 2])]
    """
    most = most or RUNS_AT_ONCE
    filled = sorted(((span.low, number) for number, span in enumerate(spans) if span.count))
    if not filled:
        return []
    cuts, held = [filled[0][0]], 0
    for low, number in filled:
        if held >= most and low > cuts[-1]:
            cuts.append(low)
            held = 0
        held += spans[number].count
    ends = [*cuts[1:], max(span.high for span in spans if span.count) + 1]
    listed = [Window(low, end) for low, end in zip(cuts, ends, strict=True)]
    for number, span in enumerate(spans):
        for window in listed[bisect_right(cuts, span.low) - 1 : bisect_right(cuts, span.high)] if span.count else ():
            window.batches.append(number)
    return listed
