"""Lineage drawn: what an event comes from above it, what came from it below, each box a link to its page.

Layers by the longest path from what has no source (Sugiyama et al., 1981), in each layer boxes by the mean place of
their sources.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from percuss.report.html import clean

WIDTH, HEIGHT = 172, 46
GAP_X, GAP_Y = 18, 34
MARGIN = 8
# Boxes of one picture; what is beyond them is told by number.
MOST = 400


@dataclass(frozen=True)
class Box:
    """One event in the picture: `first` and `second` line, where it leads, and how it is marked."""

    first: str
    second: str
    href: str
    classes: str = ""


def layered(ids: Sequence[str], parents: Mapping[str, Collection[str]]) -> dict[str, tuple[int, int]]:
    """Place of each event: layer from the top, and place within it. `ids` are in ledger order, sources first."""
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
    rows: dict[int, list[str]] = {}
    places: dict[str, tuple[int, int]] = {}
    for id in ids:
        rows.setdefault(depth[id], []).append(id)
    for layer in sorted(rows):
        row = rows[layer]

        def middle(id: str, row: list[str] = row) -> tuple[float, int]:
            above = [places[parent][1] for parent in parents.get(id, ()) if parent in places]
            return (sum(above) / len(above) if above else 0.0, row.index(id))

        for place, id in enumerate(sorted(row, key=middle)):
            places[id] = (layer, place)
    return places


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
    places = layered(ids, parents)
    counts: dict[int, int] = {}
    for layer, _ in places.values():
        counts[layer] = counts.get(layer, 0) + 1
    widest = max(counts.values())
    used = {layer: i for i, layer in enumerate(sorted(counts))}
    width = widest * (WIDTH + GAP_X) - GAP_X + 2 * MARGIN
    height = len(used) * (HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN

    def corner(id: str) -> tuple[float, float]:
        layer, place = places[id]
        left = (widest - counts[layer]) * (WIDTH + GAP_X) / 2
        return MARGIN + left + place * (WIDTH + GAP_X), MARGIN + used[layer] * (HEIGHT + GAP_Y)

    lines, boxes = [], []
    for id in ids:
        x, y = corner(id)
        for parent in parents.get(id, ()):
            if parent in places:
                a, b = corner(parent)
                start, end = (a + WIDTH / 2, b + HEIGHT), (x + WIDTH / 2, y)
                bend = max(GAP_Y, (end[1] - start[1]) / 2)
                lines.append(
                    f'<path d="M{start[0]:g} {start[1]:g}C{start[0]:g} {start[1] + bend:g} '
                    f'{end[0]:g} {end[1] - bend:g} {end[0]:g} {end[1]:g}"/>'
                )
        boxes.append(_box(box(id), x, y))
    opening = (
        f'<svg class="graph" role="group" aria-label="{escape(clean(label), quote=True)}" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
    )
    return f'{opening}<g class="edges">{"".join(lines)}</g>{"".join(boxes)}</svg>'


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
