"""`percuss predict`: what follows from a calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    accepted_gates,
    complete_events,
    consented,
    open_at,
)

if TYPE_CHECKING:
    from percuss.calibration.problem import Problem
    from percuss.calibration.records import Posterior
    from percuss.calibration.verification import Verification
    from percuss.ledger.ledger import Ledger

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
        int | None, typer.Option(min=2, help="Draws to predict at.", show_default="2000; 100 with --direct")
    ] = None,
    verify: Annotated[
        int, typer.Option(min=0, help="Run the simulator at so many draws, and at mean and mode; 0: do not.")
    ] = 0,
    tolerance: Annotated[
        float, typer.Option(min=0, help="Error of the surrogate over the std the likelihood allows, at most.")
    ] = 2.0,
    curves: Annotated[
        str | None,
        typer.Option(
            help="Predict whole curves as well, by this surrogate of curves.",
            metavar="SURROGATE",
            autocompletion=complete_events,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Root of all randomness.")] = 0,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time; 0: one a core.")] = None,
    accept: AcceptOption = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Predict outputs and data before and after the observations, score them, and append the prediction.

    With --verify the simulator itself says whether the surrogate is as right where the posterior is as it claims, and
    right enough for the data; if it is not, a design of more runs there is appended, and the exit code is 1.
    """
    import os
    from dataclasses import replace

    from percuss.calibration import prediction, verification
    from percuss.calibration.agreement import check_same_model
    from percuss.calibration.problem import load_problem
    from percuss.calibration.records import load_posterior
    from percuss.cli.output import give_id, hint, leave_interrupted, leave_untrusted, say, table_text, tell_trust
    from percuss.config import find_settings
    from percuss.errors import InputError
    from percuss.execution.campaign import Interrupted, local_executor
    from percuss.execution.records import load_study_event, new_drafts
    from percuss.ledger.projections import fold
    from percuss.ledger.standing import inherit
    from percuss.surrogates.skill import left_out
    from percuss.surrogates.surrogate import load_surrogate
    from percuss.trust import accept as accept_failures

    gates = accepted_gates(accept)
    book, event = open_at(ledger, posterior)
    state = fold(book.events())
    found = load_posterior(book, state, event)
    found.trusted_summary()
    stand_in = load_surrogate(book, state, book.event(curves)) if curves else None
    if stand_in and not stand_in.has_curves:
        raise InputError(f"--curves {curves}: is a surrogate of outputs", hint="percuss surrogate --curves fits curves")
    settings = find_settings({"jobs": jobs})
    workers = settings["jobs"].value or os.cpu_count() or 1
    with local_executor(workers) as executor:
        if verify or event.data["direct"]:
            consented(load_study_event(book, state.events[event.input("study")]), allow_command)
        problem = load_problem(book, state, event, executor, allow_command)
        if stand_in:
            check_same_model(problem.study, stand_in.study, f"surrogate {stand_in.event.id}")
        done = None
        if verify:
            try:
                done = _verified(book, problem, found, verify, tolerance, seed, bool(curves), workers)
            except Interrupted as stop:
                say(f"interrupted: {stop.progress.done} runs kept")
                leave_interrupted(stop.stuck)
        count = draws or (100 if problem.direct else 2000)
        predicted = prediction.predict(problem, found, count, seed, stand_in)
        scores = prediction.scores(problem, found, predicted, done)
        if done and not done.passed:
            proposed = book.append(new_drafts(verification.propose(book, problem, found, done, seed)))[-1]
            done = replace(done, enrichment=proposed.id)
        trust = inherit(state, [event, *([stand_in.event] if stand_in else [])])
        trust = accept_failures((*trust, *(done.verdicts() if done else ())), gates)
        behind = accept_failures(inherit(state, [surrogate.event for surrogate in problem.surrogates]), gates)
        predicted = prediction.without(predicted, left_out(behind))
        draft = prediction.draft_prediction(book, problem, found, predicted, scores, done, stand_in, count, seed, trust)
    appended = book.append([draft])[0]
    tell_trust(trust)
    heads = list(scores[0]["rmse"])
    rows = [
        (score["axis"], score["entries"], *(prediction.shown_score(score, which) for which in heads),
         *(f"{100 * share:.0f} %" for share in score["coverage"].values()))
        for score in scores
    ]  # fmt: skip
    masses = [f"in {100 * float(mass):g} % band" for mass in scores[0]["coverage"]]
    say("RMSE against the observations, and the share of them inside the bands:")
    say(table_text(("axis", "data", *heads, *masses), rows))
    for note in predicted.notes:
        say(note)
    if done:
        _tell(done)
    if done and done.enrichment:
        hint(f"percuss run {done.enrichment} | percuss surrogate - | percuss calibrate - puts more runs there")
    give_id(
        appended.id,
        {key: appended.data[key] for key in ("draws", "trust", "scores", "verification")},
        json,
    )
    leave_untrusted(trust)


def _verified(
    book: Ledger,
    problem: Problem,
    found: Posterior,
    verify: int,
    tolerance: float,
    seed: int,
    keep_curves: bool,
    workers: int,
) -> Verification:
    from dataclasses import replace

    from percuss.calibration import verification
    from percuss.cli.output import progress
    from percuss.config import find_settings
    from percuss.execution.campaign import local_executor

    record = verification.stored(book, verification.draft_runs(book, problem, found, verify, seed, keep_curves))
    record = replace(record, study=problem.study)
    flush_s = find_settings()["flush_s"].value
    with progress("verifying", record.size) as advance:
        campaign = verification.run(book, record, local_executor(workers), workers, flush_s, advance)
    return verification.compare(book, problem, found, record, campaign, tolerance)


def _tell(done: Verification) -> None:
    from percuss.cli.output import say, table_text

    rows = [
        (o["case"], o["output"], *(None if o[key] is None else float(f"{o[key]:.3g}") for key in
         ("rms_error", "surrogate_std", "allowed_std", "ratio")))
        for o in done.outputs
    ]  # fmt: skip
    say(table_text(("case", "output", "rms error", "surrogate std", "allowed std", "ratio"), rows))
    for verdict in done.verdicts():
        if verdict.passed:
            say(verdict.sentence)
    say(f"verified by {done.campaign.data['completed']} runs, {done.failed} failed")
