"""A picture of what is simulated: bodies of a scene where they start; masses, springs, contacts of oscillators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.errors import PercussError
from percuss.models.oscillators.system import Oscillators
from percuss.models.scene import SceneModel
from percuss.plots.drawing import BLUE, GREY, INK, ORANGE, PAPER, WIDE, canvas, picture
from percuss.plots.figure import Figure
from percuss.scene.rotation import turn
from percuss.study.study import Study

# Polygons of all bodies together; with more each body is its outline alone.
MOST_FACES = 1500
# Direction of sight: from the front, a bit from the right and above (rows: right, up, towards the viewer).
RIGHT = np.array([np.cos(0.5), np.sin(0.5), 0.0])
SIGHT = np.array([np.sin(0.5) * np.cos(0.4), -np.cos(0.5) * np.cos(0.4), np.sin(0.4)])
UP = np.cross(SIGHT, RIGHT)
Array = NDArray[np.float64]


def system_picture(study: Study) -> Figure | None:
    """The first case of a study with parameters at their prior means; None for models without a shape."""
    model = study.model()
    if isinstance(model, Oscillators):
        return _oscillators(model)
    if isinstance(model, SceneModel) and not study.calls():
        try:
            return _scene(study, model)
        except PercussError:
            return None  # means of priors need not make a scene
    return None


def _scene(study: Study, model: SceneModel) -> Figure | None:
    case = next(iter(study.cases))
    means = {name: float(parameter.prior.mean()) for name, parameter in study.parameters.items()}
    experiment = model.experiment(study.point(case, means))
    bodies = experiment.scene.bodies
    world = experiment.scene.world(experiment.settings)
    here = np.array([body.position_m for body in bodies], float).reshape(-1, 3)
    free = [i for i, body in enumerate(bodies) if body.dynamic]
    near = here[free] if free else here
    reach = float(np.ptp(near, axis=0).max()) if len(near) else 1.0
    faces: list[tuple[float, Array, bool]] = []
    outlines = world.core.outlines(1.5 * (reach or 1.0))
    whole = sum(len(loops) for _, _, loops in outlines) <= MOST_FACES
    extents = []
    for index, corners, loops in outlines:
        body = bodies[index]
        axes_of_body = np.array([turn(body.rotation_rad, axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))], float)
        placed = corners @ axes_of_body + here[index]
        flat = np.stack([placed @ RIGHT, placed @ UP], axis=1)
        if body.dynamic:
            extents.append(flat)
        if whole:
            faces += [
                (float((placed[loop] @ SIGHT).mean()), flat[loop], body.dynamic)
                for loop in loops
                if _faces_us(placed[loop])
            ]
        else:
            faces.append((float((placed @ SIGHT).mean()), _hull(flat), body.dynamic))
    if not faces:
        return None
    seen = np.concatenate(extents or [face for _, face, _ in faces])
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = 0.25 * float((high - low).max()) + 1e-9
    width, height = (high - low) + 2 * room
    figure, axes = canvas(1, 1, WIDE * 0.7, float(np.clip(WIDE * 0.7 * height / width, 2.2, 5.0)))
    axis = axes[0, 0]
    for _, face, dynamic in sorted(faces, key=lambda item: (item[2], item[0])):
        axis.fill(face[:, 0], face[:, 1], facecolor=PAPER, edgecolor="none")  # what is behind is hidden
        axis.fill(
            face[:, 0], face[:, 1], facecolor=BLUE if dynamic else GREY, alpha=0.45 if dynamic else 0.18,
            edgecolor=INK, linewidth=0.5,
        )  # fmt: skip
    axis.set_xlim(low[0] - room, high[0] + room)
    axis.set_ylim(low[1] - room, high[1] + room)
    axis.set_aspect("equal")
    axis.set_axis_off()
    _scale_bar(axis, low[0] - room, low[1] - 0.8 * room, width)
    words = f"{len(free)} bodies that move, {len(bodies) - len(free)} that are held or driven"
    at = "parameters at their prior means" if study.parameters else "as it is written"
    return picture(
        figure,
        f"The scene at its start, case {case}: {words}",
        f"Case {case} at its start, {at}: {words} (grey). `percuss view` plays a run of it.",
    )


def _faces_us(corners: Array) -> bool:
    """Whether a loop, anticlockwise seen from outside, is seen from where we are."""
    if len(corners) < 3:
        return False
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return bool(normal @ SIGHT > 0)


def _hull(points: Array) -> Array:
    """Outline of points in the plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points


def _scale_bar(axis: Any, x: float, y: float, width: float) -> None:
    """A length to read others by."""
    length = 10.0 ** np.floor(np.log10(width / 4))
    length *= max(m for m in (1, 2, 5) if m * length <= width / 3) if length <= width / 3 else 1
    axis.plot([x, x + length], [y, y], color=INK, linewidth=2)
    axis.text(x + length / 2, y, f"{length:g} m", ha="center", va="bottom")


def _oscillators(model: Oscillators) -> Figure:
    """Masses that springs connect stand above each other as storeys, on the base; contacts are between them."""
    places = _storeys(model)
    columns, levels = 1 + max(x for x, _ in places), 1 + max(y for _, y in places)
    figure, axes = canvas(1, 1, min(WIDE, 1.5 + 2.1 * columns), 0.9 + 0.85 * levels)
    axis = axes[0, 0]
    axis.plot([-0.6, columns - 0.4], [0, 0], color=INK, linewidth=1.5)
    axis.text(-0.6, -0.06, "base", va="top")
    for name, (x, y) in zip(model.names, places, strict=True):
        axis.fill(x + 0.28 * np.array([-1, 1, 1, -1]), y + np.array([0.6, 0.6, 0.9, 0.9]), color=BLUE, alpha=0.35)
        axis.text(x, y + 0.75, name, ha="center", va="center")
    for spring in model.springs:
        lower, upper = sorted(spring.nodes)
        start = (places[upper][0], 0.0) if lower < 0 else (places[lower][0], places[lower][1] + 0.9)
        axis.plot(*_zigzag(start, (places[upper][0], places[upper][1] + 0.6)), color=INK, linewidth=1)
    for contact in model.contacts:
        first, second = sorted(contact.nodes)
        end, height = places[second][0] - 0.28, places[second][1] + 0.82
        begin = end - 0.34 if first < 0 else places[first][0] + 0.28
        level = height if first < 0 else places[first][1] + 0.82
        axis.plot([begin, end], [level, height], color=ORANGE, linewidth=1.2, marker="|", markersize=9)
        axis.text((begin + end) / 2, (level + height) / 2 + 0.05, contact.name or "gap", ha="center", va="bottom")
    axis.set_xlim(-0.7, columns - 0.3)
    axis.set_ylim(-0.3, levels + 0.1)
    axis.set_axis_off()
    sizes = [(len(model.names), "mass", "masses"), (len(model.springs), "spring", "springs")]
    sizes.append((len(model.contacts), "contact", "contacts"))
    parts = ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in sizes)
    return picture(figure, f"The system: {parts}", f"The system: {parts}; not to scale.")


def _storeys(model: Oscillators) -> list[tuple[int, int]]:
    """Column and storey of every mass: as many springs above the base as the shortest way has."""
    neighbours: dict[int, set[int]] = {i: set() for i in range(-1, len(model.names))}
    for spring in model.springs:
        a, b = spring.nodes
        neighbours[a].add(b)
        neighbours[b].add(a)
    places: dict[int, tuple[int, int]] = {}
    used: dict[int, set[int]] = {}
    for start in [*sorted(neighbours[-1]), *range(len(model.names))]:
        if start in places:
            continue
        column = 1 + max((x for x, _ in places.values()), default=-1)
        todo = [(start, 0)]
        while todo:
            node, level = todo.pop(0)
            if node < 0 or node in places:
                continue
            while level in used.get(column, set()):
                level += 1
            used.setdefault(column, set()).add(level)
            places[node] = (column, level)
            todo += [(other, level + 1) for other in sorted(neighbours[node])]
    return [places[i] for i in range(len(model.names))]


def _zigzag(start: tuple[float, float], end: tuple[float, float], teeth: int = 7) -> tuple[Array, Array]:
    """A spring between two points."""
    along = np.linspace(0, 1, teeth + 2)
    aside = np.array([0, *(0.035 * (-1) ** k for k in range(teeth)), 0])
    a, b = np.array(start), np.array(end)
    across = np.array([b[1] - a[1], a[0] - b[0]]) / np.hypot(*(b - a))
    points = a + along[:, None] * (b - a) + aside[:, None] * across
    return points[:, 0], points[:, 1]
