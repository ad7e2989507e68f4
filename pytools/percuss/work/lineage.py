"""The graph of an event: what it comes from, or what came from it, with batches of runs folded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from percuss.kinds.table import is_batch
from percuss.ledger import projections
from percuss.ledger.event import Event
from percuss.ledger.projections import State
from percuss.work.log import batches_text


@dataclass(frozen=True, eq=False)
class Lineage:
    """`edges` go from what was used to what was made of it, with the role; `marks` say how each event stands today.

    Of a folded lineage `batches` has, for an event that stands for several, what they are.
    """

    root: Event
    events: dict[str, Event]
    edges: list[tuple[str, str, str]]
    marks: dict[str, str]
    batches: dict[str, str]


def lineage_of(state: State, root: Event, onwards: bool) -> Lineage:
    """What an event comes from, or with `onwards` what came from it."""
    events = [root, *projections.descendants(state, root.id)] if onwards else projections.lineage(state, root.id)
    known = {event.id: event for event in events}
    edges = [(item.id, event.id, item.role) for event in events for item in event.inputs if item.id in known]
    return Lineage(root, known, edges, {id: projections.mark(state, id) for id in known}, {})


def folded(whole: Lineage) -> Lineage:
    """The same with one event for all batches of one design that went the same way; what is marked stays by itself."""
    used: dict[str, set[str]] = defaultdict(set)
    for source, target, _ in whole.edges:
        used[source].add(target)
    alike: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for id, event in whole.events.items():
        if is_batch(event.kind) and not whole.marks[id] and id != whole.root.id:
            designs = tuple(item.id for item in event.inputs_as("design"))
            alike[event.kind, designs, frozenset(used[id])].append(id)
    groups = [ids for ids in alike.values() if len(ids) > 1]
    standing = {id: ids[0] for ids in groups for id in ids}
    edges = dict.fromkeys((standing.get(a, a), standing.get(b, b), role) for a, b, role in whole.edges)
    return Lineage(
        whole.root,
        {id: event for id, event in whole.events.items() if standing.get(id, id) == id},
        list(edges),
        whole.marks,
        {ids[0]: batches_text([whole.events[id] for id in ids]) for ids in groups},
    )
