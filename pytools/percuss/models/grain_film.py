"""A test on grains as a film: the packing at rest after each increment, over the axial strain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from percuss.scene.film import Clock, Contacts, Film

Array = NDArray[np.float64]
NOTE = "Frames are states of rest after each increment; speeds are displacements between them over the time of loading."


def grain_film(
    frames: Sequence[Mapping[str, Any]], radii_m: Array, strains: Array, rate_per_s: float, *, walls: bool
) -> Film:
    """The film of what `_core.grain_test` kept."""
    cells = np.array([frame["cell_m"] for frame in frames])
    positions = np.stack([frame["positions_m"] for frame in frames])
    if not walls:
        positions = unwrapped(positions, cells)
    count = len(radii_m)
    contacts = []
    for number, frame in enumerate(frames):
        grains = frame["grains"]
        places = positions[number, grains[:, 0]] + frame["arms_m"]
        contacts.append(Contacts(places, frame["forces_n"], np.zeros(len(grains)), grains.astype(np.int64)))
    # Beside the deformation of the cell, which carries every grain along.
    moved = np.diff(positions / cells[:, None, :], axis=0) * cells[1:, None, :]
    passed = np.maximum(np.abs(np.diff(strains)), 1e-12) / rate_per_s
    velocities = np.concatenate([np.zeros((1, count, 3)), moved / passed[:, None, None]])
    return Film(
        tuple(f"grain {k + 1}" for k in range(count)),
        (False,) * count,
        (),
        _rising(strains),
        positions,
        np.stack([quaternions(frame["turned_rad"]) for frame in frames]),
        velocities,
        tuple(contacts),
        np.asarray(radii_m, float),
        cells_m=cells,
        clock=Clock("axial strain", "") if (np.diff(strains) > 0).all() else Clock("increment", ""),
        notes=(NOTE,),
    )


def unwrapped(positions: Array, cells: Array) -> Array:
    """Places in a periodic cell that do not jump from one side to the other between frames."""
    shares = positions / cells[:, None, :]
    steps = np.diff(shares, axis=0)
    steps -= np.round(steps)
    first = shares[:1] - np.floor(shares[:1])
    return np.asarray(np.concatenate([first, first + np.cumsum(steps, axis=0)]) * cells[:, None, :])


def quaternions(turned_rad: Array) -> Array:
    """Rotation vectors as quaternions, w first."""
    angle = np.linalg.norm(turned_rad, axis=1)
    # sin(x/2)/x by numpy's sinc, which has pi in it.
    factor = 0.5 * np.sinc(angle / (2 * np.pi))
    return np.concatenate([np.cos(0.5 * angle)[:, None], factor[:, None] * turned_rad], axis=1)


def _rising(strains: Array) -> Array:
    """What the film runs over: the axial strain where it rises, otherwise the number of the increment."""
    return strains if (np.diff(strains) > 0).all() else np.arange(len(strains), dtype=float)
