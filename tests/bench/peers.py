"""Beside MuJoCo (`pip install mujoco`): 100 towers of ten boxes and a wall of 50 x 20 at rest, steps of 2 ms.

The ratio is our time over theirs; the figure has both times and both overlaps, since a faster engine that lets boxes
sink is none. Without MuJoCo nothing is measured.
"""

from __future__ import annotations

from time import perf_counter

from tests.bench.measure import Line

from percuss.scene import Body, Box, Contactor, HalfSpace, Law, Record, Scene, Settings

STEP_S = 2e-3
Boxes = list[tuple[tuple[float, float, float], tuple[float, float, float]]]


def towers() -> Boxes:
    """Sizes and places."""
    return [((1.0, 1.0, 1.0), (3.0 * (k % 10), 3.0 * (k // 10), row + 0.5)) for k in range(100) for row in range(10)]


def wall() -> Boxes:
    """In running bond."""
    return [((2.0, 1.0, 1.0), (2.0 * k + row % 2, 0.0, row + 0.5)) for row in range(20) for k in range(50)]


def ours(boxes: Boxes, steps: int) -> tuple[float, float]:
    """Seconds a step and the deepest overlap [m], on all cores."""
    ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)
    bodies = [
        Body(f"box_{k}", [Contactor(Box(size), "box")], density_kg_per_m3=1000.0, position_m=at)
        for k, (size, at) in enumerate(boxes)
    ]
    laws = [Law(("ground", "box"), friction=0.5), Law(("box", "box"), friction=0.5)]
    world = Scene([ground, *bodies], laws).world(Settings(STEP_S, threads=2))
    record = Record(energy_every=0, steps_every=0)
    world.run(10 * STEP_S, record)
    start = perf_counter()
    result = world.run(steps * STEP_S, record)
    return (perf_counter() - start) / steps, result.deepest_overlap_m


def theirs(boxes: Boxes, steps: int) -> tuple[float, float] | None:
    """The same by MuJoCo with its defaults and pyramidal cones; None where it is not installed."""
    try:
        import mujoco
    except ImportError:
        return None
    solids = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="box" size="{a / 2} {b / 2} {c / 2}" density="1000"/></body>'
        for (a, b, c), (x, y, z) in boxes
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{STEP_S}"/><size memory="2G"/>'
        '<default><geom friction="0.5 0 0" condim="3"/></default>'
        f'<worldbody><geom type="plane" size="0 0 1"/>{solids}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 10)
    start = perf_counter()
    mujoco.mj_step(model, data, steps)
    took = (perf_counter() - start) / steps
    return took, max(0.0, -float(data.contact.dist.min())) if data.ncon else 0.0


def bench() -> list[Line]:
    """Both scenes, side by side."""
    lines = []
    for name, boxes, steps in (("100 towers of 10", towers(), 100), ("wall of 50 x 20", wall(), 20)):
        other = theirs(boxes, max(2, steps // 10))
        if other is None:
            continue
        own = ours(boxes, steps)
        figure = f"{own[0] * 1e3:.2f} / {other[0] * 1e3:.1f} ms, {own[1]:.0e} / {other[1]:.0e} m"
        lines.append(Line(f"{name} at rest, beside MuJoCo", figure, own[0] / other[0], 3.0))
    return lines
