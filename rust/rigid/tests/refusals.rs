//! Bad scenes get one clear sentence.

mod common;

use common::*;
use percuss_rigid::*;

fn scene() -> Scene {
    let mut scene = ground(Pose::identity());
    add_sphere(&mut scene, 0.5, 1.0, Vec3::new(0.0, 0.0, 0.5));
    scene.add_law(ContactLaw::new((0, 1), 0.5, 0.3));
    scene
}

fn refusal(change: impl FnOnce(&mut Scene)) -> String {
    let mut scene = scene();
    change(&mut scene);
    World::new(scene, Settings::with_step(1e-3))
        .err()
        .expect("refused")
        .to_string()
}

#[test]
fn every_fault_is_named() {
    for (message, expected) in [
        (
            refusal(|s| s.bodies[1].role = Role::Dynamic(Mass::Total(0.0))),
            "body sphere 1: mass is 0 kg, must be finite and > 0 (no contactor to fill, or a zero given?)",
        ),
        (
            refusal(|s| s.contactors[1].body = 0),
            "body sphere 1: mass is 0 kg, must be finite and > 0 (no contactor to fill, or a zero given?)",
        ),
        (
            refusal(|s| s.contactors[1].group = 7),
            "law between groups 0 and 1: no contactor is in group 1",
        ),
        (
            refusal(|s| {
                s.contactors[1].group = 7;
                s.laws[0].groups = (0, 0);
            }),
            "contactor 1 is in group 7, which no law names: add a law or leave the contactor out",
        ),
        (
            refusal(|s| s.laws[0].restitution = 1.5),
            "law between groups 0 and 1: restitution = 1.5, must be from 0 to 1",
        ),
        (
            refusal(|s| s.laws[0].friction = f64::NAN),
            "law between groups 0 and 1: friction = NaN, must be finite and at least 0",
        ),
        (
            refusal(|s| s.laws.push(ContactLaw::new((1, 0), 0.0, 0.0))),
            "groups 1 and 0 have two laws, one is allowed",
        ),
        (
            refusal(|s| s.bodies[1].pose.position.z = 0.25),
            "bodies ground and sphere 1 overlap by 2.5e-1 m at the start, at most 1e-6 m is allowed",
        ),
        (
            refusal(|s| s.bodies[1].velocity_m_per_s.x = f64::NAN),
            "velocity of body sphere 1 holds a number that is not finite",
        ),
        (
            refusal(|s| s.bodies[1].pose.position.y = f64::INFINITY),
            "pose of body sphere 1: inf is not finite",
        ),
        (
            refusal(|s| s.loads.push(Load::force(5, Vec3::zeros(), Vec3::x()))),
            "load 0 names body 5, there are 2 bodies",
        ),
        (
            refusal(|s| s.loads.push(Load::force(0, Vec3::zeros(), Vec3::x()))),
            "load 0 names body ground, which is not dynamic",
        ),
        (
            refusal(|s| s.probes.push(Probe::point("p", 9, Vec3::zeros()))),
            "probe p names body 9, there are 2 bodies",
        ),
        (
            refusal(|s| s.bodies[1].removal_s = -1.0),
            "removal_s = -1, must be later than birth_s",
        ),
        (
            refusal(|s| {
                s.bodies[0].role = Role::Kinematic(Motion::Sampled {
                    times_s: vec![1.0, 0.5],
                    twists: vec![[0.0; 6]; 2],
                });
            }),
            "motion of body ground: 2 instants for 2 values, there must be as many, at least one, and rising",
        ),
    ] {
        assert_eq!(message, expected);
    }
    let settings = Settings {
        theta: 0.3,
        ..Settings::with_step(1e-3)
    };
    let error = World::new(scene(), settings)
        .err()
        .expect("refused")
        .to_string();
    assert_eq!(error, "theta = 0.3, must be from 0.5 to 1");
    let error = World::new(scene(), Settings::with_step(0.0))
        .err()
        .expect("refused");
    assert_eq!(error.to_string(), "dt_s = 0, must be finite and > 0");
}

#[test]
fn a_state_that_leaves_the_numbers_ends_the_run() {
    let mut scene = scene();
    scene
        .loads
        .push(Load::force(1, Vec3::zeros(), Vec3::new(0.0, 0.0, 1e308)));
    scene
        .loads
        .push(Load::force(1, Vec3::zeros(), Vec3::new(0.0, 0.0, 1e308)));
    let mut world = World::new(scene, Settings::with_step(1e3)).unwrap();
    assert!(world.run(1e4, &Record::default()).is_err());
}
