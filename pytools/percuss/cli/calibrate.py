"""`percuss calibrate`: parameters from observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from percuss.cli.options import (
    AcceptOption,
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    accepted_gates,
    assignments,
    complete_events,
    complete_studies,
    consented,
    open_at_all,
    open_ledger,
    study_path,
)

if TYPE_CHECKING:
    from percuss.calibration.calibrate import Calibrated
    from percuss.calibration.problem import Problem
    from percuss.calibration.records import Observations
    from percuss.ledger.event import Event
    from percuss.ledger.ledger import Ledger
    from percuss.study.study import Study

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss surrogate @last:campaign | percuss calibrate - --seed 1")
def calibrate(
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="SURROGATE...",
            help="Surrogates of the cases that were observed; with --direct a study. - reads an id from stdin.",
            autocompletion=complete_events,
        ),
    ],
    observations: Annotated[
        str | None,
        typer.Option(help="What percuss observe made.", show_default="the files the study names", metavar="EVENT"),
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
    direct: Annotated[bool, typer.Option("--direct", help="Run the simulator itself, and log every run.")] = False,
    sampler: Annotated[
        str | None,
        typer.Option(
            help="adaptive-metropolis, adaptive-metropolis-per-chain, emcee-stretch, emcee-de-snooker or "
            "sequential-monte-carlo.",
            show_default="the block's, or adaptive-metropolis",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option(help="Of the sampler, as chains=50.", metavar="NAME=NUMBER")
    ] = None,
    evaluations: Annotated[
        int | None, typer.Option(min=1, help="Most evaluations of the likelihood.", show_default="4000000")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Root of all randomness.")] = 0,
    accept: AcceptOption = None,
    accept_unconverged: Annotated[
        bool, typer.Option("--accept-unconverged", help="The same as --accept convergence.", hidden=True)
    ] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time, with --direct.")] = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Infer the parameters of a study from its observations, and append the posterior.

    Draws until R-hat and effective sample sizes are good or the budget is spent. Without convergence the draws are
    kept, no estimate is given, and the exit code is 1.
    """
    import os
    import resource
    import time

    from percuss.calibration.calibrate import Request, draft_posterior
    from percuss.calibration.calibrate import calibrate as infer
    from percuss.calibration.problem import find_block, make_problem
    from percuss.cli.output import give_id, hint, leave_interrupted, leave_untrusted, progress, say, tell_trust
    from percuss.config import find_settings
    from percuss.execution.campaign import local_executor
    from percuss.inference.samplers.stopping import Progress
    from percuss.ledger.event import Cost
    from percuss.ledger.projections import fold
    from percuss.ledger.standing import inherit
    from percuss.surrogates.surrogate import load_surrogate

    gates = accepted_gates([*(accept or []), *(["convergence"] if accept_unconverged else [])])
    given = _numbers(assignments(setting, "--setting"))
    if direct:
        book, found = _direct_study(ledger, events)
        consented(found, allow_command)
        surrogates = []
    else:
        book, listed = open_at_all(ledger, events)
        state = fold(book.events())
        surrogates = [load_surrogate(book, state, event) for event in listed]
        found = surrogates[0].study
    measured, found = _observations(book, found, observations, study)
    state = fold(book.events())
    chosen = find_block(found, block)
    request = Request.of(chosen, sampler, given, evaluations, seed, gates)
    workers = find_settings({"jobs": jobs})["jobs"].value or os.cpu_count() or 1
    with local_executor(workers) as executor:
        problem = make_problem(
            book,
            state,
            state.studies[found.digest],
            chosen,
            measured,
            surrogates,
            seed=seed,
            executor=executor,
            direct=direct,
            allow_command=allow_command,
        )
        used = [f"{case}/{output}" for case, output in problem.data.select("case", "output").unique().rows()]
        stands_on = inherit(state, [measured.event, *(surrogate.event for surrogate in surrogates)], used)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            with progress("sampling", request.stopping.evaluations) as advance:
                before = [0]

                def report(at: Progress) -> None:
                    known = at.r_hat == at.r_hat
                    note = f"{at.stage}: R-hat {at.r_hat:.3f}, ESS {at.ess:.0f}" if known else at.stage
                    advance(at.evaluations - before[0], note)
                    before[0] = at.evaluations

                done = infer(problem, request, report, stands_on)
        except KeyboardInterrupt:
            kept = problem.direct.done if problem.direct else 0
            say(f"interrupted: {kept} runs kept" if direct else "interrupted: nothing was appended")
            if kept:
                hint("give the same command again: what was run is not run again")
            executor.shutdown(wait=False, cancel_futures=True)
            leave_interrupted(problem.direct is not None and problem.direct.stuck)
        draft = draft_posterior(book, problem, request, done)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    draft.cost = Cost(round(1e6 * wall), round(1e6 * cpu), peak)
    event = book.append([draft])[0]
    tell_trust(done.trust)
    _tell(problem, done, event.id)
    if direct and problem.direct:
        say(f"{problem.direct.done} runs of the simulator, {len(problem.direct.runs)} batches in all")
    keys = ("block", "sampler", "converged", "reasons", "evaluations", "trust", "summary", "evidence")
    give_id(event.id, {key: event.data[key] for key in (*keys, "loo", "twin", "not_compiled", "notes")}, json)
    leave_untrusted(done.trust)


def _numbers(texts: dict[str, str]) -> dict[str, float]:
    from percuss.errors import InputError

    found: dict[str, float] = {}
    for name, text in texts.items():
        try:
            found[name] = int(text) if text.lstrip("+-").isdigit() else float(text)
        except ValueError:
            raise InputError(f"--setting {name}={text}: must be a number") from None
    return found


def _direct_study(ledger: str | None, texts: list[str]) -> tuple[Ledger, Study]:
    """The study to be run directly: by name or path, or by an event of it."""
    from percuss.cli.options import reference
    from percuss.errors import InputError
    from percuss.execution.records import load_study_event
    from percuss.ledger.projections import fold
    from percuss.study.load import load_study

    if len(texts) > 1:
        raise InputError("--direct: takes one study, or one event of it")
    text = reference(texts[0])
    book = open_ledger(ledger, create=True)
    try:
        return book, load_study(study_path(text))
    except InputError:
        if _is_study(text):
            raise
    event = book.event(text)
    if event.study is None or event.study.digest not in (studies := fold(book.events()).studies):
        raise InputError(f"event {event.id} ({event.kind}): is of no study")
    return book, load_study_event(book, studies[event.study.digest])


def _is_study(text: str) -> bool:
    """Whether a text can only be meant as a study: there is such a path, or no id looks like that."""
    from pathlib import Path

    return Path(text).exists() or not (text.startswith("@") or set(text) <= set("0123456789abcdef-"))


def _observations(
    book: Ledger, found: Study, observations: str | None, study: str | None
) -> tuple[Observations, Study]:
    """The observations, imported if the study names their files; and the study whose blocks count."""
    from percuss.calibration.observations import study_observations
    from percuss.calibration.records import load_observations
    from percuss.execution.records import study_source
    from percuss.ledger.event import Draft
    from percuss.ledger.projections import fold
    from percuss.study.load import load_study

    if study:
        found = load_study(study_path(study))
    state = fold(book.events())
    if observations:
        measured = load_observations(book, state, book.event(observations))
        if not study:
            found = measured.study
        source = study_source(book, found, state)
        if isinstance(source, Draft):
            book.append([source])
        return measured, found
    drafts = study_observations(book, state, found)
    event: Event = book.append(drafts)[-1] if isinstance(drafts, list) else drafts
    return load_observations(book, fold(book.events()), event), found


def _tell(problem: Problem, done: Calibrated, id: str) -> None:
    """What came out, for a person: in the units of the study."""
    from percuss.cli.output import hint, say, table_text
    from percuss.units import from_si

    sample = done.sample
    what = "twin data" if problem.observations.twin else "data"
    shares = f"{100 * sample.acceptance.min():.0f} to {100 * sample.acceptance.max():.0f} %"
    say(
        f"{problem.block.name}: {problem.data.height} {what} in {len(problem.likelihood.groups)} groups, "
        f"{sample.sampler}, {sample.evaluations} evaluations, acceptance {shares}"
    )
    if problem.not_compiled and problem.direct is None:
        say(f"sampled outside the core, about a tenth as fast: {problem.not_compiled}")
        if any(part.family != "chaos" for surrogate in problem.surrogates for part in surrogate.parts):
            hint("percuss surrogate --family chaos makes surrogates that the core can sample")
    if done.summary is None:
        return
    twin = problem.observations.twin or {}
    rows = []
    for row in done.summary.rows:
        unit = problem.units[row.name]
        low, high = row.interval
        shown: list[Any] = [from_si(x, unit) for x in (row.mean, row.std, row.median, row.mode, low, high)]
        truth = [] if not twin else [from_si(twin[row.name], unit) if row.name in twin else None]
        rows.append((row.name, *shown, *truth, f"{row.contraction:.3f}", f"{row.r_hat:.4f}", round(row.ess_bulk), unit))
    mass = f"{100 * done.summary.mass:g} %"
    heads = ["parameter", "mean", "std", "median", "mode", f"low {mass}", f"high {mass}"]
    say(table_text([*heads, *(["truth"] if twin else []), "contraction", "R-hat", "ESS", "unit"], rows))
    for row in done.summary.rows:
        for note in row.notes:
            say(f"{row.name}: {note}")
    for note in (*done.summary.notes, *done.notes):
        say(note)
    for name, evidence in done.evidence.items():
        error = f" +- {evidence.error:.3f}" if evidence.error == evidence.error else ""
        say(f"log evidence, {name}: {evidence.log_evidence:.4f}{error}{''.join(f'; {n}' for n in evidence.notes)}")
    hint(f"percuss predict {id} says what follows from it")
