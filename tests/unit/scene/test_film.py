"""Films: bodies where the run says, and files that other programs can read."""

from __future__ import annotations

import base64
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from percuss.export.player import player_page
from percuss.export.vtk import write_vtk
from percuss.scene import Body, Box, Contactor, Cylinder, HalfSpace, Law, Record, Scene, Settings
from percuss.scene.film import film_of

ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)
box = Body("box", [Contactor(Box((1.0, 2.0, 3.0)), "body")], mass_kg=5.0, position_m=(0.0, 0.0, 1.5))
drum = Body(
    "drum <&>",
    [Contactor(Cylinder(0.3, 0.4), "body", position_m=(0.0, 0.0, 0.1))],
    mass_kg=5.0,
    position_m=(4.0, 0.0, 0.8),
    rotation_rad=(0.3, 0.0, 0.0),
    velocity_m_per_s=(0.0, 1.0, 0.0),
    birth_s=0.1,
)


@pytest.fixture(scope="module")
def film():
    scene = Scene([ground, box, drum], [Law(("ground", "body"), 0.1, 0.3)])
    world = scene.world(Settings(1e-2))
    return film_of(world, world.run(0.5, Record(bodies_every=5, contacts_every=5)))


def test_frames_hold_bodies_and_contacts(film):
    np.testing.assert_allclose(film.times_s, np.arange(11) * 0.05, atol=1e-12)
    # A body is in the rows of the steps it took part in: born at 0.1 s, first seen at the end of the next step.
    assert np.isnan(film.positions_m[:3, 2]).all()
    assert not np.isnan(film.positions_m[3:]).any()
    assert [s.shape for s in film.surfaces] == ["half-space", "box", "cylinder"]
    np.testing.assert_allclose(np.ptp(film.corners_m(5, film.surfaces[1]), axis=0), (1.0, 2.0, 3.0), atol=1e-6)
    # The box stands on its four corners, which carry its weight.
    assert len(film.contacts[1].gaps_m) == 4
    assert film.contacts[1].forces_n[:, 2].sum() == pytest.approx(5 * 9.80665, rel=1e-5)
    drum_corners = film.corners_m(3, film.surfaces[2])
    start = film.positions_m[3, 2] + np.array([0.0, -np.sin(0.3), np.cos(0.3)]) * 0.1
    np.testing.assert_allclose(drum_corners.mean(axis=0), start, atol=1e-9)


def numbers(node, kind):
    data = base64.b64decode(node.text)
    (size,) = np.frombuffer(data[:8], "<u8")
    assert size == len(data) - 8
    return np.frombuffer(data[8:], kind)


def test_vtk_series(film, tmp_path):
    bodies, contacts = write_vtk(film, tmp_path / "out", "run")
    sets = ElementTree.parse(bodies).getroot().findall("Collection/DataSet")
    assert [float(item.get("timestep")) for item in sets] == film.times_s.tolist()
    for path in (bodies, contacts):
        for item in ElementTree.parse(path).getroot().findall("Collection/DataSet"):
            assert (tmp_path / "out" / item.get("file")).is_file()
    piece = ElementTree.parse(tmp_path / "out" / sets[3].get("file")).getroot().find("PolyData/Piece")
    points = numbers(piece.find("Points/DataArray"), "<f8").reshape(-1, 3)
    assert len(points) == int(piece.get("NumberOfPoints"))
    np.testing.assert_array_equal(points[4:12], film.corners_m(3, film.surfaces[1]))
    arrays = {node.get("Name"): node for node in piece.iter("DataArray")}
    offsets, corners = numbers(arrays["offsets"], "<i8"), numbers(arrays["connectivity"], "<i8")
    assert len(offsets) == int(piece.get("NumberOfPolys")) == 1 + 6 + 26  # ground, box, drum: 24 sides and two ends
    assert offsets[-1] == len(corners)
    assert corners.max() == len(points) - 1
    owner = numbers(arrays["body"], "<i4")
    assert owner.tolist() == [0] + [1] * 6 + [2] * 26
    piece = ElementTree.parse(tmp_path / "out" / "run-contacts-00001.vtp").getroot().find("PolyData/Piece")
    force = next(node for node in piece.iter("DataArray") if node.get("Name") == "force_n")
    assert force.get("NumberOfComponents") == "3"
    np.testing.assert_array_equal(numbers(force, "<f8").reshape(-1, 3), film.contacts[1].forces_n)


def test_the_page_holds_everything_and_fetches_nothing(film):
    page = player_page(film, "run </script><b>", {"mu": "0.3"})
    assert not re.search(r"(?:src|href)=(?!\"data:)", page)
    assert "http" not in page
    assert page.count("</script>") == 2
    data = json.loads(re.search(r'id="film">(.*?)</script>', page)[1])
    assert data["names"] == ["ground", "box", "drum <&>"]
    times = np.frombuffer(base64.b64decode(data["times"]), "<f4")
    np.testing.assert_allclose(times, film.times_s, atol=1e-7)
    assert data["contacts"]["ends"][-1] == sum(len(c.gaps_m) for c in film.contacts)
    # A box has twelve edges; a cylinder shows its two rims and no lines along its round side.
    edges = [len(base64.b64decode(part[0]["edges"])) // 24 for part in data["bodies"]]
    assert edges == [0, 12, 48]
