"""Events as lines: what each is in a few words, and how it stands today."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from percuss.errors import LedgerError
from percuss.kinds.design_created import DIRECT, DesignCreated
from percuss.kinds.table import KINDS
from percuss.kinds.trusted import Result
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import mark_of, superseded_ids, superseded_under
from percuss.ledger.streams import read_stream
from percuss.spelling import counted
from percuss.trust import failures
from percuss.work.selection import Selection

if TYPE_CHECKING:
    import polars as pl


EVERYTHING = Selection()
# What is read of every event.
OVERVIEW = ("stream", "seq", "id", "kind", "version", "inputs")
# Kinds of which one job appends many.
BATCHES = ("runs.completed", "runs.failed")


@dataclass(frozen=True)
class LogLine:
    """One event: the shortest prefix of its id that is unique, whether it stands, and what it is about."""

    event: Event
    short: str
    superseded: bool
    stands_on: tuple[str, ...]
    summary: str
    # Of a line that stands for several events: how many, and the number of the first; the event is the last.
    folded: int = 1
    first_seq: int = 0

    @property
    def mark(self) -> str:
        """In one or three words, how it stands; empty if it does."""
        return mark_of(self.superseded, self.stands_on)


def overview(ledger: Ledger, selection: Selection = EVERYTHING, stream: str | None = None) -> pl.DataFrame:
    """Of all events what choosing and marking them needs: bodies list every run, and are read of the chosen alone."""
    columns = list(dict.fromkeys([*OVERVIEW, *selection.columns]))
    return read_stream(ledger.place, stream, columns) if stream else ledger.frame(columns)


def log_lines(
    ledger: Ledger, selection: Selection = EVERYTHING, limit: int = 0, everything: pl.DataFrame | None = None
) -> list[LogLine]:
    """The newest events that fit, oldest first; limit 0: all of them. `everything`: the overview, if it was made."""
    everything = overview(ledger, selection) if everything is None else everything
    chosen = selection.of(everything)
    chosen = chosen.tail(limit) if limit else chosen
    gone, under = superseded_ids(everything), superseded_under(everything)
    short = shortest_prefixes(everything["id"].to_list(), chosen["id"].to_list())
    return [
        LogLine(event, short[event.id], event.id in gone, under.get(event.id, ()), summary(event))
        for event in ledger.whole(chosen)
    ]


def gathered(lines: Sequence[LogLine]) -> list[LogLine]:
    """Batches of runs that follow each other as one line for each study and kind; of runs that a result had made as it
    went, with their designs, one line for each study. What is marked stays by itself.
    """
    folded: list[LogLine] = []
    runs, as_it_went = 0, False
    for line in lines:
        before = folded[-1] if folded else None
        if before is None or not _goes_on(before, line, as_it_went):
            folded.append(line)
            runs, as_it_went = runs_in(line.event), _is_direct(line.event)
            continue
        runs += runs_in(line.event)
        count, first = before.folded + 1, before.first_seq if before.folded > 1 else before.event.seq
        words = (
            f"{counted(runs, 'run')} that a result asked for as it went" if as_it_went else batches_text(runs, count)
        )
        folded[-1] = replace(line, folded=count, first_seq=first, summary=words)
    return folded


def _goes_on(before: LogLine, line: LogLine, as_it_went: bool) -> bool:
    if before.event.study != line.event.study or before.mark or line.mark:
        return False
    if as_it_went:
        return line.event.kind in BATCHES or _is_direct(line.event)
    return line.event.kind in BATCHES and before.event.kind == line.event.kind


def _is_direct(event: Event) -> bool:
    """Whether it is a design that a result made as it went."""
    try:
        body = event.content
    except LedgerError:
        return False
    return isinstance(body, DesignCreated) and body.sampler == DIRECT


def batches_text(runs: int, batches: int) -> str:
    """What stands for batches that are one line."""
    return f"{runs} runs in {batches} batches"


def runs_in(event: Event) -> int:
    """How many runs a batch holds; none where its body does not fit."""
    try:
        body = event.content
    except LedgerError:
        return 0
    return KINDS[event.kind].parts(body) if body is not None and event.kind in BATCHES else 0


def summary(event: Event) -> str:
    """A few words on an event, and which gates it failed."""
    try:
        body = event.content
    except LedgerError:
        return "its body does not fit its kind; percuss show says more"
    if body is None:
        return ""
    words = KINDS[event.kind].summary(body)
    return "; ".join(filter(None, (words, _failed_gates(body) if isinstance(body, Result) else "")))


def _failed_gates(body: Result) -> str:
    """Which gates a result failed; superseded events are marked as they are today, not as they were then."""
    failed = [v for v in failures(body.trust) if v.gate != "superseded"]
    gates = dict.fromkeys(f"{v.gate} (accepted)" if v.accepted else v.gate for v in failed)
    return f"failed {', '.join(gates)}" if gates else ""


def when(event: Event) -> str:
    """When an event was appended, in UTC."""
    return datetime.fromtimestamp(event.at_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")


def shortest_prefixes(ids: Sequence[str], chosen: Sequence[str], least: int = 8) -> dict[str, str]:
    """For each chosen id the shortest prefix that no other of the ids shares.

    >>> shortest_prefixes(["aaaa1", "aaaa2", "b0000"], ["aaaa2", "b0000"], least=2)
    {'aaaa2': 'aaaa2', 'b0000': 'b0'}
    """
    ordered = sorted(ids)
    short = {}
    for id in chosen:
        place = bisect_left(ordered, id)
        beside = ordered[max(place - 1, 0) : place] + ordered[place + 1 : place + 2]
        short[id] = id[: max([least, *(_shared(id, other) + 1 for other in beside)])]
    return short


def _shared(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
