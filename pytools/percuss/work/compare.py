"""Hold calibrations against each other: posteriors, or the constant calibrations of validations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.calibration.comparison import compare as weigh_posteriors
from percuss.calibration.records import load_posterior
from percuss.kinds.comparison_made import ComparisonMade
from percuss.ledger.event import Draft, Event
from percuss.session import Session
from percuss.trust import Trust
from percuss.validation.comparison import weigh as weigh_validations
from percuss.validation.storage import load_validation
from percuss.work.repeated import judged_tables
from percuss.work.repetition import Repetition

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison, of `validations` or of posteriors; `table` has a row for each calibration and parameter."""

    event: Event
    trust: Trust
    body: ComparisonMade
    table: pl.DataFrame
    validations: bool


def _all_validations(events: Sequence[Event]) -> bool:
    return all(event.kind == "validation.computed" for event in events)


def compared(session: Session, events: Sequence[Event]) -> tuple[ComparisonMade, pl.DataFrame]:
    """What holding them against each other gives: body and table; nothing is appended."""
    if _all_validations(events):
        return weigh_validations([load_validation(session, event) for event in events])
    return weigh_posteriors([load_posterior(session, event) for event in events])


def compare(session: Session, events: Sequence[Event]) -> Compared:
    """Compare posteriors, or validations, and append the comparison; it belongs to a study if all of them do."""
    validations = _all_validations(events)
    body, table = compared(session, events)
    studies = {event.study for event in events}
    study = studies.pop() if len(studies) == 1 else None
    inputs = [("posterior", event) for event in events]
    blob = session.ledger.put_table("posteriors", table)
    event, trust = session.append_result(Draft("comparison.made", body, study, inputs, [blob]))
    return Compared(event, trust, ComparisonMade.of(event), table, validations)


def repeat_comparison(session: Session, event: Event, part: int = 0) -> Repetition:
    """Compare again: the table, and what the body says of it."""
    again, table = compared(session, [session.state.events[item.id] for item in event.inputs_as("posterior")])
    return judged_tables(session, event, "comparison", {"posteriors": table}, body=again)
