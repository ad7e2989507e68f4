"""The table of events as data: columns of what stands for itself, in parts that a page loads one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from percuss.ledger.event import Event
from percuss.ledger.projections import State, mark
from percuss.site.graph import Graph
from percuss.site.scripts import call

# Rows of one part: the first is on the screen before the others are fetched.
PART = 2000


def rows_of(state: State, graph: Graph, summary: Callable[[Event], str]) -> list[dict[str, Any]]:
    """A row for each event that stands for itself, newest first."""
    rows = []
    for id in reversed(graph.parents):
        event = state.events[id]
        rows.append(
            {
                "id": id,
                "kind": event.kind,
                "study": event.study.name if event.study else "",
                "at": event.at_us // 1_000_000,
                "words": summary(event),
                "mark": mark(state, id),
                "notes": sum(state.events[word].kind == "note.added" for word in graph.words.get(id, ())),
                "behind": len(graph.behind.get(id, ())),
                "bad": event.outcome != "ok" or "NOT TRUSTED" in summary(event),
            }
        )
    return rows


def table_parts(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Files of the table by their names; at least one, the newest events in the first."""
    columns = list(rows[0]) if rows else []
    parts = [rows[i : i + PART] for i in range(0, len(rows), PART)] or [[]]
    files = {}
    for number, part in enumerate(parts):
        data = {
            "part": number,
            "parts": len(parts),
            "total": len(rows),
            "columns": {name: [row[name] for row in part] for name in columns},
        }
        files[f"data/events-{number}.js"] = call("rows", data)
    return files


def behind_files(state: State, graph: Graph, summary: Callable[[Event], str]) -> dict[str, str]:
    """The folded events of each campaign, loaded when somebody asks for them."""
    files = {}
    for home, ids in graph.behind.items():
        events = [state.events[id] for id in ids]
        data = {
            "home": home,
            "columns": {
                "id": [event.id for event in events],
                "kind": [event.kind for event in events],
                "at": [event.at_us // 1_000_000 for event in events],
                "words": [summary(event) for event in events],
                "hash": [event.hash for event in events],
            },
        }
        files[f"data/behind-{home}.js"] = call("behind", data)
    return files
