"""Check a study: run what a file of `expected/` asks for, and compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from percuss.designs.design import append_design, draft_design
from percuss.execution.campaign import close_campaign, local_executor, run_campaign
from percuss.execution.records import campaign_table
from percuss.execution.regression import Row, compare, read_check
from percuss.kinds.check_failed import CheckFailed
from percuss.kinds.check_passed import CheckPassed
from percuss.ledger.event import Draft, Event
from percuss.session import Session
from percuss.study.study import Study


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
