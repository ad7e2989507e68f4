//! Steps that look ahead: bodies end at touch, and what slides around a hole does not sink into its wall.

use crate::common::*;
use percuss_rigid::*;

const STEP_S: f64 = 2.5e-4;

fn settings(look_ahead_m: f64) -> Settings {
    Settings {
        look_ahead_m,
        ..precise(STEP_S)
    }
}

/// A bar of a connector in a disk fixed in space, without friction and gravity; it touches at x and leaves along y.
fn bar_in_disk(speed: f64, look_ahead_m: f64) -> World {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::zeros(),
        ..Scene::default()
    };
    let block = scene.add_body(Body::fixed("block"));
    let ring = Shape::ring(0.077, 0.1155, 0.00924).unwrap();
    scene.add_contactor(block, ring, Pose::identity(), 0);
    let at = Pose::new(Vec3::new(0.077 - 0.06985, 0.0, 0.0), Vec3::zeros());
    let bar = Body::dynamic("bar", Mass::Total(0.5))
        .at(at)
        .moving(Vec3::new(0.0, speed, 0.0));
    let bar = scene.add_body(bar);
    let shape = Shape::cylinder(0.06985, 0.4).unwrap();
    scene.add_contactor(bar, shape, Pose::identity(), 1);
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.0));
    World::new(scene, settings(look_ahead_m)).unwrap()
}

/// Deepest overlap over some steps, and the share of kinetic energy left.
fn overlap(world: &mut World, steps: usize) -> (f64, f64) {
    let start = world.energy().kinetic_j;
    let mut deepest = 0.0_f64;
    for _ in 0..steps {
        let before = world.energy().kinetic_j;
        deepest = deepest.max(world.step().unwrap().overlap_m);
        assert!(world.energy().kinetic_j <= before * (1.0 + 1e-12));
    }
    (deepest, world.energy().kinetic_j / start)
}

#[test]
fn a_light_bar_that_whips_around_its_disk_does_not_sink_into_it() {
    for (speed, kept) in [(1.0, 0.95), (4.0, 0.75)] {
        let (plain, lost) = overlap(&mut bar_in_disk(speed, 0.0), 400);
        let (ahead, left) = overlap(&mut bar_in_disk(speed, 2e-3), 400);
        assert!(plain > speed * STEP_S, "nothing to mend: {plain:e}");
        assert!(ahead < 0.5 * speed * STEP_S, "{speed} m/s: {ahead:e}");
        // Nothing rubs: the exact motion keeps its energy.
        assert!(left > kept && left > 1.3 * lost, "{left} against {lost}");
    }
    // More than a third of the play in a step.
    let (ahead, _) = overlap(&mut bar_in_disk(10.0, 2e-3), 400);
    assert!(ahead < 10.0 * STEP_S, "{ahead:e}");
}

/// A sphere that falls by a metre.
fn fallen(restitution: f64, look_ahead_m: f64, steps: usize) -> (World, f64) {
    let mut scene = ground(Pose::identity());
    add_sphere(&mut scene, 0.5, 1.0, Vec3::new(0.0, 0.0, 1.5));
    scene.add_law(ContactLaw::new((0, 1), restitution, 0.3));
    let mut world = World::new(scene, settings(look_ahead_m)).unwrap();
    let mut deepest = 0.0_f64;
    for _ in 0..steps {
        deepest = deepest.max(world.step().unwrap().overlap_m);
    }
    (world, deepest)
}

#[test]
fn what_does_not_bounce_ends_at_touch() {
    let (_, plain) = fallen(0.0, 0.0, 2400);
    assert!(plain > 1e-4, "{plain:e}");
    let (world, deepest) = fallen(0.0, 2e-3, 2400);
    assert!(deepest < 1e-8, "{deepest:e}");
    assert!((world.state(1).position.z - 0.5).abs() < 1e-8);
    assert!((world.energy().impact_dissipation_j - G).abs() < 1e-6);
    assert!(closing(&world) < 1e-13, "{:e}", closing(&world));
}

#[test]
fn what_bounces_does_not_see_the_ground_before_it_is_there() {
    let [plain, ahead] = [0.0, 2e-3].map(|look| *fallen(0.7, look, 3000).0.state(1));
    assert_eq!(plain, ahead);
}

/// Disks fixed in space at the given heights, and a bar that moves along its tilted axis, 6 mm deep in the first.
fn sunken_bar(heights: &[f64], tilt: f64, look_ahead_m: f64) -> World {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::zeros(),
        ..Scene::default()
    };
    let block = scene.add_body(Body::fixed("block"));
    for &z in heights {
        let ring = Shape::ring(0.077, 0.1155, 0.00924).unwrap();
        let at = Pose::new(Vec3::new(0.0, 0.0, z), Vec3::zeros());
        scene.add_contactor(block, ring, at, 0);
    }
    let at = Pose::new(
        Vec3::new(0.077 - 0.06985 + 0.006, 0.0, 0.0),
        Vec3::new(0.0, tilt, 0.0),
    );
    let bar = Body::dynamic("bar", Mass::Total(0.5))
        .at(at)
        .moving(Vec3::new(tilt.sin(), 0.0, tilt.cos()) * 0.1);
    let bar = scene.add_body(bar);
    let shape = Shape::cylinder(0.06985, 0.4).unwrap();
    scene.add_contactor(bar, shape, Pose::identity(), 1);
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.3));
    let settings = Settings {
        overlap_tolerance_m: 0.02,
        ..settings(look_ahead_m)
    };
    World::new(scene, settings).unwrap()
}

#[test]
fn what_lies_deep_in_its_disk_is_pushed_out_without_energy() {
    // In the second scene the way out of one disk leads through the play of another.
    for (heights, tilt) in [(&[0.0][..], 0.0), (&[0.0, 0.15], -0.02)] {
        let run = |look_ahead_m| {
            let mut world = sunken_bar(heights, tilt, look_ahead_m);
            let mut last = 0.0;
            let mut energy = world.energy().mechanical_j();
            for _ in 0..400 {
                last = world.step().unwrap().overlap_m;
                let now = world.energy().mechanical_j();
                assert!(now <= energy * (1.0 + 1e-12), "gained {:e}", now - energy);
                energy = now;
            }
            assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
            last
        };
        let (plain, ahead) = (run(0.0), run(2e-3));
        assert!(plain > 5e-3, "nothing to mend: {plain:e}");
        assert!(ahead < 1.1e-4, "{ahead:e} left");
    }
}
