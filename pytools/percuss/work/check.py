"""Check a study: run what a file of `expected/` asks for, and compare.

Compare the runs of a check with what was expected of them again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from percuss.designs.design import append_design, draft_design, read_design
from percuss.execution.campaign import close_campaign, local_executor, run_campaign
from percuss.execution.records import batches_of, campaign_table
from percuss.execution.regression import FAILED, Row, compare, read_check, statistic_of
from percuss.kinds.check_failed import CheckFailed
from percuss.kinds.check_passed import CheckPassed, Compared
from percuss.ledger.event import Draft, Event
from percuss.session import Session
from percuss.study.study import Study
from percuss.work.repetition import Repetition


@dataclass(frozen=True)
class Checked:
    """What a check came to."""

    study: str
    name: str
    event: Event
    rows: list[Row]

    @property
    def passed(self) -> bool:
        """Whether nothing moved."""
        return all(row.holds for row in self.rows)


def check_study(session: Session, study: Study, file: Path) -> Checked:
    """Run what a file asks for, compare, and append runs and verdict. Raises Interrupted on Ctrl-C."""
    check = read_check(study, file)
    design = append_design(session, draft_design(session, check.design, cases=check.cases, fixed=check.fixed))
    workers = session.workers
    run_campaign(session, design, local_executor(workers), workers=lambda: workers)
    closing = close_campaign(session, design)
    rows = compare(check, campaign_table(session.ledger, session.state.batches.get(design.id, []), design))
    moved = sum(not row.holds for row in rows)
    kind, body = ("check.failed", CheckFailed) if moved else ("check.passed", CheckPassed)
    draft = Draft(
        kind,
        body(name=check.name, compared=len(rows), moved=moved, values=tuple(row.compared() for row in rows)),
        design.reference,
        [("study", design.study_source), ("campaign", closing)],
        seed=design.seed,
        outcome="failed" if moved else "ok",
    )
    return Checked(study.name, check.name, session.append([draft])[0], rows)


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
