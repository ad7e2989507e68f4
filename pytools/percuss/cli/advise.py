"""`percuss advise`: which test to make next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    JsonOption,
    LedgerOption,
    complete_events,
    complete_studies,
    open_session,
    reference,
    study_path,
)
from percuss.spelling import counted, with_error

if TYPE_CHECKING:
    from percuss.work.advise import Advised

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss advise @last:posterior --about gap --twins 20")
def advise(
    posterior: Annotated[
        str,
        typer.Argument(
            metavar="POSTERIOR",
            help="Id, unique prefix, @last:posterior, or - to read it from stdin.",
            autocompletion=complete_events,
        ),
    ],
    about: Annotated[
        list[str] | None,
        typer.Option(
            help="Quantity of interest: a parameter, or CASE/OUTPUT; may be repeated.",
            metavar="NAME",
            show_default="all that was inferred",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="A candidate: CASE/OUTPUT, `*` for any text, several with commas for one test; may be repeated.",
            metavar="WHAT",
            show_default="[candidates] of the study, else each output of each case",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often each output is measured.")] = 1,
    study: Annotated[
        str | None,
        typer.Option(
            help="Take [candidates] from this study as it is now.",
            show_default="as it was for the posterior",
            autocompletion=complete_studies,
        ),
    ] = None,
    surrogate: Annotated[
        list[str] | None,
        typer.Option(
            help="A surrogate for candidates that the posterior's surrogates do not cover; may be repeated.",
            metavar="EVENT",
            autocompletion=complete_events,
        ),
    ] = None,
    twins: Annotated[
        int,
        typer.Option(min=0, help="Test the advice on this many twins, with a new calibration for each; 0: no test."),
    ] = 0,
    outer: Annotated[int, typer.Option(min=100, help="Draws of the posterior for which data are simulated.")] = 2000,
    inner: Annotated[int, typer.Option(min=100, help="Draws over which densities are averaged.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Predict which of several tests gives most information about a quantity for its cost, and record the advice.

    Prints the expected information gain, and by how much the variance of each quantity is expected to fall. The exit
    code is 1 if the candidates cannot be ranked, or if twins do not achieve what was predicted.
    """
    from percuss.cli.output import give_id, leave_untrusted, tell_trust, unkept_on_interrupt
    from percuss.kinds.table import plain
    from percuss.study.load import load_study
    from percuss.work.advise import Request
    from percuss.work.advise import advise as foresee

    posterior_id = reference(posterior)
    session = open_session(ledger, accept=accept)
    request = Request(
        session.event(posterior_id),
        tuple(about or ()),
        tuple(measure or ()),
        repeats,
        load_study(study_path(study)) if study else None,
        tuple(session.take(text, "surrogate.fitted") for text in surrogate or ()),
        twins,
        outer,
        inner,
        seed,
    )
    with unkept_on_interrupt():
        advised = foresee(session, request)
    tell_trust(advised.trust)
    _tell(advised)
    tables = {"gains": advised.candidates.to_dicts(), "contractions": advised.contractions.to_dicts()}
    give_id(advised.event.id, {**plain(advised.body), **tables}, json)
    leave_untrusted(advised.trust)


def _tell(advised: Advised) -> None:
    from percuss.cli.output import say, say_table

    body = advised.body
    by = {(row["candidate"], row["quantity"]): row for row in advised.contractions.iter_rows(named=True)}
    shown = body.about[:4]
    say(f"what each candidate is expected to tell about {', '.join(body.about)}, the best for its cost first:")
    rows = []
    for row in advised.candidates.iter_rows(named=True):
        each = [by[row["candidate"], name] for name in shown]
        rows.append(
            (
                row["candidate"],
                with_error(row["gain"], row["gain_error"]),
                f"{row['cost']:g}",
                f"{row['per_cost']:.3g}",
                f"{row['gaussian']:.3g}",
                *(with_error(item["contraction"], item["error"]) for item in each),
            )
        )
    heads = ("candidate", "gain, nats", "cost", "per cost", "Gaussian", *(f"contraction of {name}" for name in shown))
    say_table(heads, rows)
    for item in body.left_out:
        say(f"left out of {item.candidate}: {item.measurement}: {item.reason}")
    if body.tried:
        say(f"{counted(body.converged, 'twin')} of {body.twins} calibrated on again, contractions in the mean:")
        tried = [(t.quantity, f"{t.foreseen:.3f}", f"{t.achieved:.3f}", f"{t.error:.2g}") for t in body.tried]
        say_table(("quantity", "foreseen for their data", "achieved", "error of the difference"), tried)
    for verdict in advised.trust:
        if verdict.gate == "advice" and verdict.passed:
            say(verdict.sentence)
