//! Springs, bushings, actuators, friction and stops against closed forms, by the smooth stepper.

use percuss_rigid::*;
use proptest::prelude::*;

fn smooth(dt_s: f64) -> Settings {
    Settings {
        stepper: Stepper::Smooth(Method::Adams),
        ..Settings::with_step(dt_s)
    }
}

fn weightless() -> Scene {
    Scene {
        gravity_m_per_s2: Vec3::zeros(),
        ..Scene::default()
    }
}

fn ball(name: &str, mass_kg: f64, moment: f64, at: Vec3) -> Body {
    let properties = MassProperties {
        mass_kg,
        centre_m: Vec3::zeros(),
        inertia_kg_m2: Mat3::identity() * moment,
    };
    Body::dynamic(name, Mass::Given(properties)).at(Pose::new(at, Vec3::zeros()))
}

fn element(bodies: [Option<usize>; 2], effort: Effort) -> Element {
    Element {
        name: "element".into(),
        bodies,
        frames: [Pose::identity(); 2],
        effort,
    }
}

/// A wheel on a hinge to the world, about z.
fn wheel(moment: f64, turning: f64) -> Scene {
    let mut scene = weightless();
    let wheel = ball("wheel", 1.0, moment, Vec3::zeros()).spinning(Vec3::new(0.0, 0.0, turning));
    let wheel = scene.add_body(wheel);
    let hinge = Joint::new(
        "hinge",
        JointKind::Revolute,
        [None, Some(wheel)],
        [Pose::identity(); 2],
    );
    scene.joints.push(hinge);
    scene
}

/// The angle of the wheel after a while, counted over turns.
fn turned(scene: &Scene, dt_s: f64, duration_s: f64) -> (f64, f64, World) {
    let mut scene = scene.clone();
    scene
        .probes
        .push(Probe::new("hinge", ProbeKind::Joint { joint: 0 }));
    let mut world = World::new(scene, smooth(dt_s)).unwrap();
    let recording = world.run(duration_s, &Record::default()).unwrap();
    let last = |name: &str| *recording.probes[0].column(name).unwrap().last().unwrap();
    (last("angle_rad"), last("angle_rate_rad_per_s"), world)
}

/// Two masses on a damped spring: the reduced mass swings, the common centre rests.
#[test]
fn a_spring_between_two_masses() {
    let (masses, stiffness, damping, rest): ([f64; 2], f64, f64, f64) =
        ([2.0, 3.0], 500.0, 4.0, 1.0);
    let mut scene = weightless();
    for (k, x) in [0.0, 1.1].into_iter().enumerate() {
        scene.add_body(ball("mass", masses[k], 0.1, Vec3::new(x, 0.0, 0.0)));
    }
    scene.elements.push(element(
        [Some(0), Some(1)],
        Effort::Spring {
            row: Row::Length,
            stiffness,
            damping,
            rest: Some(rest),
            preload: 0.0,
        },
    ));
    let mut world = World::new(scene, smooth(1e-3)).unwrap();
    world.run(2.0, &Record::default()).unwrap();
    let reduced = masses[0] * masses[1] / (masses[0] + masses[1]);
    let decay = 0.5 * damping / reduced;
    let rate = (stiffness / reduced - decay * decay).sqrt();
    let exact = rest
        + 0.1 * (-decay * 2.0).exp() * ((rate * 2.0).cos() + decay / rate * (rate * 2.0).sin());
    let length = (world.state(1).position - world.state(0).position).norm();
    assert!((length - exact).abs() < 1e-7, "{length} {exact}");
    assert!(world.energy().closing_error_j().abs() < 1e-6);
    assert!((world.energy().damping_dissipation_j - 2.5).abs() < 0.01);
}

/// A rotational spring is counted over turns: it brings back a wheel that has gone round several times.
#[test]
fn a_rotational_spring_over_several_turns() {
    let (moment, stiffness, turning): (f64, f64, f64) = (0.2, 0.05, 12.0);
    let mut scene = wheel(moment, turning);
    let spring = Effort::Spring {
        row: Row::Angle(2),
        stiffness,
        damping: 0.0,
        rest: None,
        preload: 0.0,
    };
    scene.elements.push(element([None, Some(0)], spring));
    let rate = (stiffness / moment).sqrt();
    let (angle, speed, _) = turned(&scene, 5e-3, 2.0);
    let amplitude: f64 = turning / rate;
    assert!(amplitude > 20.0);
    assert!((angle - amplitude * (rate * 2.0).sin()).abs() < 1e-7);
    assert!((speed - turning * (rate * 2.0).cos()).abs() < 1e-7);
}

#[test]
fn an_actuator_drives_by_table_and_formula() {
    let moment = 0.2;
    let ramp = Signal::linear("torque", vec![0.0, 1.0], vec![0.0, 3.0]).unwrap();
    let formula = Signal::Formula(Formula::new("3 * min(t, 1)").unwrap());
    for effort in [ramp, formula] {
        let mut scene = wheel(moment, 0.0);
        let motor = Effort::Actuator {
            row: Row::Angle(2),
            effort,
        };
        scene.elements.push(element([None, Some(0)], motor));
        let (angle, speed, world) = turned(&scene, 2e-3, 1.0);
        // The quaternion is good to the fourth order only, the speed exact.
        assert!((angle - 3.0 / moment / 6.0).abs() < 1e-10);
        assert!((speed - 1.5 / moment).abs() < 1e-12);
        let work = 0.5 * moment * speed * speed;
        assert!((world.energy().external_work_j - work).abs() < 1e-9);
    }
}

/// Regularised friction brakes a wheel at constant rate until it creeps.
#[test]
fn friction_brakes_a_wheel() {
    let (moment, bound, turning) = (0.2, 0.4, 10.0);
    let mut scene = wheel(moment, turning);
    scene.joints[0] = scene.joints[0].clone().rubbing("angle", bound, 1e-3);
    let (_, speed, _) = turned(&scene, 1e-3, 2.0);
    assert!((speed - (turning - 2.0 * bound / moment)).abs() < 1e-9);
    let (_, speed, world) = turned(&scene, 1e-3, 6.0);
    assert!(speed.abs() < 1e-4);
    assert!(
        (world.energy().friction_dissipation_j - 0.5 * moment * turning * turning).abs() < 1e-4
    );
}

/// A stop without damping gives the wheel back as it came.
#[test]
fn a_stop_turns_a_wheel_round() {
    let mut scene = wheel(0.2, 1.0);
    scene.joints[0] = scene.joints[0].clone().limited(Limit {
        coordinate: "angle".into(),
        low: -1.0,
        high: 0.5,
        restitution: 0.0,
        stiffness: 1e3,
        damping: 0.0,
    });
    let (angle, speed, _) = turned(&scene, 1e-4, 1.0);
    assert!((speed + 1.0).abs() < 1e-4 && angle < 0.1, "{angle} {speed}");
}

/// The weight on a bushing: its springs give by the weight less the preload.
#[test]
fn a_bushing_at_rest_under_preload() {
    let mut scene = Scene {
        gravity_m_per_s2: Vec3::new(0.0, 0.0, -10.0),
        ..Scene::default()
    };
    let held = scene.add_body(ball("held", 2.0, 0.01, Vec3::zeros()));
    scene.elements.push(element(
        [None, Some(held)],
        Effort::Bushing {
            stiffness: [1e3, 1e3, 1e3, 5.0, 5.0, 5.0],
            damping: [100.0, 100.0, 100.0, 0.5, 0.5, 0.5],
            preload: [3.0, 0.0, 12.0, 0.0, 0.5, 0.0],
        },
    ));
    let mut world = World::new(scene, smooth(1e-3)).unwrap();
    world.run(3.0, &Record::default()).unwrap();
    let off = world.state(held).position - Vec3::new(3e-3, 0.0, -8e-3);
    assert!(off.norm() < 1e-9);
    assert!((world.state(held).rotation.scaled_axis() - Vec3::new(0.0, 0.1, 0.0)).norm() < 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Without dampers a bushing, however uneven its stiffnesses and preloads, stores what it takes.
    #[test]
    fn bushings_are_conservative(
        stiffness in prop::array::uniform6(1.0..30.0),
        preload in prop::array::uniform6(-2.0..2.0),
        turning in prop::array::uniform3(-3.0..3.0),
        arm in prop::array::uniform3(-0.3..0.3),
    ) {
        let mut scene = weightless();
        let (a, b) = (ball("a", 1.0, 0.5, Vec3::zeros()), ball("b", 1.5, 0.4, Vec3::zeros()));
        scene.add_body(a.spinning(Vec3::from(turning)));
        scene.add_body(b);
        let effort = Effort::Bushing { stiffness, damping: [0.0; 6], preload };
        let mut bushing = element([Some(0), Some(1)], effort);
        bushing.frames = [Pose::new(arm.into(), Vec3::new(0.1, 0.0, 0.2)); 2];
        scene.elements.push(bushing);
        let mut world = World::new(scene, smooth(5e-4)).unwrap();
        let start = world.energy().mechanical_j();
        world.run(0.5, &Record::default()).unwrap();
        let change = world.energy().mechanical_j() - start;
        prop_assert!(change.abs() < 1e-8 * (1.0 + start.abs()), "{change:e} of {start}");
        prop_assert!(world.energy().elastic_j.abs() > 1e-6);
    }
}

/// Motions given as a table or a formula move a body alike.
#[test]
fn imposed_motions_are_followed() {
    let times: Vec<f64> = (0..=400).map(|k| k as f64 / 400.0).collect();
    let lift = |t: f64| 0.1 * (1.0 - (std::f64::consts::TAU * t).cos());
    let table = Signal::spline(
        "lift",
        times.clone(),
        times.iter().map(|t| lift(*t)).collect(),
    )
    .unwrap();
    let formula = Signal::Formula(Formula::new("0.1 * (1 - cos(2 * pi * t))").unwrap());
    for (target, allowed) in [
        (Target::Position(table), 1e-8),
        (Target::Position(formula), 1e-13),
        // Integrated by the method, from where the joint starts.
        (
            Target::Velocity(Signal::Formula(
                Formula::new("0.2 * pi * sin(2 * pi * t)").unwrap(),
            )),
            1e-9,
        ),
    ] {
        let mut scene = weightless();
        let carriage = scene.add_body(ball("carriage", 2.0, 0.1, Vec3::zeros()));
        let guide = Joint::new(
            "guide",
            JointKind::Prismatic,
            [None, Some(carriage)],
            [Pose::identity(); 2],
        );
        scene.joints.push(guide.imposing("slide", target));
        let mut world = World::new(scene, smooth(1e-3)).unwrap();
        for _ in 0..9 {
            world.run(0.1, &Record::default()).unwrap();
            let off = (world.state(carriage).position.z - lift(world.time_s())).abs();
            assert!(off < allowed, "{off:e}");
        }
        assert!(world.energy().closing_error_j().abs() < 1e-6);
    }
}

/// Turned by exactly half a turn a bushing pulls back with the torque of its stiffness times pi.
#[test]
fn a_bushing_turned_by_half_a_turn_acts() {
    for stiffness in [[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]] {
        let mut scene = weightless();
        let mut half = ball("half", 1.0, 1.0, Vec3::zeros());
        half.pose.rotation = Quat::new_unchecked(nalgebra::Quaternion::new(0.0, 0.0, 1.0, 0.0));
        let half = scene.add_body(half);
        let bushing = Effort::Bushing {
            stiffness: [0.0, 0.0, 0.0, stiffness[0], stiffness[1], stiffness[2]],
            damping: [0.0; 6],
            preload: [0.0; 6],
        };
        scene.elements.push(element([None, Some(half)], bushing));
        let mut world = World::new(scene, smooth(1e-4)).unwrap();
        let stored = 0.5 * stiffness[1] * std::f64::consts::PI.powi(2);
        assert!((world.energy().elastic_j - stored).abs() < 1e-12);
        world.run(1e-2, &Record::default()).unwrap();
        let turning = world.angular_velocity(half);
        let expected = stiffness[1] * std::f64::consts::PI * 1e-2;
        assert!(
            (turning.y.abs() - expected).abs() < 1e-3 * expected,
            "{turning}"
        );
    }
}
