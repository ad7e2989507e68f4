"""A film as one HTML page that plays it: WebGL 2, no file beside it, nothing fetched."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.ledger.place import check_outside

if TYPE_CHECKING:
    from numpy import ndarray

    from percuss.scene.film import Film, Surface

# Edges between faces that meet at a smaller angle belong to a round surface and are not drawn.
_ROUND_DEG = 25.0
_UNBOUNDED = "half-space"


def player_page(film: Film, title: str, facts: Mapping[str, str]) -> str:
    """The page; `facts` are shown beside the picture."""
    data = {
        "title": title,
        "facts": dict(facts),
        "names": film.names,
        "times": _numbers(film.times_s),
        "positions": _numbers(film.positions_m),
        "rotations": _numbers(film.rotations),
        "speeds": _numbers(film.speeds_m_per_s),
        "contacts": _contacts(film),
        "bounds": _bounds(film),
        "bodies": [
            [_mesh(surface) for surface in film.surfaces if surface.body == index] for index in range(len(film.names))
        ],
        "fixed": film.fixed,
    }
    page = resources.files("percuss.export").joinpath("player.html").read_text()
    # Within a script element nothing but its end tag has a meaning.
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return page.replace("{{title}}", _escaped(title)).replace("{{film}}", text)


def write_page(film: Film, path: Path, title: str, facts: Mapping[str, str]) -> None:
    """Write the page."""
    check_outside(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(player_page(film, title, facts))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _numbers(values: Any) -> str:
    import numpy as np

    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


def _contacts(film: Film) -> dict[str, object]:
    import numpy as np

    ends = np.cumsum([len(frame.gaps_m) for frame in film.contacts])
    places = np.concatenate([frame.places_m for frame in film.contacts])
    forces = np.concatenate([frame.forces_n for frame in film.contacts])
    return {"ends": [int(end) for end in ends], "places": _numbers(places), "forces": _numbers(forces)}


def _bounds(film: Film) -> list[list[float]]:
    """Corners of the box to look at: the start, and as much of the end as does not make the start small."""
    import numpy as np

    def box(frame: int) -> tuple[ndarray, ndarray]:
        parts = [film.corners_m(frame, s) for s in film.surfaces if s.shape != _UNBOUNDED]
        parts = [part for part in parts if not np.isnan(part[0, 0])] or [np.zeros((1, 3))]
        corners = np.concatenate(parts)
        return corners.min(axis=0), corners.max(axis=0)

    (low, high), (last_low, last_high) = box(0), box(-1)
    margin = max(float((high - low).max()), 1e-3)
    low = np.maximum(np.minimum(low, last_low), low - margin)
    high = np.minimum(np.maximum(high, last_high), high + margin)
    return [low.tolist(), high.tolist()]


def _mesh(surface: Surface) -> dict[str, object]:
    """Triangles with a normal for each corner, and the edges that are sharp."""
    import numpy as np

    corners = surface.corners_m
    if surface.shape == _UNBOUNDED:
        # As far as the haze, which hides its end.
        centre = corners.mean(axis=0)
        corners = centre + 8.0 * (corners - centre)
    places, normals = [], []
    faces_of: dict[tuple[int, int], list[ndarray]] = {}
    for loop in surface.loops:
        points = corners[loop]
        # Newell's normal: right for any flat polygon.
        following = np.roll(points, -1, axis=0)
        normal = np.cross(points, following).sum(axis=0)
        length = float(np.sqrt((normal**2).sum()))
        normal = normal / length if length else np.array([0.0, 0.0, 1.0])
        for k in range(1, len(loop) - 1):
            places += [points[0], points[k], points[k + 1]]
            normals += [normal] * 3
        for a, b in zip(loop, [*loop[1:], loop[0]], strict=True):
            faces_of.setdefault((min(a, b), max(a, b)), []).append(normal)
    smooth = np.cos(np.radians(_ROUND_DEG))
    sharp = [edge for edge, faces in faces_of.items() if len(faces) < 2 or float(faces[0] @ faces[1]) < smooth]
    lines = [] if surface.shape == _UNBOUNDED else [corners[k] for edge in sharp for k in edge]
    return {
        "places": _numbers(places),
        "normals": _numbers(normals),
        "edges": _numbers(lines),
        "unbounded": surface.shape == _UNBOUNDED,
    }
