"""`percuss reliability`: how likely failure is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    assignments,
    complete_events,
    open_session,
    reference,
    studies_folder,
    study_path,
)
from percuss.errors import InputError

if TYPE_CHECKING:
    from percuss.kinds.reliability_estimated import ReliabilityEstimated
    from percuss.work.reliability import Reliability

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss reliability @last:surrogate --limit drift --method subset --verify 40")
def reliability(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="STUDY|SURROGATE|POSTERIOR",
            help="A study (its simulator is run), or a surrogate or posterior: id, @last:surrogate, or - from stdin.",
            autocompletion=complete_events,
        ),
    ],
    limit: Annotated[str | None, typer.Option(help="Which [limits.NAME]; not needed if there is only one.")] = None,
    method: Annotated[
        str,
        typer.Option(
            help="monte-carlo, quasi-monte-carlo, form, sorm, importance, subset, directional, active, "
            "active-subset or extrapolation."
        ),
    ] = "monte-carlo",
    n: Annotated[
        int | None, typer.Option("--n", "-n", min=2, help="Evaluations, at most.", show_default="that of the method")
    ] = None,
    cv: Annotated[float, typer.Option(help="Coefficient of variation to reach.")] = 0.1,
    level: Annotated[float, typer.Option(help="Level of the interval.")] = 0.95,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="An option of the method.", metavar="NAME=NUMBER")
    ] = None,
    verify: Annotated[int, typer.Option(min=0, help="Run the simulator at this many points near the limit.")] = 0,
    draws: Annotated[int | None, typer.Option(min=2, help="Draws of a posterior.", show_default="200")] = None,
    design: Annotated[str | None, typer.Option(help="Find the smallest value of this parameter ...")] = None,
    target: Annotated[float | None, typer.Option(help="... that meets this probability.")] = None,
    study: Annotated[str | None, typer.Option(help="Take the limits of this study, of the same model.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time; 0: one per core.")] = None,
    accept: AcceptOption = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate the probability that a limit of a study is exceeded, and record it.

    An estimate that has not converged is recorded without a probability, and the exit code is 1.
    """  # fmt: skip
    from percuss.cli.output import give_id, leave_untrusted
    from percuss.kinds.table import plain
    from percuss.study.load import load_study
    from percuss.work.limit_estimate import Request
    from percuss.work.reliability import estimate_reliability
    from percuss.work.subject import subject as named

    what = named(reference(subject), studies_folder())
    of_study = isinstance(what, Path)
    if of_study and study is not None:
        raise InputError("--study: goes with a surrogate or a posterior")
    limits = load_study(what) if isinstance(what, Path) else load_study(study_path(study)) if study else None
    session = open_session(ledger, create=of_study, accept=accept, allow_command=allow_command, jobs=jobs)
    request = Request(
        study=limits,
        event=None if isinstance(what, Path) else session.event(what),
        limit=limit,
        method=method,
        n=n,
        cv=cv,
        level=level,
        options=_numbers(set_),
        verify=verify,
        draws=draws,
        design=design,
        target=target,
        seed=seed,
    )
    done = estimate_reliability(session, request)
    _tell(done)
    give_id(done.event.id, plain(done.body), json)
    leave_untrusted(done.trust)


def _numbers(texts: list[str] | None) -> dict[str, float]:
    """Options of the method."""
    numbers = {}
    for name, text in assignments(texts, "--set").items():
        try:
            numbers[name] = float(text)
        except ValueError:
            raise InputError(f"--set {name}={text}: must be a number") from None
    return numbers


def _tell(done: Reliability) -> None:
    """Probability, what it costs, and what the simulator says."""
    from percuss.cli.output import say, tell_trust

    tell_trust(done.trust)
    body = done.body
    say(f"limit {body.limit} by {body.method}: {body.runs} runs of the simulator, {body.evaluations} evaluations")
    for verdict in done.trust:
        if verdict.passed:
            say(verdict.sentence)
    if body.estimate:
        _tell_estimate(body)
    for note in body.notes:
        say(note)


def _tell_estimate(body: ReliabilityEstimated) -> None:
    from percuss.cli.output import say, say_table

    assert body.estimate is not None
    if body.estimate.index is not None:
        say(f"reliability index {body.estimate.index:.4g}")
    for what, interval in (("sampling", body.estimate.sampling), ("the surrogate", body.estimate.surrogate)):
        if interval and body.estimate.surrogate:
            say(f"error of {what} alone: {interval[0]:.3g} to {interval[1]:.3g}")
    if body.epistemic:
        low, high = body.epistemic.interval
        say(
            f"over {body.epistemic.draws} draws of {', '.join(body.epistemic.parameters)}: median "
            f"{body.epistemic.median:.3g}, {100 * body.level:g} % of them from {low:.3g} to {high:.3g}"
        )
    rows = [
        (item.parameter, *(_shown(x) for x in (item.importance, item.to_mean, item.to_std))) for item in body.slopes
    ]
    if rows:
        say_table(("parameter", "importance", "dp/dmean (SI)", "dp/dstd (SI)"), rows)


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.3g}"
