"""The walls of `rust/rigid/benches/wall.rs`, and that of `connectors.py`, in Siconos, for a measurement side by side.

    OMP_NUM_THREADS=1 python3 tests/bench/siconos_walls.py bricks|blocks|connectors STEPS [CPU_LIMIT_S]

Needs the interpreter Siconos is installed for (Debian: python3-siconos, python3-h5py, python3-scipy); exit code 3 where
there is none. Prints one line of JSON: CPU seconds of the run, steps done, contacts, residuals by its norm and by ours.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import sys
import tempfile
from pathlib import Path

H_S, TOLERANCE, SWEEPS = 2.5e-4, 1e-4, 1000
RADIUS, HEIGHT, PITCH = 0.38, 0.8, 0.8
# Cylinders of Bullet lie along y: the bodies of blocks are turned so that their y is up.
UPRIGHT = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
# Connectors at the mean values of Gupta et al. (2023), Table 4.
BAR_RADIUS, BAR_INNER, HOLE = 0.06985, 0.06185, 0.077
D_Z, LINK = 0.075, 0.055 / 6
BOX = 0.05


def turned(yaw: float) -> list[float]:
    """UPRIGHT, then a turn about the vertical."""
    c, s = math.cos(yaw / 2), math.sin(yaw / 2)
    w, x, y, z = UPRIGHT
    return [c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w]


def brick_wall(io, contactor) -> None:
    io.add_primitive_shape("Block", "Box", (0.76, 1.56, 0.8))
    for row in range(4):
        for k in range(5):
            y = (k - 2) * 1.6 + (0.4 if row % 2 else -0.4)
            block = [contactor("Block", collision_group=1)]
            io.add_object(f"block_{row}_{k}", block, translation=[0, y, 0.4 + 0.8 * row], mass=1800.0)
    add_projectile(io, contactor, -0.38 - 0.55 - 0.01, group=1)
    add_ground(io, contactor)
    law = io.add_Newton_impact_friction_nsl
    law("ground", mu=0.4, e=0.15, collision_group1=0, collision_group2=1)
    law("blocks", mu=0.4, e=0.15, collision_group1=1, collision_group2=1)


def add_projectile(io, contactor, x: float, group: int) -> None:
    io.add_primitive_shape("Cube", "Box", (1.1, 1.1, 1.1))
    cube = [contactor("Cube", collision_group=group)]
    io.add_object("projectile", cube, translation=[x, 0, 1.7], velocity=[20, 0, 0, 0, 0, 0], mass=2600.0)


def add_ground(io, contactor) -> None:
    io.add_primitive_shape("Ground", "Box", (80, 80, 1))
    io.add_object("ground", [contactor("Ground", collision_group=0)], translation=[0, 0, -0.5])


def block_mass(length: float, ends: int, mass: float) -> tuple[float, list[float]]:
    """Centre along a block with round ends, and its moments about the axes of a turned body."""
    half_disk = 0.5 * math.pi * RADIUS**2
    density = mass / ((2 * RADIUS * length + ends * half_disk) * HEIGHT)
    core, end = density * 2 * RADIUS * length * HEIGHT, density * half_disk * HEIGHT
    offset = 0.5 * length + 4 * RADIUS / (3 * math.pi)
    sides = (-1, 1)[:ends]
    centre = sum(side * end * offset for side in sides) / mass
    # Second moments of mass along and across the block and up.
    along = core * (length**2 / 12 + centre**2)
    own = RADIUS**2 / 4 - (4 * RADIUS / (3 * math.pi)) ** 2
    along += sum(end * (own + (side * offset - centre) ** 2) for side in sides)
    across = core * (2 * RADIUS) ** 2 / 12 + ends * end * RADIUS**2 / 4
    up = mass * HEIGHT**2 / 12
    return centre, [along + up, along + across, across + up]


def connected_wall(io, contactor) -> None:
    block_wall(io, contactor, connectors=True)


def add_connector_shapes(io) -> None:
    # Four keepers around a square hole stand for a disk: with the mesh of a ring Siconos takes five times as long.
    io.add_primitive_shape("KeeperAcross", "Box", (0.05, 0.02, 0.20))
    io.add_primitive_shape("KeeperAlong", "Box", (0.20, 0.02, 0.05))
    io.add_primitive_shape("Bar", "Cylinder", (BAR_RADIUS, HEIGHT))
    io.add_primitive_shape("HalfBar", "Cylinder", (BAR_RADIUS, 0.5 * HEIGHT))
    io.add_primitive_shape("SlingBox", "Box", (5 * BAR_RADIUS, BOX, 5 * BAR_RADIUS))
    io.add_primitive_shape("Stopper", "Box", (3 * BAR_RADIUS, BOX, 3 * BAR_RADIUS))
    io.add_primitive_shape("Ball", "Sphere", (BAR_RADIUS,))


def on_block(contactor, y: float, row: int) -> list:
    """What the hole at y along a block carries."""
    place = lambda across, along, up: [across, up, -along]  # noqa: E731
    reach = HOLE + 0.025
    parts = []
    for up in (D_Z - 0.5 * HEIGHT, 0.5 * HEIGHT - D_Z):
        for side in (-reach, reach):
            parts.append(contactor("KeeperAcross", collision_group=6, relative_translation=place(side, y, up)))
            parts.append(contactor("KeeperAlong", collision_group=6, relative_translation=place(0, y + side, up)))
    if row == 0:
        up = 0.5 * (LINK + BOX - HEIGHT)
        parts.append(contactor("SlingBox", collision_group=7, relative_translation=place(0, y, up)))
    if row == 3:
        up = 0.5 * (HEIGHT - LINK) - BAR_RADIUS
        parts.append(contactor("Ball", collision_group=9, relative_translation=place(0, y, up)))
    return parts


def add_bars(io, contactor, axes) -> None:
    for k, (x, y) in enumerate(axes):
        for j, low in enumerate((0.0, 0.4, 1.2, 2.0, 2.8)):
            length = 0.4 if j in (0, 4) else 0.8
            mass = 7850 * math.pi * (BAR_RADIUS**2 - BAR_INNER**2) * length * (0.05 if j == 4 else 1.0)
            across = mass * ((BAR_RADIUS**2 + BAR_INNER**2) / 4 + length**2 / 12)
            along = mass * (BAR_RADIUS**2 + BAR_INNER**2) / 2
            top = 0.5 * length
            heights = {
                ("SlingBox", 7): top + 0.5 * (LINK + BOX),
                ("Stopper", 8): top - 0.5 * (LINK + BOX) - 2 * BAR_RADIUS,
                ("Ball", 9): -top - 0.5 * LINK - BAR_RADIUS,
            }
            parts = [contactor("Bar" if length > 0.5 else "HalfBar", collision_group=4 + j % 2)]
            for (shape, group), up in heights.items():
                parts.append(contactor(shape, collision_group=group, relative_translation=[0, up, 0]))
            io.add_object(
                f"bar_{k}_{j}", parts, translation=[x, y, low + top], orientation=list(UPRIGHT), mass=mass,
                inertia=[across, along, across],
            )  # fmt: skip
    law = io.add_Newton_impact_friction_nsl
    law("bar_ground", mu=0.2, e=0.0, collision_group1=4, collision_group2=0)
    law("odd_disk", mu=0.2, e=0.0, collision_group1=4, collision_group2=6)
    law("even_disk", mu=0.2, e=0.0, collision_group1=5, collision_group2=6)
    law("box_ball", mu=0.0, e=0.0, collision_group1=7, collision_group2=9)
    law("stopper_ball", mu=0.0, e=0.0, collision_group1=8, collision_group2=9)


def block_wall(io, contactor, connectors: bool = False) -> None:
    axes = [(0.0, 0.0)]
    for k in range(19):
        angle = math.radians(29.5) * (1 if k % 2 == 0 else -1)
        axes.append((axes[-1][0] + PITCH * math.sin(angle), axes[-1][1] + PITCH * math.cos(angle)))
    middle = 0.5 * (axes[0][1] + axes[-1][1])
    axes = [(x, y - middle) for x, y in axes]
    io.add_primitive_shape("End", "Cylinder", (RADIUS, HEIGHT))
    io.add_primitive_shape("Core", "Box", (2 * RADIUS, HEIGHT, PITCH))
    io.add_primitive_shape("HalfCore", "Box", (2 * RADIUS, HEIGHT, 0.5 * PITCH))
    if connectors:
        add_connector_shapes(io)

    def add(name: str, a, b, row: int, core: str, length: float, ends: int, mass: float) -> None:
        (ax, ay), (bx, by) = a, b
        centre, moments = block_mass(length, ends, mass)
        # From axis a towards axis b: the middle of the core, then its centre of mass.
        reach = 0.5 * length / PITCH + centre / PITCH
        place = [ax + reach * (bx - ax), ay + reach * (by - ay), HEIGHT * (row + 0.5)]
        ys = [-0.5 * length, 0.5 * length][:ends]
        parts = [contactor("End", collision_group=2, relative_translation=[0, 0, -(y - centre)]) for y in ys]
        parts.append(contactor(core, collision_group=1, relative_translation=[0, 0, centre]))
        if connectors:
            parts += [part for y in ys for part in on_block(contactor, y - centre, row)]
        yaw = math.atan2(-(bx - ax), by - ay)
        io.add_object(name, parts, translation=place, orientation=turned(yaw), mass=mass, inertia=moments)

    for row in range(4):
        odd = row % 2
        for k in range(odd, 19 - odd, 2):
            add(f"block_{row}_{k}", axes[k], axes[k + 1], row, "Core", PITCH, 2, 1800.0)
        if odd:
            for k, other in ((0, 1), (19, 18)):
                add(f"half_{row}_{k}", axes[k], axes[other], row, "HalfCore", 0.5 * PITCH, 1, 900.0)
    if connectors:
        add_bars(io, contactor, axes)
    face = min(x for x, _ in axes[8:12]) - RADIUS
    add_projectile(io, contactor, face - 0.55 - 0.005, group=3)
    add_ground(io, contactor)
    law = io.add_Newton_impact_friction_nsl
    law("ends_ground", mu=0.45, e=0.15, collision_group1=0, collision_group2=2)
    law("ends", mu=0.4, e=0.15, collision_group1=2, collision_group2=2)
    law("core_projectile", mu=0.4, e=0.15, collision_group1=1, collision_group2=3)
    law("ends_projectile", mu=0.4, e=0.15, collision_group1=2, collision_group2=3)


def energy_residual(problem, numerics) -> float:
    """The residual percuss judges by (rust/solvers/src/residual.rs), of the impulses Siconos found."""
    import numpy as np

    data = problem.frictionContactProblemPtr()
    q, mu = np.array(data.q).reshape(-1, 3), np.array(data.mu)
    r, u = (np.array(x)[: q.size].reshape(-1, 3) for x in (problem.z(), problem.w()))
    trace = np.array([numerics.NM_get_value(data.M, k, k) for k in range(q.size)]).reshape(-1, 3).sum(axis=1)
    u[:, 0] += mu * np.hypot(u[:, 1], u[:, 2])
    x = r - u / trace[:, None]
    t = np.hypot(x[:, 1], x[:, 2])
    normal = (x[:, 0] + mu * t) / (1 + mu**2)
    edge = np.column_stack([normal, (mu * normal / np.maximum(t, 1e-300))[:, None] * x[:, 1:]])
    inside, outside = t <= mu * x[:, 0], mu * t <= -x[:, 0]
    gap = r - np.where(inside[:, None], x, np.where(outside[:, None], 0.0, edge))
    return float(np.sqrt((trace * (gap**2).sum(axis=1)).sum() / ((q**2).sum(axis=1) / trace).sum()))


def quantiles(residuals: list[float]) -> list[float]:
    """Median, 99 % and largest."""
    ordered = sorted(residuals)
    return [ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100], ordered[-1]]


def cpu_s() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


class Enough(Exception):  # noqa: N818
    """The time given is spent."""


def main(wall: str, steps: int, limit_s: float) -> dict[str, object]:
    import siconos.kernel as kernel
    import siconos.numerics as numerics
    from siconos.io.mechanics_run import MechanicsHdf5Runner, cast_FrictionContact
    from siconos.mechanics.collision.tools import Contactor

    options = kernel.solver_options_create(numerics.SICONOS_FRICTION_3D_NSGS)
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = SWEEPS
    options.dparam[numerics.SICONOS_DPARAM_TOL] = TOLERANCE
    told: list[tuple[int, int, float]] = []
    energies: list[float] = []
    judging = 0.0

    def after_step(io) -> None:
        nonlocal judging, begin
        problem = io._simulation.oneStepNSProblem(0)
        used = problem.numericsSolverOptions()
        told.append((problem.getSizeOutput() // 3, int(used.iparam[1]), float(used.dparam[1])))
        if told[-1][0] and len(told) % 5 == 0:
            start = cpu_s()
            energies.append(energy_residual(cast_FrictionContact(problem), numerics))
            judging += cpu_s() - start
        if len(told) == 1:
            # The first step builds all that later ones use.
            begin, judging = cpu_s(), 0.0
        if cpu_s() - begin - judging > limit_s:
            raise Enough

    path = str(Path(tempfile.mkdtemp()) / "wall.hdf5")
    with MechanicsHdf5Runner(io_filename=path) as io:
        {"bricks": brick_wall, "blocks": block_wall, "connectors": connected_wall}[wall](io, Contactor)
    with MechanicsHdf5Runner(mode="r+", io_filename=path) as io:
        begin = cpu_s()
        with contextlib.suppress(Enough):
            io.run(
                h=H_S, t0=0, T=(steps + 0.5) * H_S, theta=0.5, Newton_max_iter=1, solver_options=options,
                verbose=False, verbose_progress=False, output_frequency=10**9, end_run_iteration_hook=after_step,
            )  # fmt: skip
        seconds = cpu_s() - begin - judging
    active = [row for row in told if row[0]]
    residuals = [residual for _, _, residual in active]
    return {
        "wall": wall, "steps": len(told) - 1, "cpu_s": seconds,
        "contacts": sum(row[0] for row in active) / len(told), "sweeps": sum(row[1] for row in active) / len(told),
        "energy": quantiles(energies), "residual": quantiles(residuals),
        "unmet": sum(residual > TOLERANCE for residual in residuals),
    }  # fmt: skip


if __name__ == "__main__":
    try:
        import siconos.io.mechanics_run  # noqa: F401
    except ImportError as missing:
        print(f"Siconos is not installed for {sys.executable}: {missing}", file=sys.stderr)
        sys.exit(3)
    # Siconos itself talks on stdout.
    stdout = os.dup(1)
    os.dup2(2, 1)
    found = main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else math.inf)
    os.write(stdout, (json.dumps(found) + "\n").encode())
