"""The data a surrogate is fitted to: points and outputs of every finished run, bound to the designs they belong to.

A design that extends another one stands with it: `percuss design --extend` names the surrogate it improves (and
`--propose` the filter it goes on from), that surrogate names its designs, and so the points of all of them are used
together. Nothing else can be put together:
runs are found through the design they were made for, and the tables are compared with the digests in the events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.errors import InputError
from percuss.execution.campaign import close_campaign
from percuss.execution.records import DesignRecord, campaign_table, load_design
from percuss.ledger.event import Draft, Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State, fold
from percuss.ledger.tables import table_digest
from percuss.study.study import Study

Array = NDArray[Any]


@dataclass(frozen=True)
class CaseRuns:
    """The runs of one case: which rows of the points finished, what they gave, and why the others failed."""

    case: str
    rows: NDArray[np.intp]
    values: Array
    failures: Mapping[int, str]


@dataclass(frozen=True)
class Training:
    """Points (n, d) in SI and the runs of every case; `places` says of which design and sample a row is."""

    study: Study
    study_event: Event | Draft
    designs: tuple[Event, ...]
    campaigns: tuple[Event, ...]
    names: tuple[str, ...]
    theta: Array
    places: tuple[tuple[int, int], ...]
    outputs: tuple[str, ...]
    cases: tuple[CaseRuns, ...]
    fixed: Mapping[str, Any]
    keep_curves: bool

    def take(self, rows: NDArray[np.intp]) -> Training:
        """Some of the points, in that order."""
        from dataclasses import replace

        number = {int(old): new for new, old in enumerate(rows)}
        cases = []
        for runs in self.cases:
            kept = [i for i, row in enumerate(runs.rows) if int(row) in number]
            renumbered = np.array([number[int(runs.rows[i])] for i in kept], dtype=np.intp)
            order = np.argsort(renumbered)
            failures = {number[row]: reason for row, reason in runs.failures.items() if row in number}
            cases.append(CaseRuns(runs.case, renumbered[order], runs.values[kept][order], failures))
        places = tuple(self.places[int(row)] for row in rows)
        return replace(self, theta=self.theta[rows], places=places, cases=tuple(cases))


def load_training(ledger: Ledger, state: State, event: Event) -> Training:
    """The data of a design, given by itself, its campaign or runs of it; of those it extends as well.

    Raises InputError when runs are missing or the tables are not those the events speak of.
    """
    first = load_design(ledger, state, event)
    if event.kind == "campaign.completed":
        if event.id in state.superseded:
            raise InputError(f"campaign {event.id}: is superseded", hint="percuss show says by what")
        _check_own_runs(state, event)
    records = [load_design(ledger, state, state.events[id]) for id in design_ids(state, _event(first))]
    for record in records:
        _check_complete(state, record)
    campaigns = [close_campaign(ledger, record, state) for record in records]
    state = fold(ledger.events())
    tables = [_table(ledger, state, *pair) for pair in zip(records, campaigns, strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(record.values) for record in records])])
    base = records[0]
    for record in records[1:]:
        if record.names != base.names or record.cases != base.cases or record.study.digest != base.study.digest:
            raise InputError(
                f"design {record.event.id}: is of another study, other parameters or other cases than "
                f"{base.event.id}, which it extends"
            )
    outputs = tuple(base.study.outputs)
    cases = []
    for case in base.cases:
        parts = [
            table.filter(pl.col("case") == case).with_columns(row=pl.col("sample") + int(start))
            for table, start in zip(tables, starts[:-1], strict=True)
        ]
        runs = pl.concat(parts).sort("row")
        done = runs.filter(pl.col("failed").is_null())
        failed = runs.filter(pl.col("failed").is_not_null())
        values = done.select(outputs).to_numpy().astype(float, copy=False)
        _check_finite(case, done, outputs, values)
        reasons = dict(zip(failed["row"].to_list(), failed["failed"].to_list(), strict=True))
        cases.append(CaseRuns(case, done["row"].to_numpy().astype(np.intp), np.ascontiguousarray(values), reasons))
    places = tuple((k, i) for k, record in enumerate(records) for i in range(len(record.values)))
    return Training(
        base.study,
        base.study_event,
        tuple(_event(record) for record in records),
        tuple(campaigns),
        base.names,
        np.concatenate([record.values for record in records]),
        places,
        outputs,
        tuple(cases),
        base.fixed,
        base.keep_curves,
    )


def _event(record: DesignRecord) -> Event:
    assert isinstance(record.event, Event)
    return record.event


def design_ids(state: State, design: Event) -> list[str]:
    """A design and, before it, those it extends, in the order they were made."""
    found = [design.id]
    for item in design.inputs_as("surrogate", "filter"):
        before = [old.id for old in state.events[item.id].inputs_as("design")]
        found = [id for id in before if id not in found] + found
    return found


def _check_own_runs(state: State, campaign: Event) -> None:
    """A campaign that lists runs of another design was not written by percuss."""
    design = campaign.input("design")
    for item in campaign.inputs_as("runs"):
        made_for = [found.id for found in state.events[item.id].inputs_as("design")]
        if made_for != [design]:
            raise InputError(
                f"campaign {campaign.id}: runs {item.id} belong to design {', '.join(made_for) or 'none'}, "
                f"not to {design}: designs cannot be mixed"
            )


def _check_complete(state: State, record: DesignRecord) -> None:
    if closed := state.campaigns.get(record.event.id):
        _check_own_runs(state, closed)
    have = state.runs(record.event.id)
    missing = record.size - len(have)
    if missing > 0:
        raise InputError(
            f"design {record.event.id}: {missing} of its {record.size} runs are missing",
            hint=f"percuss run {record.event.id} does them",
        )


def _table(ledger: Ledger, state: State, record: DesignRecord, campaign: Event) -> pl.DataFrame:
    """All runs of a design, after the digests of points and runs were found to be those of the events."""
    design = _event(record)
    blob = design.blob("design")
    if blob is None or table_digest(ledger.table(design, "design")) != blob.digest:
        raise InputError(f"design {design.id}: its points are not those of the event (digest differs)")
    batches = [state.events[item.id] for item in campaign.inputs_as("runs")]
    for event in batches:
        stored = event.blob("runs")
        if stored and table_digest(ledger.table(event, "runs")) != stored.digest:
            raise InputError(f"runs {event.id}: the table is not that of the event (digest differs)")
    table = campaign_table(ledger, batches, record)
    if table_digest(table) != campaign.data["content"]:
        raise InputError(f"campaign {campaign.id}: its runs do not give the digest it recorded")
    return table


def _check_finite(case: str, runs: pl.DataFrame, outputs: tuple[str, ...], values: Array) -> None:
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        row, column = (int(i) for i in wrong[0])
        raise InputError(
            f"case {case}, sample {runs['sample'][row]}: output {outputs[column]} is {values[row, column]}, and a "
            f"surrogate needs numbers",
            hint="let the output leave such runs out, or make them failed runs",
        )
