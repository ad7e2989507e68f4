"""`percuss lineage`: what an event comes from, or what came from it."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference

if TYPE_CHECKING:
    from percuss.ledger.event import Event

app = typer.Typer(add_completion=False)

# Before a line with others after it, before the last, past one with others after it; without UTF-8 in ASCII.
GLYPHS = ("├─ ", "└─ ", "│  ")
PLAIN_GLYPHS = ("|- ", "`- ", "|  ")


class Form(StrEnum):
    """How the graph is written."""

    TREE = "tree"
    JSON = "json"
    DOT = "dot"


@app.command(epilog="Example: percuss lineage @last --format dot | dot -Tsvg > lineage.svg")
def lineage(
    event: EventArgument,
    form: Annotated[Form, typer.Option("--format", help="Text tree, JSON or Graphviz.")] = Form.TREE,
    onwards: Annotated[bool, typer.Option("--from", help="What came from it, instead of what it came from.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Show what an event comes from, down to the study, or with --from what came from it."""
    from percuss.cli.output import give_json
    from percuss.ledger import projections

    event_id = reference(event)
    session = open_session(ledger)
    root, state = session.event(event_id), session.state
    below = projections.descendants(state, root.id)
    nodes = [root, *below] if onwards else projections.lineage(state, root.id)
    known = {node.id for node in nodes}
    marked = {node.id: projections.mark(state, node.id) for node in nodes}
    edges = [(i.id, node.id, i.role) for node in nodes for i in node.inputs if i.id in known]
    if json or form is Form.JSON:
        give_json(
            {
                "root": root.id,
                "events": [
                    {
                        "id": n.id,
                        "kind": n.kind,
                        "hash": n.hash,
                        "seed": n.seed,
                        "superseded": n.id in state.superseded,
                        "stands_on_superseded": list(state.stands_on(n.id)),
                    }
                    for n in nodes
                ],
                "edges": [{"from": a, "to": b, "role": role} for a, b, role in edges],
            }
        )
    elif form is Form.DOT:
        print(_dot(nodes, edges, marked))
    else:
        children: dict[str, list[tuple[str, str]]] = {}
        for source, target, role in edges:
            parent, child = (source, target) if onwards else (target, source)
            children.setdefault(parent, []).append((role, child))
        _print_tree({node.id: node for node in nodes}, children, root.id, marked)


def _print_tree(
    nodes: dict[str, Event], children: dict[str, list[tuple[str, str]]], root: str, marked: dict[str, str]
) -> None:
    from percuss.cli.output import plain, styled

    # A node that is reached again is named but not opened again; long lists of equals are cut.
    opened: set[str] = set()
    fork, corner, bar = GLYPHS if (sys.stdout.encoding or "utf-8").lower().startswith("utf") else PLAIN_GLYPHS

    # What stands before a line, what before the lines under it, its role, and whose line it is.
    waiting: list[tuple[str, str, str, str | int]] = [("", "", "", root)]
    while waiting:
        start, under, role, node = waiting.pop()
        start += f"{role}: " if role else ""
        if isinstance(node, int):
            print(f"{start}and {node} more")
            continue
        again = node in opened and children.get(node)
        mark = f" ({marked[node]})" if marked[node] else ""
        line = plain(f"{nodes[node].kind} {node}{mark}{' (above)' if again else ''}")
        print(start + (styled(line, "2", sys.stdout) if mark or again else line))
        if node in opened:
            continue
        opened.add(node)
        below: list[tuple[str, str | int]] = []
        for role in dict.fromkeys(role for role, _ in children.get(node, [])):
            equals = [child for other, child in children[node] if other == role]
            # Of a long list those that are marked are shown with the first.
            shown = [child for i, child in enumerate(equals) if i < 5 or marked[child]]
            below += [(role, child) for child in shown]
            below += [(role, len(equals) - len(shown))] if len(equals) > len(shown) else []
        for place, (role, child) in reversed(list(enumerate(below))):
            last = place == len(below) - 1
            waiting.append((under + (corner if last else fork), under + ("   " if last else bar), role, child))


def _dot(nodes: list[Event], edges: list[tuple[str, str, str]], marked: dict[str, str]) -> str:
    lines = ["digraph lineage {", "  rankdir=LR; node [shape=box, fontname=monospace];"]
    for node in nodes:
        mark = [marked[node.id]] if marked[node.id] else []
        style = ", style=dashed" if mark else ""
        lines.append(f"  {_quoted(node.id)} [label={_quoted(node.kind, node.id[:18], *mark)}{style}];")
    lines += [f"  {_quoted(source)} -> {_quoted(target)} [label={_quoted(role)}];" for source, target, role in edges]
    return "\n".join([*lines, "}"])


def _quoted(*lines: str) -> str:
    from percuss.cli.output import plain

    escaped = (plain(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
