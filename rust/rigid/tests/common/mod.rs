//! Small scenes shared by the tests.
#![allow(dead_code)] // benchmarks use a part of it

pub mod fivebody;
pub mod linkages;
pub mod random;
pub mod walls;

use percuss_rigid::*;

/// Standard gravity, the default of scenes.
pub const G: f64 = 9.80665;

/// A scene with fixed ground (group 0, everything below the plane through the origin, tilted by `pose`).
pub fn ground(pose: Pose) -> Scene {
    let mut scene = Scene::default();
    let ground = scene.add_body(Body::fixed("ground").at(pose));
    scene.add_contactor(ground, Shape::half_space(), Pose::identity(), 0);
    scene
}

/// Adds a box of group 1.
pub fn add_box(scene: &mut Scene, sides: [f64; 3], mass: f64, pose: Pose) -> usize {
    let name = format!("box {}", scene.bodies.len());
    let body = scene.add_body(Body::dynamic(&name, Mass::Total(mass)).at(pose));
    let shape = Shape::cuboid(sides[0], sides[1], sides[2]).unwrap();
    scene.add_contactor(body, shape, Pose::identity(), 1);
    body
}

/// Adds a sphere of group 1.
pub fn add_sphere(scene: &mut Scene, radius: f64, mass: f64, position: Vec3) -> usize {
    let name = format!("sphere {}", scene.bodies.len());
    let pose = Pose::new(position, Vec3::zeros());
    let body = scene.add_body(Body::dynamic(&name, Mass::Total(mass)).at(pose));
    scene.add_contactor(body, Shape::sphere(radius).unwrap(), Pose::identity(), 1);
    body
}

/// Takes `steps` steps, all of which must meet the solver's tolerance.
pub fn advance(world: &mut World, steps: usize) {
    for _ in 0..steps {
        let report = world.step().unwrap();
        assert!(
            report.met,
            "step {}: residual {:e} with {} contacts",
            report.step, report.residual, report.contacts
        );
    }
}

/// What the energy account fails to explain, relative to the energy that moved.
pub fn closing(world: &World) -> f64 {
    let e = world.energy();
    let scale = e.kinetic_j.abs()
        + e.potential_j.abs()
        + e.impact_dissipation_j.abs()
        + e.friction_dissipation_j.abs();
    e.closing_error_j().abs() / scale
}

/// Settings with a solver tolerance at which closed forms show.
pub fn precise(dt_s: f64) -> Settings {
    Settings {
        tolerance: 1e-11,
        ..Settings::with_step(dt_s)
    }
}
