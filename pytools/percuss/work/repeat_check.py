"""Compare the runs of a check with what was expected of them again."""

from __future__ import annotations

import math

from percuss.designs.design import read_design
from percuss.execution.records import batches_of, campaign_table
from percuss.execution.regression import FAILED, statistic_of
from percuss.kinds.check_passed import CheckPassed, Compared
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.repetition import Repetition

# Means and standard deviations of the same numbers: only the order of a sum can be another one.
NEAR = 1e-12


def repeat_check(session: Session, event: Event, part: int = 0) -> Repetition:
    """Work out every statistic again from the recorded runs, and what follows from it; no rounding changes that.

    What was expected is what the event says: the file of the study that said so is not in the ledger.
    """
    body = event.content
    assert isinstance(body, CheckPassed)
    if not event.inputs_as("campaign"):
        return Repetition("cannot", 0, "checks made before it was recorded which runs they compare")
    campaign = session.state.events[event.input("campaign")]
    design = read_design(session, session.state.events[campaign.input("design")])
    runs = campaign_table(session.ledger, batches_of(session, campaign), design)
    for item in body.values:
        if wrong := _fault(item, statistic_of(runs, item.case, item.output, item.statistic)):
            return Repetition("differs", 1, f"check {body.name}: {wrong}")
    listed_cases = {item.case for item in body.values if item.statistic == FAILED}
    failed = set(runs.filter(runs["failed"].is_not_null())["case"].to_list()) - listed_cases
    if failed:
        return Repetition("differs", 1, f"check {body.name}: runs of {', '.join(sorted(failed))} failed, untold")
    moved = sum(not item.holds for item in body.values)
    if (body.compared, body.moved, event.kind) != (len(body.values), moved, KINDS[moved > 0]):
        return Repetition("differs", 1, f"check {body.name}: {moved} of {len(body.values)} values moved")
    return Repetition("same", 1)


KINDS = {False: "check.passed", True: "check.failed"}


def _fault(item: Compared, value: float) -> str | None:
    """What is wrong with a value that is said to have been compared."""
    name = f"{item.statistic} of {item.output}, {item.case}"
    recorded, expected = float(item.found), float(item.expected)
    if not (
        recorded == value or math.isclose(recorded, value, rel_tol=NEAR) or (recorded != recorded and value != value)
    ):
        return f"{name} was {recorded!r}, is {value!r}"
    if item.holds != (abs(recorded - expected) <= item.tolerance):
        off = abs(recorded - expected)
        return f"{name} is {recorded!r}, {off!r} from {expected!r} with a tolerance of {item.tolerance!r}"
    return None
