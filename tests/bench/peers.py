"""Beside MuJoCo (`pip install mujoco`) and rapier (`rapier/`, built by cargo): 100 towers of ten boxes and a wall of
50 x 20 at rest, steps of 2 ms, all cores.

The ratio is our time over theirs; the figure has both times, both overlaps and how far a box has moved in both, since a
faster engine whose boxes sink or slide away is none. A peer that is not there is left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from tests.bench.measure import Line

from percuss.scene import Body, Box, Contactor, HalfSpace, Law, Record, Scene, Settings

STEP_S = 2e-3
WARM_UP = 10
THREADS = 2
Boxes = list[tuple[tuple[float, float, float], tuple[float, float, float]]]


def towers() -> Boxes:
    """Sizes and places."""
    return [((1.0, 1.0, 1.0), (3.0 * (k % 10), 3.0 * (k // 10), row + 0.5)) for k in range(100) for row in range(10)]


def wall() -> Boxes:
    """In running bond."""
    return [((2.0, 1.0, 1.0), (2.0 * k + row % 2, 0.0, row + 0.5)) for row in range(20) for k in range(50)]


class Rest(NamedTuple):
    """What a step takes, the deepest overlap, and how far any box has moved."""

    step_s: float
    overlap_m: float
    moved_m: float


def ours(boxes: Boxes, steps: int) -> Rest:
    """With a tolerance of 1e-6."""
    ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)
    bodies = [
        Body(f"box_{k}", [Contactor(Box(size), "box")], density_kg_per_m3=1000.0, position_m=at)
        for k, (size, at) in enumerate(boxes)
    ]
    laws = [Law(("ground", "box"), friction=0.5), Law(("box", "box"), friction=0.5)]
    world = Scene([ground, *bodies], laws).world(Settings(STEP_S, threads=THREADS))
    record = Record(energy_every=0, steps_every=0)
    world.run(WARM_UP * STEP_S, record)
    start = perf_counter()
    result = world.run(steps * STEP_S, record)
    took = (perf_counter() - start) / steps
    return Rest(took, result.deepest_overlap_m, _moved(boxes, [world.position_m(body.name) for body in bodies]))


def mujoco(boxes: Boxes, steps: int) -> Rest | None:
    """The same by MuJoCo with its defaults and pyramidal cones; a tenth of the steps, so slow it is."""
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
    mujoco.mj_step(model, data, WARM_UP)
    start, steps = perf_counter(), max(2, steps // 10)
    mujoco.mj_step(model, data, steps)
    took = (perf_counter() - start) / steps
    return Rest(took, max(0.0, -float(data.contact.dist.min())) if data.ncon else 0.0, _moved(boxes, data.xpos[1:]))


def rapier(boxes: Boxes, steps: int) -> Rest | None:
    """The same by rapier with its defaults, in single precision; no box may fall asleep."""
    if not (cargo := shutil.which("cargo")):
        return None
    source = Path(__file__).parent / "rapier"
    target = Path(__file__).parents[2] / "target" / "rapier"
    call = [cargo, "run", "--release", "--quiet", "--locked", "--manifest-path", str(source / "Cargo.toml"), "--"]
    done = subprocess.run(
        [*call, str(STEP_S), str(THREADS), str(steps)],
        input="\n".join(" ".join(map(str, (*size, *at))) for size, at in boxes),
        env={**os.environ, "CARGO_TARGET_DIR": str(target)},
        capture_output=True,
        text=True,
        check=False,
    )
    return None if done.returncode else Rest(*map(float, done.stdout.split()))


def _moved(boxes: Boxes, now: object) -> float:
    return float(np.linalg.norm(np.asarray(now) - [at for _, at in boxes], axis=1).max())


# With the most of its time that we may take: rapier, in single precision, may be faster.
PEERS: dict[str, tuple[Callable[[Boxes, int], Rest | None], float]] = {"MuJoCo": (mujoco, 1.0), "rapier": (rapier, 5.0)}


def bench() -> list[Line]:
    """Both scenes, side by side."""
    lines = []
    for name, boxes, steps in (("100 towers of 10", towers(), 100), ("wall of 50 x 20", wall(), 20)):
        own = None
        for peer, (measure, most) in PEERS.items():
            if (other := measure(boxes, steps)) is None:
                continue
            own = own or ours(boxes, steps)
            times = f"{own.step_s * 1e3:.2f} / {other.step_s * 1e3:.1f} ms"
            figure = f"{times}, {own.overlap_m:.0e} / {other.overlap_m:.0e} m"
            lines.append(Line(f"{name} at rest, beside {peer}", figure, own.step_s / other.step_s, most))
            moved = f"{own.moved_m:.0e} / {other.moved_m:.0e} m"
            lines.append(Line("  moved, over what moved there", moved, own.moved_m / other.moved_m, 1.0))
    return lines
