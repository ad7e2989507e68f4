"""Refine a run again."""

from __future__ import annotations

from dataclasses import asdict

from percuss.execution.convergence import Plan, Tolerance, check_convergence, levels_table
from percuss.kinds.convergence_checked import ConvergenceChecked
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.converge import convergence_body
from percuss.work.repeated_tables import judged_tables
from percuss.work.repetition import Repetition


def repeat_convergence(session: Session, event: Event, part: int = 0) -> Repetition:
    """Run every level again and compare the outputs."""
    body, study = ConvergenceChecked.of(event), session.study(event)
    if study.calls():
        return Repetition("cannot", 0, "convergences of external programs are not run again")
    plan = Plan(**asdict(body.plan))
    own = {item.name: item.tolerance for item in body.outputs}
    checked = check_convergence(study, body.case, body.point, plan, Tolerance(own=own), seed=event.seed or 0)
    again = convergence_body(body.case, body.point, plan, checked)
    tables = {"convergence": levels_table(checked)}
    return judged_tables(session, event, "convergence", tables, far=None, body=again, own=tuple(checked.trust))
