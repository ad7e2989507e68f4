//! What holds whatever the scene.

mod common;

use common::random::rain;
use common::*;
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
    let world = fall(5, 0.01, |groups| ContactLaw::new(groups, 0.0, 0.5));
    let e = world.energy();
    assert!(e.contact_gain_j < 1e-6 * e.impact_dissipation_j, "{e:?}");
}
