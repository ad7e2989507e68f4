"""Lineage drawn: what an event comes from above it, what came from it below, each box a link to its page.

Layers by the longest path from what has no source; a line that passes a layer has a place in it; in each layer boxes
and lines by the mean place of their sources (Sugiyama, Tagawa and Toda, 1981).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import NamedTuple

from percuss.report.html import clean

WIDTH, HEIGHT = 172, 46
GAP_X, GAP_Y = 18, 34
# Room for a line that passes between boxes.
LINE = 10
MARGIN = 8
# What fits the screen of a phone.
NARROW = 380
# Boxes of one picture; what is beyond them is told by number.
MOST = 400
# Events of one kind with the same sources.
MOST_ALIKE = 12


@dataclass(frozen=True)
class Box:
    """One event in the picture: `first` and `second` line, where it leads, and how it is marked."""

    first: str
    second: str
    href: str
    classes: str = ""


class Passing(NamedTuple):
    """A line that passes a layer between its source and its target."""

    source: str
    target: str
    layer: int


def depths(ids: Sequence[str], parents: Mapping[str, Collection[str]]) -> dict[str, int]:
    """The layer of each event, from the top, none of them empty. `ids` are in ledger order, sources first."""
    depth: dict[str, int] = {}
    for id in ids:
        depth[id] = 1 + max((depth[parent] for parent in parents.get(id, ()) if parent in depth), default=-1)
    # A source that is used late stands just above what uses it first: shorter lines.
    first_use: dict[str, int] = {}
    for id in ids:
        for parent in parents.get(id, ()):
            if parent in depth:
                first_use[parent] = min(first_use.get(parent, depth[id]), depth[id])
    for id in ids:
        if not any(parent in depth for parent in parents.get(id, ())) and id in first_use:
            depth[id] = max(first_use[id] - 1, 0)
    used = {layer: i for i, layer in enumerate(sorted(set(depth.values())))}
    return {id: used[layer] for id, layer in depth.items()}


def draw(
    ids: Sequence[str],
    parents: Mapping[str, Collection[str]],
    box: Callable[[str], Box],
    label: str,
) -> str:
    """The graph of these events as an SVG; nothing where there is one event alone."""
    ids = ids[-MOST:]
    if len(ids) < 2:
        return ""
    parents = _direct(ids, parents)
    places, width, height = _places(ids, parents)
    lines = [_line(_way(parent, id, places)) for id in ids for parent in parents[id]]
    boxes = [_box(box(id), places[id][0] - WIDTH / 2, places[id][1]) for id in ids]
    opening = (
        f'<svg class="graph" role="group" aria-label="{escape(clean(label), quote=True)}" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
    )
    return f'{opening}<g class="edges">{"".join(lines)}</g>{"".join(boxes)}</svg>'


def _places(
    ids: Sequence[str], parents: Mapping[str, Collection[str]]
) -> tuple[dict[str | Passing, tuple[float, float]], float, float]:
    """Middle and upper end of every box and of every line that passes a layer; width and height of all."""
    depth = depths(ids, parents)
    rows: list[list[str | Passing]] = [[] for _ in range(1 + max(depth.values()))]
    above: dict[str | Passing, list[str | Passing]] = {}
    for id in ids:
        rows[depth[id]].append(id)
        for parent in parents[id]:
            before: str | Passing = parent
            for layer in range(depth[parent] + 1, depth[id]):
                passing = Passing(parent, id, layer)
                rows[layer].append(passing)
                above[passing] = [before]
                before = passing
            above.setdefault(id, []).append(before)
    widths = [sum(WIDTH if isinstance(item, str) else LINE for item in row) + (len(row) - 1) * GAP_X for row in rows]
    widest = max(widths)
    places: dict[str | Passing, tuple[float, float]] = {}
    for layer, row in enumerate(rows):
        # Sorting is stable: among equals the order of the ledger.
        row.sort(key=lambda item: sum(places[other][0] for other in above.get(item, ())) / len(above.get(item, (0,))))
        # Rows of a wide picture begin at its left, where a narrow screen shows it first.
        x = MARGIN + ((widest - widths[layer]) / 2 if widest < NARROW else 0)
        for item in row:
            own = WIDTH if isinstance(item, str) else LINE
            places[item] = (x + own / 2, MARGIN + layer * (HEIGHT + GAP_Y))
            x += own + GAP_X
    return places, widest + 2 * MARGIN, len(rows) * (HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN


def _way(source: str, target: str, places: Mapping[str | Passing, tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of a line: down from its source, straight through every layer it passes, to the top of its target."""
    x, y = places[source]
    points = [(x, y + HEIGHT)]
    layer = round((y - MARGIN) / (HEIGHT + GAP_Y)) + 1
    while (passing := Passing(source, target, layer)) in places:
        x, y = places[passing]
        points += [(x, y), (x, y + HEIGHT)]
        layer += 1
    return [*points, places[target]]


def _line(points: Sequence[tuple[float, float]]) -> str:
    """Between layers a curve, within one a straight line."""
    parts = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for (a, b), (x, y) in pairwise(points):
        middle = (b + y) / 2
        parts.append(f"V{y:g}" if a == x else f"C{a:g} {middle:g} {x:g} {middle:g} {x:g} {y:g}")
    return f'<path d="{"".join(parts)}"/>'


def without_crowds(ids: Sequence[str], parents: Mapping[str, Collection[str]], kind: Callable[[str], str]) -> list[str]:
    """The events without the older of many of a kind with the same sources, nor what is made from those alone."""
    direct = _direct(ids, parents)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for id in ids:
        alike.setdefault((kind(id), tuple(direct[id])), []).append(id)
    left_out = {id for crowd in alike.values() for id in crowd[:-MOST_ALIKE]}
    for id in ids:
        if direct[id] and left_out.issuperset(direct[id]):
            left_out.add(id)
    return [id for id in ids if id not in left_out]


def _direct(ids: Sequence[str], parents: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """Sources that are not also sources of a source: what goes without saying is not drawn."""
    reach: dict[str, set[str]] = {}
    direct: dict[str, list[str]] = {}
    for id in ids:
        own = [parent for parent in parents.get(id, ()) if parent in reach]
        direct[id] = [parent for parent in own if not any(parent in reach[other] for other in own if other != parent)]
        reach[id] = set(own).union(*(reach[parent] for parent in own))
    return direct


def _box(box: Box, x: float, y: float) -> str:
    title = f"{box.first}: {box.second}"
    return (
        f'<a href="{escape(box.href, quote=True)}" class="box {box.classes}">'
        f"<title>{escape(clean(title))}</title>"
        f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
        f'<text x="{x + 10:g}" y="{y + 19:g}" class="kind">{escape(_cut(clean(box.first), 22))}</text>'
        f'<text x="{x + 10:g}" y="{y + 36:g}" class="words">{escape(_cut(clean(box.second), 24))}</text></a>'
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
