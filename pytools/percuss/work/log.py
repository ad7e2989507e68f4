"""Events as lines: what each is in a few words, and how it stands today."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from percuss.errors import LedgerError
from percuss.kinds.table import KINDS, is_batch
from percuss.kinds.trusted import Result
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import is_direct, mark_of, superseded_ids, superseded_under
from percuss.ledger.streams import read_stream
from percuss.spelling import counted
from percuss.trust import failures
from percuss.work.selection import Selection

if TYPE_CHECKING:
    import polars as pl


EVERYTHING = Selection()
# What is read of every event.
OVERVIEW = ("stream", "seq", "id", "kind", "version", "inputs")
# Batches of one line whose runs are counted.
MOST_OPENED = 1000


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
    ledger: Ledger,
    selection: Selection = EVERYTHING,
    limit: int = 0,
    everything: pl.DataFrame | None = None,
    *,
    fold: bool = False,
) -> list[LogLine]:
    """The newest lines, oldest first; limit 0: all of them. `everything`: the overview, if it was made.

    `fold`: batches of one kind and study that follow each other are one line, and so are runs that a result had made as
    it went, with their designs. What is marked stays by itself.
    """
    import polars as pl

    everything = overview(ledger, selection) if everything is None else everything
    chosen = selection.of(everything)
    gone, under = superseded_ids(everything), superseded_under(everything)
    line = _numbered(ledger, chosen, {*gone, *under}) if fold else pl.int_range(chosen.height, eager=True)
    chosen = chosen.with_columns(line=line)
    if limit and chosen.height:
        chosen = chosen.filter(pl.col("line") > pl.col("line").last() - limit)
    chosen = chosen.with_columns(count=pl.len().over("line"), first=pl.col("seq").first().over("line"))
    # Of so many events each would have to be opened to say how many runs they hold: then the last speaks for all.
    is_last = pl.col("line") != pl.col("line").shift(-1, fill_value=-1)
    chosen = chosen.filter((pl.col("count") <= MOST_OPENED) | is_last)
    short = shortest_prefixes(everything["id"].to_list(), chosen["id"].to_list())
    lines: list[LogLine] = []
    opened: list[Event] = []
    for event, last, many, first in zip(ledger.whole(chosen), *(chosen.select(is_last, "count", "first")), strict=True):
        opened.append(event)
        if not last:
            continue
        words = summary(event) if many == 1 else batches_text(opened) if len(opened) == many else f"{many} events"
        lines.append(LogLine(event, short[event.id], event.id in gone, under.get(event.id, ()), words, many, first))
        opened = []
    return lines


def _numbered(ledger: Ledger, events: pl.DataFrame, marked: set[str]) -> pl.Series:
    """Which line each event belongs to, counted from 0."""
    import polars as pl

    designs = ledger.whole(events.filter(pl.col("kind") == "design.created"))
    direct = pl.col("id").is_in([event.id for event in designs if is_direct(event)])
    batch = pl.col("kind").is_in([kind for kind in events["kind"].unique() if is_batch(kind)])
    alone = ~(direct | batch) | pl.col("id").is_in(marked)
    studies = pl.col("inputs").list.eval(
        pl.element().struct.field("id").filter(pl.element().struct.field("role") == "study")
    )
    joins = ~alone & ~alone.shift(fill_value=True)
    joins &= pl.struct("stream", studies.list.first()).eq_missing(pl.struct("stream", studies.list.first()).shift())
    # A batch goes with the design of a result before it, whatever else it is.
    as_it_went = pl.when(direct & ~alone).then(True).when(joins & batch).then(None).otherwise(False).forward_fill()
    alike = (pl.col("kind") == pl.col("kind").shift()) & ~as_it_went & ~as_it_went.shift(fill_value=False)
    goes_on = joins & (alike | (as_it_went & as_it_went.shift(fill_value=False)))
    return events.select((~goes_on).cum_sum().cast(pl.Int64) - 1).to_series()


def batches_text(events: Sequence[Event]) -> str:
    """What stands for events that are one line: batches of one kind, or a result's own runs with their designs."""
    words = [KINDS[event.kind].batch for event in events]
    word = "run" if "run" in words else words[0]
    parts = counted(sum(_parts_in(event) for event, own in zip(events, words, strict=True) if own == word), word)
    if "" in words:
        return f"{parts} that a result asked for as it went"
    return parts if parts == counted(len(events), word) else f"{parts} in {len(events)} batches"


def _parts_in(event: Event) -> int:
    """How many runs a batch holds; none where its body does not fit."""
    try:
        body = event.content
    except LedgerError:
        return 0
    return KINDS[event.kind].parts(body) if body is not None else 0


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
