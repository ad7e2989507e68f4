"""`percuss time-pendulum`: time a pendulum at its prior means."""

from __future__ import annotations

import typer

from percuss.cli.options import LedgerOption, StudyArgument, open_session, study_path
from percuss_pendulum.kind import PeriodTimed

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss time-pendulum studies/clock")
def time_pendulum(study: StudyArgument, ledger: LedgerOption = None) -> None:
    """Time a pendulum at its prior means, and append the period."""
    from percuss.execution.points import point_design
    from percuss.ledger.event import Draft
    from percuss.session import reference
    from percuss.study.load import load_study
    from percuss.work.simulate import simulate

    session = open_session(ledger, create=True)
    loaded = load_study(study_path(study))
    case = loaded.case_name(None)
    done = simulate(session, point_design(loaded, case, {}), case)
    tolerance = loaded.sections["timing"]["tolerance"]  # type: ignore[index]
    body = PeriodTimed(period_s=done.outputs["period"], tolerance_s=float(tolerance))
    draft = Draft("period.timed", body, reference(loaded), [("study", session.registered(loaded))])
    print(session.append([draft])[0].id)
