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
from percuss.errors import InputError

if TYPE_CHECKING:
    from percuss.calibration.calibrate import Calibrated
    from percuss.calibration.problem import Problem
    from percuss.calibration.records import Observations
    from percuss.ledger.event import Event
    from percuss.ledger.ledger import Ledger
    from percuss.study.calibration import Block
    from percuss.study.study import Study
    from percuss.surrogates.surrogate import Surrogate

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
    from dataclasses import replace

    from percuss.calibration.blocks import find_block
    from percuss.calibration.calibrate import Request, draft_posterior
    from percuss.calibration.calibrate import calibrate as infer
    from percuss.calibration.problem import make_problem
    from percuss.calibration.records import load_observations
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
    given_data = load_observations(book, fold(book.events()), book.event(observations)) if observations else None
    taken = _taken(found, given_data, study)
    notes = _edits(book, taken, surrogates, given_data, study)
    try:
        chosen = find_block(taken, block)
        measured = _observations(book, taken, chosen, given_data)
    except InputError as fault:
        raise InputError(str(fault), hint="; ".join(notes) or fault.hint) from None
    state = fold(book.events())
    request = Request.of(chosen, sampler, given, evaluations, seed, gates)
    workers = find_settings({"jobs": jobs})["jobs"].value or os.cpu_count() or 1
    with local_executor(workers) as executor:
        problem = make_problem(
            book,
            state,
            state.studies[taken.digest],
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
            # No total: the evaluations allowed are a ceiling, which good posteriors come nowhere near.
            with progress("sampling, evaluations", None) as advance:
                before = [0]

                def report(at: Progress) -> None:
                    known = at.r_hat == at.r_hat
                    note = f"{at.stage}: R-hat {at.r_hat:.3f}, ESS {at.ess:.0f}" if known else at.stage
                    about = "" if at.expected is None else f"; about {at.expected} in all"
                    advance(at.evaluations - before[0], note + about)
                    before[0] = at.evaluations

                done = infer(problem, request, report, stands_on)
        except KeyboardInterrupt:
            kept = problem.direct.done if problem.direct else 0
            say(f"interrupted: {kept} runs kept" if direct else "interrupted: nothing was appended")
            if kept:
                hint("give the same command again: what was run is not run again")
            executor.shutdown(wait=False, cancel_futures=True)
            leave_interrupted(problem.direct is not None and problem.direct.stuck)
        draft = draft_posterior(book, problem, request, replace(done, notes=(*notes, *done.notes)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    draft.cost = Cost(round(1e6 * wall), round(1e6 * cpu), peak)
    event = book.append([draft])[0]
    tell_trust(done.trust)
    for note in notes:
        say(note)
    _tell(problem, done, event.id)
    if direct and problem.direct:
        say(f"{problem.direct.done} runs of the simulator, {len(problem.direct.runs)} batches in all")
    keys = ("block", "sampler", "converged", "reasons", "evaluations", "trust", "fit", "summary", "evidence")
    give_id(event.id, {key: event.data[key] for key in (*keys, "loo", "twin", "not_compiled", "notes")}, json)
    leave_untrusted(done.trust)


def _numbers(texts: dict[str, str]) -> dict[str, float]:
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


def _taken(found: Study, given: Observations | None, study: str | None) -> Study:
    """The study whose blocks and priors count: as it is now, as it was for the observations, or for the surrogate."""
    from percuss.study.load import load_study

    if study:
        return load_study(study_path(study))
    return given.study if given else found


def _observations(book: Ledger, taken: Study, block: Block, given: Observations | None) -> Observations:
    """The observations, imported if the study names their files; refused before anything is appended."""
    from percuss.calibration.agreement import check_same_model
    from percuss.calibration.blocks import check_block, own_observations
    from percuss.calibration.observations import study_observations
    from percuss.calibration.records import load_observations
    from percuss.execution.records import study_source
    from percuss.ledger.event import Draft
    from percuss.ledger.projections import fold

    if given:
        pairs = given.table.select("case", "output").unique(maintain_order=True).rows()
        check_same_model(taken, given.study, f"observations {given.event.id}", pairs)
        check_block(taken, block, given.table, str(given.event.data["file"]))
        source = study_source(book, taken)
        if isinstance(source, Draft):
            book.append([source])
        return given
    if own := own_observations(taken):
        check_block(taken, block, *own)
    drafts = study_observations(book, fold(book.events()), taken)
    event: Event = book.append(drafts)[-1] if isinstance(drafts, list) else drafts
    return load_observations(book, fold(book.events()), event)


def _edits(
    book: Ledger, taken: Study, surrogates: list[Surrogate], given: Observations | None, study: str | None
) -> list[str]:
    """A sentence for each version of the study at hand that is not the one taken, with all that differs."""
    from percuss.study.differences import told_differences

    as_taken = (
        "as it is now" if study else f"as it was for observations {given.event.id}" if given else "as it was then"
    )
    notes = []
    for surrogate in surrogates if study or given else ():
        if what := told_differences(surrogate.study, taken):
            whose = f"study {taken.name} was edited since surrogate {surrogate.event.id} was made"
            notes.append(f"{whose}: {what}; it is taken {as_taken}")
    if not study and (surrogates or given):
        made = f"observations {given.event.id} were" if given else f"surrogate {surrogates[0].event.id} was"
        notes += _edited_since(book, taken, made)
    return notes


def _edited_since(book: Ledger, taken: Study, made: str) -> list[str]:
    """What differs between a study of the ledger and the file of today: where the command that registered it found it,
    or among the studies that are known by name.
    """
    from pathlib import Path

    from percuss.cli.options import studies_folder
    from percuss.ledger.projections import fold
    from percuss.study.differences import told_differences
    from percuss.study.faults import StudyError
    from percuss.study.load import is_study, load_study

    registered = fold(book.events()).studies[taken.digest]
    places = [Path(text) for text in registered.argv[1:]]
    path = next((path for path in (*places, studies_folder() / taken.name) if is_study(path, taken.name)), None)
    if path is None:
        return []
    then = "it is taken as it was then"
    try:
        what = told_differences(taken, load_study(path))
    except StudyError as fault:
        return [f"study {taken.name} cannot be read as it is now ({fault}); {then}"]
    edited = f"study {taken.name} was edited since {made} made"
    return [f"{edited}: {what}; {then}, --study {path} takes it as it is now"] if what else []


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
    if sample.modes is not None and len(sample.modes.at) > 1:
        for at, share, drawn in zip(sample.modes.at, sample.modes.shares, sample.modes.drawn, strict=True):
            units = [problem.units[name] for name in sample.names]
            shown_at = [from_si(float(x), unit) for x, unit in zip(at, units, strict=True)]
            place = ", ".join(
                f"{n} = {x:.4g} {u}".removesuffix(" 1") for n, x, u in zip(sample.names, shown_at, units, strict=True)
            )
            say(f"a mode at {place}: {100 * share:.3g} % of the posterior, {100 * drawn:.3g} % of the draws")
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
    for verdict in done.trust:
        if verdict.gate == "fit" and verdict.passed:
            say(verdict.sentence)
    for name, evidence in done.evidence.items():
        error = f" +- {evidence.error:.3f}" if evidence.error == evidence.error else ""
        say(f"log evidence, {name}: {evidence.log_evidence:.4f}{error}{''.join(f'; {n}' for n in evidence.notes)}")
    hint(f"percuss predict {id} says what follows from it")
