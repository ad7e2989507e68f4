"""A run to be drawn: what the bodies look like, and where they and the contact forces are, frame by frame.

Scenes, grains and oscillators give the same: `percuss.export` draws any film and knows none of the models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# Who a force comes from where no body does: a wall of a cell, the world.
NOBODY = -1


@dataclass(frozen=True)
class Surface:
    """A contactor as polygons: corners in the frame of its body (m), loops anticlockwise seen from outside."""

    shape: str
    body: int
    corners_m: Array
    loops: list[list[int]]


@dataclass(frozen=True)
class Connection:
    """A joint, spring or column between two bodies (`NOBODY`: the world): a point in the frame of each (m).

    `kind` is that of a joint, or `spring`, `bushing`, `actuator`, `column`, `contact`; `axis` is in the frame of the
    second.
    """

    name: str
    kind: str
    bodies: tuple[int, int]
    points_m: tuple[tuple[float, float, float], tuple[float, float, float]]
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Contacts:
    """The contacts of a frame: places (m), forces on the second body (N), gaps (m), the two bodies (or `NOBODY`)."""

    places_m: Array
    forces_n: Array
    gaps_m: Array
    bodies: NDArray[np.int64]


@dataclass(frozen=True)
class Clock:
    """What goes on from frame to frame: the time in s, unless it is something else."""

    name: str = "time"
    unit: str = "s"


@dataclass(frozen=True)
class Film:
    """Frames of a run. NaN where a body is not there.

    A body is drawn by its surfaces, and as a ball about its origin where `radii_m` has a number. `cells_m` are the
    edges of a box from the origin, in each frame. `notes` say what a picture of it must not be taken for.
    """

    names: tuple[str, ...]
    fixed: tuple[bool, ...]
    surfaces: tuple[Surface, ...]
    times_s: Array
    positions_m: Array  # (frames, bodies, 3)
    rotations: Array  # (frames, bodies, 4), quaternions, w first
    velocities_m_per_s: Array  # (frames, bodies, 3), of the centres of mass
    contacts: tuple[Contacts, ...]
    radii_m: Array  # (bodies,)
    connections: tuple[Connection, ...] = ()
    cells_m: Array | None = None  # (frames, 3)
    clock: Clock = Clock()
    notes: tuple[str, ...] = ()

    @property
    def speeds_m_per_s(self) -> Array:
        """Speed of each body in each frame."""
        import numpy as np

        return np.asarray(np.sqrt((self.velocities_m_per_s**2).sum(axis=2)))

    def turn(self, frame: int, body: int) -> Array:
        """Rotation matrix of a body in a frame."""
        import numpy as np

        w, x, y, z = self.rotations[frame, body]
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )

    def corners_m(self, frame: int, surface: Surface) -> Array:
        """Corners of a surface in a frame, in world axes."""
        import numpy as np

        turn = self.turn(frame, surface.body)
        return np.asarray(surface.corners_m @ turn.T + self.positions_m[frame, surface.body])

    def ends_m(self, frame: int, connection: Connection) -> Array:
        """The two ends of a connection in a frame, in world axes."""
        import numpy as np

        ends = []
        for body, point in zip(connection.bodies, connection.points_m, strict=True):
            place = np.asarray(point, float)
            ends.append(place if body == NOBODY else self.turn(frame, body) @ place + self.positions_m[frame, body])
        return np.array(ends)
