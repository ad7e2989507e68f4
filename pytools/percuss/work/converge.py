"""Which outputs of a study depend on how it is computed: one run at finer steps and a tighter tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from percuss.execution.convergence import Checked, Judged, Plan, Tolerance, check_convergence, levels_table, work
from percuss.kinds.convergence_checked import ConvergenceChecked, NumericsFacts, OutputFacts, PlanFacts
from percuss.ledger.event import Draft, Event
from percuss.models.model import Value
from percuss.session import Session, reference
from percuss.study.study import Study
from percuss.trust import Trust, accept
from percuss.work.nearby import beyond, points_nearby
from percuss.work.repeated import judged_tables
from percuss.work.repetition import Repetition


@dataclass(frozen=True, eq=False)
class Converged:
    """The event, and what was found."""

    event: Event
    trust: Trust
    checked: Checked


def converge(
    session: Session, study: Study, case: str, point: Mapping[str, Value], plan: Plan, tolerance: Tolerance, seed: int
) -> Converged:
    """Run a point at every level, judge every output, and append what was found."""
    with session.voice.progress("converging", work(plan)) as advance:
        checked = check_convergence(study, case, point, plan, tolerance, seed=seed, advance=advance)
    trust = accept(checked.trust, session.accept)
    registered = session.registered(study)
    body = replace(convergence_body(case, point, plan, checked), trust=trust)
    blobs = [session.ledger.put_table("convergence", levels_table(checked))]
    draft = Draft("convergence.checked", body, reference(study), [("study", registered)], blobs, seed=seed)
    event = session.append([item for item in (registered, draft) if isinstance(item, Draft)])[-1]
    return Converged(event, trust, checked)


def convergence_body(case: str, point: Mapping[str, Value], plan: Plan, checked: Checked) -> ConvergenceChecked:
    """The body of the event, before its verdicts."""
    return ConvergenceChecked(
        case=case,
        point=dict(point),
        plan=PlanFacts(**asdict(plan)),
        numerics=NumericsFacts(**asdict(checked.numerics)),
        outputs=tuple(output_facts(item) for item in checked.outputs),
        trust=(),
    )


def output_facts(item: Judged) -> OutputFacts:
    """An output for the event; its values by level are in the table."""
    return OutputFacts(
        name=item.name,
        value=item.value,
        change=item.change,
        order=item.order,
        error=item.error,
        by_tolerance=item.by_tolerance,
        off=item.off,
        tolerance=item.tolerance,
        digits=item.digits,
        enough=item.enough,
        quote=item.quote,
        why=item.why,
    )


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
