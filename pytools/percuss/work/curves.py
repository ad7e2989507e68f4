"""Curves of runs as one table: those that were kept, and the others made again from their events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from percuss.designs.design import Design, load_design
from percuss.errors import AnswerIsNo, InputError
from percuss.execution.again import check_same, difference
from percuss.execution.batch import Result, make_batch, run_batch
from percuss.execution.campaign import local_executor
from percuss.execution.records import batches_of, stacked
from percuss.execution.rest import states_of
from percuss.kinds.design_created import IMPORTED
from percuss.kinds.runs_completed import RunsCompleted
from percuss.ledger.event import Event
from percuss.plots.subject import RunTables
from percuss.session import Session

if TYPE_CHECKING:
    import polars as pl


def curves_table(session: Session, event: Event, most: int | None = None) -> pl.DataFrame:
    """Curves of the finished runs of an event, a design or a campaign: case, sample, then axes and quantities, SI."""
    return run_tables(session, event, most).curves


def run_tables(session: Session, event: Event, most: int | None = None, most_again: int | None = None) -> RunTables:
    """Curves, impacts and outputs of the finished runs of an event, a design or a campaign.

    In the order of cases and samples, the first `most` samples of each case; where none kept its curves the first
    `most_again`. Runs that did not keep their curves are made again: they are pure, and their outputs must come out as
    they were recorded.
    """
    import polars as pl

    design = load_design(session, event)
    if most is None and not any(batch.blob("curves") for batch in batches_of(session, event)):
        most = most_again
    kept: list[tuple[Event, list[int]]] = []
    again: list[tuple[Event, list[int]]] = []
    holding = list(_kept_samples(session, design, event, most))
    for batch, samples in holding:
        (kept if batch.blob("curves") else again).append((batch, samples))
    parts: dict[str, list[pl.DataFrame]] = {"curves": [], "impacts": [], "outputs": []}
    for batch, samples in kept:
        for role in ("curves", "impacts"):
            if batch.blob(role):
                table = session.table(batch, role).filter(pl.col("sample").is_in(samples))
                parts[role].append(_named(table, RunsCompleted.of(batch).case))
    for batch, samples in holding:
        table = session.table(batch, "runs").filter(pl.col("sample").is_in(samples))
        parts["outputs"].append(_named(table, RunsCompleted.of(batch).case))
    for role, case, table in _made_again(session, design, again):
        parts[role].append(_named(table, case))
    if not parts["curves"]:
        raise InputError(f"event {event.id} ({event.kind}): has no curves, because no run finished")
    order = pl.Enum(design.cases)
    tables = {
        role: pl.concat(some, how="diagonal").sort(pl.col("case").cast(order), "sample", maintain_order=True)
        for role, some in parts.items()
        if some
    }
    return RunTables(tables["curves"], tables.get("impacts"), tables["outputs"])


def _named(table: pl.DataFrame, case: str) -> pl.DataFrame:
    import polars as pl

    return table.select(pl.lit(case).alias("case"), pl.all())


def _kept_samples(
    session: Session, design: Design, event: Event, most: int | None
) -> Iterator[tuple[Event, list[int]]]:
    """The events that hold the runs, with the samples to take from each; a run that is there twice counts once."""
    quantities = design.study.model().quantities
    if not any(quantity.curve for quantity in quantities.values()):
        raise InputError(
            f"event {event.id} ({event.kind}): has no curves",
            hint=f"study {design.study.name} is of the kind {design.study.model_kind}, whose runs give numbers alone",
        )
    places: dict[str, dict[int, Event]] = {case: {} for case in design.cases}
    for batch in batches_of(session, event):
        if batch.kind == "runs.completed":
            runs = RunsCompleted.of(batch)
            for sample in runs.samples:
                places[runs.case].setdefault(sample, batch)
    for events_of_samples in places.values():
        by_event: dict[str, tuple[Event, list[int]]] = {}
        for sample in sorted(events_of_samples)[:most]:
            by_event.setdefault(events_of_samples[sample].id, (events_of_samples[sample], []))[1].append(sample)
        yield from by_event.values()


def _made_again(
    session: Session, design: Design, runs: Sequence[tuple[Event, list[int]]]
) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """The curves of runs that did not keep them, and their impacts: role, case, table."""
    if not runs:
        return
    if design.sampler == IMPORTED:
        raise InputError(f"design {design.id}: its runs are from a table, which has no curves")
    design = replace(design, study=session.consented(design.study), keep_curves=True)
    batches = [
        states_of(session, event).starting(make_batch(design, RunsCompleted.of(event).case, samples))
        for event, samples in runs
    ]
    differences = []
    count = sum(len(samples) for _, samples in runs)
    with session.voice.progress("making curves again", count) as advance, local_executor(session.workers) as executor:
        for (event, _), batch, result in zip(runs, batches, executor.map(run_batch, batches), strict=True):
            differences.append((event, _difference(session, event, result)))
            advance(len(batch.samples), "")
            for role in ("curves", "impacts"):
                if parts := result.tables.get(role):
                    yield role, batch.case, stacked(parts)
    check_same(session, differences)


def _difference(session: Session, event: Event, result: Result) -> float:
    """By how much runs made again differ from what was recorded; AnswerIsNo where one fails now."""
    for sample, reason in result.failures.items():
        raise AnswerIsNo(f"event {event.id}: made again, case {result.case}, sample {sample} fails ({reason})")
    recorded = {row["sample"]: row for row in session.table(event, "runs").iter_rows(named=True)}
    pairs = zip(result.samples, result.outputs, strict=True)
    return max(difference(recorded[sample], outputs) for sample, outputs in pairs)
