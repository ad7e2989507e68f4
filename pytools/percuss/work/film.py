"""A run, filmed: made again from its event, to the same bits, with its bodies and contacts kept this time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from percuss.designs.design import load_design
from percuss.errors import InputError
from percuss.execution.again import check_same, difference
from percuss.execution.batch import make_batch
from percuss.execution.rest import states_of
from percuss.export.player import Curve, Shown
from percuss.kinds.runs_completed import RunsCompleted
from percuss.ledger.event import Event
from percuss.models.model import Done, Failed, Filmed, Value
from percuss.session import Session
from percuss.study.study import Study

if TYPE_CHECKING:
    from numpy import ndarray

    from percuss.scene.film import Film

# Points of a curve beside a film, which has about as many pixels.
MOST_POINTS = 1600
MOST_CURVES = 40


@dataclass(frozen=True)
class FilmedRun:
    """A film, whose run it is, and the curves of the run."""

    film: Film
    study: Study
    case: str
    sample: int
    point: Mapping[str, Value]
    curves: Mapping[str, ndarray]

    @property
    def title(self) -> str:
        """Study, case and sample."""
        return f"{self.study.name}, {self.case}, sample {self.sample}"

    def shown(self) -> Shown:
        """The film with what is said beside it, in the units of the study."""
        from percuss.plots.labels import input_text

        facts = {name: str(input_text(self.study, name, value)) for name, value in self.point.items()}
        return Shown(self.film, self.title, facts, _curves(self))


def film_run(session: Session, event: Event, sample: int | None = None, interval_s: float | None = None) -> FilmedRun:
    """Repeat a run and film it, a frame every so often; AnswerIsNo if it is not the run that was recorded."""
    import polars as pl

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
    if not isinstance(model, Filmed):
        raise InputError(
            f"study {study.name} is of the kind {model.kind}: it has no bodies to draw",
            hint=f"percuss plot {event.id} draws its curves and outputs",
        )
    batch = states_of(session, event).starting(make_batch(design, runs.case, [sample]))
    start = batch.starts[0] if batch.starts else None
    film, outcome = model.film(batch.points[0], batch.drawn_from[0], start, interval_s)
    if isinstance(outcome, Failed):
        raise InputError(f"the run has no film: {outcome.reason}")
    recorded = session.table(event, "runs").filter(pl.col("sample") == sample).row(0, named=True)
    check_same(session, [(event, difference(recorded, study.evaluate(outcome.values, outcome.curves)))])
    return FilmedRun(film, study, runs.case, sample, dict(batch.points[0]), _over_clock(study, outcome))


def _over_clock(study: Study, outcome: Done) -> dict[str, ndarray]:
    """The curves of a run that have an axis, and their axes."""
    return {name: curve for name, curve in (outcome.curves or {}).items() if name in study.model().quantities}


def _curves(run: FilmedRun) -> list[Curve]:
    """Curves over the clock of the film, those first that the outputs are about."""
    from percuss.plots.labels import quantity_scale
    from percuss.plots.runs import default_curves

    quantities = run.study.model().quantities
    drawable = [name for name, q in quantities.items() if q.axis and name in run.curves and not q.diagnostic]
    names = dict.fromkeys([*(name for name in default_curves(run.study) if name in drawable), *drawable])
    curves = []
    for name in list(names)[:MOST_CURVES]:
        x, y = run.curves[str(quantities[name].axis)], run.curves[name]
        shown = quantity_scale(run.study, name)
        curves.append(Curve(shown.label, *thinned(x, shown.of(y))))
    return curves


def thinned(x: ndarray, y: ndarray, most: int = MOST_POINTS) -> tuple[ndarray, ndarray]:
    """At most so many points of a curve, with the lowest and highest of each stretch: peaks stay.

    >>> import numpy as np
    >>> x = np.arange(10.0)
    >>> [part.tolist() for part in thinned(x, np.array([0, 0, 9, 0, 0, 0, 0, -5, 0, 0.0]), 4)]
    [[0.0, 2.0, 5.0, 7.0], [0.0, 9.0, 0.0, -5.0]]
    """
    import numpy as np

    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    if len(x) <= most:
        return x, y
    edges = np.linspace(0, len(x), most // 2 + 1).astype(int)
    kept = []
    for a, b in pairwise(edges.tolist()):
        kept += sorted({a + int(y[a:b].argmin()), a + int(y[a:b].argmax())})
    return x[kept], y[kept]
