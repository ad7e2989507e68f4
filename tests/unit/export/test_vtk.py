"""VTK files: arrays where the head says, values of the film, names."""

from __future__ import annotations

import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

from percuss.export.vtk import write_vtk
from percuss.scene import Body, Box, Contactor, Cylinder, HalfSpace, Joint, Law, Record, Scene, Settings, Sphere
from percuss.scene.filming import film_of

TYPES = {"Float32": "<f4", "Int32": "<i4", "Int8": "|i1"}


@pytest.fixture(scope="module")
def film():
    bodies = [
        Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True),
        Body("box", [Contactor(Box((1.0, 2.0, 3.0)), "body")], mass_kg=5.0, position_m=(0.0, 0.0, 1.5)),
        Body("drum é", [Contactor(Cylinder(0.3, 0.4), "body")], mass_kg=5.0, position_m=(4.0, 0.0, 0.8), birth_s=0.1),
        Body("ball", [Contactor(Sphere(0.25), "body")], mass_kg=1.0, position_m=(0.0, 3.0, 0.25)),
        Body("arm", mass_kg=1.0, inertia_kg_m2=np.eye(3), centre_m=(1.0, 0, 0), position_m=(9.0, 0, 2.0)),
    ]
    joints = [Joint("pin", ["arm"], kind="revolute", point_m=(9.0, 0, 2.0), axis=(0, 1, 0))]
    world = Scene(bodies, [Law(("ground", "body"), 0.1, 0.3)], joints=joints).world(Settings(1e-2))
    return film_of(world, world.run(0.5, Record(bodies_every=5, contacts_every=5)))


def read(path):
    """The piece of a file, its arrays by name, and the names in its field data."""
    head, rest = path.read_bytes().split(b'<AppendedData encoding="raw">\n_', 1)
    root = ElementTree.fromstring(head + b"</VTKFile>")
    arrays = {}
    for node in root.iter("DataArray"):
        start = int(node.get("offset"))
        blocks, size, partial = np.frombuffer(rest, "<u8", 3, start)
        data = b""
        if blocks:
            assert (blocks, partial) == (1, 0)
            packed = int(np.frombuffer(rest, "<u8", 1, start + 24)[0])
            data = zlib.decompress(rest[start + 32 : start + 32 + packed])
            assert len(data) == size
        array = np.frombuffer(data, TYPES[node.get("type")])
        arrays[node.get("Name")] = array.reshape(-1, int(node.get("NumberOfComponents", 1))).squeeze()
    codes = bytes(int(x) for x in root.find("PolyData/FieldData/Array").text.split())
    return root.find("PolyData/Piece"), arrays, codes.decode().split("\0")[:-1]


def test_series(film, tmp_path) -> None:
    written = write_vtk(film, tmp_path / "out", "run")
    assert [path.name for path in written] == [
        f"run-{what}.pvd" for what in ("bodies", "ground", "balls", "contacts", "chains", "links")
    ]
    for path in written:
        sets = ElementTree.parse(path).getroot().findall("Collection/DataSet")
        assert [float(item.get("timestep")) for item in sets] == film.times_s.tolist()
        for item in sets:
            assert (tmp_path / "out" / item.get("file")).is_file()


def test_bodies(film, tmp_path) -> None:
    write_vtk(film, tmp_path, "run")
    piece, arrays, names = read(tmp_path / "run-bodies-00003.vtp")
    assert names == list(film.names)
    points = arrays["Points"]
    assert len(points) == int(piece.get("NumberOfPoints"))
    np.testing.assert_allclose(points[:8], film.corners_m(3, film.surfaces[1]), atol=1e-5)
    # Box, drum (24 sides and two ends), and the arm: a bar to its pin, and a lump.
    assert int(piece.get("NumberOfPolys")) == len(arrays["offsets"]) == 6 + 26 + 12
    assert arrays["offsets"][-1] == len(arrays["connectivity"])
    assert arrays["connectivity"].max() == len(points) - 1
    assert arrays["body"].tolist() == [1] * 6 + [2] * 26 + [4] * 12
    assert arrays["fixed"].tolist() == [0] * 44
    np.testing.assert_allclose(np.linalg.norm(arrays["Normals"], axis=1), 1.0, atol=0.02)
    assert sorted(map(tuple, np.abs(arrays["Normals"][:6]).round().astype(int).tolist())) == sorted(
        [(1, 0, 0), (0, 1, 0), (0, 0, 1)] * 2
    )
    # The ground, which has no end, is apart: a viewer that shows all of a file shows the bodies.
    assert read(tmp_path / "run-ground-00003.vtp")[1]["fixed"] == 1
    assert (
        np.ptp(points, axis=0).max() < 0.7 * np.ptp(read(tmp_path / "run-ground-00003.vtp")[1]["Points"], axis=0).max()
    )
    # Not there yet: nothing of the drum.
    assert 2 not in read(tmp_path / "run-bodies-00000.vtp")[1]["body"]


def test_a_name_leads_nowhere_else(film, tmp_path) -> None:
    """It is that of a study, and a ledger may be a stranger's."""
    for path in write_vtk(film, tmp_path / "out", "../../x/run"):
        assert path.parent == tmp_path / "out" and path.is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_balls_contacts_and_links(film, tmp_path) -> None:
    write_vtk(film, tmp_path, "run")
    _, balls, _ = read(tmp_path / "run-balls-00001.vtp")
    assert float(balls["diameter_m"]) == 0.5
    assert int(balls["body"]) == 3
    _, contacts, _ = read(tmp_path / "run-contacts-00001.vtp")
    np.testing.assert_allclose(contacts["force_n"], film.contacts[1].forces_n, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(contacts["bodies"], film.contacts[1].bodies)
    _, links, names = read(tmp_path / "run-links-00001.vtp")
    assert names == ["revolute pin"]
    np.testing.assert_allclose(links["Points"], [[9, 0, 2], [9, 0, 2]], atol=1e-6)


def test_pyvista_reads_it(film, tmp_path) -> None:
    pyvista = pytest.importorskip("pyvista")
    write_vtk(film, tmp_path, "run")
    bodies = pyvista.read(tmp_path / "run-bodies-00003.vtp")
    assert bodies.n_cells == 44
    assert bodies.field_data["names"].tolist() == list(film.names)
    assert re.fullmatch(r"\d+", str(bodies.cell_data["body"][0]))
    for path in tmp_path.glob("*.pvd"):
        assert pyvista.get_reader(path).time_values == pytest.approx(film.times_s.tolist())
