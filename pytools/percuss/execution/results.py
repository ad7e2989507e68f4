"""A campaign as data: points and outputs of every finished run, bound to the designs they belong to.

A design that extends another one stands with it: `percuss design --extend` names the surrogate it improves (and
`--propose` the filter it goes on from), that surrogate names its designs, and so the points of all of them are used
together. Nothing else can be put together: runs are found through the design they were made for, and the tables are
compared with the digests in the events.

Failed runs are holes in a design: `hole_sentences` says how many there are, and where in parameter space they lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.designs.design import Design, load_design
from percuss.errors import InputError
from percuss.execution.records import campaign_table
from percuss.kinds.campaign_completed import CampaignCompleted
from percuss.ledger.blobs import table_digest
from percuss.ledger.event import Draft, Event
from percuss.ledger.projections import State
from percuss.models.model import Value
from percuss.session import Session
from percuss.spelling import counted
from percuss.study.study import Study
from percuss.units import from_si

Array = NDArray[Any]


@dataclass(frozen=True)
class CaseRuns:
    """The runs of one case: which rows of the points finished, what they gave, and why the others failed."""

    case: str
    rows: NDArray[np.intp]
    values: Array
    failures: Mapping[int, str]


@dataclass(frozen=True)
class Campaign:
    """Designs whose runs are all in: points `theta` (n, d) in SI of all of them, and the runs of every case.

    `places` says of which design and sample a row is, `closings` are the events that close the designs.
    """

    designs: tuple[Design, ...]
    closings: tuple[Event, ...]
    theta: Array
    places: tuple[tuple[int, int], ...]
    outputs: tuple[str, ...]
    cases: tuple[CaseRuns, ...]

    @property
    def study(self) -> Study:
        """The study of all of them."""
        return self.designs[0].study

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, as the columns of `theta`."""
        return self.designs[0].names

    @property
    def fixed(self) -> Mapping[str, Value]:
        """Inputs that are the same in every run."""
        return self.designs[0].fixed

    @property
    def keep_curves(self) -> bool:
        """Whether the runs kept their time histories."""
        return all(design.keep_curves for design in self.designs)

    def inputs(self) -> list[tuple[str, Event | Draft]]:
        """What a result made from these runs comes from. The newest design first: it stands for the others."""
        designs: list[tuple[str, Event | Draft]] = [("design", design.stored) for design in reversed(self.designs)]
        closings: list[tuple[str, Event | Draft]] = [("campaign", closing) for closing in reversed(self.closings)]
        return [("study", self.designs[0].study_source), *designs, *closings]

    def take(self, rows: NDArray[np.intp]) -> Campaign:
        """Some of the points, in that order."""
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


def designs_of(session: Session, event: Event) -> list[Design]:
    """The design of an event and those it extends, oldest first; refused unless all their runs are in.

    The event is a design, its campaign or runs of it.
    """
    state = session.state
    first = load_design(session, event)
    if event.kind == "campaign.completed":
        session.refuse_superseded(event)
        _check_own_runs(state, event)
    designs = [load_design(session, state.events[id]) for id in design_ids(state, first.stored)]
    for design in designs:
        _check_complete(state, design)
    base = designs[0]
    for design in designs[1:]:
        if design.names != base.names or design.cases != base.cases or design.study.digest != base.study.digest:
            raise InputError(
                f"design {design.id}: is of another study, other parameters or other cases than "
                f"{base.id}, which it extends"
            )
    return designs


def load_campaign(session: Session, event: Event) -> Campaign:
    """The runs of a design, given by itself, its campaign or runs of it; of those it extends as well.

    Raises InputError when runs are missing, a campaign is not closed, or the tables are not those of the events.
    """
    designs = designs_of(session, event)
    closings = []
    for design in designs:
        closing = session.state.campaigns.get(design.id)
        if closing is None:
            raise InputError(f"design {design.id}: is not closed", hint=f"percuss run {design.id} closes it")
        closings.append(closing)
    return read_campaign(session, designs, closings)


def read_campaign(session: Session, designs: Sequence[Design], closings: Sequence[Event]) -> Campaign:
    """The runs of designs whose closing events are known."""
    tables = [_table(session, *pair) for pair in zip(designs, closings, strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(design.values) for design in designs])])
    outputs = tuple(designs[0].study.outputs)
    cases = []
    for case in designs[0].cases:
        parts = [
            table.filter(pl.col("case") == case).with_columns(row=pl.col("sample") + int(start))
            for table, start in zip(tables, starts[:-1], strict=True)
        ]
        runs = pl.concat(parts).sort("row")
        completed = runs.filter(pl.col("failed").is_null())
        failed = runs.filter(pl.col("failed").is_not_null())
        values = completed.select(outputs).to_numpy().astype(float, copy=False)
        _check_finite(case, completed, outputs, values)
        reasons = dict(zip(failed["row"].to_list(), failed["failed"].to_list(), strict=True))
        cases.append(CaseRuns(case, completed["row"].to_numpy().astype(np.intp), np.ascontiguousarray(values), reasons))
    places = tuple((k, i) for k, design in enumerate(designs) for i in range(len(design.values)))
    theta = np.concatenate([design.values for design in designs])
    return Campaign(tuple(designs), tuple(closings), theta, places, outputs, tuple(cases))


def design_ids(state: State, design: Event) -> list[str]:
    """A design and, before it, those it extends, in the order they were made."""
    ids = [design.id]
    for item in design.inputs_as("surrogate", "filter"):
        before = [old.id for old in state.events[item.id].inputs_as("design")]
        ids = [id for id in before if id not in ids] + ids
    return ids


def _check_own_runs(state: State, campaign: Event) -> None:
    """A campaign that lists runs of another design was not written by percuss."""
    design = campaign.input("design")
    for item in campaign.inputs_as("runs"):
        made_for = [source.id for source in state.events[item.id].inputs_as("design")]
        if made_for != [design]:
            raise InputError(
                f"campaign {campaign.id}: runs {item.id} belong to design {', '.join(made_for) or 'none'}, "
                f"not to {design}: designs cannot be mixed"
            )


def _check_complete(state: State, design: Design) -> None:
    if closed := state.campaigns.get(design.id):
        _check_own_runs(state, closed)
    missing = design.size - len(state.rows(design.id).sample)
    if missing > 0:
        raise InputError(
            f"design {design.id}: {missing} of its {design.size} runs are missing",
            hint=f"percuss run {design.id} does them",
        )


def _table(session: Session, design: Design, closing: Event) -> pl.DataFrame:
    """All runs of a design, after the digests of points and runs were found to be those of the events."""
    ledger, event = session.ledger, design.stored
    blob = event.blob("design")
    if blob is None or table_digest(ledger.table(event, "design")) != blob.digest:
        raise InputError(f"design {event.id}: its points are not those of the event (digest differs)")
    batches = [session.state.events[item.id] for item in closing.inputs_as("runs")]
    for batch in batches:
        stored = batch.blob("runs")
        if stored and table_digest(ledger.table(batch, "runs")) != stored.digest:
            raise InputError(f"runs {batch.id}: the table is not that of the event (digest differs)")
    table = campaign_table(ledger, batches, design)
    if table_digest(table) != CampaignCompleted.of(closing).content:
        raise InputError(f"campaign {closing.id}: its runs do not give the digest it recorded")
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


# A parameter is named when the failed runs fill less than this share of its probability.
NARROW = 0.6


def hole_sentences(campaign: Campaign) -> list[str]:
    """One sentence a case with failed runs: their number, the most frequent reason, and where they lie."""
    sentences = []
    for runs in campaign.cases:
        if not runs.failures:
            continue
        rows = np.array(sorted(runs.failures))
        reasons = list(runs.failures.values())
        total = len(rows) + len(runs.rows)
        sentence = f"case {runs.case}: {len(rows)} of {counted(total, 'run')} failed and are holes in the design"
        places = _places(campaign, rows)
        sentence += f", at {' and '.join(places)}" if places else ", all over the parameter space"
        common = max(set(reasons), key=lambda reason: (reasons.count(reason), reason))
        sentences.append(f"{sentence} ({common})")
    return sentences


def _places(campaign: Campaign, rows: np.ndarray) -> list[str]:
    """The ranges of the parameters in which the failed runs crowd, the narrowest first, at most three."""
    places = []
    for j, name in enumerate(campaign.names):
        parameter = campaign.study.parameters[name]
        values = campaign.theta[rows, j]
        filled = np.ptp(np.asarray(parameter.prior.cdf(values)))
        if len(rows) == 1 or filled < NARROW:
            low, high = (from_si(float(end), parameter.unit) for end in (values.min(), values.max()))
            unit = "" if parameter.unit == "1" else f" {parameter.unit}"
            where = f"{name} = {low:.4g}{unit}" if len(rows) == 1 else f"{name} from {low:.4g} to {high:.4g}{unit}"
            places.append((float(filled), where))
    return [where for _, where in sorted(places)[:3]]
