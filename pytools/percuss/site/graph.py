"""Which events belong together: batches of runs folded into their campaign, what came from what, and what was said."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from percuss.kinds.table import is_batch
from percuss.ledger.event import Event
from percuss.ledger.projections import WORD_KINDS, WORDS, State, is_direct


@dataclass(frozen=True, eq=False)
class Graph:
    """`fold` gives for a folded event the event it stands behind, `behind` those of each; `parents` and `children` are
    between events that stand for themselves; `words` are notes and supersessions about an event, oldest first; `order`
    is that of the ledger.
    """

    fold: dict[str, str]
    behind: dict[str, tuple[str, ...]]
    parents: dict[str, tuple[str, ...]]
    children: dict[str, tuple[str, ...]]
    words: dict[str, tuple[str, ...]]
    order: dict[str, int]

    def ancestors(self, id: str) -> list[str]:
        """The event and all it comes from, oldest first."""
        seen, todo = {id}, [id]
        while todo:
            for parent in self.parents.get(todo.pop(), ()):
                if parent not in seen:
                    seen.add(parent)
                    todo.append(parent)
        return sorted(seen, key=self.order.__getitem__)


def graph_of(state: State) -> Graph:
    """Fold the batches of every design into its campaign, else into the design; what a result has run for itself, one
    point after the other, into the result, with its designs.
    """
    fold: dict[str, str] = {}
    own_runs: set[str] = set()
    for event in state.events.values():
        if event.kind == "campaign.completed":
            fold |= {item.id: event.id for item in event.inputs_as("runs") if item.id in state.events}
        elif not is_batch(event.kind):
            for item in event.inputs_as("runs"):
                for design in _direct(state, item.id):
                    own_runs.add(item.id)
                    fold.setdefault(item.id, event.id)
                    fold.setdefault(design.id, event.id)
    for event in state.events.values():
        if is_batch(event.kind) and event.id not in fold:
            homes = [item.id for item in event.inputs_as("design") if item.id in state.events]
            if homes and len(state.batches.get(homes[0], ())) > 1:
                fold[event.id] = homes[0]
            elif event.kind == "scene.settled" and (homes or event.inputs):
                fold[event.id] = homes[0] if homes else event.inputs[0].id
    fold = {id: home for id, home in fold.items() if home in state.events and home != id}
    parents: dict[str, tuple[str, ...]] = {}
    children: dict[str, list[str]] = defaultdict(list)
    words: dict[str, list[str]] = defaultdict(list)
    behind: dict[str, list[str]] = defaultdict(list)
    for event in state.events.values():
        if event.id in fold:
            behind[fold[event.id]].append(event.id)
            continue
        own = _sources(event, fold, state, own_runs)
        parents[event.id] = own
        for parent in own:
            if event.kind in WORD_KINDS:
                words[parent].append(event.id)
            else:
                children[parent].append(event.id)
    return Graph(
        fold,
        {id: tuple(items) for id, items in behind.items()},
        parents,
        {id: tuple(items) for id, items in children.items()},
        {id: tuple(items) for id, items in words.items()},
        {id: i for i, id in enumerate(state.events)},
    )


def _direct(state: State, id: str) -> list[Event]:
    """The design of a batch, if a result chose its points as it went."""
    if id not in state.events:
        return []
    designs = [state.events[item.id] for item in state.events[id].inputs_as("design") if item.id in state.events]
    return [design for design in designs if is_direct(design)]


def _sources(event: Event, fold: dict[str, str], state: State, own_runs: set[str]) -> tuple[str, ...]:
    """What an event was made from, or speaks of, folded; each once, itself not. A run that another result had asked for
    before does not make that result a source.
    """
    speaks = event.kind in WORD_KINDS
    roles = [item for item in event.inputs if item.id in state.events and (speaks or item.role not in WORDS)]
    roles = [item for item in roles if not (item.role == "runs" and item.id in own_runs)]
    sources = dict.fromkeys(_home(item.id, fold) for item in roles)
    return tuple(id for id in sources if id != event.id)


def _home(id: str, fold: dict[str, str]) -> str:
    """The event that stands for this one: a fold may itself be folded."""
    seen = set()
    while id in fold and id not in seen:
        seen.add(id)
        id = fold[id]
    return id
