"""Bonds and cuts of a scene in a study file: inputs, quantities, and every fault in one sentence."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from percuss.models.model import configure
from percuss.settings import SettingsError

GROUND = {"name": "ground", "fixed": True, "contactors": [{"shape": "half-space", "group": "ground"}]}
BEAM: dict[str, Any] = {
    "name": "beam",
    "density": "2000 kg/m^3",
    "position": [0, 0, "0.1 m"],
    "contactors": [{"shape": "box", "size": ["1 m", "0.2 m", "0.2 m"], "group": "beam"}],
    "cut": {"by": "planes", "points": [["0.1 m", 0, 0]], "normals": [[1, 0, 0]]},
}
TABLE: dict[str, Any] = {
    "duration": "50 ms",
    "step": "0.2 ms",
    "bodies": [GROUND, BEAM],
    "laws": [{"groups": ["ground", "beam"], "friction": 0.5}, {"groups": ["beam", "beam"], "friction": 0.5}],
    "bonds": [{"name": "glue", "groups": ["beam", "beam"], "tension": "$strength", "shear": "2 * $strength"}],
    # what pulls the halves apart, at the middle of the glue
    "loads": [
        {"body": "beam_1", "force": ["-$pull", 0, 0], "point": ["0.1 m", 0, 0]},
        {"body": "beam_2", "force": ["$pull", 0, 0], "point": ["0.1 m", 0, 0]},
    ],
}
AREA_M2 = 0.04


def changed(**changes: Any) -> dict[str, Any]:
    table = copy.deepcopy(TABLE)
    for path, value in changes.items():
        *way, last = (int(key) if key.isdigit() else key for key in path.split("__"))
        place = table
        for key in way:
            place = place[key]
        place[last] = value
    return table


def test_a_cut_beam_breaks_at_its_strength() -> None:
    model = configure("scene", TABLE, {})
    assert set(model.inputs) == {"strength", "pull"}
    assert model.quantities["fracture_dissipation"].unit == "J"
    assert model.quantities["broken_glue"].unit == "m^2"
    points = [{"strength": 1e5, "pull": share * 1e5 * AREA_M2} for share in (0.95, 1.3)]
    held, broken = model.run(points, [0, 0])
    assert held.values["broken_glue"] == 0.0
    assert broken.values["broken_glue"] == pytest.approx(AREA_M2)


def test_energies_are_spent() -> None:
    glue = TABLE["bonds"][0] | {"tension_energy": "5 J/m^2", "shear_energy": "5 J/m^2"}
    table = changed(bonds=[glue], step="0.02 ms", laws__0__friction=0.0)
    (done,) = configure("scene", table, {}).run([{"strength": 1e5, "pull": 2e4}], [0])
    assert done.values["broken_glue"] == pytest.approx(AREA_M2)
    assert done.curves["fracture_dissipation"][-1] == pytest.approx(5 * AREA_M2, rel=0.02)


def test_cells_of_a_seed() -> None:
    cut = {"by": "voronoi", "pieces": 5, "seed": 7}
    model = configure("scene", changed(bodies__1__cut=cut, loads=[]), {})
    names = [body.name for body in model.experiment({"strength": 1e5}).scene.bodies]
    assert names == ["ground", *(f"beam_{k}" for k in range(1, 6))]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bonds__0__groups": ["beam", "bean"]}, "names group bean"),
        ({"bonds__0__tension": "3 m"}, "bonds"),
        ({"bonds__0__refinement": 99}, "refinement"),
        ({"bodies__1__cut": {"by": "saw"}}, "not known"),
        ({"bodies__1__cut__normals": [[1, 0, 0], [0, 1, 0]]}, "as many normals as points"),
        ({"bodies__1__cut__normals": [[0, 0, 0]]}, "must have a direction"),
        ({"bodies__0__cut": {"by": "voronoi", "pieces": 2, "seed": 1}}, "one box or polyhedron"),
    ],
)
def test_faults_are_sentences(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        configure("scene", changed(**changes), {})
    assert any(words in f"{key} {message}" for key, message in caught.value.faults), caught.value.faults
