//! Bad scenes get one clear sentence.

use crate::common::*;
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
            "law between groups 0 and 1: friction = NaN, must be from 0 to 10000",
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
            "removal_s = -1.0, must be later than birth_s",
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
        (
            refusal(|s| s.laws[0].friction = 1e8),
            "law between groups 0 and 1: friction = 100000000.0, must be from 0 to 10000",
        ),
        (
            refusal(|s| s.laws[0].rolling_m = 1e300),
            "law between groups 0 and 1: rolling_m = 1e300, must be from 0 to 1000000",
        ),
        (
            refusal(|s| {
                s.bodies[1].role = Role::Dynamic(Mass::Given(MassProperties {
                    mass_kg: 1.0,
                    centre_m: Vec3::zeros(),
                    inertia_kg_m2: Mat3::new(1.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
                }));
            }),
            "body sphere 1: inertia has 0.5 in row 1, column 2 and 0 across the diagonal, it must be symmetric",
        ),
    ] {
        assert_eq!(message, expected);
    }
    for (tolerance, friction, expected) in [
        (1e300, 0.3, "tolerance = 1e300, must be > 0 and at most 0.1"),
        (
            1e-3,
            500.0,
            "friction = 500 with tolerance = 0.001: bodies that slide would sink, friction times tolerance must be at \
             most 0.1",
        ),
    ] {
        let mut scene = scene();
        scene.laws[0].friction = friction;
        let settings = Settings {
            tolerance,
            ..Settings::with_step(1e-3)
        };
        let error = World::new(scene, settings).err().expect("refused");
        assert_eq!(error.to_string(), expected);
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
    assert_eq!(error.to_string(), "dt_s = 0.0, must be finite and > 0");
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

/// A ground of two triangles, 4 m wide, that faces up, or down.
fn sheet(down: bool) -> Shape {
    let corners = [[-2.0, -2.0], [2.0, -2.0], [2.0, 2.0], [-2.0, 2.0]];
    let vertices = corners.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
    let mut triangles = [[0, 1, 2], [0, 2, 3]];
    if down {
        triangles.iter_mut().for_each(|t| t.reverse());
    }
    Shape::mesh(vertices, &triangles).unwrap()
}

#[test]
fn a_mesh_that_faces_away_from_all_bodies_is_refused() {
    let on = |down: bool, heights: &[f64]| {
        let mut scene = Scene::default();
        let ground = scene.add_body(Body::fixed("ground"));
        scene.add_contactor(ground, sheet(down), Pose::identity(), 0);
        for &height in heights {
            add_sphere(&mut scene, 0.2, 1.0, Vec3::new(0.1, 0.3, height));
        }
        scene.add_law(ContactLaw::new((0, 1), 0.5, 0.3));
        World::new(scene, Settings::with_step(1e-3))
    };
    for (down, heights) in [(true, [0.2, 1.0]), (false, [-0.3, -1.0])] {
        let error = on(down, &heights).err().expect("refused").to_string();
        let expected = "body sphere 1 lies behind the mesh of body ground: triangles must be anticlockwise seen from \
                        the side that is touched (turn their corners round)";
        assert_eq!(error, expected);
    }
    // one that passes below is no reason to refuse
    let mut world = on(false, &[-1.0, 0.5]).unwrap();
    world.run(1.0, &Record::default()).unwrap();
    assert!((world.state(2).position.z - 0.2).abs() < 0.2);
}

#[test]
fn a_mesh_with_a_triangle_turned_over_is_refused() {
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let vertices = corners.map(|[x, y]| Vec3::new(x, y, 0.0)).to_vec();
    let error = Shape::mesh(vertices, &[[0, 1, 2], [0, 3, 2]]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("triangles 0 and 1 face opposite sides"),
        "{error}"
    );
}

#[test]
fn the_accuracy_of_the_smooth_stepper_is_named_as_users_name_it() {
    let settings = Settings {
        stepper: Stepper::Smooth(Method::DormandPrince { tolerance: 2.0 }),
        ..Settings::with_step(1e-3)
    };
    let fault = World::new(Scene::default(), settings).err().unwrap();
    assert!(fault.to_string().starts_with("accuracy = 2"), "{fault}");
}
