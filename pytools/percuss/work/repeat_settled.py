"""Settle a scene again, at a point that its runs have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from percuss.designs.design import read_design
from percuss.errors import InputError
from percuss.execution.batch import make_batch
from percuss.execution.rest import STATE_FILE, Settling
from percuss.inference.arrays import Floats
from percuss.kinds.scene_settled import SceneSettled
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import FILE_ROLE, Event
from percuss.ledger.projections import batch_of
from percuss.models.model import Settles, Value
from percuss.session import Session
from percuss.study.study import Study
from percuss.work.nearby import TIGHTER, beyond, left_open, points_nearby, tighter
from percuss.work.repetition import Repetition, elsewhere


def repeat_settled(session: Session, event: Event, part: int = 0) -> Repetition:
    """Settle again and compare state and facts, to the bit: nearly the same rest is not the same, and runs that start
    from it, which settle again when they are repeated, are held to a bound themselves. Made elsewhere, the facts may be
    what points nearby settle to, within what the tolerance of the contact solver leaves open.
    """
    body, study = SceneSettled.of(event), session.study(event)
    model = study.model()
    if not isinstance(model, Settles):
        return Repetition("differs", 1, f"state of rest: the study's model ({study.model_kind}) does not settle")
    if study.calls() and not session.allow_command:
        return Repetition("cannot", 0, "states of rest of external programs")
    point = next((point for point in _points(session, event) if model.settling_key(point) == body.key), None)
    if point is None:
        return Repetition("cannot", 0, "states of rest that no point of a design settles to")
    try:
        state, facts, _ = Settling(study, body.key, point).work()
    except InputError as fault:
        return _judged(session, event, f"does not come to rest any more ({fault})", None)
    blob = event.blob(FILE_ROLE + STATE_FILE)
    if blob is None or sha256_hex(state) != blob.sha256:
        build = elsewhere(session, event).build
        far = partial(_unexplained, event, study, point, facts, build=build)
        return _judged(session, event, "comes to rest otherwise", far)
    if {**event.data, **facts} != event.data:  # a model may tell more than the body has fields for
        # Of this very state: facts are read from it, which no rounding makes otherwise than in the last digits.
        return Repetition("differs", 1, f"state of rest: the facts were {event.data}, are {facts}")
    return Repetition("same", 1)


def _unexplained(
    event: Event, study: Study, point: Mapping[str, Value], facts: Mapping[str, float], *, build: bool
) -> str | None:
    """The first fact that points nearby do not settle to either; `build`: it was made by another one."""
    key, names = SceneSettled.of(event).key, sorted(facts)
    nearby = [Settling(study, key, at).work()[1] for at in points_nearby(point)]
    if any(sorted(other) != names for other in nearby):
        return None
    now, *others = (np.array([float(item[name]) for name in names]) for item in (facts, *nearby))
    data = event.data
    recorded = np.array([float(data[name]) if isinstance(data.get(name), int | float) else np.nan for name in names])
    at = beyond(recorded, now, others, besides=_left_open(study, point, now, names) if build else 0.0)
    return None if at is None else f"{names[at]} was {data.get(names[at])!r}, is {float(now[at])!r} and nearby as well"


def _left_open(study: Study, point: Mapping[str, Value], now: Floats, names: Sequence[str]) -> Floats | float:
    """How far facts may be from `now` by the tolerance of the contact solver.

    Speeds at rest are noise of its size, of which one tolerance may by chance have as much as the next.
    """
    room: Floats | float = 0.0
    for by in (TIGHTER, TIGHTER**2):
        if (finer := tighter(study.model(), point, by)) is None:
            return 0.0
        model, there = finer
        assert isinstance(model, Settles)
        facts = model.settled(there)[1]
        room = np.maximum(room, left_open(now, np.array([float(facts[name]) for name in names])))
    return room


def _judged(session: Session, event: Event, what: str, far: Callable[[], str | None] | None) -> Repetition:
    if makings := elsewhere(session, event):
        if far and (beyond_all := far()):
            words = f"{beyond_all}, which no rounding explains (made {makings.words})"
            return Repetition("differs", 1, f"state of rest: {what}: {words}")
        return Repetition("cannot", 0, f"states of rest made {makings.words}", by_claim=True)
    return Repetition("differs", 1, f"state of rest: {what}")


def _points(session: Session, event: Event) -> Iterator[Mapping[str, Value]]:
    """Points that may settle to it: of runs that start from it, then of all designs of its study."""
    state = session.state
    batches = [batch for listed in state.batches.values() for batch in listed]
    for batch in batches:
        if any(item.id == event.id for item in batch.inputs_as("settled")):
            runs = batch_of(batch)
            design = read_design(session, state.events[batch.input("design")])
            yield from make_batch(design, runs.case, runs.samples).points
    for id in state.designs:
        if state.events[id].input("study") == event.input("study"):
            design = read_design(session, state.events[id])
            for case in design.cases:
                yield from make_batch(design, case, range(len(design.values))).points
