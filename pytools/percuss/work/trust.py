"""Ask whether a calibration deserves trust before it sees data: twins, whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from percuss.calibration.blocks import block_of
from percuss.calibration.calibrate import Sampling
from percuss.calibration.direct import Direct
from percuss.calibration.problem import Problem, make_problem
from percuss.calibration.rank_check import FALSE_ALARMS, LEAST_TWINS, rank_facts, rank_verdicts
from percuss.calibration.records import load_observations
from percuss.calibration.twins import (
    DRAWS,
    LOG_LIKELIHOOD,
    QUICK_DRAWS,
    Ranked,
    Twins,
    draw_twins,
    quantities,
    quick,
    rank_twin,
    used_columns,
)
from percuss.errors import InputError
from percuss.inference.samplers.sample import Stopping
from percuss.kinds.twins_checked import Maker, TwinsChecked
from percuss.ledger.event import Draft, Event
from percuss.maker import Spent
from percuss.session import Advance, Session, reference
from percuss.study.study import Study
from percuss.surrogates.surrogate import load_surrogate
from percuss.trust import Trust
from percuss.work.calibrate import Request as Calibration
from percuss.work.calibrate import local_workers, prepare, used_outputs
from percuss.work.repeated import judged_tables
from percuss.work.repetition import Repetition

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Request:
    """Which calibration to try on how many twins, and what makes their outputs.

    `noise`: twins are made with errors so many times as large as the likelihood says. With another number than 1 the
    check ought to fail: that shows what so many twins can see. `quick`: shorter chains, fewer ranks.
    """

    calibration: Calibration
    twins: int = 100
    made_by: Maker = "surrogate"
    noise: float = 1.0
    quick: bool = False


@dataclass(frozen=True, eq=False)
class Tried:
    """The event, its verdicts, and the study in whose units truths are shown."""

    event: Event
    trust: Trust
    study: Study

    @property
    def body(self) -> TwinsChecked:
        """What was found."""
        return TwinsChecked.of(self.event)


def newest_surrogates(session: Session, study: Study) -> tuple[Event, ...]:
    """The newest surrogates of a study, of outputs and not of curves, that have no output in common."""
    taken: set[tuple[str, str]] = set()
    chosen = []
    for event in reversed(list(session.state.events.values())):
        if event.kind != "surrogate.fitted" or event.id in session.state.superseded:
            continue
        if event.study is None or event.study.digest != study.digest:
            continue
        surrogate = load_surrogate(session, event)
        if not surrogate.has_curves and taken.isdisjoint(surrogate.outputs):
            taken |= set(surrogate.outputs)
            chosen.append(event)
    if not chosen:
        raise InputError(
            f"study {study.name}: has no surrogate in this ledger, as it is now",
            hint="percuss surrogate makes one; of a study that was edited since, give the surrogate and --study",
        )
    return tuple(reversed(chosen))


def try_twins(session: Session, request: Request) -> Tried:
    """Calibrate on twins and append how their truths rank."""
    if request.twins < LEAST_TWINS:
        raise InputError(f"twins = {request.twins}: at least {LEAST_TWINS} are needed to see anything")
    if not 0 <= request.noise < np.inf:
        raise InputError(f"noise = {request.noise!r}: must be a number of at least 0")
    spent = Spent()
    with local_workers(session.workers) as executor:
        prepared = prepare(session, request.calibration, executor)
        problem = prepared.problem
        how, draws = (quick(prepared.how), QUICK_DRAWS) if request.quick else (prepared.how, DRAWS)
        simulator = None
        if request.made_by == "simulator":
            study = session.consented(problem.study)
            simulator = Direct(session, study, used_columns(problem), how.seed, executor)
        twins = draw_twins(problem, request.twins, how.seed, simulator, request.noise)
    with session.voice.progress("calibrating twins", request.twins) as advance:
        ranked = rank_all(problem, twins, how, draws, advance)
    names = quantities(problem, twins)
    table = ranks_table(names, twins, ranked)
    good = [item.ranks for item in ranked if item and item.ranks is not None]
    failed = sum(item is None for item in ranked)
    unconverged = len(ranked) - failed - len(good)
    enough = len(good) >= LEAST_TWINS
    facts = [rank_facts(name, np.array(good)[:, j], draws) for j, name in enumerate(names)] if enough else []
    body = TwinsChecked(
        block=problem.block.name,
        calibration=dict(problem.block.raw),
        twins=request.twins,
        made_by=request.made_by,
        noise=request.noise,
        draws=draws,
        sampler=how.sampler,
        settings=dict(how.settings),
        stopping=asdict(how.stopping),
        unconverged=unconverged,
        failed=failed,
        ranked=len(good),
        evaluations=sum(item.evaluations for item in ranked if item),
        false_alarms=FALSE_ALARMS,
        quantities=tuple(facts),
        trust=(),
        notes=(*prepared.edits, *_notes(request, names)),
    )
    inputs: list[tuple[str, Event | Draft]] = [
        ("study", problem.study_event),
        ("observations", problem.observations.event),
        *(("surrogate", surrogate.event) for surrogate in problem.surrogates),
        *(("runs", event) for event in (simulator.runs if simulator else ())),
    ]
    blobs = [session.ledger.put_table("ranks", table)]
    draft = Draft("twins.checked", body, reference(problem.study), inputs, blobs, seed=how.seed, cost=spent.cost())
    verdicts = rank_verdicts(facts, request.twins - failed, unconverged, failed)
    event, trust = session.append_result(draft, verdicts, used_outputs(problem))
    return Tried(event, trust, problem.study)


def rank_all(
    problem: Problem, twins: Twins, how: Sampling, draws: int, advance: Advance = lambda count, note: None
) -> list[Ranked | None]:
    """Rank every twin; None where it has no data, because its run failed."""
    ranked: list[Ranked | None] = []
    for number, complete in enumerate(twins.complete):
        ranked.append(rank_twin(problem, twins, number, how, draws) if complete else None)
        advance(1, "")
    return ranked


def ranks_table(names: Sequence[str], twins: Twins, ranked: Sequence[Ranked | None]) -> pl.DataFrame:
    """Every quantity of every twin; the truth of the log-likelihood is not told."""
    import polars as pl

    rows = [
        (
            number,
            name,
            None if name == LOG_LIKELIHOOD else float(twins.truths[number, j]),
            int(item.ranks[j]) if item is not None and item.ranks is not None else None,
        )
        for number, item in enumerate(ranked)
        for j, name in enumerate(names)
    ]
    schema = {"twin": pl.Int64(), "quantity": pl.String(), "truth": pl.Float64(), "rank": pl.Int64()}
    return pl.DataFrame(rows, schema, orient="row")


def _notes(request: Request, names: Sequence[str]) -> list[str]:
    notes = []
    if request.noise != 1:
        notes.append(f"twins were made with errors {request.noise:g} times as large as the likelihood says")
    if LOG_LIKELIHOOD not in names:
        notes.append("the log-likelihood is not ranked: errors of surrogates are among the unknowns")
    return notes


def repeat_twins(session: Session, event: Event, part: int = 0) -> Repetition:
    """Rank every truth again; of another build posteriors take another path, and ranks are not compared."""
    body, events, study = TwinsChecked.of(event), session.state.events, session.study(event)
    seed = event.seed or 0
    problem = make_problem(
        session,
        study,
        events[event.input("study")],
        block_of(study, body.block, body.calibration),
        load_observations(session, events[event.input("observations")]),
        [load_surrogate(session, events[item.id]) for item in event.inputs_as("surrogate")],
        seed=seed,
    )
    how = Sampling(body.sampler, body.settings, Stopping(**body.stopping), seed)  # type: ignore[arg-type]
    columns = used_columns(problem)
    simulator = Direct(session, study, columns, seed, None) if body.made_by == "simulator" else None
    twins = draw_twins(problem, body.twins, seed, simulator, body.noise)
    table = ranks_table(quantities(problem, twins), twins, rank_all(problem, twins, how, body.draws))
    return judged_tables(session, event, "twins", {"ranks": table})
