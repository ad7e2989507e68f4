"""Runs as events and tables: drafted from what came out of a batch, put together for a whole campaign, and what a
campaign is known by, without all of its runs at once in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from percuss.designs.design import Design
from percuss.errors import LedgerError
from percuss.execution.batch import Result
from percuss.kinds.campaign_completed import CampaignCompleted
from percuss.kinds.design_created import DesignCreated
from percuss.kinds.runs_completed import RunsCompleted
from percuss.kinds.runs_failed import RunsFailed
from percuss.ledger.blobs import SlicedDigest
from percuss.ledger.event import NO_COST, Blob, Draft, Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import Span, batch_of, windows
from percuss.session import Session
from percuss.study.study import Study

if TYPE_CHECKING:
    import polars as pl
    from numpy import ndarray

CAMPAIGN = "campaign.completed"


def draft_result(ledger: Ledger, design: Design, result: Result) -> list[Draft]:
    """A finished batch as one or two drafts: the runs that finished, the runs that failed."""
    drafts: list[Draft] = []
    inputs = [("study", design.study_source), ("design", design.source)]
    inputs += [("settled", event) for event in result.settled]
    if result.samples:
        blobs = [ledger.put_table("runs", outputs_table(result.samples, result.outputs))]
        for name, parts in sorted(result.tables.items()):
            blobs.append(ledger.put_table(name, stacked(parts)))
        blobs += _printed(ledger, result, result.samples)
        body = RunsCompleted(case=result.case, samples=tuple(result.samples), program=result.program)
        drafts.append(Draft("runs.completed", body, design.reference, inputs, blobs, design.seed, cost=result.cost))
    if result.failures:
        samples = sorted(result.failures)
        failed = RunsFailed(
            case=result.case,
            samples=tuple(samples),
            reasons={str(sample): result.failures[sample] for sample in samples},
            program=result.program,
        )
        cost = result.cost if not result.samples else NO_COST
        drafts.append(
            Draft(
                "runs.failed",
                failed,
                design.reference,
                inputs,
                _printed(ledger, result, samples),
                seed=design.seed,
                outcome="failed",
                reason=result.failures[samples[0]],
                cost=cost,
            )
        )
    return drafts


def _printed(ledger: Ledger, result: Result, samples: Sequence[int]) -> list[Blob]:
    """What the programs of these runs printed, as a payload; none if they were silent."""
    import polars as pl

    rows = [(i, stream, text) for i in samples for stream, text in result.printed.get(i, {}).items() if text]
    if not rows:
        return []
    schema = {"sample": pl.Int64(), "stream": pl.String(), "text": pl.String()}
    return [ledger.put_table("printed", pl.DataFrame(rows, schema, orient="row"))]


def outputs_table(samples: Sequence[int], outputs: Sequence[Mapping[str, float]]) -> pl.DataFrame:
    """Outputs of runs as the table that is stored: one row per run, columns in the order of the study's outputs."""
    import polars as pl

    columns: dict[str, pl.Series] = {"sample": pl.Series(samples, dtype=pl.Int64)}
    for name in outputs[0]:
        columns[name] = pl.Series([row[name] for row in outputs], dtype=pl.Float64)
    return pl.DataFrame(columns)


def stacked(parts: Sequence[tuple[int, Mapping[str, ndarray]]]) -> pl.DataFrame:
    """Tables of runs as the one that is stored: each row with its sample."""
    import polars as pl

    return pl.concat(
        [
            pl.DataFrame(dict(columns)).select(pl.lit(sample, dtype=pl.Int64).alias("sample"), pl.all())
            for sample, columns in parts
        ]
    )


def campaign_table(ledger: Ledger, batches: Sequence[Event], design: Design) -> pl.DataFrame:
    """Every run of some batches of a design: case, sample, why it failed (null: it did not), and the outputs.

    In the order of cases and samples, whatever the order of arrival: its digest is what a campaign is known by.
    """
    import polars as pl

    names = list(design.study.outputs)
    schema = pl.Schema({"case": pl.String(), "sample": pl.Int64(), "failed": pl.String()})
    schema.update({name: pl.Float64() for name in names})
    parts = [pl.DataFrame(schema=schema)]
    for event in batches:
        batch = checked_batch(event, design)
        if isinstance(batch, RunsCompleted):
            table = ledger.table(event, "runs", ["sample", *names])
            reasons = dict[str, str]()
        else:
            reasons = batch.reasons
            table = pl.DataFrame({"sample": batch.samples}, {"sample": pl.Int64()})
            table = table.with_columns(pl.lit(None, dtype=pl.Float64()).alias(name) for name in names)
        failed = pl.Series("failed", [reasons.get(str(sample)) for sample in table["sample"]], dtype=pl.String())
        table = table.with_columns(pl.lit(batch.case).alias("case"), failed)
        parts.append(table.select(list(schema)))
    order = pl.Enum(design.cases)
    return (
        pl.concat(parts)
        .unique(["case", "sample"], keep="first", maintain_order=True)
        .sort(pl.col("case").cast(order), "sample")
    )


def batches_of(session: Session, event: Event) -> list[Event]:
    """The events that hold runs of an event: its own, or those of a design or campaign."""
    match event.kind:
        case "runs.completed" | "runs.failed":
            return [event]
        case "design.created":
            return session.state.batches.get(event.id, [])
        case "campaign.completed":
            return [session.state.events[item.id] for item in event.inputs_as("runs")]
    return []


def curves_of(session: Session, event: Event, most: int | None = None) -> list[tuple[str, pl.DataFrame]]:
    """The curves kept by runs, or by the runs of a design or campaign: each case, at most so many samples of it."""
    import polars as pl

    tables: dict[str, list[pl.DataFrame]] = {}
    counts: dict[str, int] = {}
    for batch in batches_of(session, event):
        case = batch_of(batch).case
        left = None if most is None else most - counts.get(case, 0)
        if batch.blob("curves") is None or left == 0:
            continue
        table = session.table(batch, "curves")
        samples = table["sample"].unique(maintain_order=True)[:left]
        tables.setdefault(case, []).append(table.filter(pl.col("sample").is_in(samples.implode())))
        counts[case] = counts.get(case, 0) + len(samples)
    return [(case, pl.concat(parts)) for case, parts in tables.items()]


def draft_campaign(session: Session, design: Design) -> Draft:
    """The closing event of a campaign: which batches it consists of, and the digest of all its outputs."""
    batches = session.state.batches.get(design.id, [])
    facts = campaign_facts(session.ledger, batches, design)
    body = CampaignCompleted(completed=facts.completed, failed=facts.failed, content=facts.digest)
    inputs = [("study", design.study_source), ("design", design.source), *(("runs", batch) for batch in batches)]
    return Draft("campaign.completed", body, design.reference, inputs, seed=design.seed)


def runs_table(session: Session, design: Design) -> pl.DataFrame:
    """Every run of a design with its parameters: case, sample, parameters, why it failed, outputs."""
    import polars as pl

    points = pl.DataFrame(design.values, schema=list(design.names), orient="row")
    points = points.with_columns(pl.int_range(pl.len()).alias("sample"))
    runs = campaign_table(session.ledger, session.state.batches.get(design.id, []), design)
    outputs = list(design.study.outputs)
    # An output may have the name of a parameter (a model that passes one through): the output keeps it.
    names = [name for name in design.names if name not in outputs]
    return runs.join(points, on="sample", how="left", maintain_order="left").select(
        "case", "sample", *names, "failed", *outputs
    )


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
    points: int

    @property
    def runs(self) -> int:
        """How many runs it asks for."""
        return self.points * len(self.cases)

    @classmethod
    def of(cls, session: Session, event: Event) -> Outline:
        """Of the design of an event."""
        table = event.blob("design")
        return cls(event.id, session.study(event), DesignCreated.of(event).cases, table.rows if table else 0)


def checked_batch(event: Event, design: HasCases) -> RunsCompleted | RunsFailed:
    """The runs of an event, if they are of the design and of a case of it."""
    batch = batch_of(event)
    if event.input("design") != design.id:
        raise LedgerError(f"event {event.id}: has runs of another design than {design.id}")
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


def campaign_fault(session: Session, campaign: Event) -> str | None:
    """What a campaign says that its own runs do not give, whether or not these were superseded or run twice since."""
    state, body = session.state, CampaignCompleted.of(campaign)
    batches = [state.events[item.id] for item in campaign.inputs_as("runs")]
    design = Outline.of(session, state.events[campaign.input("design")])
    facts = campaign_facts(session.ledger, batches, design)
    if facts.digest != body.content:
        return "its runs do not give the digest it recorded"
    if (facts.completed, facts.failed) != (body.completed, body.failed):
        claim = f"{body.completed} completed and {body.failed} failed"
        return f"says that {claim}, and of its runs {facts.completed} and {facts.failed} did"
    if facts.completed + facts.failed != design.runs:
        return f"has {facts.completed + facts.failed} of the {design.runs} runs of its design; others were left out"
    return None


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
