"""What a scene has beside contactors: joints and springs to be drawn, and bars for bodies that nothing can touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from percuss.scene.film import NOBODY, Connection, Surface
from percuss.scene.rotation import turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from percuss.scene.description import SceneDescription

    Array = NDArray[np.float64]

# Width of a bar over the distance of the points it joins; size of what has no extent over that of the scene.
BAR_WIDTH = 0.035
LUMP_SIZE = 0.04
BAR_LOOPS = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]


def connections_of(scene: SceneDescription) -> tuple[Connection, ...]:
    """Every joint, spring, bushing and actuator that has two ends of its own."""
    described = scene.description()
    connections = [_connection(item, str(item["kind"])) for item in described["joints"]]
    for element, item in zip(scene.elements, described["elements"], strict=True):
        # One on the coordinate of a joint is where the joint is, and that is drawn already.
        if not getattr(element, "joint", None):
            connections.append(_connection(item, str(item["kind"])))
    return tuple(connections)


def _connection(item: dict[str, Any], kind: str) -> Connection:
    first, second = (NOBODY if body is None else int(body) for body in item["bodies"])
    here, there = (tuple(float(x) for x in frame["position_m"]) for frame in item["frames"])
    axis = tuple(float(x) for x in turn(item["frames"][1]["rotation_rad"], (0.0, 0.0, 1.0)))
    return Connection(str(item["name"]), kind, (first, second), (here, there), axis)  # type: ignore[arg-type]


def skeletons(scene: SceneDescription, connections: Sequence[Connection]) -> list[Surface]:
    """Bodies without contactors as bars from their centre of mass to where they are joined, or as a lump."""
    import numpy as np

    places = np.array(
        [np.add(body.position_m, turn(body.rotation_rad, body.centre_m)) for body in scene.bodies], float
    ).reshape(-1, 3)
    size = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    surfaces = []
    for index, body in enumerate(scene.bodies):
        if body.contactors:
            continue
        centre = np.array(body.centre_m, float)
        ends = [
            np.array(point, float)
            for connection in connections
            for owner, point in zip(connection.bodies, connection.points_m, strict=True)
            if owner == index
        ]
        bars = [end for end in ends if float(np.abs(end - centre).max()) > 1e-9]
        width = BAR_WIDTH * max((float(np.linalg.norm(end - centre)) for end in bars), default=0.0)
        surfaces += [Surface("bar", index, _bar(centre, end, width), BAR_LOOPS) for end in bars]
        lump = 1.6 * width or LUMP_SIZE * (size or 1.0)
        up = np.array([0.0, 0.0, lump])
        low, high = centre - up, centre + up
        surfaces.append(Surface("lump", index, _bar(low, high, lump), BAR_LOOPS))
    return surfaces


def _bar(start: Array, end: Array, half_width: float) -> Array:
    """The eight corners of a square bar."""
    import numpy as np

    along = (end - start) / np.linalg.norm(end - start)
    side = np.cross(along, [0.0, 0.0, 1.0] if abs(along[2]) < 0.9 else [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    other = np.cross(along, side)
    corners = [
        base + half_width * (u * side + v * other) for base in (start, end) for v in (-1.0, 1.0) for u in (-1.0, 1.0)
    ]
    return np.array(corners)
