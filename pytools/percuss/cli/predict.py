"""`percuss predict`: what follows from a calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    complete_events,
    open_session,
    reference,
)
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.calibration.verification import Verification
    from percuss.study.study import Study
    from percuss.work.predict import Prediction

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss predict @last:posterior --verify 10")
def predict(
    posterior: Annotated[
        str,
        typer.Argument(
            metavar="POSTERIOR",
            help="Id, unique prefix, @last:posterior, or - to read it from stdin.",
            autocompletion=complete_events,
        ),
    ],
    draws: Annotated[
        int | None, typer.Option(min=2, help="Number of draws to predict with.", show_default="2000; 100 with --direct")
    ] = None,
    verify: Annotated[
        int, typer.Option(min=0, help="Run the simulator at this many draws, and at mean and mode; 0: no verification.")
    ] = 0,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Largest error of the surrogate, in standard deviations of the likelihood.")
    ] = 2.0,
    curves: Annotated[
        str | None,
        typer.Option(
            help="Also predict whole curves, with this surrogate of curves.",
            metavar="SURROGATE",
            autocompletion=complete_events,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time; 0: one per core.")] = None,
    accept: AcceptOption = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Predict outputs and data from prior and posterior, score the predictions, and record them.

    --verify runs the simulator to check whether the surrogate is as accurate near the posterior as it claims, and
    accurate enough for the data. If not, a design of more runs there is recorded, and the exit code is 1.
    """
    from percuss.cli.output import give_id, leave_interrupted, leave_untrusted, say
    from percuss.execution.campaign import Interrupted
    from percuss.kinds.table import plain
    from percuss.work.predict import Request
    from percuss.work.predict import predict as make

    posterior_id = reference(posterior)
    session = open_session(ledger, accept=accept, allow_command=allow_command, jobs=jobs)
    request = Request(
        posterior=session.event(posterior_id),
        draws=draws,
        verify=verify,
        tolerance=tolerance,
        curves=session.event(curves) if curves else None,
        seed=seed,
    )
    try:
        prediction = make(session, request)
    except Interrupted as stop:
        say(f"interrupted: {counted(stop.progress.done, 'run')} kept")
        leave_interrupted(stop.stuck)
    _tell(prediction, session.study(prediction.event))
    body = plain(prediction.event.content)
    give_id(prediction.event.id, {key: body[key] for key in ("draws", "trust", "scores", "verification")}, json)
    leave_untrusted(prediction.trust)


def _tell(prediction: Prediction, study: Study) -> None:
    """Scores, and what the simulator says."""
    from percuss.calibration.prediction import shown_score
    from percuss.cli.output import hint, say, say_table, tell_trust

    tell_trust(prediction.trust)
    if prediction.scores:
        heads = list(prediction.scores[0].rmse)
        rows = [
            (score.axis, score.entries, *(shown_score(score, which) for which in heads),
             *(f"{100 * share:.0f} %" for share in score.coverage.values()))
            for score in prediction.scores
        ]  # fmt: skip
        masses = [f"in {100 * float(mass):g} % band" for mass in prediction.scores[0].coverage]
        say("RMSE against the observations, and the share of them inside the bands:")
        say_table(("axis", "data", *heads, *masses), rows)
    for note in prediction.predicted.notes:
        say(note)
    if prediction.verification:
        _tell_verification(prediction.verification, study)
    if prediction.enrichment:
        hint(f"percuss run {prediction.enrichment.id} | percuss surrogate - | percuss calibrate - puts more runs there")


def _tell_verification(verification: Verification, study: Study) -> None:
    from percuss.cli.output import say, say_table
    from percuss.plots.labels import output_scale

    rows = []
    for item in verification.outputs:
        scale = output_scale(study, item.output)
        errors = (item.rms_error, item.surrogate_std, item.allowed_std)
        numbers = [None if error is None else error * scale.factor for error in errors]
        shown = [None if x is None else float(f"{x:.3g}") for x in (*numbers, item.ratio)]
        rows.append((item.case, item.output, scale.unit, *shown))
    say_table(("case", "output", "unit", "rms error", "surrogate std", "allowed std", "ratio"), rows)
    for verdict in verification.verdicts():
        if verdict.passed:
            say(verdict.sentence)
    say(f"verified by {counted(verification.runs.completed, 'run')}, {verification.runs.failed} failed")
