"""Refine a run again."""

from __future__ import annotations

from dataclasses import asdict

from percuss.execution.convergence import Checked, Plan, Tolerance, check_convergence, levels_table
from percuss.kinds.convergence_checked import ConvergenceChecked
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.work.converge import convergence_body
from percuss.work.nearby import beyond, points_nearby
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
    return judged_tables(
        session,
        event,
        "convergence",
        tables,
        far=lambda: _beyond_rounding(session, event, checked),
        body=again,
        own=tuple(checked.trust),
    )


def _beyond_rounding(session: Session, event: Event, checked: Checked) -> str | None:
    """The first value that points nearby do not give either."""
    then, now = session.table(event, "convergence"), levels_table(checked)
    if not then.drop("value").equals(now.drop("value"), null_equal=True):
        return None
    own = {item.name: item.tolerance for item in checked.outputs}
    tables = [
        levels_table(
            check_convergence(checked.study, checked.case, at, checked.plan, Tolerance(own=own), seed=checked.seed)
        )
        for at in points_nearby(checked.point)
    ]
    values, *nearby = (table["value"].to_numpy() for table in (now, *tables))
    recorded = then["value"].to_numpy()
    if (at := beyond(recorded, values, nearby)) is None:
        return None
    row = now.row(at, named=True)
    return f"{row['output']} at level {row['level']} was {recorded[at]!r}, is {row['value']!r} and nearby as well"
