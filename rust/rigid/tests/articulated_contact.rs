//! Joints together with contacts, limits and friction: closed forms and invariants.

use crate::common::linkages::*;
use crate::common::*;
use percuss_rigid::*;
use proptest::prelude::*;

/// Lets the first body turn about y through the origin.
fn spin_about_origin(scene: &mut Scene, rate: f64) {
    let body = &mut scene.bodies[0];
    body.angular_velocity_rad_per_s = Vec3::new(0.0, rate, 0.0);
    body.velocity_m_per_s = body.angular_velocity_rad_per_s.cross(&body.pose.position);
}

/// A rod of 2 kg and 1 m turning about its end without gravity, with a small ball at `reach` that meets a wall
/// across x while the rod hangs down.
fn striker(reach: f64, restitution: f64, friction: f64) -> World {
    let start = -0.3_f64;
    let end = Vec3::new(start.sin(), 0.0, -start.cos());
    let mut scene = chain(&[Vec3::zeros(), end], 2.0);
    scene.gravity_m_per_s2 = Vec3::zeros();
    spin_about_origin(&mut scene, -4.0);
    let place = Pose::translation(reach - 0.5, 0.0, 0.0);
    scene.add_contactor(0, Shape::sphere(0.05).unwrap(), place, 1);
    let wall = Pose::new(
        Vec3::new(0.05, 0.0, 0.0),
        Vec3::new(0.0, -std::f64::consts::FRAC_PI_2, 0.0),
    );
    let wall = scene.add_body(Body::fixed("wall").at(wall));
    scene.add_contactor(wall, Shape::half_space(), Pose::identity(), 0);
    scene.add_law(ContactLaw::new((0, 1), restitution, friction));
    World::new(scene, precise(1e-5)).unwrap()
}

#[test]
fn a_pendulum_hits_a_wall_with_the_impulse_of_the_textbook() {
    // About the end I = m l^2 / 3; a blow at the centre of percussion, 2 l / 3, is not felt at the hinge.
    let inertia = 2.0 / 3.0;
    for (reach, restitution) in [(1.0, 0.0), (0.5, 0.6), (2.0 / 3.0, 0.8)] {
        let mut world = striker(reach, restitution, 0.0);
        let before = world.angular_velocity(0).y;
        let mut blow = None;
        for _ in 0..20_000 {
            advance(&mut world, 1);
            if let Some(contact) = world.contacts().first()
                && contact.impulse_n_s.norm() > 1e-3
            {
                blow = Some((contact.impulse_n_s.norm(), world.reaction(0)[0] * 1e-5));
                break;
            }
        }
        let (impulse, hinge) = blow.expect("it hits the wall");
        let after = world.angular_velocity(0).y;
        assert!(
            (after + restitution * before).abs() < 1e-6 * before.abs(),
            "{after} {before}"
        );
        let exact = (1.0 + restitution) * before.abs() * inertia / reach;
        assert!((impulse / exact - 1.0).abs() < 1e-4, "{impulse} {exact}");
        // What the blow leaves over for the hinge, m c dw - P, and m r w^2 of one step.
        let exact = exact - 2.0 * 0.5 * (1.0 + restitution) * before.abs();
        assert!((hinge - exact).abs() < 1e-3, "{hinge} {exact}");
        assert!(closing(&world) < 1e-11, "{:e}", closing(&world));
    }
}

#[test]
fn reactions_do_not_ring_after_an_impact() {
    let mut world = striker(0.5, 0.5, 0.0);
    for _ in 0..20_000 {
        advance(&mut world, 1);
        if world.angular_velocity(0).y > 0.0 {
            break;
        }
    }
    advance(&mut world, 3);
    let rate = world.angular_velocity(0).y;
    let exact = 2.0 * 0.5 * rate * rate;
    for _ in 0..4 {
        advance(&mut world, 1);
        let [x, _, z, ..] = world.reaction(0);
        assert!(
            (x.hypot(z) / exact - 1.0).abs() < 1e-3,
            "{} {exact}",
            x.hypot(z)
        );
    }
}

/// An arm of 2 kg and 1 m hinged at its end, lying along x.
fn arm(change: impl Fn(Joint) -> Joint) -> Scene {
    let mut scene = chain(&[Vec3::zeros(), Vec3::x()], 2.0);
    scene.joints[0] = change(scene.joints[0].clone());
    scene
}

fn limit(low: f64, high: f64, restitution: f64) -> Limit {
    Limit {
        coordinate: "angle".into(),
        low,
        high,
        restitution,
        stiffness: 0.0,
        damping: 0.0,
    }
}

#[test]
fn an_arm_falls_on_its_limit_and_rests() {
    let mut world = World::new(
        arm(|joint| joint.limited(limit(-0.5, 0.5, 0.0))),
        precise(1e-3),
    )
    .unwrap();
    advance(&mut world, 1000);
    let (angle, rate) = world.coordinate(0, Row::Angle(2));
    // Falling turns about +y; a stop is felt half way through a step and so overshot by at most one.
    let speed = (2.0 * 1.5 * G * 0.5_f64.sin()).sqrt();
    assert!(angle >= 0.5 - 1e-8 && angle < 0.5 + 1e-3 * speed, "{angle}");
    assert!(rate.abs() < 1e-12, "{rate}");
    let torque = world.reaction(0)[4];
    let exact = -2.0 * G * 0.5 * angle.cos();
    assert!((torque / exact - 1.0).abs() < 1e-9, "{torque} {exact}");
    let lost = world.energy().impact_dissipation_j;
    assert!(
        (lost / (2.0 * G * 0.5 * 0.5_f64.sin()) - 1.0).abs() < 1e-2,
        "{lost}"
    );
    assert!(closing(&world) < 1e-12);
}

#[test]
fn a_limit_returns_the_share_of_its_restitution() {
    let mut scene = arm(|joint| joint.limited(limit(-0.2, 0.1, 0.7)));
    scene.gravity_m_per_s2 = Vec3::zeros();
    spin_about_origin(&mut scene, 3.0);
    let mut world = World::new(scene, precise(1e-3)).unwrap();
    let mut rates = vec![3.0];
    for _ in 0..400 {
        advance(&mut world, 1);
        let (_, rate) = world.coordinate(0, Row::Angle(2));
        if (rate - rates[rates.len() - 1]).abs() > 1e-3 {
            rates.push(rate);
        }
    }
    assert!(rates.len() > 3);
    for pair in rates.windows(2) {
        assert!((pair[1] + 0.7 * pair[0]).abs() < 1e-6, "{rates:?}");
    }
}

#[test]
fn friction_of_a_hinge_holds_up_to_its_bound_and_then_slips() {
    let moment = 2.0 * G * 0.5;
    let inertia = 2.0 / 3.0;
    let mut world = World::new(
        arm(|j| j.rubbing("angle", 1.001 * moment, 0.0)),
        precise(1e-3),
    )
    .unwrap();
    advance(&mut world, 500);
    assert!(world.coordinate(0, Row::Angle(2)).0.abs() < 1e-12);
    let torque = world.reaction(0)[4];
    assert!((torque / moment + 1.0).abs() < 1e-9, "{torque}");
    let mut world = World::new(
        arm(|j| j.rubbing("angle", 0.9 * moment, 0.0)),
        precise(1e-5),
    )
    .unwrap();
    advance(&mut world, 10);
    let rate = world.coordinate(0, Row::Angle(2)).1;
    let exact = 0.1 * moment / inertia * 1e-4;
    assert!((rate / exact - 1.0).abs() < 1e-6, "{rate} {exact}");
    // A flywheel comes to rest after I w / M and stays there.
    let mut scene = arm(|j| j.rubbing("angle", 0.5, 0.0));
    scene.gravity_m_per_s2 = Vec3::zeros();
    spin_about_origin(&mut scene, 3.0);
    let mut world = World::new(scene, precise(1e-3)).unwrap();
    advance(&mut world, 3000);
    assert!((world.coordinate(0, Row::Angle(2)).1 - (3.0 - 0.5 / inertia * 3.0)).abs() < 1e-6);
    advance(&mut world, 1500);
    assert!(world.coordinate(0, Row::Angle(2)).1.abs() < 1e-12);
    let lost = world.energy().friction_dissipation_j;
    // But for what the projection of velocities takes.
    assert!((lost - 0.5 * inertia * 9.0).abs() < 1e-7, "{lost}");
}

#[test]
fn friction_of_a_driven_joint_loads_its_motor() {
    let signal = Signal::Formula(Formula::new("2*t").unwrap());
    let mut scene = arm(|j| {
        j.rubbing("angle", 0.8, 0.0)
            .imposing("angle", Target::Position(signal.clone()))
    });
    scene.gravity_m_per_s2 = Vec3::zeros();
    let mut world = World::new(scene, precise(1e-3)).unwrap();
    advance(&mut world, 1000);
    let energy = world.energy();
    assert!(
        (energy.friction_dissipation_j - 1.6).abs() < 1e-9,
        "{energy:?}"
    );
    assert!((energy.motion_work_j - 1.6).abs() < 1e-9, "{energy:?}");
}

#[test]
fn a_cart_rolls_down_an_incline() {
    let slope = 0.3_f64;
    let (radius, wheel, chassis) = (0.2, 1.5, 8.0);
    let turn = Vec3::new(0.0, slope, 0.0);
    let tilt = Pose::new(Vec3::zeros(), turn);
    let mut scene = ground(tilt);
    let place = |x: f64, y: f64, z: f64| Pose::new(tilt.point(&Vec3::new(x, y, z)), turn);
    let given = |mass: f64, moments: Vec3| {
        Mass::Given(MassProperties {
            mass_kg: mass,
            centre_m: Vec3::zeros(),
            inertia_kg_m2: Mat3::from_diagonal(&moments),
        })
    };
    let body = Body::dynamic("chassis", given(chassis, Vec3::new(0.3, 0.6, 0.8)));
    let body = scene.add_body(body.at(place(0.0, 0.0, 0.3)));
    let disk = 0.5 * wheel * radius * radius;
    for (x, y) in [(-0.5, -0.3), (-0.5, 0.3), (0.5, -0.3), (0.5, 0.3)] {
        let mass = given(wheel, Vec3::new(0.6 * disk, disk, 0.6 * disk));
        let at = place(x, y, radius);
        let wheel = scene.add_body(Body::dynamic("wheel", mass).at(at));
        scene.add_contactor(wheel, Shape::sphere(radius).unwrap(), Pose::identity(), 1);
        hinge(&mut scene, Some(body), wheel, at.position);
    }
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.6));
    let start = scene.bodies[body].pose.position;
    let mut world = World::new(scene, precise(1e-3)).unwrap();
    advance(&mut world, 1000);
    let whole = chassis + 4.0 * wheel;
    let exact = 0.5 * G * slope.sin() * whole / (whole + 4.0 * disk / (radius * radius));
    let way = (world.pose(body).position - start).norm();
    assert!((way / exact - 1.0).abs() < 1e-6, "{way} {exact}");
    assert!(world.energy().friction_dissipation_j.abs() < 1e-6);
    assert!(closing(&world) < 1e-11 && apart(&world) < 1e-12);
}

#[test]
fn a_contact_that_joints_hold_fast_takes_nothing() {
    let mut scene = ground(Pose::identity());
    let ball = add_sphere(&mut scene, 0.5, 1.0, Vec3::new(0.0, 0.0, 0.5));
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.5));
    let weld = joint(
        &scene,
        "weld",
        JointKind::Fixed,
        [None, Some(ball)],
        Vec3::zeros(),
        Vec3::z(),
    );
    scene.joints.push(weld);
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    advance(&mut world, 100);
    assert!((world.pose(ball).position.z - 0.5).abs() < 1e-12);
    assert!((world.reaction(0)[2] - G).abs() < 1e-9);
}

/// Balls on a string of joints of every kind, above the ground or free.
fn string(kinds: &[usize], turns: &[f64], free: bool) -> Scene {
    let mut scene = if free {
        Scene::default()
    } else {
        ground(Pose::identity())
    };
    let mut last: Option<usize> = None;
    for (k, &kind) in kinds.iter().enumerate() {
        let x = 0.35 * k as f64;
        let moments = Vec3::new(0.02, 0.03, 0.04) * (1.0 + k as f64);
        let properties = MassProperties {
            mass_kg: 1.0 + 0.5 * k as f64,
            centre_m: Vec3::zeros(),
            inertia_kg_m2: Mat3::from_diagonal(&moments),
        };
        let spin = Vec3::new(
            turns[k % turns.len()],
            turns[(k + 1) % turns.len()],
            turns[(k + 2) % turns.len()],
        );
        let body = Body::dynamic(&format!("ball {k}"), Mass::Given(properties))
            .at(Pose::new(
                Vec3::new(x, 0.0, 0.4),
                Vec3::new(0.3 * k as f64, 0.1, 0.2),
            ))
            .spinning(spin)
            .moving(spin * 0.2);
        let body = scene.add_body(body);
        scene.add_contactor(body, Shape::sphere(0.12).unwrap(), Pose::identity(), 1);
        if let Some(last) = last {
            let (_, kind) = JointKind::TABLE[kind % JointKind::TABLE.len()];
            let axis = Vec3::new(turns[0], 1.0, turns[1]).normalize();
            let point = Vec3::new(x - 0.175, 0.0, 0.4);
            let mut made = joint(&scene, "joint", kind, [Some(last), Some(body)], point, axis);
            if kind == JointKind::Distance {
                made.frames = [Pose::identity(); 2];
            }
            scene.joints.push(made);
        }
        last = Some(body);
    }
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.4));
    scene
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Nothing outside: momentum is kept to rounding, angular momentum to second order, energy to third.
    #[test]
    fn free_linkages_keep_their_momenta(
        kinds in prop::collection::vec(0_usize..8, 5),
        turns in prop::collection::vec(-2.0..2.0_f64, 4),
    ) {
        let mut scene = string(&kinds, &turns, true);
        scene.gravity_m_per_s2 = Vec3::zeros();
        scene.contactors.clear();
        scene.laws.clear();
        let run = |dt: f64| {
            let mut world = World::new(scene.clone(), Settings::with_step(dt)).unwrap();
            let (linear, angular) = momenta(&world);
            let energy = world.energy().mechanical_j();
            advance(&mut world, (0.2 / dt) as usize);
            let (p, l) = momenta(&world);
            let lost = energy - world.energy().mechanical_j();
            ((p - linear).norm(), (l - angular).norm(), lost, energy, world.drift())
        };
        let (p, l, lost, energy, drift) = run(1e-3);
        let (_, finer, less, ..) = run(5e-4);
        prop_assert!(p < 1e-12, "momentum {p:e}");
        prop_assert!(l < 1e-4 * (1.0 + energy) && finer < 0.5 * l + 1e-12, "angular momentum {l:e} {finer:e}");
        prop_assert!(lost > -1e-12 * energy, "energy gained {lost:e}");
        prop_assert!(lost < 1e-4 * energy + 1e-12 && less < 0.4 * lost + 1e-12, "energy {lost:e} {less:e}");
        prop_assert!(drift < 1e-12);
    }

    /// With e = 0 nothing but the booked projection ever adds energy, and the account closes. (Under Newton's law
    /// friction that sticks may give some, with joints or without.)
    #[test]
    fn falling_linkages_never_gain_energy(
        kinds in prop::collection::vec(0_usize..8, 4),
        turns in prop::collection::vec(-2.0..2.0_f64, 4),
    ) {
        let mut scene = string(&kinds, &turns, false);
        scene.laws[0].impact = ImpactLaw::Fremond;
        let mut world = World::new(scene, precise(1e-3)).unwrap();
        for _ in 0..500 {
            let before = *world.energy();
            let report = world.step().unwrap();
            let after = world.energy();
            let rise = after.mechanical_j() - before.mechanical_j();
            let booked = (after.stabilisation_work_j - before.stabilisation_work_j).max(0.0);
            prop_assert!(rise <= booked + 1e-10, "step {}: {rise:e} {booked:e}", report.step);
        }
        prop_assert!(closing(&world) < 1e-11, "{:e}", closing(&world));
        prop_assert!(world.drift() < 1e-11);
    }
}

/// Everything at once: contacts, limits, friction, springs, an imposed motion.
fn machine() -> Scene {
    let mut scene = string(&[1, 1, 4, 5, 2], &[0.4, -1.0, 0.7, 0.2], false);
    let first = scene.joints[0].clone();
    scene.joints[0] = first
        .rubbing("angle", 0.05, 0.0)
        .limited(limit(-0.4, 0.4, 0.3));
    let signal = Signal::Formula(Formula::new("0.05*sin(9*t)").unwrap());
    let last = scene.joints[3].clone();
    scene.joints[3] = last.imposing("slide", Target::Position(signal));
    scene.elements.push(Element {
        name: "spring".into(),
        bodies: [Some(1), Some(4)],
        frames: [Pose::identity(); 2],
        effort: Effort::Spring {
            row: Row::Length,
            stiffness: 300.0,
            damping: 2.0,
            rest: None,
            preload: 1.0,
        },
    });
    scene
}

#[test]
fn a_machine_goes_on_from_a_snapshot_to_the_same_bits() {
    let mut world = World::new(machine(), Settings::with_step(1e-3)).unwrap();
    advance(&mut world, 300);
    assert!(!world.contacts().is_empty());
    let bytes = world.snapshot().to_bytes();
    advance(&mut world, 300);
    let last = world.snapshot();
    let mut other = World::new(machine(), Settings::with_step(1e-3)).unwrap();
    other
        .restore(&Snapshot::from_bytes(&bytes).unwrap())
        .unwrap();
    advance(&mut other, 300);
    assert!(last == other.snapshot());
    assert!(
        closing(&world) < 1e-11,
        "{:e} {:?}",
        closing(&world),
        world.energy()
    );
}

#[test]
fn a_machine_settles_with_its_motions_held() {
    let mut scene = machine();
    for body in &mut scene.bodies {
        body.velocity_m_per_s = Vec3::zeros();
        body.angular_velocity_rad_per_s = Vec3::zeros();
    }
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    let settled = world
        .settle(&Settle {
            speed_m_per_s: 1e-4,
            ..Settle::default()
        })
        .unwrap();
    assert!(settled.at_rest, "{settled:?}");
    assert!(world.drift() < 1e-10);
    advance(&mut world, 50);
    assert!(world.drift() < 1e-12 && closing(&world) < 1e-11);
}

#[test]
fn stabilisation_keeps_joints() {
    let mut scene = string(&[1, 1, 4], &[0.4, -1.0, 0.7], false);
    scene
        .bodies
        .iter_mut()
        .skip(1)
        .for_each(|b| b.velocity_m_per_s = Vec3::new(0.0, 0.0, -3.0));
    let settings = Settings {
        stabilise: true,
        ..Settings::with_step(2e-3)
    };
    let mut world = World::new(scene, settings).unwrap();
    let mut deepest = 0.0_f64;
    for step in 0..500 {
        let report = world.step().unwrap();
        if step > 200 {
            deepest = deepest.max(report.overlap_m);
        }
        assert!(world.drift() < 1e-11);
    }
    assert!(deepest < 1e-4, "{deepest}");
    assert!(closing(&world) < 1e-11, "{:e}", closing(&world));
}

#[test]
fn what_cannot_be_is_named() {
    // A door that its motor turns and a weld holds.
    let mut scene = arm(|j| j.imposing("angle", Target::Velocity(Signal::Constant(1.0))));
    let weld = joint(
        &scene,
        "weld",
        JointKind::Fixed,
        [None, Some(0)],
        Vec3::x(),
        Vec3::z(),
    );
    scene.joints.push(weld);
    let told = World::new(scene, Settings::with_step(1e-3))
        .map(|_| ())
        .unwrap_err();
    assert!(
        told.to_string().contains("cannot be met together"),
        "{told}"
    );
    // A motor that asks for more than the bar reaches comes apart when it gets there.
    let signal = Signal::Formula(Formula::new("1 - 2*t").unwrap());
    let mut scene = arm(|j| j);
    let mut rope = Joint::new(
        "rope",
        JointKind::Distance,
        [None, Some(0)],
        [Pose::identity(), Pose::translation(0.5, 0.0, 0.0)],
    );
    rope = rope.imposing("length", Target::Position(signal));
    scene.joints.push(rope);
    let mut world = World::new(scene, Settings::with_step(1e-3)).map_err(|e| e.to_string());
    if let Ok(world) = &mut world {
        let told = (0..100)
            .find_map(|_| world.step().err())
            .expect("it comes apart");
        assert!(told.to_string().contains("comes apart"), "{told}");
    }
}

#[test]
fn friction_grows_with_the_reaction() {
    // A slide under its own weight is braked by mu g, a wheel on its pin by mu r m g / I.
    let kinds = [
        (JointKind::Prismatic, "slide"),
        (JointKind::Revolute, "angle"),
    ];
    for (kind, coordinate) in kinds {
        let mut scene = Scene::default();
        let body = rod("body", 2.0, 0.6).moving(Vec3::new(0.0, 3.0, 0.0));
        let body = match kind {
            JointKind::Prismatic => body,
            _ => body
                .moving(Vec3::zeros())
                .spinning(Vec3::new(0.0, 3.0, 0.0)),
        };
        scene.add_body(body);
        let rail = joint(
            &scene,
            "rail",
            kind,
            [None, Some(0)],
            Vec3::zeros(),
            Vec3::y(),
        );
        scene.joints.push(rail.rubbing_under_load(coordinate, 0.2));
        let mut world = World::new(scene, precise(1e-3)).unwrap();
        let inertia = if kind == JointKind::Prismatic {
            2.0
        } else {
            2.0 * 0.36 / 12.0
        };
        let braking = 0.2 * 2.0 * G / inertia;
        let row = world.scene().joints[0].coordinate(coordinate).unwrap();
        advance(&mut world, 30);
        let (_, rate) = world.coordinate(0, row);
        assert!(
            (rate - (3.0 - 0.03 * braking).max(0.0)).abs() < 1e-8,
            "{rate}"
        );
        advance(&mut world, 2000);
        assert!(world.coordinate(0, row).1.abs() < 1e-12);
    }
    // On a slope: it holds where mu exceeds the tangent, and slides with g (sin - mu cos) where not.
    for (mu, slides) in [(0.51, false), (0.49, true)] {
        let slope = 0.5_f64.atan();
        let mut scene = Scene::default();
        scene.add_body(rod("body", 2.0, 0.6));
        let down = Vec3::new(slope.cos(), 0.0, -slope.sin());
        let rail = joint(
            &scene,
            "rail",
            JointKind::Prismatic,
            [None, Some(0)],
            Vec3::zeros(),
            down,
        );
        scene.joints.push(rail.rubbing_under_load("slide", mu));
        let mut world = World::new(scene, precise(1e-3)).unwrap();
        advance(&mut world, 1000);
        let (way, _) = world.coordinate(0, Row::Slide(2));
        let exact = 0.5 * G * (slope.sin() - mu * slope.cos());
        if slides {
            assert!((way / exact - 1.0).abs() < 1e-6, "{way} {exact}");
        } else {
            assert!(way.abs() < 1e-12, "{way}");
        }
    }
}

#[test]
fn limits_count_full_turns() {
    let mut scene = arm(|joint| joint.limited(limit(-1.0, 4.0, 0.0)));
    scene.gravity_m_per_s2 = Vec3::zeros();
    spin_about_origin(&mut scene, 3.0);
    let mut world = World::new(scene, precise(1e-3)).unwrap();
    advance(&mut world, 1330);
    let (angle, rate) = world.coordinate(0, Row::Angle(2));
    assert!((angle + std::f64::consts::TAU - 3.99).abs() < 1e-3 && (rate - 3.0).abs() < 1e-6);
    let bytes = world.snapshot().to_bytes();
    let mut other = World::new(world.scene().clone(), precise(1e-3)).unwrap();
    other
        .restore(&Snapshot::from_bytes(&bytes).unwrap())
        .unwrap();
    for mut world in [world, other] {
        advance(&mut world, 100);
        let (angle, rate) = world.coordinate(0, Row::Angle(2));
        assert!(
            (angle + std::f64::consts::TAU - 4.0).abs() < 4e-3 && rate.abs() < 1e-9,
            "{angle} {rate}"
        );
    }
}
