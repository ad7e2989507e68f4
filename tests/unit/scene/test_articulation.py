"""Joints and contacts in one scene."""

import math

import pytest

from percuss.scene import (
    Body,
    Contactor,
    HalfSpace,
    Joint,
    JointFriction,
    JointProbe,
    Law,
    Limit,
    PairProbe,
    Scene,
    Settings,
    Sphere,
)

G = 9.80665
ROUND = [(0.02, 0, 0), (0, 0.02, 0), (0, 0, 0.02)]


def test_a_pendulum_falls_on_the_ground() -> None:
    """A compound pendulum of 2 kg at 1 m falls through 0.5 m: w = sqrt(2 m g h / I), and the ground takes it all."""
    ground = Body("ground", [Contactor(HalfSpace(), "ground")], fixed=True, position_m=(0, 0, -0.5))
    bob = Body("bob", [Contactor(Sphere(0.1), "bob")], mass_kg=2.0, inertia_kg_m2=ROUND, position_m=(1, 0, 0.1))
    pin = Joint("pin", ["bob"], kind="revolute", point_m=(0, 0, 0.1), axis=(0, 1, 0))
    scene = Scene(
        [ground, bob],
        [Law(("ground", "bob"))],
        joints=[pin],
        probes=[JointProbe("pin", "pin"), PairProbe("blow", ("ground", "bob"))],
    )
    result = scene.run(1.0, Settings(dt_s=1e-4, tolerance=1e-10))
    fallen = 2.0 * G * 0.5
    assert result.account_j["impact_dissipation_j"] == pytest.approx(fallen, rel=1e-3)
    assert abs(result.account_j["closing_error_j"]) < 1e-9
    assert result.worst_drift < 1e-12
    rate = math.sqrt(2 * fallen / 2.02)
    assert max(result.probes["pin"]["angle_rate_rad_per_s"]) == pytest.approx(rate, rel=1e-3)
    blow = max(result.probes["blow"]["normal_force_n"]) * 1e-4
    assert blow == pytest.approx(2.02 * rate / math.cos(math.asin(0.5)), rel=1e-3)


def test_limits_and_friction_hold() -> None:
    """A pin rubs with mu r of its load; an arm rests on its stop."""
    wheel = Body("wheel", mass_kg=3.0, inertia_kg_m2=ROUND, angular_velocity_rad_per_s=(0, 5, 0))
    axle = Joint(
        "axle",
        ["wheel"],
        kind="revolute",
        point_m=(0, 0, 0),
        axis=(0, 1, 0),
        friction=[JointFriction(per_reaction=0.002)],
    )
    arm = Body("arm", mass_kg=1.0, inertia_kg_m2=ROUND, position_m=(1, 2, 0))
    stop = Joint(
        "stop", ["arm"], kind="revolute", point_m=(0, 2, 0), axis=(0, 1, 0), limits=[Limit(low=-0.1, high=0.2)]
    )
    probes = [JointProbe("axle", "axle"), JointProbe("stop", "stop")]
    result = Scene([wheel, arm], joints=[axle, stop], probes=probes).run(1.0, Settings(dt_s=1e-3))
    rate = result.probes["axle"]["angle_rate_rad_per_s"][-1]
    assert rate == pytest.approx(5 - 0.002 * 3.0 * G / 0.02, rel=1e-6)
    assert result.probes["stop"]["angle_rad"][-1] == pytest.approx(0.2, abs=3e-3)
    assert result.probes["stop"]["ty_n_m"][-1] == pytest.approx(-G * math.cos(0.2), rel=1e-3)
