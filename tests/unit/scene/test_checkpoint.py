"""Checkpoints: a run that was killed goes on to the same bits."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.scene import (
    Body,
    Bond,
    Box,
    Checkpoint,
    Contactor,
    HalfSpace,
    Law,
    PointProbe,
    Record,
    Result,
    SampledMotion,
    Scene,
    Settings,
)

SETTINGS = Settings(1e-3)
RECORD = Record(energy_every=7, bodies_every=11, contacts_every=13)


def falling() -> Scene:
    ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)
    box = Contactor(Box((0.2, 0.2, 0.2)), "box")
    pair = [Body(f"box_{k}", [box], mass_kg=3.0, position_m=(0.05 * k, 0, 0.4 + 0.2 * k)) for k in range(2)]
    laws = [Law(("ground", "box"), friction=0.4, restitution=0.3), Law(("box", "box"), friction=0.4)]
    glue = Bond("glue", 2e3, 2e3, bodies=("box_0", "box_1"), tension_j_per_m2=1.0, shear_j_per_m2=1.0)
    return Scene([ground, *pair], laws, probes=[PointProbe("top", "box_1", every=3)], bonds=[glue])


def same(one: Result, other: Result) -> bool:
    tables = ("energy", "bodies", "contacts", "steps")
    pairs = [(getattr(one, name), getattr(other, name)) for name in tables] + [(one.probes["top"], other.probes["top"])]
    alike = all((a[column] == b[column]).all() and len(a[column]) == len(b[column]) for a, b in pairs for column in a)
    facts = ("steps_taken", "unmet_steps", "worst_residual", "deepest_overlap_m", "gain_share", "overlap_left_m")
    return alike and all(getattr(one, name) == getattr(other, name) for name in facts)


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    whole = falling().world(SETTINGS).run(0.5, RECORD)
    path = tmp_path / "run.checkpoint"
    code = (
        "import os, sys; from tests.unit.scene.test_checkpoint import *\n"
        "world = falling().world(SETTINGS)\n"
        "import percuss.scene.checkpoint as c; write, count = c._write, [0]\n"
        "def dying(*args):\n"
        "    write(*args); count[0] += 1\n"
        "    if count[0] == 3: os.kill(os.getpid(), 9)\n"
        "c._write = dying\n"
        "world.run(0.5, RECORD, checkpoint=Checkpoint(sys.argv[1], 0.06))\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert killed.returncode == -9
    assert path.exists()
    world = falling().world(SETTINGS)
    found = world.run(0.5, RECORD, checkpoint=Checkpoint(path, 0.05))
    assert same(found, whole)
    assert not path.exists(), "a run that has ended leaves none"


def test_pieces_are_the_whole(tmp_path: Path) -> None:
    whole = falling().world(SETTINGS).run(0.3, RECORD)
    found = falling().world(SETTINGS).run(0.3, RECORD, checkpoint=Checkpoint(tmp_path / "run", 0.07))
    assert same(found, whole)
    assert np.isfinite(found.energy["kinetic_j"]).all()


def test_a_file_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"something else")
    with pytest.raises(InputError, match="not a checkpoint"):
        falling().world(SETTINGS).run(0.3, checkpoint=Checkpoint(path, 0.1))
    path.unlink()
    with pytest.raises(InputError, match="at least a step"):
        falling().world(SETTINGS).run(0.3, checkpoint=Checkpoint(path, 0.0))
    import percuss.scene.checkpoint as module

    world = falling().world(SETTINGS)
    piece = world.core.run(0.1, **vars(Record()))
    module._write(path, piece, world.core.snapshot(), "other")
    other = replace(falling(), gravity_m_per_s2=(0, 0, -5.0))
    with pytest.raises(InputError, match="another scene or run"):
        other.world(SETTINGS).run(0.3, checkpoint=Checkpoint(path, 0.1))


@pytest.mark.parametrize("every_s", [0.0, -1.0, 1e-9, float("nan"), float("inf")])
def test_an_interval_that_is_none_is_refused(tmp_path: Path, every_s: float) -> None:
    with pytest.raises(InputError, match=r"every_s = .*: must be finite and at least a step"):
        falling().world(SETTINGS).run(0.1, RECORD, checkpoint=Checkpoint(tmp_path / "run", every_s))


def test_a_folder_that_is_not_there_is_refused_before_the_run(tmp_path: Path) -> None:
    world = falling().world(SETTINGS)
    with pytest.raises(InputError, match="its folder does not exist"):
        world.run(0.1, RECORD, checkpoint=Checkpoint(tmp_path / "none" / "run", 0.05))
    assert world.time_s == 0.0


def test_another_motion_is_another_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long arrays that differ in the middle: the run is stopped, the motion changed, the run taken up again."""
    import percuss.scene.checkpoint as module

    class StopError(Exception):
        pass

    def shaken(amplitude: float) -> Scene:
        times = np.linspace(0.0, 1.0, 5001)
        velocities = np.zeros((5001, 3))
        velocities[2000:3000, 0] = amplitude
        box = [Contactor(Box((0.2, 0.2, 0.2)), "box")]
        table = Body("table", box, motion=SampledMotion(times, velocities), position_m=(0, 0, -0.1))
        upper = Body("upper", box, mass_kg=3.0, position_m=(0, 0, 0.1))
        return Scene([table, upper], [Law(("box", "box"), friction=0.4)])

    def stopping(*args: object) -> None:
        write(*args)
        raise StopError

    checkpoint = Checkpoint(tmp_path / "run.checkpoint", 0.1)
    write = module._write
    with monkeypatch.context() as patch:
        patch.setattr(module, "_write", stopping)
        with pytest.raises(StopError):
            shaken(0.1).world(SETTINGS).run(0.6, checkpoint=checkpoint)
    with pytest.raises(InputError, match="another scene or run"):
        shaken(0.2).world(SETTINGS).run(0.6, checkpoint=checkpoint)
    assert shaken(0.1).world(SETTINGS).run(0.6, checkpoint=checkpoint).steps_taken == 600
