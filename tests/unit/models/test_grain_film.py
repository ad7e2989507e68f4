"""Films of grains: what is drawn is what the core computed, and drawing changes nothing of it."""

from __future__ import annotations

import numpy as np
import pytest

from percuss.models.grain_film import quaternions, unwrapped
from percuss.models.model import configure


# Walls keep grains further apart.
@pytest.fixture(scope="module", params=[("periodic", 60, 0.75), ("walls", 300, 0.9)], ids=["periodic", "walls"])
def filmed(request):
    boundary, grains, void_ratio = request.param
    settings = {"grains": grains, "strain_step": 0.01, "strain_end": 0.02, "void_ratio": void_ratio}
    settings |= {"void_ratio_tolerance": 0.05, "boundary": boundary}
    model = configure("grains", settings, {})
    point = {name: item.default for name, item in model.inputs.items()}
    point |= {"young": 1e8, "poisson": 0.3, "friction_angle": 0.4, "pressure": 1e5}
    packing = model.settled(point)[0]
    return model.film(point, 1, packing, None), model.run_from([point], [1], [packing])[0]


def test_filming_changes_no_bit(filmed) -> None:
    (film, outcome), plain = filmed
    assert outcome.values == plain.values
    assert all((outcome.curves[name] == curve).all() for name, curve in plain.curves.items())
    np.testing.assert_array_equal(film.times_s, [0.0, 0.01, 0.02])
    assert film.clock.name == "axial strain"
    assert film.positions_m.shape == (3, len(film.names), 3)


def test_forces_of_contacts_balance_and_make_the_stress(filmed) -> None:
    (film, outcome), _ = filmed
    periodic = not any((contacts.bodies < 0).any() for contacts in film.contacts)
    for frame, contacts in enumerate(film.contacts):
        assert len(contacts.gaps_m) == outcome.curves["contacts"][frame]
        on_grain = np.zeros((len(film.names), 3))
        first, second = contacts.bodies.T
        np.add.at(on_grain, first, -contacts.forces_n)
        np.add.at(on_grain, second[second >= 0], contacts.forces_n[second >= 0])
        mean = np.linalg.norm(contacts.forces_n, axis=1).mean()
        assert np.linalg.norm(on_grain, axis=1).mean() < 3e-3 * mean
        if periodic:
            arms = contacts.places_m - film.positions_m[frame, first]
            # Branches go on from the contact to the other centre.
            rest = film.radii_m[second] - (film.radii_m[first] - np.linalg.norm(arms, axis=1))
            branches = arms * (1 + rest / np.linalg.norm(arms, axis=1))[:, None]
            stress = (contacts.forces_n[:, 2] * branches[:, 2]).sum() / film.cells_m[frame].prod()
            assert stress == pytest.approx(outcome.curves["stress_zz"][frame], rel=1e-9)


def test_grains_stay_in_their_cell_and_turn(filmed) -> None:
    (film, _), _ = filmed
    jump = np.abs(np.diff(film.positions_m / film.cells_m[:, None, :], axis=0)).max()
    assert jump < 0.5
    assert np.abs(film.rotations[-1, :, 1:]).max() > 1e-4
    np.testing.assert_allclose(np.linalg.norm(film.rotations, axis=2), 1.0)


def test_rotation_vectors_and_places_across_the_boundary() -> None:
    turned = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, np.pi / 2]])
    np.testing.assert_allclose(quaternions(turned), [[1, 0, 0, 0], [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]], atol=1e-15)
    places = np.array([[[0.9, 0.5, 0.5]], [[0.1, 0.5, 0.5]]])
    np.testing.assert_allclose(unwrapped(places, np.ones((2, 3)))[1, 0], [1.1, 0.5, 0.5])
