"""Where a report takes its facts from: the lineage of an event, and what was found out beside it.

`no_skill` names outputs that a surrogate knows nothing of, in every section that would draw conclusions from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from percuss.calibration import verification
from percuss.designs.design import Design, read_design
from percuss.kinds.design_created import DIRECT, DesignCreated
from percuss.kinds.trusted import Result
from percuss.ledger.event import Event
from percuss.ledger.projections import State, lineage
from percuss.report.blocks import Link, Notice
from percuss.session import Session, standing
from percuss.study.study import Study
from percuss.trust import Trust, failures

if TYPE_CHECKING:
    import polars as pl


# Results that nothing is made from, and that a report on what they speak of must not leave out.
BESIDE = ("indices.computed", "region.computed")
RUNS = ("runs.completed", "runs.failed")
# Samplers of designs by which the simulator was a calibration's forward model, or verified a prediction.
SERVING = (DIRECT, verification.SAMPLER)


@dataclass
class Source:
    """A session that reads superseded events as well; the events reported on; those of their lineage, in ledger order.

    `superseded` says which events are superseded by now, with the event that says so. `trust` is what the events
    reported on failed, and what they stand on that is superseded; `film` the page beside this one that plays a run.
    """

    session: Session
    superseded: Mapping[str, Event]
    trust: Trust
    roots: tuple[Event, ...]
    events: tuple[Event, ...]
    film: Link | None = None
    _designs: dict[str, Design] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """What the events add up to, as if nothing had been superseded."""
        return self.session.state

    def table(self, event: Event, role: str, columns: list[str] | None = None) -> pl.DataFrame:
        """A table of an event."""
        return self.session.table(event, role, columns)

    def of_kind(self, *kinds: str) -> list[Event]:
        """The events of these kinds."""
        return [event for event in self.events if event.kind in kinds]

    def designs(self) -> list[Event]:
        """Designs that are told of by themselves; those that served a calibration are told of with it."""
        return [e for e in self.of_kind("design.created") if DesignCreated.of(e).sampler not in SERVING]

    def study(self, event: Event) -> Study:
        """The study an event belongs to, or registers."""
        return self.session.study(event)

    def design(self, event: Event) -> Design:
        """A design with its points."""
        if event.id not in self._designs:
            self._designs[event.id] = read_design(self.session, event)
        return self._designs[event.id]

    def batches(self, design: Event) -> list[Event]:
        """The runs of a design that are in the lineage."""
        return [event for event in self.of_kind(*RUNS) if event.input("design") == design.id]


def gather(session: Session, roots: Iterable[Event]) -> Source:
    """Lineages of the events, the last of each result beside them, and nothing else of the ledger."""
    state = session.state
    chosen = tuple(roots)
    known = {event.id for root in chosen for event in lineage(state, root.id)}
    beside: dict[tuple[str, tuple[str, ...]], Event] = {}
    for event in state.events.values():
        inputs = tuple(item.id for item in event.inputs)
        if event.kind in BESIDE and event.id not in state.superseded and set(inputs) <= known:
            beside[event.kind, inputs] = event
    known |= {event.id for event in beside.values()}
    events = tuple(event for id, event in state.events.items() if id in known)
    trust = tuple(verdict for root in chosen for verdict in standing(state, root))
    return Source(session.for_telling(), state.superseded, trust, chosen, events)


def when(event: Event) -> str:
    """When an event was appended."""
    return datetime.fromtimestamp(event.at_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def duration(microseconds: int) -> str:
    """A span of time for people.

    >>> duration(1_500_000), duration(75_000_000), duration(900)
    ('1.5 s', '1 min 15 s', '0.9 ms')
    """
    seconds = microseconds / 1e6
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class Lacking(NamedTuple):
    """`case/output` of what has no skill, accepted or not, and the notice that says so."""

    names: frozenset[str]
    notices: tuple[Notice, ...]


def no_skill(event: Event) -> Lacking:
    """What an event says of the skill of the surrogate it is, or depends on."""
    trust = event.content.trust if isinstance(event.content, Result) else ()
    verdicts = [verdict for verdict in failures(trust) if verdict.gate == "skill"]
    names = frozenset(name for verdict in verdicts for name in verdict.about)
    sentences = [f"{verdict.sentence}{' (accepted all the same)' if verdict.accepted else ''}" for verdict in verdicts]
    return Lacking(
        names, (Notice("outputs that the surrogate knows too little of:", items=sentences),) if verdicts else ()
    )
