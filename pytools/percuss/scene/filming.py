"""The film of a scene, from the rows that its run recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from percuss.scene.film import Contacts, Film, Surface
from percuss.scene.skeleton import connections_of, skeletons

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from percuss.scene.world import Result, World

    Array = NDArray[np.float64]


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
    shapes = [contactor.shape.kind for item in bodies for contactor in item.contactors]
    # What has no end is drawn as far as the bodies get, and a bit.
    reach = float(np.nanmax(np.abs(positions), initial=0.0)) + _largest_m(world)
    radii = np.array([_radius_m(item.contactors) for item in bodies])
    outlines = map(Surface, shapes, *zip(*world.core.outlines(1.2 * reach), strict=True)) if shapes else ()
    surfaces = [surface for surface in outlines if np.isnan(radii[surface.body])]
    connections = connections_of(world.scene)
    return Film(
        tuple(item.name for item in bodies),
        tuple(item.fixed for item in bodies),
        (*surfaces, *skeletons(world.scene, connections)),
        times,
        positions,
        spread("qw", "qx", "qy", "qz"),
        spread("vx_m_per_s", "vy_m_per_s", "vz_m_per_s"),
        _contacts(result, times),
        radii,
        connections,
    )


def _contacts(result: Result, times: Array) -> tuple[Contacts, ...]:
    import numpy as np

    touching: Any = result.contacts
    columns = ("x_m", "y_m", "z_m", "fx_n", "fy_n", "fz_n", "gap_m", "body_a", "body_b")
    rows = np.stack([touching[name] for name in columns], axis=1) if len(touching["x_m"]) else np.empty((0, 9))
    ends = np.searchsorted(touching["time_s"], times, side="right")
    parts = np.split(rows, ends)[: len(times)]
    return tuple(Contacts(part[:, :3], part[:, 3:6], part[:, 6], part[:, 7:].astype(np.int64)) for part in parts)


def _radius_m(contactors: Any) -> float:
    """Of a body that is a ball about its origin; NaN for any other."""
    if len(contactors) == 1 and contactors[0].shape.kind == "sphere" and not any(contactors[0].position_m):
        return float(contactors[0].shape.radius_m)
    return float("nan")


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
