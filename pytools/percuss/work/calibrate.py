"""Infer the parameters of a study from its observations: by surrogates, or by the simulator itself.

What was edited in the study since the runs were made is said first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from percuss.calibration.agreement import check_same_model
from percuss.calibration.blocks import check_block, find_block
from percuss.calibration.calibrate import Calibrated, Sampling, data_table, diagnostics_table, draws_table, learn
from percuss.calibration.calibrate import calibrate as infer
from percuss.calibration.groups import taken_by
from percuss.calibration.problem import Problem, bind_histories, make_problem
from percuss.calibration.records import Observations, load_observations
from percuss.errors import InputError
from percuss.execution.campaign import Interrupted, local_executor
from percuss.execution.campaign import Progress as RunProgress
from percuss.inference.samplers.registry import DIRECT_DEFAULT, ROUGH
from percuss.inference.samplers.sample import Progress, Report, Stopping
from percuss.ledger.event import Draft, Event, texts_of
from percuss.maker import Spent
from percuss.session import Advance, Session, reference
from percuss.study.calibration import Block
from percuss.study.differences import differences_text
from percuss.study.faults import StudyError
from percuss.study.load import is_study, load_study
from percuss.study.study import Study
from percuss.surrogates.surrogate import Surrogate, load_surrogate
from percuss.trust import Trust
from percuss.work.observe import keep_observations, own_data
from percuss.work.posterior_body import posterior_body


def edits(
    session: Session, taken: Study, surrogates: Sequence[Surrogate], observations: Observations | None, *, now: bool
) -> list[str]:
    """A sentence for each version of the study at hand that is not the one taken, with all that differs.

    `now`: the study is taken as it is now; else as it was for the observations, or for the surrogates.
    """
    as_taken = (
        "as it is now"
        if now
        else f"as it was for observations {observations.event.id}"
        if observations
        else "as it was then"
    )
    notes = []
    for surrogate in surrogates if now or observations else ():
        if differences := differences_text(surrogate.study, taken):
            whose = f"study {taken.name} was edited since surrogate {surrogate.event.id} was made"
            notes.append(f"{whose}: {differences}; it is taken {as_taken}")
    if not now and (surrogates or observations):
        made = (
            f"observations {observations.event.id} were" if observations else f"surrogate {surrogates[0].event.id} was"
        )
        notes += _edited_since(session, taken, made)
    return notes


def _edited_since(session: Session, taken: Study, made: str) -> list[str]:
    """What differs between a study of the ledger and the file of today: where the command that registered it found it,
    or among the studies that are known by name.
    """
    registered = session.state.studies.get(taken.digest)  # none if others wrote it in another form than we do
    places = [Path(text) for text in texts_of(registered)] if registered else []
    named = Path(session.setting("studies")) / taken.name
    path = next((path for path in (*places, named) if is_study(path, taken.name)), None)
    if path is None:
        return []
    then = "it is taken as it was then"
    try:
        differences = differences_text(taken, load_study(path))
    except StudyError as fault:
        return [f"study {taken.name} cannot be read as it is now ({fault}); {then}"]
    edited = f"study {taken.name} was edited since {made} made"
    return [f"{edited}: {differences}; {then}, --study {path} takes it as it is now"] if differences else []


@dataclass(frozen=True)
class Request:
    """What to calibrate with what.

    Surrogates, or `direct`: the study whose simulator is run. `study` is the one whose blocks, priors and observations
    are taken; without one it is that of the observations, or of the surrogates. Without `observations` the files that
    the study names are taken, without `block` the only one. `roughness`: that of the simulator's outputs counts as an
    error of them, whatever the block says.
    """

    surrogates: tuple[Event, ...] = ()
    direct: Study | None = None
    observations: Event | None = None
    study: Study | None = None
    block: str | None = None
    sampler: str | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    evaluations: int | None = None
    seed: int = 0
    roughness: bool = False


@dataclass(frozen=True, eq=False)
class Posterior:
    """What was inferred; `edits` are sentences on what of the study differs from what the surrogates were made with."""

    event: Event
    trust: Trust
    problem: Problem
    calibrated: Calibrated
    edits: tuple[str, ...]


def calibrate(session: Session, request: Request) -> Posterior:
    """Sample the posterior and append it, with estimates if it is converged.

    Raises `Interrupted` on Ctrl-C of a direct calibration, with the number of runs that were kept.
    """
    with local_workers(session.workers) as executor:
        prepared = prepare(session, request, executor)
        spent = Spent()
        problem, calibrated = _inferred(session, prepared.problem, prepared.how)
    notes = prepared.edits
    draft = _draft(session, problem, prepared.how, replace(calibrated, notes=(*notes, *calibrated.notes)), spent)
    event, trust = session.append_result(draft, calibrated.verdicts, used_outputs(problem))
    return Posterior(event, trust, problem, calibrated, notes)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A calibration about to be done: what of, how, and what differs from what the surrogates were made with."""

    problem: Problem
    how: Sampling
    edits: tuple[str, ...]


def prepare(session: Session, request: Request, executor: Executor) -> Prepared:
    """Put a calibration together; what does not belong together is refused before anything is appended."""
    surrogates = [load_surrogate(session, event) for event in request.surrogates]
    recorded = load_observations(session, request.observations) if request.observations else None
    study = _taken(request, surrogates, recorded)
    study = session.consented(study) if request.direct else study
    notes = tuple(edits(session, study, surrogates, recorded, now=request.study is not None))
    try:
        block = find_block(study, request.block)
        block = block.with_roughness() if request.roughness else block
        sampler = _sampler(request, block)
        observations = _observations(session, study, block, recorded, surrogates)
    except InputError as fault:
        raise InputError(str(fault), hint="; ".join(notes) or fault.hint) from None
    how = Sampling.of(
        block,
        sampler,
        request.settings,
        request.evaluations,
        request.seed,
        accept_unconverged="convergence" in session.accept,
    )
    problem = make_problem(
        session,
        study,
        session.register(study),
        block,
        observations,
        surrogates,
        seed=request.seed,
        executor=executor,
        direct=request.direct is not None,
    )
    return Prepared(problem, how, notes)


def _sampler(request: Request, block: Block) -> str | None:
    """The sampler that is asked for, or the block's, or what suits a simulator; one alone knows roughness."""
    if request.roughness and not request.direct:
        raise InputError("--roughness: needs --direct: a surrogate counts roughness as its own error already")
    if not request.direct:
        return request.sampler or block.sampler
    if not block.roughness:
        return request.sampler or block.sampler or DIRECT_DEFAULT
    if request.sampler not in (None, ROUGH):
        raise InputError(f"--sampler {request.sampler}: with roughness there is {ROUGH} alone")
    return ROUGH


def used_outputs(problem: Problem) -> list[str]:
    """The outputs that a calibration is made on, as verdicts name them."""
    return [f"{case}/{output}" for case, output in problem.data.select("case", "output").unique().rows()]


def _taken(request: Request, surrogates: Sequence[Surrogate], recorded: Observations | None) -> Study:
    """The study whose blocks and priors count: as it is asked for, as it was for the observations, or for the rest."""
    if study := request.study or (recorded.study if recorded else request.direct):
        return study
    if not surrogates:
        raise InputError("calibrate: needs a surrogate, or a study to run directly")
    return surrogates[0].study


@contextmanager
def local_workers(workers: int) -> Iterator[Executor]:
    """Workers that are not waited for: on Ctrl-C one may be stuck in a run."""
    executor = local_executor(workers)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _observations(
    session: Session, study: Study, block: Block, recorded: Observations | None, surrogates: Sequence[Surrogate]
) -> Observations:
    """The observations, imported if the study names their files; refused before anything is appended."""
    if recorded:
        pairs = recorded.table.select("case", "output").unique(maintain_order=True).rows()
        check_same_model(study, recorded.study, f"observations {recorded.event.id}", pairs)
        check_block(study, block, recorded.table, recorded.body.file)
        if surrogates:
            bind_histories(study, recorded.study, surrogates).check(taken_by(block, recorded.table))
        return recorded
    measured = own_data(study)
    if measured is None:
        raise InputError(
            f"study {study.name}: as it is taken, names no file of observations",
            hint="put `file` into [observations], or give --observations what percuss observe made",
        )
    check_block(study, block, measured.table, measured.where)
    if surrogates:
        bind_histories(study, study, surrogates).check(taken_by(block, measured.table))
    return keep_observations(session, measured)


# Short: with its numbers it has to fit a line of 80 columns.
PROGRESS = "evaluations"


def _inferred(session: Session, problem: Problem, how: Sampling) -> tuple[Problem, Calibrated]:
    """Learn what has to be learnt and sample, telling how far it has come."""
    try:
        # No total: the evaluations allowed are a ceiling, which good posteriors come nowhere near.
        with session.voice.progress(PROGRESS, None) as advance:
            report = _reporter(advance, how.stopping)
            learnt = learn(problem, how, report)
            return learnt, infer(learnt, how, report)
    except KeyboardInterrupt:
        if problem.direct is None:
            raise
        raise Interrupted(RunProgress(done=problem.direct.done), problem.direct.stuck) from None


def _reporter(advance: Advance, goal: Stopping) -> Report:
    """Tell what the draws have come to, and what they have to come to."""
    before = 0

    def report(at: Progress) -> None:
        nonlocal before
        known = at.r_hat == at.r_hat
        reached = f"R-hat {at.r_hat:.3f} (to {goal.r_hat:g}), ESS {at.ess:.0f} (to {goal.ess:g})"
        about = "" if at.expected is None else f"of about {at.expected}, "
        advance(at.evaluations - before, about + (reached if known else at.stage))
        before = at.evaluations

    return report


def _draft(session: Session, problem: Problem, how: Sampling, calibrated: Calibrated, spent: Spent) -> Draft:
    """The event of a calibration, before its verdicts."""
    tables = {
        "draws": draws_table(calibrated.sample),
        "diagnostics": diagnostics_table(calibrated.sample),
        "data": data_table(problem, calibrated),
    }
    inputs: list[tuple[str, Event | Draft]] = [
        ("study", problem.study_event),
        ("observations", problem.observations.event),
    ]
    inputs += [("surrogate", surrogate.event) for surrogate in problem.surrogates]
    inputs += [("runs", event) for event in problem.direct.runs] if problem.direct else []
    refused = calibrated.summary is None
    return Draft(
        "posterior.sampled",
        posterior_body(problem, calibrated),
        reference(problem.study),
        inputs,
        [session.ledger.put_table(role, table) for role, table in tables.items()],
        seed=how.seed,
        outcome="failed" if refused else "ok",
        reason=f"not converged: {calibrated.sample.reasons[0]}" if refused else None,
        cost=spent.cost(),
    )
