"""Films: bodies where the run says."""

from __future__ import annotations

import numpy as np
import pytest

from percuss.scene import Body, Box, Contactor, Cylinder, HalfSpace, Law, Record, Scene, Settings
from percuss.scene.filming import film_of

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
