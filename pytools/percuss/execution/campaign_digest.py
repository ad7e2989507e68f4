"""What a campaign is known by, without all of its runs at once in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.designs.design import Design
from percuss.errors import LedgerError
from percuss.kinds.runs_completed import RunsCompleted
from percuss.kinds.runs_failed import RunsFailed
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import batch_of
from percuss.ledger.tables import columns_digest

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

# How many numbers of outputs are held at once: eight columns of a million runs.
NUMBERS_AT_ONCE = 8_000_000


def checked_batch(event: Event, design: Design) -> RunsCompleted | RunsFailed:
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


def campaign_facts(ledger: Ledger, batches: Sequence[Event], design: Design) -> CampaignFacts:
    """The digest of all runs of some batches, without all of them at once in memory: some columns at a time."""
    import numpy as np
    import polars as pl

    cases = list(design.cases)
    case, samples, failed = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [pl.Series(dtype=pl.String())]
    for event in batches:
        batch = checked_batch(event, design)
        if isinstance(batch, RunsFailed):
            listed = pl.Series(batch.samples, dtype=pl.Int64())
            failed.append(pl.Series([batch.reasons.get(str(sample)) for sample in listed], dtype=pl.String()))
        else:
            listed = ledger.table(event, "runs", ["sample"])["sample"]
            failed.append(pl.repeat(None, len(listed), dtype=pl.String(), eager=True))
        samples.append(listed.to_numpy())
        case.append(np.full(len(listed), cases.index(batch.case)))
    of_case, of_sample = np.concatenate(case), np.concatenate(samples)
    # Stable: of a run that is there twice the first comes first, and counts.
    order = np.lexsort((of_sample, of_case))
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(of_case[order]) != 0) | (np.diff(of_sample[order]) != 0)
    order = order[first]
    reasons = pl.concat(failed).gather(order)
    failed.clear()

    def columns() -> Iterator[pl.Series]:
        yield pl.Series("case", cases, dtype=pl.String()).gather(of_case[order])
        yield pl.Series("sample", of_sample[order])
        yield reasons.alias("failed")
        names = list(design.study.outputs)
        at_once = max(1, NUMBERS_AT_ONCE // max(1, len(order)))
        for start in range(0, len(names), at_once):
            yield from _outputs_of(ledger, batches, names[start : start + at_once], order)

    digest = columns_digest(columns(), 3 + len(design.study.outputs))
    count = reasons.len() - reasons.null_count()
    return CampaignFacts(len(order) - count, count, digest)


def _outputs_of(
    ledger: Ledger, batches: Sequence[Event], names: list[str], order: NDArray[np.int64]
) -> Iterator[pl.Series]:
    """Some outputs of all runs, in this order; empty where a run failed."""
    import polars as pl

    schema = {name: pl.Float64() for name in names}
    parts = [pl.DataFrame(schema=schema)]
    for event in batches:
        batch = batch_of(event)
        if isinstance(batch, RunsFailed):
            parts.append(pl.DataFrame({name: [None] * len(batch.samples) for name in names}, schema))
        else:
            parts.append(ledger.table(event, "runs", names).select(names))
    yield from pl.concat(parts)[order].get_columns()
