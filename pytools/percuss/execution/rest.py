"""States of rest: what a scene settles to before its runs start, as events of their own.

Settling is a pure function of the point, so that a run gives the same bits whether its state comes from the ledger or
is worked out on the spot. States are shared by all runs that agree in what settling depends on, and made again by
another build of the core, which may round differently.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, wait
from dataclasses import dataclass, field, replace

from percuss.designs.design import Design
from percuss.errors import InputError
from percuss.execution.batch import Batch, WorkerLost, make_batch
from percuss.kinds.scene_settled import SceneSettled
from percuss.ledger.event import Cost, Draft, Event
from percuss.ledger.ledger import Ledger
from percuss.models.model import Settles, Value
from percuss.session import Session
from percuss.study.study import Study

STATE_FILE = "state"


@dataclass(frozen=True)
class StatesOfRest:
    """The settled states that runs can start from, by key."""

    ledger: Ledger
    events: dict[str, Event | Draft] = field(default_factory=dict)

    def starting(self, batch: Batch) -> Batch:
        """The batch with the states its runs start from."""
        model = batch.study.model()
        if not isinstance(model, Settles):
            return batch
        keys = [model.settling_key(point) for point in batch.points]
        by_key: dict[str | None, Event | Draft] = {key: self.events[key] for key in keys if key in self.events}
        states = {key: self.ledger.files(event)[STATE_FILE] for key, event in by_key.items()}
        return replace(batch, starts=tuple(states.get(key) for key in keys), settled=tuple(by_key.values()))


@dataclass(frozen=True)
class Settling:
    """A state to be worked out, anywhere."""

    study: Study
    key: str
    point: Mapping[str, Value]

    def work(self) -> tuple[bytes, dict[str, float], Cost]:
        """The state, facts about it, what it cost."""
        wall, cpu = time.perf_counter(), time.thread_time()
        model = self.study.model()
        assert isinstance(model, Settles)
        state, facts = model.settled(self.point)
        spent = [round(1e6 * x) for x in (time.perf_counter() - wall, time.thread_time() - cpu)]
        return state, facts, Cost(spent[0], spent[1], 0)


def missing_states(
    session: Session, design: Design, todo: Sequence[tuple[str, Sequence[int]]]
) -> tuple[StatesOfRest, list[Settling]]:
    """The states that the ledger has for these runs, and those that are to be worked out."""
    model = design.study.model()
    rest = StatesOfRest(session.ledger)
    settlings: dict[str, Settling] = {}
    if isinstance(model, Settles):
        for case, samples in todo:
            for point in make_batch(design, case, samples).points:
                key = model.settling_key(point)
                if key is None or key in settlings or key in rest.events:
                    continue
                if event := session.state.settled.get((key, session.ledger.core)):
                    rest.events[key] = event
                else:
                    settlings[key] = Settling(design.study, key, point)
    return rest, list(settlings.values())


def draft_state(
    ledger: Ledger, design: Design, settling: Settling, worked_out: tuple[bytes, Mapping[str, float], Cost]
) -> Draft:
    """A state that was worked out, as a draft."""
    state, facts, cost = worked_out
    body = {"key": settling.key, **facts}
    blobs = [ledger.put_file(STATE_FILE, state)]
    return Draft("scene.settled", body, design.reference, [("study", design.study_source)], blobs, cost=cost)


def settle_first(
    session: Session,
    design: Design,
    todo: Sequence[tuple[str, Sequence[int]]],
    executor: Executor,
    *,
    flush_s: float,
    stream: str,
) -> StatesOfRest:
    """A state of rest for every run that needs one; what was missing is worked out and appended.

    A scene that does not come to rest has no state: its runs find that out again and fail with the reason. Where
    a worker was lost, the runs settle by themselves.
    """
    rest, settlings = missing_states(session, design, todo)
    running = {executor.submit(Settling.work, settling): settling for settling in settlings}
    try:
        while running:
            finished = wait(running, timeout=flush_s or None).done
            ready = {future: running.pop(future) for future in finished}
            drafts = {
                settling.key: draft_state(session.ledger, design, settling, future.result())
                for future, settling in ready.items()
                if not isinstance(future.exception(), InputError | WorkerLost)
            }
            if drafts:
                rest.events.update(zip(drafts, session.append(list(drafts.values()), stream), strict=True))
    except KeyboardInterrupt:
        for future in running:
            future.cancel()
        raise
    return rest


def settled_here(
    session: Session, design: Design, todo: Sequence[tuple[str, Sequence[int]]]
) -> tuple[StatesOfRest, list[Draft]]:
    """As `settle_first`, in this thread, with the events as drafts."""
    rest, settlings = missing_states(session, design, todo)
    drafts = []
    for settling in settlings:
        try:
            drafts.append(draft_state(session.ledger, design, settling, settling.work()))
        except InputError:
            continue
        rest.events[settling.key] = drafts[-1]
    return rest, drafts


def states_of(session: Session, event: Event) -> StatesOfRest:
    """The states that the runs of an event started from."""
    settled = (session.state.events[item.id] for item in event.inputs_as("settled"))
    return StatesOfRest(session.ledger, {SceneSettled.of(state).key: state for state in settled})
