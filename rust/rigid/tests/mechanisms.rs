//! Mechanisms with known motions, by the smooth stepper.

use percuss_rigid::*;
use proptest::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};

const GRAVITY: f64 = 9.81;

fn empty(gravity: f64) -> Scene {
    Scene {
        gravity_m_per_s2: Vec3::new(0.0, 0.0, -gravity),
        ..Scene::default()
    }
}

fn smooth(dt_s: f64) -> Settings {
    Settings {
        stepper: Stepper::Smooth(Method::Adams),
        ..Settings::with_step(dt_s)
    }
}

/// A body whose frame is at its centre of mass.
fn body(name: &str, mass_kg: f64, moments: [f64; 3], at: Vec3) -> Body {
    let properties = MassProperties {
        mass_kg,
        centre_m: Vec3::zeros(),
        inertia_kg_m2: Mat3::from_diagonal(&Vec3::from(moments)),
    };
    Body::dynamic(name, Mass::Given(properties)).at(Pose::new(at, Vec3::zeros()))
}

/// A joint at a place of the world with its frame turned by `turn`, bodies being unturned at `places`.
fn joint(
    name: &str,
    kind: JointKind,
    bodies: [Option<(usize, Vec3)>; 2],
    at: Vec3,
    turn: Vec3,
) -> Joint {
    let frames = bodies.map(|side| Pose::new(at - side.map_or(Vec3::zeros(), |s| s.1), turn));
    Joint::new(name, kind, bodies.map(|side| side.map(|s| s.0)), frames)
}

/// Turns z onto y.
fn about_y() -> Vec3 {
    Vec3::new(-FRAC_PI_2, 0.0, 0.0)
}

fn run(world: &mut World, steps: usize) {
    for _ in 0..steps {
        world.step().unwrap();
    }
}

/// Complete elliptic integral K(k) by the arithmetic-geometric mean.
fn elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..20 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    FRAC_PI_2 / a
}

#[test]
fn a_pendulum_swings_with_its_period() {
    let (mass, arm, moment, start): (f64, f64, f64, f64) = (2.0, 0.7, 0.05, 2.0);
    let at = Vec3::new(arm * start.sin(), 0.0, -arm * start.cos());
    let mut scene = empty(GRAVITY);
    let bob = scene.add_body(body("bob", mass, [moment; 3], at));
    scene.joints.push(joint(
        "pin",
        JointKind::Revolute,
        [None, Some((bob, at))],
        Vec3::zeros(),
        about_y(),
    ));
    let swing = ((moment + mass * arm * arm) / (mass * GRAVITY * arm)).sqrt();
    let period = 4.0 * swing * elliptic((0.5 * start).sin());
    let steps = 2000;
    let mut world = World::new(scene, smooth(period / steps as f64)).unwrap();
    run(&mut world, steps);
    assert!((world.state(bob).position - at).norm() < 1e-8);
    assert!((world.coordinate(0, Row::Angle(2)).0).abs() < 1e-8);
    assert!(world.energy().closing_error_j().abs() < 1e-9);
}

/// A rod on a ball joint that goes round a cone: (I_t - I_a) W^2 cos(theta) = m g l.
#[test]
fn a_spherical_pendulum_keeps_its_cone() {
    let (mass, arm, tilt): (f64, f64, f64) = (1.5, 0.6, 0.8);
    let (across, axial) = (0.03, 0.01);
    let turn = Vec3::new(0.0, -tilt, 0.0);
    let at = Vec3::new(arm * tilt.sin(), 0.0, -arm * tilt.cos());
    let about_pivot = across + mass * arm * arm;
    let rate = (mass * GRAVITY * arm / ((about_pivot - axial) * tilt.cos())).sqrt();
    let spinning = Vec3::new(0.0, 0.0, rate);
    let mut scene = empty(GRAVITY);
    let mut rod = body("rod", mass, [across, across, axial], at).spinning(spinning);
    rod.pose = Pose::new(at, turn);
    let rod = scene.add_body(rod.moving(spinning.cross(&at)));
    let frames = [Pose::identity(), Pose::translation(0.0, 0.0, arm)];
    scene.joints.push(Joint::new(
        "ball",
        JointKind::Spherical,
        [None, Some(rod)],
        frames,
    ));
    let steps = 4000;
    let mut world = World::new(scene, smooth(3.0 * 2.0 * PI / rate / steps as f64)).unwrap();
    assert!(world.assembled().moved_m < 1e-12);
    for _ in 0..8 {
        run(&mut world, steps / 8);
        assert!((world.state(rod).position.z - at.z).abs() < 1e-9);
    }
    assert!((world.state(rod).position - at).norm() < 1e-8);
    // The ball carries the weight and turns the mass round.
    let [fx, fy, fz, tx, ty, tz] = world.reaction(0);
    assert!((fz - mass * GRAVITY).abs() < 1e-6);
    assert!((fx + mass * rate * rate * at.x).abs() < 1e-6 && fy.abs() < 1e-5);
    assert!(tx.abs() + ty.abs() + tz.abs() < 1e-9);
}

/// Steady precession of a heavy top: m g l = W (I_a (spin + W cos) - I_t W cos).
#[test]
fn a_flywheel_precesses_steadily() {
    let (mass, arm, tilt, rate): (f64, f64, f64, f64) = (3.0, 0.25, 1.1, 2.5);
    let (across, axial): (f64, f64) = (0.02, 0.03);
    let about_pivot = across + mass * arm * arm;
    let axial_rate = (mass * GRAVITY * arm / rate + about_pivot * rate * tilt.cos()) / axial;
    let axis = Vec3::new(tilt.sin(), 0.0, tilt.cos());
    // Along the axis, and the part of the precession across it.
    let turning = axis * (axial_rate - rate * tilt.cos()) + Vec3::new(0.0, 0.0, rate);
    let at = axis * arm;
    let mut scene = empty(GRAVITY);
    let mut wheel = body("wheel", mass, [across, across, axial], at).spinning(turning);
    wheel.pose = Pose::new(at, Vec3::new(0.0, tilt, 0.0));
    let wheel = scene.add_body(wheel.moving(turning.cross(&at)));
    let frames = [Pose::identity(), Pose::translation(0.0, 0.0, -arm)];
    scene.joints.push(Joint::new(
        "pivot",
        JointKind::Spherical,
        [None, Some(wheel)],
        frames,
    ));
    let mut world = World::new(scene, smooth(1e-4)).unwrap();
    run(&mut world, 10_000);
    let exact = Vec3::new(
        arm * tilt.sin() * rate.cos(),
        arm * tilt.sin() * rate.sin(),
        at.z,
    );
    let off = (world.state(wheel).position - exact).norm();
    assert!(off < 1e-7, "{off:e}");
}

/// Crank at constant speed: x = r cos f + sqrt(l^2 - r^2 sin^2 f).
#[test]
fn a_slider_crank_moves_as_geometry_says() {
    let (r, l, speed): (f64, f64, f64) = (0.1, 0.35, 30.0);
    let [crank_at, rod_at, slider_at] =
        [0.5 * r, r + 0.5 * l, r + l].map(|x| Vec3::new(x, 0.0, 0.0));
    let mut scene = empty(GRAVITY);
    let crank = scene.add_body(body("crank", 1.0, [1e-3; 3], crank_at));
    let rod = scene.add_body(body("rod", 0.5, [2e-3; 3], rod_at));
    let slider = scene.add_body(body("slider", 0.8, [1e-3; 3], slider_at));
    let pin = |name: &str, a: Option<(usize, Vec3)>, b: (usize, Vec3), x: f64| {
        joint(
            name,
            JointKind::Revolute,
            [a, Some(b)],
            Vec3::new(x, 0.0, 0.0),
            about_y(),
        )
    };
    let drive = Target::Velocity(Signal::Constant(speed));
    scene
        .joints
        .push(pin("main", None, (crank, crank_at), 0.0).imposing("angle", drive));
    scene
        .joints
        .push(pin("big end", Some((crank, crank_at)), (rod, rod_at), r));
    scene.joints.push(pin(
        "wrist",
        Some((rod, rod_at)),
        (slider, slider_at),
        r + l,
    ));
    let along_x = Vec3::new(0.0, FRAC_PI_2, 0.0);
    let guide = joint(
        "guide",
        JointKind::Prismatic,
        [None, Some((slider, slider_at))],
        slider_at,
        along_x,
    );
    scene.joints.push(guide);
    let mut world = World::new(scene, smooth(5e-5)).unwrap();
    // Three rows of the plane mechanism are implied: the pins already keep it in its plane.
    assert_eq!(world.assembled().redundant.len(), 3);
    let centre = Vec3::zeros();
    for _ in 0..50 {
        run(&mut world, 100);
        let f = speed * world.time_s();
        let (sine, cosine) = f.sin_cos();
        let root = (l * l - r * r * sine * sine).sqrt();
        let place = r * cosine + root;
        let first = -r * sine - r * r * sine * cosine / root;
        let second = -r * cosine
            - r * r
                * ((cosine * cosine - sine * sine) / root
                    + r * r * (sine * cosine).powi(2) / root.powi(3));
        let (a, _) = world.point_acceleration(slider, &centre).unwrap();
        assert!((world.state(slider).position.x - place).abs() < 1e-9);
        assert!((world.state(slider).velocity.x - speed * first).abs() < 1e-7);
        assert!((a.x - speed * speed * second).abs() < 1e-5);
    }
    assert!(world.drift() < 1e-13);
    assert!(world.energy().closing_error_j().abs() < 1e-7);
}

/// Ground, crank, coupler, rocker; the rocker's angle by the cosine law.
#[test]
fn a_four_bar_loop_stays_closed() {
    let [ground, crank, coupler, rocker] = [0.5_f64, 0.15, 0.45, 0.35];
    // Pins at the start for the crank along x.
    let rocker_pin = |angle: f64| {
        let end = Vec3::new(crank * angle.cos(), 0.0, crank * angle.sin());
        let (dx, dz) = (ground - end.x, -end.z);
        let d = dx.hypot(dz);
        let at = (coupler * coupler + d * d - rocker * rocker) / (2.0 * coupler * d);
        let direction = dz.atan2(dx) + at.acos();
        (
            end,
            end + Vec3::new(coupler * direction.cos(), 0.0, coupler * direction.sin()),
        )
    };
    let (first, second) = rocker_pin(0.0);
    let base = Vec3::new(ground, 0.0, 0.0);
    let mut scene = empty(GRAVITY);
    let centres = [first * 0.5, (first + second) * 0.5, (second + base) * 0.5];
    let bars: Vec<usize> = (0..3)
        .map(|k| {
            scene.add_body(body(
                ["crank", "coupler", "rocker"][k],
                1.0,
                [5e-3; 3],
                centres[k],
            ))
        })
        .collect();
    let side = |k: usize| Some((bars[k], centres[k]));
    for (name, sides, at) in [
        ("a", [None, side(0)], Vec3::zeros()),
        ("b", [side(0), side(1)], first),
        ("c", [side(1), side(2)], second),
        ("d", [None, side(2)], base),
    ] {
        scene
            .joints
            .push(joint(name, JointKind::Revolute, sides, at, about_y()));
    }
    scene.bodies[bars[0]].angular_velocity_rad_per_s = Vec3::new(0.0, -12.0, 0.0);
    let mut world = World::new(scene, smooth(1e-4)).unwrap();
    let redundant = &world.assembled().redundant;
    assert_eq!(redundant.len(), 3, "{redundant:?}");
    let energy = world.energy().mechanical_j();
    for _ in 0..100 {
        run(&mut world, 100);
        // Turning about y takes x towards -z.
        let angle = -world.coordinate(0, Row::Angle(2)).0;
        let pin = world.pose(bars[2]).point(&(second - centres[2]));
        let (_, exact) = rocker_pin(angle);
        assert!((pin - exact).norm() < 1e-11, "{:e}", (pin - exact).norm());
    }
    assert!(world.drift() < 1e-13);
    assert!((world.energy().mechanical_j() - energy).abs() < 1e-7 * energy.abs());
}

#[test]
fn bodies_are_brought_together_at_the_start() {
    let mut scene = empty(GRAVITY);
    let first = scene.add_body(body("first", 1.0, [0.1; 3], Vec3::new(0.1, 0.2, -0.4)));
    let second = scene
        .add_body(body("second", 1.0, [0.1; 3], Vec3::new(0.2, -0.1, -1.6)).spinning(Vec3::x()));
    let ends = [
        Pose::translation(0.0, 0.0, -0.5),
        Pose::translation(0.0, 0.0, 0.5),
    ];
    scene.joints.push(Joint::new(
        "top",
        JointKind::Spherical,
        [None, Some(first)],
        [Pose::identity(), ends[1]],
    ));
    scene.joints.push(Joint::new(
        "middle",
        JointKind::Universal,
        [Some(first), Some(second)],
        ends,
    ));
    let world = World::new(scene, smooth(1e-3)).unwrap();
    assert!(world.drift() < 1e-12);
    assert!((0.05..0.5).contains(&world.assembled().moved_m));
    assert!(world.assembled().redundant.is_empty());
    // Velocities too: the joint's points move together.
    let ends = [(first, -0.5), (second, 0.5)]
        .map(|(b, z)| world.point_velocity(b, &Vec3::new(0.0, 0.0, z)));
    assert!((ends[0] - ends[1]).norm() < 1e-12);
}

fn refused(scene: Scene, settings: Settings) -> String {
    World::new(scene, settings)
        .err()
        .expect("a refusal")
        .to_string()
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let mut scene = empty(GRAVITY);
    let one = scene.add_body(body("one", 1.0, [0.1; 3], Vec3::zeros()));
    let weld = |name: &str, x: f64| {
        let frames = [Pose::translation(x, 0.0, 0.0), Pose::identity()];
        Joint::new(name, JointKind::Fixed, [None, Some(one)], frames)
    };
    scene.joints.push(weld("left", 0.0));
    let mut twice = scene.clone();
    twice.joints.push(weld("right", 0.3));
    let fault = refused(twice.clone(), smooth(1e-3));
    assert!(
        fault.contains("joint right")
            && fault.contains("slide along x")
            && fault.contains("3.000e-1"),
        "{fault}"
    );
    twice.joints[1] = weld("right", 0.0);
    let world = World::new(twice, smooth(1e-3)).unwrap();
    assert_eq!(world.assembled().redundant.len(), 6);
    assert!(
        world
            .assembled()
            .redundant
            .iter()
            .all(|(joint, _)| joint == "right")
    );

    // Two imposed velocities that fight.
    let mut fight = empty(GRAVITY);
    let two = fight.add_body(body("two", 1.0, [0.1; 3], Vec3::zeros()));
    for (name, speed) in [("slow", 1.0), ("fast", 2.0)] {
        let slide = Joint::new(
            name,
            JointKind::Prismatic,
            [None, Some(two)],
            [Pose::identity(); 2],
        );
        fight
            .joints
            .push(slide.imposing("slide", Target::Velocity(Signal::Constant(speed))));
    }
    let fault = refused(fight.clone(), smooth(1e-3));
    assert!(fault.contains("velocity stays off"), "{fault}");
    // Two imposed places that part later.
    for (joint, text) in fight.joints.iter_mut().zip(["t^3", "2 * t^3"]) {
        joint.imposed[0].target = Target::Position(Signal::Formula(Formula::new(text).unwrap()));
    }
    let mut world = World::new(fight, smooth(1e-3)).unwrap();
    let fault = world.run(1.0, &Record::default()).unwrap_err().to_string();
    assert!(fault.contains("comes apart"), "{fault}");

    let hinge = Joint::new(
        "hinge",
        JointKind::Revolute,
        [None, Some(one)],
        [Pose::identity(); 2],
    );
    let limit = Limit {
        coordinate: "angle".into(),
        low: -0.5,
        high: 0.5,
        restitution: 0.0,
        stiffness: 0.0,
        damping: 0.0,
    };
    for (joint, words) in [
        (
            hinge.clone().imposing("slide", Target::Value(0.0)),
            "no coordinate `slide`, only angle",
        ),
        (
            hinge.clone().limited(limit.clone()),
            "hard limits (joint hinge)",
        ),
        (
            hinge.clone().rubbing("angle", 1.0, 0.0),
            "give the friction a slip_rate",
        ),
        (
            Joint {
                bodies: [Some(one); 2],
                ..hinge.clone()
            },
            "joins a body to itself",
        ),
        (
            Joint {
                bodies: [None, Some(7)],
                ..hinge.clone()
            },
            "names body 7",
        ),
        (
            hinge.limited(Limit {
                high: -1.0,
                ..limit
            }),
            "high = -1, must be above low",
        ),
    ] {
        let mut scene = scene.clone();
        scene.joints = vec![joint];
        let fault = refused(scene, smooth(1e-3));
        assert!(fault.contains(words), "{fault}");
    }
    let mut touching = scene.clone();
    touching.add_contactor(one, Shape::sphere(0.1).unwrap(), Pose::identity(), 0);
    assert!(World::new(touching.clone(), smooth(1e-3)).is_ok());
    touching.add_law(ContactLaw::new((0, 0), 0.0, 0.0));
    assert!(refused(touching, smooth(1e-3)).contains("use the nonsmooth stepper"));
    let world = World::new(scene, smooth(1e-3)).unwrap();
    let fault = world.settled(&Settle::default(), || true).unwrap_err();
    assert!(fault.to_string().contains("takes no settling"), "{fault}");
}

/// A kind of joint that leaves something free.
fn kind() -> impl Strategy<Value = JointKind> {
    (1_usize..8).prop_map(|k| JointKind::TABLE[k].1)
}

fn vector(size: f64) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Chains that float freely keep energy, momentum and angular momentum.
    #[test]
    fn free_chains_conserve(
        links in prop::collection::vec((kind(), vector(0.4), vector(0.5), vector(1.0), vector(2.0), 0.5..3.0), 3..5),
    ) {
        let mut scene = empty(0.0);
        for (index, (kind, arm, turn, velocity, turning, mass)) in links.iter().enumerate() {
            let at = Vec3::new(index as f64, 0.0, 0.0);
            let moments = [0.3 * mass, 0.4 * mass, 0.5 * mass];
            let new = scene.add_body(body("link", *mass, moments, at).moving(*velocity).spinning(*turning));
            if index > 0 {
                let between = at - Vec3::new(0.5, 0.0, 0.0) + arm;
                let sides = [Some((new - 1, at - Vec3::x())), Some((new, at))];
                let mut link = joint("link", *kind, sides, between, *turn);
                if *kind == JointKind::Distance {
                    link.frames[1].position += Vec3::new(0.3, 0.0, 0.0);
                }
                scene.joints.push(link);
            }
        }
        let mut world = World::new(scene, smooth(5e-4)).unwrap();
        let totals = |world: &World| {
            let (mut momentum, mut spin) = (Vec3::zeros(), Vec3::zeros());
            for (index, (.., mass)) in links.iter().enumerate() {
                let state = world.state(index);
                let inertia = Vec3::new(0.3, 0.4, 0.5) * *mass;
                momentum += state.velocity * *mass;
                spin += state.position.cross(&state.velocity) * *mass
                    + state.rotation * inertia.component_mul(&state.spin);
            }
            (world.energy().mechanical_j(), momentum, spin)
        };
        let (energy, momentum, spin) = totals(&world);
        run(&mut world, 400);
        let after = totals(&world);
        let scale = 1.0 + energy;
        prop_assert!((after.0 - energy).abs() < 1e-7 * scale, "energy {} {}", energy, after.0);
        prop_assert!((after.1 - momentum).norm() < 1e-11 * scale);
        prop_assert!((after.2 - spin).norm() < 1e-7 * scale);
        prop_assert!(world.drift() < 1e-11);
    }
}
