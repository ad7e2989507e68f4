"""`percuss trust`: calibrations tried on twins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    complete_events,
    complete_studies,
    open_session,
    reference,
    studies_folder,
    study_path,
)
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.kinds.twins_checked import Maker
    from percuss.work.trust import Tried

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss trust @last:surrogate --twins 100")
def trust(
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="STUDY|SURROGATE...",
            help="Surrogates, or a study, whose newest surrogates are used. - reads an id from stdin.",
            autocompletion=complete_events,
        ),
    ],
    twins: Annotated[int, typer.Option(min=1, help="How many truths to draw, at least 20.")] = 100,
    by: Annotated[
        str,
        typer.Option(
            help="What computes the twins' outputs: surrogate, or simulator (every run is recorded).", metavar="WHO"
        ),
    ] = "surrogate",
    noise: Annotated[
        float,
        typer.Option(min=0, help="Give the twins errors this many times as large, to see whether it is detected."),
    ] = 1.0,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter chains, 20 ranks instead of 100.")] = False,
    observations: Annotated[
        str | None,
        typer.Option(
            help="Observations whose layout the twins copy, recorded by percuss observe.",
            show_default="the files the study names",
            metavar="EVENT",
        ),
    ] = None,
    block: Annotated[
        str | None, typer.Option(help="Which [calibration.NAME] of the study.", show_default="the only one")
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            help="Take blocks, priors and observations from this study as it is now.",
            show_default="as it was for the surrogate",
            autocompletion=complete_studies,
        ),
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of likelihood evaluations for each twin.", show_default="4000000"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    accept: AcceptOption = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs of the simulator at a time.")] = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Calibrate on twin data and test whether posteriors contain the truth as often as they claim.

    Truths are drawn from the prior. Data of the same layout as the observations are simulated for each, and calibrated
    on in the same way. The truths must rank uniformly among the draws. The exit code is 1 if they do not, which happens
    for 1 % of right calibrations.
    """
    from percuss.cli.output import give_id, leave_untrusted, tell_trust, unkept_on_interrupt
    from percuss.errors import InputError
    from percuss.kinds.table import plain
    from percuss.study.load import load_study
    from percuss.work.calibrate import Request as Calibration
    from percuss.work.subject import subject
    from percuss.work.trust import Request, newest_surrogates, try_twins

    maker = _maker(by)
    named = [subject(reference(text), studies_folder()) for text in events]
    session = open_session(ledger, accept=accept, allow_command=allow_command, jobs=jobs)
    taken = load_study(study_path(study)) if study else None
    if all(isinstance(item, str) for item in named):
        surrogates = tuple(session.take(str(item), "surrogate.fitted") for item in named)
    elif len(named) == 1:
        surrogates = newest_surrogates(session, load_study(study_path(events[0])))
    else:
        raise InputError("takes one study, or surrogates")
    calibration = Calibration(
        surrogates=surrogates,
        observations=session.event(observations) if observations else None,
        study=taken,
        block=block,
        evaluations=evaluations,
        seed=seed,
    )
    with unkept_on_interrupt():
        tried = try_twins(session, Request(calibration, twins, maker, noise, quick))
    tell_trust(tried.trust)
    _tell(tried)
    give_id(tried.event.id, plain(tried.body), json)
    leave_untrusted(tried.trust)


def _maker(by: str) -> Maker:
    from percuss.errors import InputError

    if by not in ("surrogate", "simulator"):
        raise InputError(f"--by {by}: must be surrogate or simulator")
    return "simulator" if by == "simulator" else "surrogate"


def _tell(tried: Tried) -> None:
    from percuss.cli.output import say, say_table

    body = tried.body
    say(
        f"{body.block}: {counted(body.ranked, 'twin')} of {body.twins} ranked among {body.draws} draws each, data by "
        f"{body.made_by}, {body.sampler}, {counted(body.evaluations, 'evaluation')}"
    )
    rows = []
    for item in body.quantities:
        shares = [
            text
            for band in item.coverage
            for text in (
                f"{100 * band.inside / body.ranked:.1f} %",
                f"{100 * band.low:.0f} to {100 * band.high:.0f} %",
            )
        ]
        rows.append((item.name, f"{item.p_value:.3g}", *shares))
    heads = [head for band in (0.5, 0.9) for head in (f"in {100 * band:g} % intervals", "95 % confidence")]
    if rows:
        say_table(["quantity", "p-value", *heads], rows)
    for verdict in tried.trust:
        if verdict.gate == "twins" and verdict.passed:
            say(verdict.sentence)
    for note in body.notes:
        say(note)
