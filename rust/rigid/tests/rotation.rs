//! Free and spinning bodies.

use crate::common::*;
use percuss_rigid::*;

/// A box of three different sides, free, turning about an axis near its unstable one.
fn tumbling(dt: f64) -> World {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::zeros(),
        ..Scene::default()
    };
    let pose = Pose::new(Vec3::zeros(), Vec3::new(0.4, -0.3, 0.2));
    let body = add_box(&mut scene, [1.0, 0.6, 0.3], 7.0, pose);
    let spin = pose.rotation * Vec3::new(0.05, 6.0, 0.02);
    scene.bodies[body].angular_velocity_rad_per_s = spin;
    scene.add_law(ContactLaw::new((1, 1), 0.0, 0.0));
    World::new(scene, Settings::with_step(dt)).unwrap()
}

fn angular_momentum(world: &World) -> Vec3 {
    let (a, b, c) = (1.0_f64, 0.6_f64, 0.3_f64);
    let inertia = Vec3::new(b * b + c * c, a * a + c * c, a * a + b * b) * (7.0 / 12.0);
    let state = world.state(0);
    state.rotation * inertia.component_mul(&state.spin)
}

#[test]
fn a_free_asymmetric_body_keeps_energy_and_angular_momentum() {
    let mut world = tumbling(1e-3);
    let (energy, momentum) = (world.energy().kinetic_j, angular_momentum(&world));
    let mut flipped = false;
    for _ in 0..10_000 {
        world.step().unwrap();
        flipped |= world.state(0).spin.y < -5.0;
        assert!((world.energy().kinetic_j / energy - 1.0).abs() < 1e-12);
        let off = (angular_momentum(&world) - momentum).norm() / momentum.norm();
        assert!(off < 1e-12, "{off:e}");
    }
    assert!(flipped, "the unstable axis never turned over");
}

#[test]
fn free_rotation_converges_to_second_order() {
    let attitude = |dt: f64| {
        let mut world = tumbling(dt);
        for _ in 0..(1.0 / dt).round() as usize {
            world.step().unwrap();
        }
        world.state(0).rotation
    };
    let reference = attitude(1e-5);
    let error = |dt: f64| attitude(dt).angle_to(&reference);
    let (coarse, fine) = (error(4e-3), error(1e-3));
    let order = (coarse / fine).log2() / 2.0;
    assert!(
        (order - 2.0).abs() < 0.1,
        "order {order}: {coarse:e}, {fine:e}"
    );
}

#[test]
fn a_top_precesses_steadily() {
    // On smooth ground the centre of mass stays put, the ground carries the weight, and steady precession W at
    // tilt t obeys W (I3 w3 - I1 W cos t) = m g l, I1 about the centre of mass.
    let (mass, length, tip) = (0.5, 0.05, 0.002);
    let (across, along) = (2e-4, 1.5e-4);
    let tilt = 0.4_f64;
    let precession = 5.0;
    let spin = (mass * G * length / precession + across * precession * tilt.cos()) / along;
    let mut scene = ground(Pose::identity());
    let turn = Vec3::new(0.0, tilt, 0.0);
    let height = length * tilt.cos() + tip;
    let pose = Pose::new(Vec3::new(0.0, 0.0, height), turn);
    let axis = pose.rotation * Vec3::z();
    let sideways = pose.rotation * Vec3::x();
    // w = spin e3 + the part of the precession across the axis.
    let turning = axis * spin + sideways * Vec3::z().dot(&sideways) * precession;
    let properties = MassProperties {
        mass_kg: mass,
        centre_m: Vec3::zeros(),
        inertia_kg_m2: Mat3::from_diagonal(&Vec3::new(across, across, along)),
    };
    let top = scene.add_body(
        Body::dynamic("top", Mass::Given(properties))
            .at(pose)
            .spinning(turning),
    );
    scene.add_contactor(
        top,
        Shape::sphere(tip).unwrap(),
        Pose::translation(0.0, 0.0, -length),
        1,
    );
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.0));
    let mut world = World::new(scene, precise(1e-4)).unwrap();
    let (mut angle, mut last) = (0.0, 0.0);
    for _ in 0..20_000 {
        advance(&mut world, 1);
        let axis = world.state(top).rotation * Vec3::z();
        let now = axis.y.atan2(axis.x);
        let turn = (now - last + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU);
        angle += turn - std::f64::consts::PI;
        last = now;
        assert!(
            (axis.z.acos() - tilt).abs() < 2e-3,
            "tilt {}",
            axis.z.acos()
        );
    }
    assert!(
        (angle / (precession * 2.0) - 1.0).abs() < 2e-3,
        "turned by {angle}"
    );
    assert!(closing(&world) < 1e-11, "{:e}", closing(&world));
    // Contact is made anew in every step against the acceleration a = 9 m/s2 of the tip in free motion, which
    // takes h/2 m g a = 2.3 mW: of first order, as the scheme.
    let lost = world.energy().impact_dissipation_j;
    assert!((lost / 2.0 - 2.3e-3).abs() < 2e-4, "lost {lost} J");
}
