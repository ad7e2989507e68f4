"""`percuss lineage`: what an event comes from, or what came from it."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from percuss.session import Session
    from percuss.work.lineage import Lineage

app = typer.Typer(add_completion=False)

# Before a line with others after it, before the last, past one with others after it; without UTF-8 in ASCII.
GLYPHS = ("├─ ", "└─ ", "│  ")
PLAIN_GLYPHS = ("|- ", "`- ", "|  ")
# Of more events in one role the first are shown.
MOST_EQUALS = 5


class Form(StrEnum):
    """How the graph is written."""

    TREE = "tree"
    JSON = "json"
    DOT = "dot"


@app.command(epilog="Example: percuss lineage @last --format dot | dot -Tsvg > lineage.svg")
def lineage(
    event: EventArgument,
    form: Annotated[Form, typer.Option("--format", help="Text tree, JSON or Graphviz.")] = Form.TREE,
    onwards: Annotated[
        bool, typer.Option("--from", help="Show what was made from it, instead of what it was made from.")
    ] = False,
    unfold: Annotated[bool, typer.Option("--unfold", help="Print a line for every batch of runs.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Show what an event was made from, down to the study, or with --from what was made from it.

    Batches of runs are one line; JSON lists them all. On a terminal ids are shortened to the shortest unique prefix.
    """
    from percuss.cli.output import give_json, text_width
    from percuss.work.lineage import folded, lineage_of
    from percuss.work.log import shortest_prefixes

    event_id = reference(event)
    session = open_session(ledger)
    whole = lineage_of(session.state, session.event(event_id), onwards)
    if json or form is Form.JSON:
        give_json(_facts(session, whole))
        return
    shown = whole if unfold else folded(whole)
    if form is Form.DOT:
        print(_dot(shown))
        return
    short = shortest_prefixes(list(session.state.events), list(shown.events)) if text_width() else {}
    for line in _tree(shown, onwards, short, all_of_them=unfold):
        print(line)


def _facts(session: Session, graph: Lineage) -> dict[str, object]:
    state = session.state
    return {
        "root": graph.root.id,
        "events": [
            {
                "id": event.id,
                "kind": event.kind,
                "hash": event.hash,
                "seed": event.seed,
                "superseded": event.id in state.superseded,
                "stands_on_superseded": list(state.stands_on(event.id)),
            }
            for event in graph.events.values()
        ],
        "edges": [{"from": source, "to": target, "role": role} for source, target, role in graph.edges],
    }


def _tree(graph: Lineage, onwards: bool, short: Mapping[str, str], all_of_them: bool) -> Iterator[str]:
    """Lines of the tree; an event that is reached again is named but not opened again; long lists of equals are cut."""
    from percuss.cli.output import plain, styled

    fork, corner, bar = GLYPHS if (sys.stdout.encoding or "utf-8").lower().startswith("utf") else PLAIN_GLYPHS
    children = _children(graph, onwards)
    opened: set[str] = set()
    # What stands before a line, what before the lines under it, its role, and whose line it is.
    waiting: list[tuple[str, str, str, str | int]] = [("", "", "", graph.root.id)]
    while waiting:
        start, under, role, node = waiting.pop()
        start += plain(f"{role}: ") if role else ""
        if isinstance(node, int):
            yield f"{start}and {node} more"
            continue
        again = node in opened and children.get(node)
        mark = f" ({graph.marks[node]})" if graph.marks[node] else ""
        line = plain(f"{_name(graph, node, short)}{mark}{' (above)' if again else ''}")
        yield start + (styled(line, "2", sys.stdout) if mark or again else line)
        if node in opened:
            continue
        opened.add(node)
        below: list[tuple[str, str | int]] = []
        for role in dict.fromkeys(role for role, _ in children.get(node, [])):
            equals = [child for other, child in children[node] if other == role]
            # Of a long list those that are marked are shown with the first.
            shown = [child for i, child in enumerate(equals) if i < MOST_EQUALS or all_of_them or graph.marks[child]]
            below += [(role, child) for child in shown]
            below += [(role, len(equals) - len(shown))] if len(equals) > len(shown) else []
        for place, (role, child) in reversed(list(enumerate(below))):
            last = place == len(below) - 1
            waiting.append((under + (corner if last else fork), under + ("   " if last else bar), role, child))


def _children(graph: Lineage, onwards: bool) -> dict[str, list[tuple[str, str]]]:
    """What stands under each event of the tree, with its role."""
    children: dict[str, list[tuple[str, str]]] = {}
    for source, target, role in graph.edges:
        parent, child = (source, target) if onwards else (target, source)
        children.setdefault(parent, []).append((role, child))
    return children


def _name(graph: Lineage, id: str, short: Mapping[str, str]) -> str:
    kind = graph.events[id].kind
    return f"{kind}, {graph.batches[id]}" if id in graph.batches else f"{kind} {short.get(id, id)}"


def _dot(graph: Lineage) -> str:
    lines = ["digraph lineage {", "  rankdir=LR; node [shape=box, fontname=monospace];"]
    for id, event in graph.events.items():
        mark = [graph.marks[id]] if graph.marks[id] else []
        style = ", style=dashed" if mark else ""
        label = _quoted(event.kind, graph.batches.get(id, id[:18]), *mark)
        lines.append(f"  {_quoted(id)} [label={label}{style}];")
    edges = graph.edges
    lines += [f"  {_quoted(source)} -> {_quoted(target)} [label={_quoted(role)}];" for source, target, role in edges]
    return "\n".join([*lines, "}"])


def _quoted(*lines: str) -> str:
    from percuss.cli.output import plain

    escaped = (plain(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
