"""A run of the ledger, drawn: made again from its event, to the same bits, with bodies and contacts kept this time.

The ledger keeps the outputs of runs, not their films: a run can be repeated, and whether the repetition is the run is
told by its outputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from percuss.errors import InputError
from percuss.execution.records import load_design
from percuss.execution.rest import StatesOfRest
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.models.model import Value

if TYPE_CHECKING:
    from percuss.scene.film import Film

# Frames of a film unless an interval is given: ten seconds of play at a fluent rate.
FRAMES = 240


@dataclass(frozen=True)
class DrawnRun:
    """A film, whose run it is, and by how much its outputs differ from those recorded (relative; 0: to the bit)."""

    film: Film
    study: str
    case: str
    sample: int
    point: dict[str, Value]
    difference: float


def draw_run(ledger: Ledger, state: State, event: Event, sample: int | None, interval_s: float | None) -> DrawnRun:
    """Repeat a run and film it, a frame every so often."""
    import polars as pl

    from percuss.models.scene import SceneModel
    from percuss.scene.film import film_of
    from percuss.scene.world import Record

    if event.kind != "runs.completed":
        raise InputError(
            f"event {event.id} is of the kind {event.kind}: only runs that finished can be drawn",
            hint="percuss log --kind runs.completed lists them",
        )
    samples = event.data["samples"]
    if sample is None:
        sample = samples[0]
    if sample not in samples:
        raise InputError(f"sample {sample} is not in event {event.id}: it has {samples[0]} to {samples[-1]}")
    record = load_design(ledger, state, event)
    model = record.study.model()
    if not isinstance(model, SceneModel):
        raise InputError(f"study {record.study.name} is of the kind {model.kind}: only scenes can be drawn")
    case = event.data["case"]
    settled = (state.events[item.id] for item in event.inputs_as("settled"))
    batch = StatesOfRest(ledger, {found.data["key"]: found for found in settled}).starting(record.batch(case, [sample]))
    experiment = model.experiment(batch.points[0])
    steps = max(round(experiment.duration_s / experiment.settings.dt_s), 1)
    wanted = interval_s / experiment.settings.dt_s if interval_s else steps / FRAMES
    every = min(max(round(wanted), 1), steps)
    world, result = experiment.run_in(batch.starts[0], Record(bodies_every=every, contacts_every=every))
    done = model.outcome(experiment, result)
    outputs = record.study.evaluate(done.values, done.curves)
    row = ledger.table(event, "runs").filter(pl.col("sample") == sample).row(0, named=True)
    difference = max((_difference(row[name], value) for name, value in outputs.items()), default=0.0)
    return DrawnRun(film_of(world, result), record.study.name, case, sample, dict(batch.points[0]), difference)


def _difference(a: float, b: float) -> float:
    if a == b:
        return 0.0
    size = max(abs(a), abs(b))
    return abs(a - b) / size if math.isfinite(size) else math.inf
