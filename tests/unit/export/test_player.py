"""The page that plays a film: it holds what the film holds, small, and fetches nothing."""

from __future__ import annotations

import base64
import json
import re
import zlib

import numpy as np
import pytest

from percuss.export.player import Curve, Shown, player_page
from percuss.export.player.contents import bounds_of
from percuss.export.player.meshes import ball, coarser, mesh_of, meshes_of, round_m
from percuss.models.model import configure
from percuss.scene import Body, Box, Contactor, Cylinder, HalfSpace, Joint, Law, Record, Scene, Settings, Sphere, Spring
from percuss.scene.film import Surface
from percuss.scene.filming import film_of

ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True)


def contents(page):
    """Head and arrays of a page, decoded as its script does."""
    data = zlib.decompress(base64.b64decode(re.search(r'id="film">(.*?)</script>', page)[1]))
    size = int.from_bytes(data[:4], "little")
    head, data = json.loads(data[4 : 4 + size]), data[4 + size :]

    def array(name):
        kind, start, count, rows = head["arrays"][name]
        if kind != "d2":
            return np.frombuffer(data, f"<{kind}", count, start)
        planes = np.frombuffer(data, "u1", 2 * rows * count, start).astype(int)
        coded = (planes[: rows * count] << 8 | planes[rows * count :]).reshape(rows, count)
        return np.cumsum((coded >> 1) ^ -(coded & 1), axis=1) % 65536

    return head["films"], array


def positions_in(film, array):
    levels = array(film["positions"])
    values = array(film["low"])[:, None] + array(film["step"])[:, None] * levels
    return values.reshape(-1, 3, levels.shape[1]).transpose(2, 0, 1)


@pytest.fixture(scope="module")
def thrown():
    blocks = [
        Body(f"block {k}", [Contactor(Box((1.0, 1.0, 1.0)), "body")], mass_kg=5.0, position_m=(2.0 * k, 0.0, 0.5))
        for k in range(3)
    ]
    drum = Body("drum", [Contactor(Cylinder(0.3, 0.4), "body")], mass_kg=5.0, position_m=(-2.0, 0.0, 0.8), birth_s=0.1)
    ball_ = Body(
        "ball <&>",
        [Contactor(Sphere(0.25), "body")],
        mass_kg=1.0,
        position_m=(0.0, 3.0, 0.25),
        velocity_m_per_s=(1.0, 0, 0),
    )
    world = Scene([ground, *blocks, drum, ball_], [Law(("ground", "body"), 0.1, 0.3)]).world(Settings(1e-2))
    return film_of(world, world.run(0.5, Record(bodies_every=5, contacts_every=5)))


def test_the_page_holds_everything_and_fetches_nothing(thrown) -> None:
    curve = Curve("height [m]", np.array([0.0, 0.5]), np.array([1.0, 2.0]))
    page = player_page([Shown(thrown, "run </script><b>", {"mu": "0.3 m"}, [curve])])
    assert not re.search(r"(?:src|href)=(?!\"data:)", page)
    assert "http" not in page
    assert page.count("</script>") == 2
    (film,), array = contents(page)
    assert film["names"] == list(thrown.names)
    assert film["facts"] == {"mu": "0.3 m"}
    np.testing.assert_allclose(array(film["times"]), thrown.times_s, atol=1e-7)
    np.testing.assert_allclose(array(film["curves"][0]["values"]), [1, 2])
    # Places to a millionth of the scene, rotations to 1e-4, from the first frame of each body on.
    there = ~np.isnan(thrown.positions_m)
    assert array(film["first"]).tolist() == [0, 0, 0, 0, 3, 0]
    assert np.abs(positions_in(film, array) - thrown.positions_m)[there].max() < 1e-5
    turns = (array(film["turns"]) - 32768) / 32767
    turns = turns.reshape(-1, 4, turns.shape[1]).transpose(2, 0, 1)
    same = np.abs((turns * thrown.rotations).sum(axis=2))
    np.testing.assert_allclose(same[~np.isnan(same)], 1.0, atol=1e-4)
    # Forces: by the cube root of each component.
    ends = array(film["contacts"]["ends"])
    bearing = [np.abs(c.forces_n).max(axis=1) > 0 for c in thrown.contacts]
    assert ends[-1] == sum(map(sum, bearing))
    forces = film["contacts"]["strongest"] * ((array(film["contacts"]["forces"]) - 32768) / 32767) ** 3
    np.testing.assert_allclose(
        forces.T[: ends[0]], thrown.contacts[0].forces_n[bearing[0]], atol=2e-4 * np.abs(forces).max()
    )
    pairs = array(film["contacts"]["bodies"]).reshape(2, -1).astype(int) - 1
    assert (pairs.T[: ends[0]] == thrown.contacts[0].bodies[bearing[0]]).all()


def test_what_looks_the_same_is_stored_once(thrown) -> None:
    (film,), array = contents(player_page([Shown(thrown, "run")]))
    # Ground, one box for three blocks, the drum; the ball is a form that every page has.
    assert [look["unbounded"] for look in film["looks"]] == [True, False, False]
    assert film["shows"] == [[0, 0], [1, 1], [1, 2], [1, 3], [2, 4]]
    assert film["radii"] == [None, None, None, None, None, 0.25]
    # A box has twelve edges; a cylinder shows its two rims and no lines along its round side.
    edges = [[len(array(mesh["edges"])) // 2 for mesh in look["levels"]] for look in film["looks"]]
    # Seen from afar the rims have 12 sides, 6 from farther away, and no line where it would hide the rest.
    assert edges == [[0], [12], [48, 24, 12, 0]]


def test_rounds_far_away_have_fewer_sides_and_the_same_size(thrown) -> None:
    drum = [surface for surface in thrown.surfaces if surface.shape == "cylinder"]
    fine, *coarse = meshes_of(drum)
    for mesh, sides in zip(coarse, (12, 6, 4), strict=True):
        assert mesh.closed
        # Two rims as fans of sides - 2 triangles, and two triangles for each side between them.
        assert len(mesh.triangles) == 2 * (sides - 2) + 2 * sides
        widths = np.ptp(mesh.places, axis=0), np.ptp(fine.places, axis=0)
        np.testing.assert_allclose(*widths, rtol=0.14)
        np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0)
    assert round_m(drum) == pytest.approx(np.ptp(fine.places, axis=0).max(), rel=1e-9)
    assert [coarser(surface, 12) for surface in thrown.surfaces[:2]] == list(thrown.surfaces[:2])


def test_two_runs_share_a_page(thrown) -> None:
    films, array = contents(player_page([Shown(thrown, "one"), Shown(thrown, "two")]))
    assert [film["title"] for film in films] == ["one", "two"]
    np.testing.assert_array_equal(array(films[0]["positions"]), array(films[1]["positions"]))


def test_the_inside_of_a_body_comes_last() -> None:
    corners, loops = ball(1)
    outside = Surface("polyhedron", 0, corners, loops)
    inside = Surface("polyhedron", 0, 0.5 * corners, loops)
    poking = Surface("polyhedron", 0, 0.5 * corners + [0.8, 0, 0], loops)
    mesh = mesh_of([inside, outside, poking])
    assert mesh.outer == (160, 0)
    assert len(mesh.triangles) == 240
    assert mesh.closed
    # A round surface is shaded as one: a corner is stored once.
    assert len(mesh.places) == 3 * 42
    first = mesh.places[mesh.triangles[:80].ravel()]
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0)
    assert not mesh_of([Surface("mesh", 0, corners, loops[:-1])]).closed


def test_bodies_without_contactors_and_their_joints_are_drawn() -> None:
    crank = Body("crank", mass_kg=1.0, inertia_kg_m2=np.eye(3) * 0.1, centre_m=(0.5, 0, 0))
    lone = Body("lone", mass_kg=1.0, inertia_kg_m2=np.eye(3), position_m=(0, 0, 2))
    joints = [Joint("pin", ["crank"], kind="revolute", point_m=(0, 0, 0), axis=(0, 1, 0))]
    springs = [Spring("hold", ["crank", "lone"], points_m=[(1, 0, 0), (0, 0, 0)], stiffness=10.0)]
    world = Scene([crank, lone], joints=joints, elements=springs).world(Settings(1e-2))
    film = film_of(world, world.run(0.1, Record(bodies_every=1, contacts_every=1)))
    assert {surface.body for surface in film.surfaces} == {0, 1}
    assert [(c.kind, c.bodies) for c in film.connections] == [("revolute", (-1, 0)), ("spring", (0, 1))]
    np.testing.assert_allclose(film.connections[0].axis, (0, 1, 0), atol=1e-12)
    bars = [surface for surface in film.surfaces if surface.shape == "bar"]
    assert len(bars) == 2  # from the centre of mass of the crank to its pin and to the spring
    player_page([Shown(film, "linkage")])


def test_oscillators_are_storeys_with_their_gaps() -> None:
    settings = {
        "duration": "1 s",
        "sampling": "10 ms",
        "masses": [{"name": n, "mass": "1 kg"} for n in ("a1", "a2", "b1")],
        "springs": [
            {"between": ["base", "a1"], "stiffness": "100 N/m", "name": "1"},
            {"between": ["a1", "a2"], "stiffness": "100 N/m", "name": "2"},
            {"between": ["base", "b1"], "stiffness": "300 N/m", "name": "3"},
        ],
        "contacts": [
            {"between": ["a1", "b1"], "name": "mid", "gap": "20 mm"},
            {"between": ["b1", "base"], "name": "wall", "gap": "50 mm"},
        ],
    }
    model = configure("oscillators", settings, {})
    point = {name: item.default for name, item in model.inputs.items()}
    point |= {"law": "rigid", "restitution": 0.5, "velocity_a1": 1.0}
    film, outcome = model.film(point, 1, None, None)
    assert film.names == ("base", "a1", "a2", "b1", "stop of wall")
    low, high = bounds_of(film)
    assert low[2] == pytest.approx(0.0), "columns are in the picture down to the ground"
    assert high[2] > film.positions_m[0, 2, 2]
    a1, a2, b1, stop = (film.positions_m[0, k] for k in (1, 2, 3, 4))
    assert a2[2] == pytest.approx(2 * a1[2])
    assert a2[0] == pytest.approx(a1[0])
    widths = {s.body: np.ptp(s.corners_m[:, 0]) for s in film.surfaces}
    assert b1[0] - widths[3] / 2 - (a1[0] + widths[1] / 2) == pytest.approx(0.02)
    assert stop[0] - widths[4] / 2 - (b1[0] + widths[3] / 2) == pytest.approx(0.05)
    np.testing.assert_allclose(film.positions_m[:, 1, 0] - a1[0], outcome.curves["ua1"] - outcome.curves["ua1"][0])
    # Gaps on the picture are the gaps of the run.
    gap = film.positions_m[:, 3, 0] - widths[3] / 2 - film.positions_m[:, 1, 0] - widths[1] / 2
    np.testing.assert_allclose(gap, outcome.curves["gap_mid"], atol=1e-12)
