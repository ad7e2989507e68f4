"""Oscillators as storeys that sway: a slab for each mass, columns for springs, gaps between neighbours.

Sizes of slabs are made up, since a mass on a spring has none; displacements and gaps are to scale. Masses that springs
connect stand above each other, as many springs from the base as they are high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from percuss.models.model import Done
from percuss.models.oscillators.inputs import Element
from percuss.models.oscillators.quantities import of_contact
from percuss.scene.film import NOBODY, Connection, Contacts, Film, Surface

Array = NDArray[np.float64]

# Frames at most: impacts are short, and a frame is a few numbers.
MOST_FRAMES = 2000
BASE = -1
# Over the largest displacement or gap: width of a slab. Over its width: thickness of slabs, height of storeys, depth.
WIDTH, THICKNESS, STOREY, DEPTH = 8.0, 0.12, 0.45, 0.6
NOTE = "Slabs and columns are schematic; displacements, relative to the base, and gaps are to scale."


@dataclass(frozen=True)
class Structure:
    """What there is to draw of a system, with the gap of each contact (m)."""

    names: tuple[str, ...]
    springs: tuple[Element, ...]
    contacts: tuple[Element, ...]
    gaps_m: tuple[float, ...]


@dataclass(frozen=True)
class Layout:
    """Where each mass is at zero displacement: how high, and its slab from left to right (m)."""

    heights: Array
    lefts: Array
    rights: Array
    thickness: float
    depth: float

    @property
    def middles(self) -> Array:
        """Between left and right."""
        return 0.5 * (self.lefts + self.rights)


def oscillator_film(model: Structure, done: Done, interval_s: float | None) -> Film:
    """The film of a run that is done."""
    assert done.curves is not None
    times = np.asarray(done.curves["t"], float)
    shortest = times[1] - times[0] if len(times) > 1 else 1.0
    stride = max(round((interval_s or 0.0) / shortest), 1) if interval_s else -(-len(times) // MOST_FRAMES)
    chosen = np.arange(0, len(times), stride)
    moved = np.stack([done.curves[f"u{name}"] for name in model.names], axis=1)
    speeds = np.stack([done.curves[f"v{name}"] for name in model.names], axis=1)
    gaps = model.gaps_m
    width = WIDTH * max(float(np.abs(moved).max(initial=0.0)), *(abs(gap) for gap in gaps), 1e-6)
    layout = layout_of(len(model.names), model.springs, model.contacts, gaps, width)
    stops = [(c, gap) for c, gap in zip(model.contacts, gaps, strict=True) if BASE in c.nodes]
    names = ("base", *model.names, *(f"stop of {_label(model, c)}" for c, _ in stops))
    count = len(names)
    positions = np.zeros((len(chosen), count, 3))
    velocities = np.zeros_like(positions)
    masses = slice(1, 1 + len(model.names))
    positions[:, masses, 0] = layout.middles + moved[chosen]
    positions[:, masses, 2] = layout.heights
    velocities[:, masses, 0] = speeds[chosen]
    surfaces = [_ground(float(np.ptp(positions[:, :, 0])) + 2 * width)]
    for k in range(len(model.names)):
        surfaces.append(_slab(1 + k, layout.rights[k] - layout.lefts[k], layout))
    for number, (contact, gap) in enumerate(stops):
        body = 1 + len(model.names) + number
        positions[:, body, 0], positions[:, body, 2] = _stop_place(layout, contact, gap, width)
        surfaces.append(_slab(body, 0.15 * width, layout))
    rotations = np.zeros((len(chosen), count, 4))
    rotations[:, :, 0] = 1.0
    fixed = [True, *(False for _ in model.names), *(True for _ in stops)]
    return Film(
        names,
        tuple(fixed),
        tuple(surfaces),
        times[chosen],
        positions,
        rotations,
        velocities,
        _contacts(model, done, chosen, layout, moved),
        np.full(count, np.nan),
        tuple(_columns(model, layout)),
        notes=(NOTE,),
    )


def layout_of(
    count: int, springs: Sequence[Element], contacts: Sequence[Element], gaps: Sequence[float], width: float
) -> Layout:
    """Stack what springs connect, and put what can collide side by side, the first of a contact on the left."""
    level = _levels(count, springs)
    building = _buildings(count, springs)
    middle: dict[int, float] = {}
    # A building stands where its nearest neighbour on the left leaves it: by the smallest gap between the two.
    waiting = list(dict.fromkeys(building))
    links = [
        (building[a], building[b], gap)
        for contact, gap in zip(contacts, gaps, strict=True)
        for a, b in [contact.nodes]
        if BASE not in contact.nodes and building[a] != building[b]
    ]
    free = 0.0
    while waiting:
        reached = [
            (other, place)
            for a, b, _ in links
            for here, other, way in ((a, b, 1.0), (b, a, -1.0))
            if here in middle and other in waiting
            for place in [middle[here] + way * (width + min(g for x, y, g in links if {x, y} == {a, b}))]
        ]
        number, place = reached[0] if reached else (waiting[0], free)
        middle[number] = place
        waiting.remove(number)
        free = max(middle.values()) + 1.6 * width
    middles = np.array([middle[building[k]] for k in range(count)])
    lefts, rights = middles - 0.5 * width, middles + 0.5 * width
    for contact, gap in zip(contacts, gaps, strict=True):
        a, b = contact.nodes
        if BASE not in contact.nodes and building[a] != building[b]:
            lefts[b] = rights[a] + gap
    heights = np.array([level[k] for k in range(count)]) * STOREY * width
    return Layout(heights, lefts, rights, THICKNESS * width, DEPTH * width)


def _levels(count: int, springs: Sequence[Element]) -> list[int]:
    """Springs from the base to each mass, at least one."""
    level = {BASE: 0}
    pairs = [spring.nodes for spring in springs]
    while True:
        more = {b: level[a] + 1 for x, y in pairs for a, b in ((x, y), (y, x)) if a in level and b not in level}
        if not more:
            return [level.get(k, 1) for k in range(count)]
        level |= more


def _buildings(count: int, springs: Sequence[Element]) -> list[int]:
    """The smallest mass of those that springs connect, not through the base, for each."""
    own = list(range(count))
    for _ in range(count):
        for spring in springs:
            a, b = spring.nodes
            if BASE not in (a, b):
                own[a] = own[b] = min(own[a], own[b])
    return own


def _label(model: Structure, contact: Element) -> str:
    names = [model.names[node] for node in contact.nodes if node != BASE]
    return contact.name or "".join(names)


def _ground(reach: float) -> Surface:
    corners = reach * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    return Surface("half-space", 0, corners, [[0, 1, 2, 3]])


def _slab(body: int, width: float, layout: Layout) -> Surface:
    x, y, z = 0.5 * width, 0.5 * layout.depth, 0.5 * layout.thickness
    corners = np.array([[i * x, j * y, k * z] for k in (-1, 1) for j in (-1, 1) for i in (-1, 1)], float)
    loops = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    return Surface("slab", body, corners, loops)


def _stop_place(layout: Layout, contact: Element, gap: float, width: float) -> tuple[float, float]:
    """Middle and height of a stop that stands on the base: on the right of a mass that is first, else on its left."""
    mass = next(node for node in contact.nodes if node != BASE)
    right = contact.nodes[0] == mass
    half = 0.5 * 0.15 * width
    x = layout.rights[mass] + gap + half if right else layout.lefts[mass] - gap - half
    return float(x), float(layout.heights[mass])


def _columns(model: Structure, layout: Layout) -> list[Connection]:
    """Two columns for a spring between storeys; a spring on one level as a coil."""
    columns = []
    half, top = 0.5 * layout.thickness, 0.4
    for spring in model.springs:
        below, above = sorted(spring.nodes, key=lambda node: -1.0 if node == BASE else layout.heights[node])
        if below != BASE and layout.heights[below] == layout.heights[above]:
            left, right = sorted((below, above), key=lambda node: layout.lefts[node])
            ends = (
                (0.5 * float(layout.rights[left] - layout.lefts[left]), 0.0, 0.0),
                (-0.5 * float(layout.rights[right] - layout.lefts[right]), 0.0, 0.0),
            )
            columns.append(Connection(f"spring {spring.name}".strip(), "spring", (1 + left, 1 + right), ends))
            continue
        for side in (-1.0, 1.0):
            for front in (-1.0, 1.0):
                x = side * top * float(layout.rights[above] - layout.lefts[above])
                y = front * top * layout.depth
                foot = (x + float(layout.middles[above]), y, 0.0)
                if below != BASE:
                    foot = (x + float(layout.middles[above] - layout.middles[below]), y, half)
                lower = NOBODY if below == BASE else 1 + below
                ends = (foot, (x, y, -half))
                columns.append(Connection(f"spring {spring.name}".strip(), "column", (lower, 1 + above), ends))
    return columns


def _contacts(
    model: Structure, done: Done, chosen: NDArray[np.int64], layout: Layout, moved: Array
) -> tuple[Contacts, ...]:
    """The largest force of each contact since the frame before: an impact is shorter than a frame."""
    assert done.curves is not None
    ends = np.append(chosen[1:], len(done.curves["t"]))
    columns = []
    for number, contact in enumerate(model.contacts):
        force = np.asarray(done.curves[of_contact("force", contact)], float)
        gap = np.asarray(done.curves[of_contact("gap", contact)], float)
        first, second = contact.nodes
        mass = first if first != BASE else second
        edge = layout.rights[mass] if mass == first else layout.lefts[mass]
        place = edge + moved[chosen, mass]
        columns.append((number, contact, np.maximum.reduceat(force, chosen), gap[chosen], place, mass))
    frames = []
    for frame in range(len(ends)):
        rows = [(c, f[frame], g[frame], x[frame], m) for _, c, f, g, x, m in columns if f[frame] > 0]
        pairs = [[1 + n if n != BASE else NOBODY for n in c.nodes] for c, *_ in rows]
        frames.append(
            Contacts(
                np.array([[x, 0.0, layout.heights[m]] for _, _, _, x, m in rows]).reshape(-1, 3),
                np.array([[f, 0.0, 0.0] for _, f, *_ in rows]).reshape(-1, 3),
                np.array([g for _, _, g, *_ in rows], float),
                np.array(pairs, np.int64).reshape(-1, 2),
            )
        )
    return tuple(frames)
