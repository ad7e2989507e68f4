"""`percuss calibrate`: parameters from observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from percuss.cli.options import (
    AcceptOption,
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    assignments,
    complete_events,
    complete_studies,
    open_session,
    reference,
    studies_folder,
    study_path,
)
from percuss.errors import InputError
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.calibration.calibrate import Calibrated
    from percuss.calibration.problem import Problem
    from percuss.inference.samplers.sample import Sample
    from percuss.inference.summary import Summary
    from percuss.kinds.posterior_sampled import RoughnessFacts
    from percuss.study.study import Study
    from percuss.work.calibrate import Posterior

app = typer.Typer(add_completion=False)


# What --json prints of the event's body.
GIVEN = (
    *("block", "sampler", "converged", "reasons", "evaluations", "trust", "fit", "summary", "evidence", "loo", "twin"),
    *("not_compiled", "roughness", "notes"),
)


@app.command(epilog="Example: percuss surrogate @last:campaign | percuss calibrate - --seed 1")
def calibrate(
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="SURROGATE...",
            help="Surrogates of the observed cases, or a study with --direct. - reads an id from stdin.",
            autocompletion=complete_events,
        ),
    ],
    observations: Annotated[
        str | None,
        typer.Option(
            help="Observations recorded by percuss observe.", show_default="the files the study names", metavar="EVENT"
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
    direct: Annotated[bool, typer.Option("--direct", help="Run the simulator itself, and log every run.")] = False,
    roughness: Annotated[
        bool,
        typer.Option(
            "--roughness",
            help="With --direct: count roughness of the outputs as an error of them.",
            show_default="as the block says",
        ),
    ] = False,
    sampler: Annotated[
        str | None,
        typer.Option(
            help="adaptive-metropolis, adaptive-metropolis-per-chain, hamiltonian-monte-carlo, "
            "independence-metropolis, emcee-stretch, emcee-de-snooker, delayed-acceptance or sequential-monte-carlo.",
            show_default="the block's, or adaptive-metropolis; with --direct delayed-acceptance, with --roughness "
            "smooth-part",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option(help="Setting of the sampler, such as chains=50.", metavar="NAME=NUMBER")
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(
            min=1, help="Maximum number of likelihood evaluations; with --direct of runs.", show_default="4000000"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")] = 0,
    accept: AcceptOption = None,
    accept_unconverged: Annotated[
        bool, typer.Option("--accept-unconverged", help="The same as --accept convergence.", hidden=True)
    ] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=0, help="Runs at a time, with --direct.")] = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Infer the parameters of a study from its observations, and record the posterior.

    Samples until R-hat and effective sample sizes meet their limits or the budget is spent. Without convergence the
    draws are recorded, no estimate is given, and the exit code is 1.
    """
    from percuss.cli.output import give_id, hint, leave_interrupted, leave_untrusted, say
    from percuss.execution.campaign import Interrupted
    from percuss.kinds.table import plain
    from percuss.study.load import load_study
    from percuss.work.calibrate import Request
    from percuss.work.calibrate import calibrate as infer
    from percuss.work.subject import study_of

    accepted = [*(accept or []), *(["convergence"] if accept_unconverged else [])]
    numbers = _numbers(assignments(setting, "--setting"))
    references = [reference(text) for text in events]
    direct_subject = _direct(references) if direct else None
    create = direct and not isinstance(direct_subject, str)
    session = open_session(ledger, create=create, accept=accepted, allow_command=allow_command, jobs=jobs)
    request = Request(
        surrogates=() if direct else tuple(session.event(text) for text in references),
        direct=study_of(session, session.event(direct_subject)) if isinstance(direct_subject, str) else direct_subject,
        observations=session.event(observations) if observations else None,
        study=load_study(study_path(study)) if study else None,
        block=block,
        sampler=sampler,
        settings=numbers,
        evaluations=evaluations,
        seed=seed,
        roughness=roughness,
    )
    try:
        sampled = infer(session, request)
    except Interrupted as stop:
        say(f"interrupted: {counted(stop.progress.done, 'run')} kept")
        if stop.progress.done:
            hint("give the same command again: what was run is not run again")
        leave_interrupted(stop.stuck)
    except KeyboardInterrupt:
        say("interrupted: nothing was appended")
        leave_interrupted(False)
    _tell(sampled)
    body = plain(sampled.event.content)
    give_id(sampled.event.id, {key: body[key] for key in GIVEN}, json)
    leave_untrusted(sampled.trust)


def _numbers(texts: dict[str, str]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for name, text in texts.items():
        try:
            numbers[name] = int(text) if text.lstrip("+-").isdigit() else float(text)
        except ValueError:
            raise InputError(f"--setting {name}={text}: must be a number") from None
    return numbers


def _direct(texts: list[str]) -> Study | str:
    """What is run directly: a study, or a reference to an event of one."""
    from percuss.study.load import load_study
    from percuss.work.subject import subject

    if len(texts) > 1:
        raise InputError("--direct: takes one study, or one event of it")
    named = subject(texts[0], studies_folder())
    return named if isinstance(named, str) else load_study(named)


def _tell(posterior: Posterior) -> None:
    """What came out, for a person: in the units of the study."""
    from percuss.cli.output import say, tell_trust
    from percuss.kinds.posterior_sampled import PosteriorSampled

    tell_trust(posterior.trust)
    for note in posterior.edits:
        say(note)
    problem, calibrated = posterior.problem, posterior.calibrated
    _tell_sampling(problem, calibrated.sample)
    if calibrated.summary is not None:
        _tell_estimates(problem, calibrated, calibrated.summary, posterior)
    if facts := PosteriorSampled.of(posterior.event).roughness:
        _tell_roughness(facts)
    if problem.direct:
        say(
            f"{counted(problem.direct.done, 'run')} of the simulator, "
            f"{counted(len(problem.direct.runs), 'batch', 'batches')} in all"
        )


def _tell_roughness(facts: RoughnessFacts) -> None:
    """The error that roughness is counted as, in the units of the outputs."""
    from percuss.cli.output import say, say_table
    from percuss.units import from_si

    rows = [
        (
            item.case,
            item.output,
            *(f"{from_si(std, item.unit):.3g}" for std in (item.roughness, item.unlearnt)),
            item.unit,
        )
        for item in facts.outputs
    ]
    say("roughness of the outputs counts as an error of them; standard deviations:")
    say_table(["case", "output", "roughness", "error of the smooth part", "unit"], rows)
    worst = max(facts.unknowns, key=lambda item: item.mean_error)
    say(
        f"the smooth part was learnt from {facts.fitted} of {counted(facts.runs, 'run')}; what is not known of it "
        f"makes means uncertain by up to {worst.mean_error:.2g} standard deviations of the posterior ({worst.name})"
    )


def _tell_sampling(problem: Problem, sample: Sample) -> None:
    """How it was sampled, and the modes."""
    from percuss.cli.output import hint, say
    from percuss.units import from_si

    kind = "twin " if problem.observations.twin else ""
    shares = f"{100 * sample.acceptance.min():.0f} to {100 * sample.acceptance.max():.0f} %"
    say(
        f"{problem.block.name}: {counted(problem.data.height, f'{kind}datum', f'{kind}data')} "
        f"in {counted(len(problem.likelihood.groups), 'group')}, "
        f"{sample.sampler}, {counted(sample.evaluations, 'evaluation')}, acceptance {shares}"
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


def _tell_estimates(problem: Problem, calibrated: Calibrated, summary: Summary, posterior: Posterior) -> None:
    """Estimates, what to think of them, and evidence."""
    from percuss.cli.output import hint, say, say_table
    from percuss.spelling import log_text, with_error
    from percuss.units import from_si

    twin = problem.observations.twin or {}
    rows = []
    for row in summary.rows:
        unit = problem.units[row.name]
        estimates = {
            "mean": (row.mean, row.mean_error),
            "std": (row.std, row.std_error),
            "median": (row.median, row.median_error),
            "mode": (row.mode, None),
            "low": (row.interval[0], row.interval_error[0]),
            "high": (row.interval[1], row.interval_error[1]),
        }
        shown: list[Any] = [
            with_error(from_si(x, unit), None if error is None else from_si(error, unit))
            for x, error in estimates.values()
        ]
        truth = [] if not twin else [from_si(twin[row.name], unit) if row.name in twin else None]
        rows.append((row.name, *shown, *truth, f"{row.contraction:.3f}", f"{row.r_hat:.4f}", round(row.ess_bulk), unit))
    mass = f"{100 * summary.mass:g} %"
    heads = ["parameter", "mean", "std", "median", "mode", f"low {mass}", f"high {mass}"]
    say_table([*heads, *(["truth"] if twin else []), "contraction", "rank R-hat", "bulk ESS", "unit"], rows)
    say("after ±: Monte Carlo standard errors")
    say(calibrated.sample.diagnostics.figures())
    for row in summary.rows:
        for note in row.notes:
            say(f"{row.name}: {note}")
    for note in (*summary.notes, *calibrated.notes):
        say(note)
    for verdict in posterior.trust:
        if verdict.gate == "fit" and verdict.passed:
            say(verdict.sentence)
    for name, evidence in calibrated.evidence.items():
        value = log_text(evidence.log_evidence, evidence.error)
        say(f"log evidence, {name}: {value}{''.join(f'; {n}' for n in evidence.notes)}")
    hint(f"percuss predict {posterior.event.id} says what follows from it")
