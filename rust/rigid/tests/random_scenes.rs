//! What holds whatever the scene.

use crate::common::random::{Random, rain};
use crate::common::*;
use percuss_rigid::*;

/// 100 mixed solids falling for 2 s. Nothing becomes NaN, nothing falls through the ground, and the mechanical
/// energy never exceeds what it was.
fn fall(seed: u64, look_ahead_m: f64, law: impl Fn((u16, u16)) -> ContactLaw) -> World {
    let settings = Settings {
        tolerance: 1e-4,
        max_iterations: 100,
        max_factorisations: 0,
        look_ahead_m,
        ..Settings::with_step(2e-3)
    };
    let mut world = World::new(rain(seed, 5, 4, law), settings).unwrap();
    let start = world.energy().mechanical_j();
    for _ in 0..1000 {
        world.step().unwrap();
        assert!(world.energy().mechanical_j() < start * (1.0 + 1e-12));
    }
    for body in 1..=100 {
        // The smallest solid reaches 0.1 m from its centre; an impact at 8 m/s leaves an overlap up to 8 mm.
        let z = world.state(body).position.z;
        assert!(
            z > 0.05 && z < 5.0,
            "{} at z = {z}",
            world.scene().bodies[body].name
        );
    }
    assert!(closing(&world) < 1e-11, "{:e}", closing(&world));
    world
}

#[test]
fn random_scenes_without_restitution_settle() {
    for seed in [1, 2] {
        let world = fall(seed, 0.0, |groups| ContactLaw::new(groups, 0.0, 0.5));
        // What is left rolls.
        let e = world.energy();
        assert!(e.kinetic_j < 0.2 * e.impact_dissipation_j, "{e:?}");
    }
}

#[test]
fn random_scenes_under_fremonds_law_never_gain() {
    let world = fall(3, 0.0, |groups| ContactLaw::fremond(groups, 0.6, 0.4));
    let e = world.energy();
    assert!(e.contact_gain_j < 1e-6 * e.impact_dissipation_j, "{e:?}");
}

#[test]
fn random_scenes_with_restitution_and_friction_keep_count() {
    fall(4, 0.0, |groups| ContactLaw::new(groups, 0.4, 0.6));
}

#[test]
fn random_scenes_that_look_ahead_never_gain() {
    let world = fall(5, 0.01, |groups| ContactLaw::fremond(groups, 0.0, 0.5));
    let e = world.energy();
    assert!(e.contact_gain_j < 1e-6 * e.impact_dissipation_j, "{e:?}");
}

/// Under Newton's law the friction that keeps a rolling body from sliding works a little, either way, as its contact moves on
/// within a step: 1e-5 of what impacts take.
#[test]
fn rolling_gives_little_energy_under_newtons_law() {
    let world = fall(5, 0.01, |groups| ContactLaw::new(groups, 0.0, 0.5));
    let e = world.energy();
    assert!(e.contact_gain_j < 5e-5 * e.impact_dissipation_j, "{e:?}");
}

/// On rough ground of triangles steps at impact overlap by up to 16 mm, at corners, rims, ridges, peaks and hollows alike.
#[test]
fn random_scenes_on_rough_ground_never_fall_through() {
    const SIDE: usize = 17;
    const SPACING_M: f64 = 0.5;
    for (seed, rough) in [(1, 0.05), (3, 0.3)] {
        let mut random = Random(seed);
        let heights: Vec<f64> = (0..SIDE * SIDE)
            .map(|k| match (k % SIDE, k / SIDE) {
                // A rim that keeps them in.
                (0 | 16, _) | (_, 0 | 16) => 3.0,
                _ => -0.4 + random.between(-rough, rough),
            })
            .collect();
        let mut scene = rain(seed, 5, 4, |groups| ContactLaw::new(groups, 0.0, 0.5));
        scene.contactors[0].shape =
            Shape::height_field(SIDE, SIDE, [SPACING_M; 2], &heights).unwrap();
        scene.contactors[0].pose = Pose::translation(-2.0, -2.0, 0.0);
        let settings = Settings {
            tolerance: 1e-4,
            max_iterations: 100,
            max_factorisations: 0,
            ..Settings::with_step(2e-3)
        };
        let mut world = World::new(scene, settings).unwrap();
        let start = world.energy().mechanical_j();
        for _ in 0..1500 {
            world.step().unwrap();
            assert!(world.energy().mechanical_j() < start * (1.0 + 1e-12));
        }
        for body in 1..=100 {
            let at = world.state(body).position;
            let [i, j] = [at.x, at.y].map(|x| ((x + 2.0) / SPACING_M) as usize);
            let lowest = [0, 1, SIDE, SIDE + 1]
                .map(|next| heights[j * SIDE + i + next])
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            assert!(
                at.z > lowest,
                "{} of seed {seed} at {at:?}",
                world.scene().bodies[body].name
            );
        }
    }
}
