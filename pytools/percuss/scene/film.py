"""A run to be drawn: surfaces of the bodies, and where bodies and contact forces are, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from percuss.scene.world import Result, World

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Surface:
    """A contactor as polygons: corners in the frame of its body (m), loops anticlockwise seen from outside."""

    shape: str
    body: int
    corners_m: Array
    loops: list[list[int]]


@dataclass(frozen=True)
class Contacts:
    """The contacts of a frame: places (m), forces on the second body (N), gaps (m)."""

    places_m: Array
    forces_n: Array
    gaps_m: Array


@dataclass(frozen=True)
class Film:
    """Frames of a run. NaN where a body is not there."""

    names: tuple[str, ...]
    fixed: tuple[bool, ...]
    surfaces: tuple[Surface, ...]
    times_s: Array
    positions_m: Array  # (frames, bodies, 3)
    rotations: Array  # (frames, bodies, 4), quaternions, w first
    velocities_m_per_s: Array  # (frames, bodies, 3), of the centres of mass
    contacts: tuple[Contacts, ...]

    @property
    def speeds_m_per_s(self) -> Array:
        """Speed of each body in each frame."""
        import numpy as np

        return np.asarray(np.sqrt((self.velocities_m_per_s**2).sum(axis=2)))

    def corners_m(self, frame: int, surface: Surface) -> Array:
        """Corners of a surface in a frame, in world axes."""
        import numpy as np

        w, x, y, z = self.rotations[frame, surface.body]
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        return np.asarray(surface.corners_m @ turn.T + self.positions_m[frame, surface.body])


def film_of(world: World, result: Result) -> Film:
    """The film of a run that recorded its bodies and contacts at the same rate."""
    import numpy as np

    table: Any = result.bodies
    bodies = world.scene.bodies
    times, frame = np.unique(table["time_s"], return_inverse=True)
    body = table["body"].astype(int)

    def spread(*columns: str) -> Array:
        values = np.full((len(times), len(bodies), len(columns)), np.nan)
        values[frame, body] = np.stack([table[column] for column in columns], axis=1)
        return values

    positions = spread("x_m", "y_m", "z_m")
    touching: Any = result.contacts
    columns = [touching[name] for name in ("x_m", "y_m", "z_m", "fx_n", "fy_n", "fz_n", "gap_m")]
    rows = np.stack(columns, axis=1) if len(columns[0]) else np.empty((0, 7))
    ends = np.searchsorted(touching["time_s"], times, side="right")
    parts = np.split(rows, ends)[: len(times)]
    shapes = [contactor.shape.kind for item in bodies for contactor in item.contactors]
    # What has no end is drawn as far as the bodies get, and a bit.
    reach = float(np.nanmax(np.abs(positions), initial=0.0)) + _largest_m(world)
    return Film(
        tuple(item.name for item in bodies),
        tuple(item.fixed for item in bodies),
        tuple(map(Surface, shapes, *zip(*world.core.outlines(1.2 * reach), strict=True))),
        times,
        positions,
        spread("qw", "qx", "qy", "qz"),
        spread("vx_m_per_s", "vy_m_per_s", "vz_m_per_s"),
        tuple(Contacts(part[:, :3], part[:, 3:6], part[:, 6]) for part in parts),
    )


def _largest_m(world: World) -> float:
    """Size of the largest body that has one."""
    sizes = [
        float(abs(corners).max())
        for (index, corners, _), body in (
            (outline, world.scene.bodies[outline[0]]) for outline in world.core.outlines(0.0)
        )
        if len(corners) and not body.fixed
    ]
    return max(sizes, default=1.0)
