"""A run of a scene, filmed: made again from its event, to the same bits, with bodies and contacts kept this time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.designs.records import load_design
from percuss.errors import InputError
from percuss.execution.again import check_same, difference
from percuss.execution.batch import make_batch
from percuss.execution.rest import states_of
from percuss.kinds.runs_completed import RunsCompleted
from percuss.ledger.event import Event
from percuss.models.model import Value
from percuss.session import Session

if TYPE_CHECKING:
    from percuss.scene.film import Film

# Frames of a film unless an interval is given: ten seconds of play at a fluent rate.
FRAMES = 240


@dataclass(frozen=True)
class FilmedRun:
    """A film, and whose run it is."""

    film: Film
    study: str
    case: str
    sample: int
    point: dict[str, Value]


def film_run(session: Session, event: Event, sample: int | None = None, interval_s: float | None = None) -> FilmedRun:
    """Repeat a run and film it, a frame every so often; AnswerIsNo if it is not the run that was recorded."""
    import polars as pl

    from percuss.models.scene import SceneModel
    from percuss.scene.film import film_of
    from percuss.scene.world import Record

    if event.kind != "runs.completed":
        raise InputError(
            f"event {event.id} is of the kind {event.kind}: only runs that finished can be drawn",
            hint="percuss log --kind runs.completed lists them",
        )
    runs = RunsCompleted.of(event)
    if sample is None:
        sample = runs.samples[0]
    if sample not in runs.samples:
        raise InputError(f"sample {sample} is not in event {event.id}: it has {runs.samples[0]} to {runs.samples[-1]}")
    design = load_design(session, event)
    study, model = design.study, design.study.model()
    if not isinstance(model, SceneModel):
        raise InputError(f"study {study.name} is of the kind {model.kind}: only scenes can be drawn")
    batch = states_of(session, event).starting(make_batch(design, runs.case, [sample]))
    experiment = model.experiment(batch.points[0])
    steps = max(round(experiment.duration_s / experiment.settings.dt_s), 1)
    stride = interval_s / experiment.settings.dt_s if interval_s else steps / FRAMES
    every = min(max(round(stride), 1), steps)
    world, result = experiment.run_in(batch.starts[0], Record(bodies_every=every, contacts_every=every))
    outcome = model.outcome(experiment, result)
    recorded = session.table(event, "runs").filter(pl.col("sample") == sample).row(0, named=True)
    check_same(session, [(event, difference(recorded, study.evaluate(outcome.values, outcome.curves)))])
    return FilmedRun(film_of(world, result), study.name, runs.case, sample, dict(batch.points[0]))
