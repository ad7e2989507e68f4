//! Stopping and going on, births and removals, settling, recording.

use crate::common::walls::{brick_wall, pile};
use crate::common::*;
use percuss_rigid::*;

/// Every number of the state, as bits.
fn bits(world: &World) -> Vec<u64> {
    let mut bits = Vec::new();
    for body in 0..world.scene().bodies.len() {
        let s = world.state(body);
        let q = s.rotation.coords;
        let numbers = s.position.iter().chain(q.iter());
        bits.extend(
            numbers
                .chain(s.velocity.iter())
                .chain(s.spin.iter())
                .map(|x| x.to_bits()),
        );
    }
    bits.push(world.energy().closing_error_j().to_bits());
    bits
}

#[test]
fn a_restarted_run_continues_to_the_same_bits() {
    let settings = Settings::with_step(5e-4);
    let mut scene = brick_wall();
    scene.bodies[3].removal_s = 0.08;
    // 100 steps are no whole number of these intervals.
    scene
        .probes
        .push(Probe::new("body", ProbeKind::BodyContacts { body: 1 }).every(7));
    scene
        .probes
        .push(Probe::new("pair", ProbeKind::LawContacts { law: 0 }).every(30));
    let mut straight = World::new(scene.clone(), settings).unwrap();
    let record = Record::default();
    straight.run(0.05, &record).unwrap();
    let bytes = straight.snapshot().to_bytes();
    let rest = straight.run(0.05, &record).unwrap();

    let mut restarted = World::new(scene, settings).unwrap();
    restarted
        .restore(&Snapshot::from_bytes(&bytes).unwrap())
        .unwrap();
    assert_eq!(restarted.steps(), 100);
    assert_eq!(restarted.run(0.05, &record).unwrap(), rest);
    assert!(bits(&straight) == bits(&restarted));
    assert_eq!(straight.contacts(), restarted.contacts());
    assert_eq!(straight.energy(), restarted.energy());
}

#[test]
fn the_same_scene_gives_the_same_bits() {
    let run = || {
        let mut world = World::new(brick_wall(), Settings::with_step(5e-4)).unwrap();
        let recording = world.run(0.05, &Record::default()).unwrap();
        (bits(&world), recording)
    };
    let (first, second) = (run(), run());
    assert!(first.0 == second.0);
    assert_eq!(first.1, second.1);
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let world = World::new(brick_wall(), Settings::with_step(5e-4)).unwrap();
    let bytes = world.snapshot().to_bytes();
    assert_eq!(Snapshot::from_bytes(&bytes).unwrap(), world.snapshot());
    for bad in [&bytes[1..], &bytes[..bytes.len() - 8], &bytes[..5], &[]] {
        let error = Snapshot::from_bytes(bad).unwrap_err().to_string();
        assert_eq!(error, "snapshot: the bytes are no complete snapshot");
    }
    let mut small = World::new(ground_and_sphere(0.5), Settings::with_step(1e-3)).unwrap();
    let error = small.restore(&world.snapshot()).unwrap_err().to_string();
    assert_eq!(
        error,
        "snapshot: it holds 22 bodies and 2 laws, the scene has 2 and 1"
    );
}

fn ground_and_sphere(height: f64) -> Scene {
    let mut scene = ground(Pose::identity());
    add_sphere(&mut scene, 0.5, 1.0, Vec3::new(0.0, 0.0, height));
    scene.add_law(ContactLaw::new((0, 1), 0.5, 0.3));
    scene
}

#[test]
fn bodies_come_and_go_on_time_and_the_account_knows() {
    let mut scene = ground_and_sphere(1.5);
    scene.bodies[1].birth_s = 0.1;
    scene.bodies[1].removal_s = 0.3;
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    let energy = G * 1.5;
    assert!(!world.is_present(1) && world.energy().mechanical_j() == 0.0);
    world.run(0.1, &Record::default()).unwrap();
    assert_eq!(world.state(1).position.z, 1.5);
    world.run(0.1, &Record::default()).unwrap();
    assert!(world.is_present(1));
    let fallen = 1.5 - world.state(1).position.z;
    assert!((fallen - 0.5 * G * 0.01).abs() < 1e-12, "{fallen}");
    assert!((world.energy().brought_in_j - energy).abs() < 1e-12);
    world.run(0.2, &Record::default()).unwrap();
    assert!(!world.is_present(1));
    assert!(world.energy().closing_error_j().abs() < 1e-12);
    assert_eq!(world.energy().mechanical_j(), 0.0);
}

#[test]
fn a_pile_settles_and_then_stands_while_the_projectile_waits() {
    // Towers of three cubes, laid 1 mm apart.
    let mut scene = pile(2, 3);
    for (k, body) in scene.bodies[1..].iter_mut().enumerate() {
        body.pose.position.z += 1e-3 * (1 + k % 3) as f64;
    }
    let projectile = add_sphere(&mut scene, 0.3, 50.0, Vec3::new(-3.0, 0.0, 1.5));
    scene.bodies[projectile].velocity_m_per_s.x = 20.0;
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    let settled = world.settle(&Settle::default()).unwrap();
    assert!(settled.at_rest, "{settled:?}");
    // Each of three impacts leaves an overlap of up to h/2 times its speed of 0.24 m/s.
    assert!((settled.moved_m - 3e-3).abs() < 4e-4, "{settled:?}");
    assert_eq!(world.steps(), 0);
    assert_eq!(world.state(projectile).velocity.x, 20.0);
    assert!((world.energy().kinetic_j - 0.5 * 50.0 * 400.0).abs() < 1e-6);
    world.set_velocity(projectile, Vec3::zeros(), Vec3::zeros());
    let start = world.state(3).position;
    advance(&mut world, 100);
    assert!((world.state(3).position - start).norm() < 1e-7);
}

#[test]
fn probes_and_tables_say_what_happened() {
    let mut scene = ground_and_sphere(0.5);
    scene
        .probes
        .push(Probe::point("crown", 1, Vec3::new(0.0, 0.0, 0.5)).every(10));
    scene
        .probes
        .push(Probe::new("ground", ProbeKind::BodyContacts { body: 0 }).every(20));
    scene
        .probes
        .push(Probe::new("pair", ProbeKind::LawContacts { law: 0 }).every(25));
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    let record = Record {
        bodies_every: 50,
        contacts_every: 50,
        ..Record::default()
    };
    let recording = world.run(0.1, &record).unwrap();
    let crown = &recording.probes[0];
    assert_eq!(crown.rows(), 11);
    assert!(
        crown
            .column("z_m")
            .unwrap()
            .iter()
            .all(|z| (z - 1.0).abs() < 1e-9)
    );
    assert!(
        crown
            .column("az_m_per_s2")
            .unwrap()
            .iter()
            .all(|a| a.abs() < 1e-9)
    );
    let down = &recording.probes[1].column("fz_n").unwrap()[1..];
    assert!(down.iter().all(|f| (f + G).abs() < 1e-9), "{down:?}");
    let normal = &recording.probes[2].column("normal_force_n").unwrap()[1..];
    assert!(normal.len() == 4 && normal.iter().all(|f| (f - G).abs() < 1e-9));
    assert_eq!(recording.bodies.rows(), 6);
    assert_eq!(recording.contacts.rows(), 2);
    assert_eq!(recording.energy.rows(), 101);
    assert_eq!(recording.steps.rows(), 100);
    assert_eq!((recording.steps_taken, recording.unmet_steps), (100, 0));
    // An observer may end a run.
    let cut = world
        .run_while(1.0, &record, |world, _| world.steps() < 120)
        .unwrap();
    assert!(cut.interrupted && cut.steps_taken == 20);
}

/// A pendulum: its joint carries its weight and what turns it.
fn pendulum(mass: f64) -> Scene {
    let mut scene = Scene::default();
    let properties = MassProperties {
        mass_kg: mass,
        centre_m: Vec3::zeros(),
        inertia_kg_m2: Mat3::identity() * 0.1,
    };
    let bob = Body::dynamic("bob", Mass::Given(properties)).at(Pose::translation(1.0, 0.0, 0.0));
    let bob = scene.add_body(bob);
    scene.joints.push(Joint::new(
        "pivot",
        JointKind::Spherical,
        [None, Some(bob)],
        [Pose::identity(), Pose::translation(-1.0, 0.0, 0.0)],
    ));
    scene
}

#[test]
fn a_restored_world_knows_the_reactions_of_its_joints() {
    let settings = Settings::with_step(1e-3);
    let mut world = World::new(pendulum(1.0), settings).unwrap();
    world.run(0.2, &Record::default()).unwrap();
    let (state, reaction) = (world.snapshot().to_bytes(), world.reaction(0));
    assert!(reaction[2] > 1.0, "{reaction:?}");
    world.run(0.2, &Record::default()).unwrap();
    assert_ne!(world.reaction(0), reaction);
    world
        .restore(&Snapshot::from_bytes(&state).unwrap())
        .unwrap();
    assert_eq!(world.reaction(0), reaction);
}

#[test]
fn states_of_other_scenes_and_states_that_are_not_finite_are_refused() {
    let settings = Settings::with_step(1e-3);
    let mut world = World::new(ground_and_sphere(0.5), settings).unwrap();
    world.run(0.01, &Record::default()).unwrap();
    let refusal = |scene: Scene, state: &Snapshot| {
        let mut other = World::new(scene, settings).unwrap();
        other.restore(state).unwrap_err().to_string()
    };
    let mut larger = ground_and_sphere(0.6);
    larger.contactors[1].shape = Shape::sphere(0.6).unwrap();
    assert_eq!(
        refusal(larger, &world.snapshot()),
        "snapshot: it comes from a scene with other contactors, laws, joints or bonds"
    );
    let mut heavier = ground_and_sphere(0.5);
    heavier.bodies[1].role = Role::Dynamic(Mass::Total(2.0));
    assert_eq!(
        refusal(heavier, &world.snapshot()),
        "snapshot: it comes from a scene whose bodies have other masses"
    );
    // what may differ
    let mut elsewhere = ground_and_sphere(0.5);
    elsewhere.laws[0].restitution = 0.1;
    let mut elsewhere = World::new(elsewhere, settings).unwrap();
    elsewhere.restore(&world.snapshot()).unwrap();

    let bytes = world.snapshot().to_bytes();
    let good = world.state(1).position.z.to_le_bytes();
    let at = bytes
        .windows(8)
        .position(|w| w == good)
        .expect("the height is there");
    let mut bad = bytes.clone();
    bad[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    let error = Snapshot::from_bytes(&bad).unwrap_err().to_string();
    assert_eq!(error, "snapshot: it holds a number that is not finite");
}
