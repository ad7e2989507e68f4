"""What a page holds of a film: looks, bodies, poses, contacts; numbers as fine as they can be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from percuss.export.player.meshes import UNBOUNDED, Mesh, look_of, meshes_of, round_m
from percuss.export.player.packing import LEVELS, Packing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from percuss.scene.film import Film, Surface

    Array = NDArray[np.float64]

# Places are kept to this share of the size of the scene, or finer where a body moves less than 65535 such steps.
FINEST = 1e-6
# Balls below this share of the size of the scene are coarse.
SMALL = 0.05
# Forces below this share of the largest are too short to be seen: length goes with the cube root.
WEAKEST = 1e-7


def film_contents(film: Film, packing: Packing, prefix: str) -> dict[str, Any]:
    """The head of a film; its arrays go into the packing, under names that start with `prefix`."""
    import numpy as np

    low, high = bounds_of(film)
    size = float(np.linalg.norm(high - low)) or 1.0
    return {
        "names": film.names,
        "fixed": film.fixed,
        "radii": [None if np.isnan(radius) else float(f"{radius:.6g}") for radius in film.radii_m],
        "clock": [film.clock.name, film.clock.unit],
        "times": packing.add(f"{prefix}times", film.times_s, "<f4"),
        "notes": film.notes,
        "bounds": [low.tolist(), high.tolist()],
        "cells": None if film.cells_m is None else packing.add(f"{prefix}cells", film.cells_m, "<f4"),
        "connections": [[item.name, item.kind, *item.bodies, *item.points_m, item.axis] for item in film.connections],
        **_looks(film, packing, prefix, SMALL * size),
        **_poses(film, packing, prefix, FINEST * size),
        "contacts": _contacts(film, packing, prefix),
    }


def bounds_of(film: Film) -> tuple[Array, Array]:
    """Corners of the box to look at: the start, and as much of the end as does not make the start small."""
    import numpy as np

    def box(frame: int) -> tuple[Array, Array]:
        parts = [film.corners_m(frame, s) for s in film.surfaces if s.shape != UNBOUNDED]
        balls = np.flatnonzero(~np.isnan(film.radii_m))
        radii = film.radii_m[balls, None]
        parts += [film.positions_m[frame, balls] - radii, film.positions_m[frame, balls] + radii]
        # Columns reach to the ground, which no body may mark.
        parts += [film.ends_m(frame, connection) for connection in film.connections]
        corners = np.concatenate([*parts, np.empty((0, 3))])
        corners = corners[~np.isnan(corners).any(axis=1)]
        corners = corners if len(corners) else np.zeros((1, 3))
        return corners.min(axis=0), corners.max(axis=0)

    (low, high), (last_low, last_high) = box(0), box(-1)
    margin = max(float((high - low).max()), 1e-9)
    low = np.maximum(np.minimum(low, last_low), low - margin)
    high = np.minimum(np.maximum(high, last_high), high + margin)
    return low, high


def _looks(film: Film, packing: Packing, prefix: str, small_m: float) -> dict[str, Any]:
    """Every mesh once, and which body shows which."""
    by_body: dict[tuple[int, bool], list[Surface]] = {}
    for surface in film.surfaces:
        by_body.setdefault((surface.body, surface.shape == UNBOUNDED), []).append(surface)
    numbers: dict[bytes, int] = {}
    looks: list[dict[str, Any]] = []
    shows: list[list[int]] = []
    for (body, unbounded), surfaces in by_body.items():
        key = bytes([unbounded]) + look_of(surfaces)
        if key not in numbers:
            numbers[key] = len(looks)
            name = f"{prefix}look{len(looks)}."
            levels = [_mesh(m, packing, f"{name}{k}.") for k, m in enumerate(meshes_of(surfaces, small_m))]
            looks.append({"levels": levels, "round": round_m(surfaces), "unbounded": unbounded})
        shows.append([numbers[key], body])
    return {"looks": looks, "shows": shows}


def _mesh(mesh: Mesh, packing: Packing, name: str) -> dict[str, Any]:
    wide = "<u4" if len(mesh.places) > LEVELS else "<u2"
    return {
        "places": packing.add(f"{name}places", mesh.places, "<f4"),
        "normals": packing.add(f"{name}normals", (127 * mesh.normals).round(), "|i1"),
        "triangles": packing.add(f"{name}triangles", mesh.triangles, wide),
        "edges": packing.add(f"{name}edges", mesh.edges, wide),
        "closed": mesh.closed,
        "outer": mesh.outer,
    }


def _poses(film: Film, packing: Packing, prefix: str, finest_m: float) -> dict[str, Any]:
    """Where bodies are, from the first to the last frame each is there; rows of levels, a body after the other."""
    import numpy as np

    frames, count = film.positions_m.shape[:2]
    there = ~np.isnan(film.positions_m[:, :, 0])
    first = np.where(there.any(axis=0), there.argmax(axis=0), frames)
    last = np.where(there.any(axis=0), frames - 1 - there[::-1].argmax(axis=0), -1)
    positions = _held(film.positions_m, first, last).transpose(1, 2, 0).reshape(3 * count, frames)
    low = positions.min(axis=1)
    step = np.maximum(np.ptp(positions, axis=1) / LEVELS, finest_m).astype("<f4").astype(float)
    levels = np.clip(((positions - low[:, None]) / step[:, None]).round(), 0, LEVELS)
    rotations = _held(film.rotations, first, last)
    # The quaternions q and -q are the same rotation: the one nearer to the frame before.
    signs = np.sign((rotations[1:] * rotations[:-1]).sum(axis=2))
    signs = np.cumprod(np.concatenate([np.ones((1, count)), np.where(signs == 0, 1, signs)]), axis=0)
    turns = (rotations * signs[:, :, None]).transpose(1, 2, 0).reshape(4 * count, frames)
    speeds = _held(film.speeds_m_per_s[:, :, None], first, last)[:, :, 0].T
    fastest = float(speeds.max(initial=0.0))
    return {
        "first": packing.add(f"{prefix}first", first, "<u4"),
        "last": packing.add(f"{prefix}last", np.maximum(last, 0), "<u4"),
        "low": packing.add(f"{prefix}low", low, "<f4"),
        "step": packing.add(f"{prefix}step", step, "<f4"),
        "positions": packing.add_differences(f"{prefix}positions", levels.astype(np.int64)),
        "turns": packing.add_differences(f"{prefix}turns", (32767 * turns + 32768).round().astype(np.int64)),
        "speeds": packing.add_differences(
            f"{prefix}speeds", (LEVELS * speeds / (fastest or 1.0)).round().astype(np.int64)
        ),
        "fastest": fastest,
    }


def _held(values: Array, first: Any, last: Any) -> Array:
    """The values with those of the first and last frame of a body before and after it."""
    import numpy as np

    frames = len(values)
    at = np.clip(np.arange(frames)[:, None], first[None, :], last[None, :]).clip(0, frames - 1)
    held = np.take_along_axis(values, at[:, :, None], axis=0)
    return np.nan_to_num(held)


def _contacts(film: Film, packing: Packing, prefix: str) -> dict[str, Any]:
    """Places and forces of all frames, one after the other; forces by the cube roots of their components."""
    import numpy as np

    strengths = [np.linalg.norm(frame.forces_n, axis=1) for frame in film.contacts]
    strongest = max((float(s.max(initial=0.0)) for s in strengths), default=0.0)
    kept = [s > WEAKEST * strongest for s in strengths]
    ends = np.cumsum([int(k.sum()) for k in kept])
    empty = np.empty((0, 3))
    places = np.concatenate([empty, *(frame.places_m[k] for frame, k in zip(film.contacts, kept, strict=True))])
    forces = np.concatenate([empty, *(frame.forces_n[k] for frame, k in zip(film.contacts, kept, strict=True))])
    bodies = np.concatenate([empty[:, :2], *(f.bodies[k] for f, k in zip(film.contacts, kept, strict=True))])
    low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(3), np.zeros(3))
    step = np.maximum((high - low) / LEVELS, 1e-12)
    levels = np.clip(((places - low) / step).round(), 0, LEVELS)
    roots = 32767 * np.cbrt(forces / (strongest or 1.0)) + 32768
    wide = "<u4" if len(film.names) >= LEVELS else "<u2"
    return {
        "strongest": strongest,
        "low": low.tolist(),
        "step": step.tolist(),
        "ends": packing.add(f"{prefix}ends", ends, "<u4"),
        "places": packing.add_differences(f"{prefix}places", levels.T.astype(np.int64)),
        "forces": packing.add_differences(f"{prefix}forces", roots.round().T.astype(np.int64)),
        # Nobody is 0, the first body 1.
        "bodies": packing.add(f"{prefix}bodies", bodies.T + 1, wide),
    }
