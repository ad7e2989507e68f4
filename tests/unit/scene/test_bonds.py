"""Bonds between bodies of a scene: what they bear, what is left of them, and bodies cut into bonded parts."""

from __future__ import annotations

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.scene import Body, Bond, Box, Contactor, HalfSpace, Law, Load, Scene, Settings, cut, shatter
from percuss.scene.cutting import volume

SIDE_M, TENSION_PA, SHEAR_PA = 0.2, 2e4, 3e4


def hung(force_n: tuple[float, float, float], **energies: float) -> Scene:
    """A cube glued below a fixed one, pulled at the glue."""
    shape = Box((SIDE_M, SIDE_M, SIDE_M))
    above = Body("above", [Contactor(shape, "held")], fixed=True, position_m=(0, 0, SIDE_M / 2))
    below = Body("below", [Contactor(shape, "hung")], mass_kg=5.0, position_m=(0, 0, -SIDE_M / 2))
    return Scene(
        [above, below],
        [Law(("held", "hung"), friction=0.3)],
        loads=[Load("below", force_n, point_m=(0, 0, SIDE_M / 2))],
        gravity_m_per_s2=(0, 0, 0),
        bonds=[Bond("glue", TENSION_PA, SHEAR_PA, bodies=("above", "below"), **energies)],
    )


@pytest.mark.parametrize(("direction", "strength_pa"), [((0, 0, -1), TENSION_PA), ((1, 0, 0), SHEAR_PA)])
def test_it_bears_its_strength(direction: tuple[float, float, float], strength_pa: float) -> None:
    limit = strength_pa * SIDE_M**2
    for share, breaks in [(0.99, False), (1.01, True)]:
        result = hung(tuple(share * limit * x for x in direction)).run(0.05, Settings(1e-3))
        glue = result.bonds["glue"]
        assert glue.area_m2 == pytest.approx(SIDE_M**2)
        assert glue.broken_m2 == pytest.approx(SIDE_M**2 if breaks else 0.0)
        assert glue.damage == pytest.approx(1.0 if breaks else 0.0)


def test_breaking_takes_the_energy_given() -> None:
    energy = 5.0
    scene = hung((0, 0, -2 * TENSION_PA * SIDE_M**2), tension_j_per_m2=energy, shear_j_per_m2=energy)
    result = scene.run(0.02, Settings(1e-5))
    assert result.bonds["glue"].broken_m2 == pytest.approx(SIDE_M**2)
    assert result.account_j["fracture_dissipation_j"] == pytest.approx(energy * SIDE_M**2, rel=0.01)
    assert abs(result.account_j["closing_error_j"]) < 1e-9
    assert (np.diff(result.energy["fracture_dissipation_j"]) >= -1e-12).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bodies": None}, "neither of bodies and groups"),
        ({"groups": ("held", "hung")}, "both of bodies and groups"),
        ({"bodies": ("above", "bellow")}, "names body bellow"),
        ({"bodies": None, "groups": ("held", "hang")}, "names group hang"),
        ({"bodies": ("above", "above")}, "names body above twice"),
        ({"tension_pa": -1.0}, "tension = -1 Pa, must be finite and above 0"),
        ({"shear_pa": 0.0}, "shear = 0 Pa, must be finite and above 0"),
        ({"tension_pa": float("nan")}, "tension = nan Pa"),
        ({"tension_j_per_m2": 5.0}, r"tension_energy = 5 J/m\^2 and shear_energy = 0 J/m\^2"),
        ({"refinement": 40}, "refinement is 40"),
    ],
)
def test_what_is_wrong_with_a_bond_is_said(change: dict[str, object], words: str) -> None:
    from dataclasses import replace

    scene = hung((0, 0, 0))
    scene = replace(scene, bonds=[replace(scene.bonds[0], **change)])
    with pytest.raises(InputError, match=words):
        scene.world(Settings(1e-3))


def block() -> Body:
    return Body("block", [Contactor(Box((1.0, 0.5, 0.4)), "block")], mass_kg=100.0, position_m=(0, 0, 0.2))


def parts_of(parts: list[Body]) -> list[np.ndarray]:
    return [np.array(part.contactors[0].shape.vertices_m) for part in parts]


def test_planes_cut_a_block_into_parts_that_fill_it() -> None:
    parts = cut(block(), [((0.1, 0, 0), (1, 0, 0)), ((0, 0, 0), (0.3, 1, 0.2))])
    assert [part.name for part in parts] == ["block_1", "block_2", "block_3", "block_4"]
    assert sum(part.mass_kg for part in parts) == pytest.approx(100.0)
    assert cut(block(), [((9, 0, 0), (1, 0, 0))])[0].mass_kg == pytest.approx(100.0)
    with pytest.raises(InputError, match="must have a direction"):
        cut(block(), [((0, 0, 0), (0, 0, 0))])
    with pytest.raises(InputError, match="must be finite"):
        cut(block(), [((float("nan"), 0, 0), (1, 0, 0))])
    with pytest.raises(InputError, match="seed = -1: must be from 0"):
        shatter(block(), 3, -1)


def test_parts_move_as_the_body_did() -> None:
    """A body that turns keeps its momentum, its angular momentum and its kinetic energy when it is cut."""
    spin = np.array([1.0, -2.0, 3.0])
    body = Body(**{**vars(block()), "rotation_rad": (0.3, 0.2, -0.5), "velocity_m_per_s": (1.0, 0.5, 0.0)})
    body = Body(**{**vars(body), "angular_velocity_rad_per_s": tuple(spin)})
    laws = [Law(("block", "block"))]

    def energy(bodies: list[Body]) -> float:
        far = Body("far", [Contactor(Box((1, 1, 1)), "block")], fixed=True, position_m=(9, 9, 9))
        world = Scene([far, *bodies], laws, gravity_m_per_s2=(0, 0, 0)).world(Settings(1e-3))
        return world.run(0.0).account_j["kinetic_j"]

    for parts in (cut(body, [((0.1, 0, 0), (1, 0, 0)), ((0, 0, 0), (0.3, 1, 0.2))]), shatter(body, 9, 2)):
        momentum = sum(part.mass_kg * np.array(part.velocity_m_per_s) for part in parts)
        assert momentum == pytest.approx([100.0, 50.0, 0.0])
        assert energy(parts) == pytest.approx(energy([body]))


def test_a_body_with_an_inertia_of_its_own_is_not_cut() -> None:
    body = Body(**{**vars(block()), "inertia_kg_m2": [(5, 0, 0), (0, 9, 0), (0, 0, 11)]})
    with pytest.raises(InputError, match="gives inertia_kg_m2"):
        shatter(body, 3, 1)


def test_cells_fill_the_block_and_follow_the_seed() -> None:
    parts, again, other = (shatter(block(), 12, seed) for seed in (3, 3, 4))
    assert sum(part.mass_kg for part in parts) == pytest.approx(100.0)
    for one, same in zip(parts_of(parts), parts_of(again), strict=True):
        assert (one == same).all()
    assert not all(len(a) == len(b) and (a == b).all() for a, b in zip(parts_of(parts), parts_of(other), strict=False))
    corners = np.concatenate(parts_of(parts))
    assert corners.max(axis=0) == pytest.approx([0.5, 0.25, 0.2])


def test_a_shattered_block_stands_or_falls_by_its_glue() -> None:
    ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)
    laws = [Law(("ground", "block"), friction=0.5), Law(("block", "block"), friction=0.5)]
    drop = [Body(**{**vars(part), "position_m": (0, 0, 0.3)}) for part in shatter(block(), 6, 1)]
    for strength, breaks in [(1e8, False), (1e2, True)]:
        glue = Bond("glue", strength, strength, groups=("block", "block"))
        scene = Scene([ground, *drop], laws, bonds=[glue])
        result = scene.run(0.1, Settings(5e-4))
        assert result.bonds["glue"].area_m2 > 0.1
        assert not breaks or result.account_j["closing_error_j"] < 1e-6


def test_volumes_are_those_of_solids() -> None:
    from percuss.scene.cutting import _solid

    assert volume(_solid(block())) == pytest.approx(0.2)
