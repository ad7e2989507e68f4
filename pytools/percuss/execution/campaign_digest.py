"""What a campaign is known by, without all of its runs at once in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from percuss.errors import LedgerError
from percuss.kinds.design_created import DesignCreated
from percuss.kinds.runs_completed import RunsCompleted
from percuss.kinds.runs_failed import RunsFailed
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import batch_of
from percuss.ledger.tables import SlicedDigest
from percuss.ledger.windows import Span, windows
from percuss.session import Session
from percuss.study.study import Study

if TYPE_CHECKING:
    import polars as pl

# How many outputs are taken up at once; the tables of the runs are read once for each of these groups.
OUTPUTS_AT_ONCE = 64


class HasCases(Protocol):
    """What is to be known of a design to put its runs together: not its points, of which there may be millions."""

    @property
    def id(self) -> str: ...
    @property
    def study(self) -> Study: ...
    @property
    def cases(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Outline:
    """A design without its points."""

    id: str
    study: Study
    cases: Sequence[str]

    @classmethod
    def of(cls, session: Session, event: Event) -> Outline:
        """Of the design of an event."""
        return cls(event.id, session.study(event), DesignCreated.of(event).cases)


def checked_batch(event: Event, design: HasCases) -> RunsCompleted | RunsFailed:
    """The runs of an event, if they are of a case of the design."""
    batch = batch_of(event)
    if batch.case not in design.cases:
        raise LedgerError(
            f"event {event.id}: has runs of case {batch.case[:80]!r}, which design {design.id} does not have"
        )
    return batch


@dataclass(frozen=True)
class CampaignFacts:
    """What a campaign is known by: how many runs completed and failed, and the digest of `records.campaign_table`."""

    completed: int
    failed: int
    digest: str


def campaign_facts(ledger: Ledger, batches: Sequence[Event], design: HasCases) -> CampaignFacts:
    """The digest of all runs of some batches, some rows and some columns at a time."""
    by_case: dict[str, list[tuple[Event, Span]]] = {case: [] for case in design.cases}
    for event in batches:
        batch = checked_batch(event, design)
        by_case[batch.case].append((event, Span.of(batch.samples)))
    names = list(design.study.outputs)
    digest = SlicedDigest(3 + len(names))
    counts = {"runs": 0, "failed": 0}

    def first_columns() -> Iterator[pl.DataFrame]:
        for piece in _slices(ledger, by_case, names[:OUTPUTS_AT_ONCE]):
            counts["failed"] += piece["failed"].len() - piece["failed"].null_count()
            yield piece

    counts["runs"] = digest.add(first_columns())
    for start in range(OUTPUTS_AT_ONCE, len(names), OUTPUTS_AT_ONCE):
        some = names[start : start + OUTPUTS_AT_ONCE]
        digest.add(piece.select(some) for piece in _slices(ledger, by_case, some))
    return CampaignFacts(counts["runs"] - counts["failed"], counts["failed"], digest.hexdigest())


def _slices(ledger: Ledger, by_case: dict[str, list[tuple[Event, Span]]], names: list[str]) -> Iterator[pl.DataFrame]:
    """Case, sample, why it failed and some outputs of all runs, in the order of cases and samples.

    Of a run that is there twice the first one counts.
    """
    import polars as pl

    schema: dict[str, pl.DataType] = {"case": pl.String(), "sample": pl.Int64(), "failed": pl.String()}
    schema |= {name: pl.Float64() for name in names}
    empty = pl.DataFrame(schema=schema)
    yield empty
    for case, listed in by_case.items():
        for window in windows([span for _, span in listed]):
            rows = [_rows(ledger, listed[number][0], names) for number in window.batches]
            # What a table does not have is empty: reasons of runs that completed, outputs of those that failed.
            together = pl.concat([empty, *rows], how="diagonal").with_columns(pl.lit(case).alias("case"))
            inside = together.filter(pl.col("sample").is_between(window.low, window.end, closed="left"))
            yield inside.unique("sample", keep="first", maintain_order=True).sort("sample")


def _rows(ledger: Ledger, event: Event, names: list[str]) -> pl.DataFrame:
    """Sample and some outputs of the runs of an event, or why they failed."""
    import polars as pl

    batch = batch_of(event)
    if isinstance(batch, RunsFailed):
        reasons = [batch.reasons.get(str(sample)) for sample in batch.samples]
        return pl.DataFrame({"sample": batch.samples, "failed": reasons}, {"sample": pl.Int64, "failed": pl.String})
    table = ledger.table(event, "runs", ["sample", *names])
    if sorted(table["sample"].to_list()) != sorted(batch.samples):
        raise LedgerError(f"event {event.id}: its table has other samples than it names")
    return table
