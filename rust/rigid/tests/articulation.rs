//! Joints in the nonsmooth stepper, without contact: closed forms, the smooth stepper, drift, invariants.

use crate::common::linkages;
use crate::common::linkages::*;
use crate::common::*;
use percuss_rigid::*;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

fn angle(world: &World, body: usize) -> f64 {
    let along = world.pose(body).rotation * Vec3::x();
    along.x.atan2(-along.z)
}

#[test]
fn a_compound_pendulum_keeps_its_period() {
    let tilt = 0.02_f64;
    let scene = chain(
        &[Vec3::zeros(), Vec3::new(tilt.sin(), 0.0, -tilt.cos())],
        2.0,
    );
    let period = TAU * (2.0 / (3.0 * G)).sqrt() * (1.0 + tilt * tilt / 16.0);
    let error = |steps: usize| {
        let mut world =
            World::new(scene.clone(), Settings::with_step(period / steps as f64)).unwrap();
        advance(&mut world, steps / 4);
        let error = angle(&world, 0).abs() / tilt;
        // At the lowest point: weight, and m r w^2 of the fall.
        let state = world.state(0);
        let force = 2.0 * (G + state.velocity.norm_squared() / 0.5);
        let found = world.reaction(0)[2];
        assert!((found - force).abs() < 1e-3 * force, "{found} {force}");
        advance(&mut world, steps - steps / 4);
        (error, (angle(&world, 0) - tilt).abs() / tilt)
    };
    let (coarse, fine) = (error(400), error(800));
    assert!(fine.0 < 1e-4 && fine.1 < 1e-6, "{fine:?}");
    assert!(fine.0 < 0.3 * coarse.0, "second order: {coarse:?} {fine:?}");
}

#[test]
fn a_double_pendulum_converges_to_the_smooth_stepper_at_second_order() {
    let points = [
        Vec3::zeros(),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(1.6, 0.0, -0.5),
    ];
    let end = |settings: Settings, steps: usize| {
        let mut world = World::new(chain(&points, 1.0), settings).unwrap();
        advance(&mut world, steps);
        world.state(1).position
    };
    let smooth = Settings {
        stepper: Stepper::Smooth(Method::Adams),
        ..Settings::with_step(5e-4)
    };
    let exact = end(smooth, 2000);
    let error = |steps: usize| {
        let settings = Settings::with_step(1.0 / steps as f64);
        (end(settings, steps) - exact).norm()
    };
    let (coarse, fine) = (error(500), error(1000));
    let ratio = coarse / fine;
    assert!(
        fine < 2e-5 && (3.0..5.5).contains(&ratio),
        "{coarse:e} {fine:e}"
    );
}

#[test]
fn nothing_drifts_and_no_energy_appears_in_ten_seconds() {
    let points = [
        Vec3::zeros(),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 1.0),
        Vec3::new(1.8, 0.0, 1.3),
    ];
    let mut world = World::new(chain(&points, 1.0), Settings::with_step(1e-3)).unwrap();
    let mut worst = 0.0_f64;
    let start = world.energy().mechanical_j();
    for _ in 0..10_000 {
        advance(&mut world, 1);
        worst = worst.max(apart(&world));
    }
    println!("drift {worst:e}, energy {:?}", world.energy());
    assert!(worst < 1e-12, "{worst:e}");
    let energy = world.energy();
    assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
    // All that changed the energy is the projection, booked.
    let change = energy.mechanical_j() - start;
    assert!((change - energy.stabilisation_work_j).abs() < 1e-10);
    assert!(change.abs() < 2e-3 * start.abs(), "{change:e} of {start}");
}

/// J0 by its series.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..30 {
        term *= -0.25 * x * x / (k * k) as f64;
        sum += term;
    }
    sum
}

#[test]
fn a_chain_of_fifty_links_swings_as_a_heavy_cord() {
    let (links, length) = (50, 1.0);
    let rate = 0.5 * 2.404825557695773 * (G / length).sqrt();
    let at = |k: usize| {
        let below = length * (1.0 - k as f64 / links as f64);
        let x = 1e-3 * bessel(2.0 * rate * (below / G).sqrt());
        Vec3::new(x, 0.0, below - length)
    };
    // Rods keep their length: heights follow from the shape.
    let mut points = vec![at(0)];
    for k in 1..=links {
        let (last, x) = (points[k - 1], at(k).x);
        let step = length / links as f64;
        let drop = (step * step - (x - last.x).powi(2)).sqrt();
        points.push(Vec3::new(x, 0.0, last.z - drop));
    }
    let steps = 400;
    let dt = PI / rate / steps as f64;
    let mut world = World::new(chain(&points, 0.02), Settings::with_step(dt)).unwrap();
    let top = world.energy().mechanical_j();
    advance(&mut world, steps);
    let tip = world
        .pose(links - 1)
        .point(&Vec3::new(0.5 * length / links as f64, 0.0, 0.0));
    // Half a period later the mode is its mirror image; rods for a cord cost some 1/links^2.
    assert!((tip.x + 1e-3).abs() < 1e-5, "{}", tip.x);
    assert!(apart(&world) < 1e-12);
    assert!((world.energy().mechanical_j() - top).abs() < 1e-9 * top.abs());
}

#[test]
fn a_hanging_chain_carries_its_weight() {
    let points: Vec<Vec3> = (0..=20)
        .map(|k| Vec3::new(0.0, 0.0, -0.1 * k as f64))
        .collect();
    let mut world = World::new(chain(&points, 0.5), Settings::with_step(1e-2)).unwrap();
    advance(&mut world, 50);
    for joint in 0..20 {
        let weight = (20 - joint) as f64 * 0.5 * G;
        let [x, y, z, torque @ ..] = world.reaction(joint);
        assert!(
            (Vec3::new(x, y, z - weight)).norm() < 1e-10 * weight,
            "{x} {y} {z}"
        );
        assert!(torque.iter().all(|x| x.abs() < 1e-10));
    }
    assert!(world.energy().kinetic_j < 1e-20);
}

/// A crank about the origin, a rod, and a slider along x.
fn slider_crank(turn: Option<Target>) -> Scene {
    let (crank, rod) = (0.2, 0.5);
    let (pin, end) = (Vec3::new(crank, 0.0, 0.0), Vec3::new(crank + rod, 0.0, 0.0));
    let mut scene = Scene::default();
    let crank = scene.add_body(rod_between("crank", 1.0, Vec3::zeros(), pin));
    let rod = scene.add_body(rod_between("rod", 2.0, pin, end));
    let slider = scene
        .add_body(linkages::rod("slider", 3.0, 0.1).at(Pose::translation(end.x, end.y, end.z)));
    hinge(&mut scene, None, crank, Vec3::zeros());
    hinge(&mut scene, Some(crank), rod, pin);
    hinge(&mut scene, Some(rod), slider, end);
    let guide = joint(
        &scene,
        "guide",
        JointKind::Prismatic,
        [None, Some(slider)],
        end,
        Vec3::x(),
    );
    scene.joints.push(guide);
    if let Some(turn) = turn {
        let motor = scene.joints[0].clone().imposing("angle", turn);
        scene.joints[0] = motor;
    }
    scene
}

#[test]
fn a_driven_slider_crank_follows_its_closed_form() {
    let formula = Formula::new("8*t + 0.3*sin(20*t)").unwrap();
    let scene = slider_crank(Some(Target::Position(Signal::Formula(formula))));
    let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
    // In space three of the rows of a plane loop say nothing new.
    assert_eq!(world.assembled().redundant.len(), 3);
    for _ in 0..2000 {
        advance(&mut world, 1);
        let t = world.time_s();
        let (turn, rate) = (
            8.0 * t + 0.3 * (20.0 * t).sin(),
            8.0 + 6.0 * (20.0 * t).cos(),
        );
        let root = (0.25 - (0.2 * turn.sin()).powi(2)).sqrt();
        let x = 0.2 * turn.cos() + root;
        let v = -0.2 * turn.sin() * rate * (1.0 + 0.2 * turn.cos() / root);
        let slider = world.state(2);
        assert!(
            (slider.position.x - x).abs() < 1e-12,
            "{:e}",
            slider.position.x - x
        );
        assert!(
            (slider.velocity.x - v).abs() < 1e-9,
            "{:e}",
            slider.velocity.x - v
        );
    }
    assert!(closing(&world) < 1e-12, "{:e}", closing(&world));
    // The motor's work is what the parts have.
    let energy = world.energy();
    let rest = energy.mechanical_j() - energy.brought_in_j - energy.motion_work_j;
    assert!(rest.abs() < 2e-3 * energy.kinetic_j, "{rest} {energy:?}");
}

#[test]
fn a_four_bar_loop_swings_as_the_smooth_stepper_has_it() {
    let build = || {
        let mut scene = Scene::default();
        let points = [
            Vec3::zeros(),
            Vec3::new(-0.3, 0.0, -0.4),
            Vec3::new(0.5, 0.0, -0.7),
            Vec3::new(0.6, 0.0, 0.0),
        ];
        let mut last = None;
        for k in 0..3 {
            let body = scene.add_body(rod_between("bar", 1.0 + k as f64, points[k], points[k + 1]));
            hinge(&mut scene, last, body, points[k]);
            last = Some(body);
        }
        let closing = joint(
            &scene,
            "closing",
            JointKind::Revolute,
            [last, None],
            points[3],
            Vec3::y(),
        );
        scene.joints.push(closing);
        scene
    };
    let end = |settings: Settings, steps: usize| {
        let mut world = World::new(build(), settings).unwrap();
        assert_eq!(world.assembled().redundant.len(), 3);
        advance(&mut world, steps);
        assert!(apart(&world) < 1e-11);
        (world.state(1).position, *world.energy())
    };
    let smooth = Settings {
        stepper: Stepper::Smooth(Method::Adams),
        ..Settings::with_step(1e-3)
    };
    let (exact, _) = end(smooth, 1000);
    let error = |steps: usize| {
        let (found, energy) = end(Settings::with_step(1.0 / steps as f64), steps);
        assert!(energy.closing_error_j().abs() < 1e-10);
        (found - exact).norm()
    };
    let (coarse, fine) = (error(500), error(1000));
    assert!(
        fine < 2e-5 && (3.0..5.5).contains(&(coarse / fine)),
        "{coarse:e} {fine:e}"
    );
}

/// A mass on a spring along x.
fn oscillator(stiffness: f64, damping: f64) -> Scene {
    let mut scene = Scene::default();
    let body = scene.add_body(rod("mass", 2.0, 0.3).at(Pose::translation(0.1, 0.0, 0.0)));
    let frames = [
        Pose::new(Vec3::zeros(), Vec3::new(0.0, FRAC_PI_2, 0.0)),
        Pose::new(Vec3::zeros(), Vec3::new(0.0, FRAC_PI_2, 0.0)),
    ];
    let ends = [None, Some(body)];
    scene
        .joints
        .push(Joint::new("guide", JointKind::Prismatic, ends, frames));
    scene.elements.push(Element {
        name: "spring".into(),
        bodies: ends,
        frames,
        effort: Effort::Spring {
            row: Row::Slide(2),
            stiffness,
            damping,
            rest: Some(0.0),
            preload: 0.0,
        },
    });
    scene
}

#[test]
fn springs_swing_at_their_frequency_and_stiff_ones_stay() {
    let mut world = World::new(oscillator(200.0, 0.0), Settings::with_step(1e-3)).unwrap();
    advance(&mut world, 1000);
    let state = world.state(0);
    assert!(
        (state.position.x - 0.1 * 10_f64.cos()).abs() < 1e-4,
        "{}",
        state.position.x
    );
    assert!((world.energy().mechanical_j() - 1.0).abs() < 1e-12);
    assert!(closing(&world) < 1e-13);
    // Thirty radians a step: no force law of that stiffness is stable explicitly.
    let mut world = World::new(oscillator(2e9, 0.0), Settings::with_step(1e-3)).unwrap();
    let start = world.energy().mechanical_j();
    advance(&mut world, 1000);
    assert!((world.energy().mechanical_j() / start - 1.0).abs() < 1e-9);
    let mut world = World::new(oscillator(200.0, 8.0), Settings::with_step(1e-3)).unwrap();
    advance(&mut world, 1000);
    let (decay, rate) = (2.0_f64, (100.0_f64 - 4.0).sqrt());
    let exact = 0.1 * (-decay).exp() * (rate.cos() + decay / rate * rate.sin());
    assert!((world.state(0).position.x - exact).abs() < 1e-5);
    assert!(closing(&world) < 1e-12);
    assert!(world.energy().damping_dissipation_j > 0.9);
}

#[test]
fn the_order_of_bodies_and_joints_changes_nothing() {
    let points = [
        Vec3::zeros(),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(1.5, 0.0, -0.5),
        Vec3::new(2.5, 0.0, 0.0),
    ];
    let scene = chain(&points, 1.0);
    let mut turned = scene.clone();
    turned.bodies.reverse();
    turned.joints.reverse();
    for joint in &mut turned.joints {
        joint.bodies = joint.bodies.map(|body| body.map(|body| 2 - body));
    }
    let run = |scene: Scene| {
        let mut world = World::new(scene, Settings::with_step(1e-3)).unwrap();
        advance(&mut world, 500);
        [0, 1, 2].map(|body| world.state(body).position)
    };
    let (first, second) = (run(scene), run(turned));
    for body in 0..3 {
        assert!((first[body] - second[2 - body]).norm() < 1e-10);
    }
}

#[test]
fn velocities_set_from_outside_are_made_to_fit() {
    let points = [
        Vec3::zeros(),
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(2.0, 0.0, 0.0),
    ];
    let mut scene = chain(&points, 1.0);
    scene.gravity_m_per_s2 = Vec3::zeros();
    let mut world = World::new(scene, Settings::with_step(1e-4)).unwrap();
    advance(&mut world, 3);
    world.set_velocity(1, Vec3::new(5.0, 0.0, 1.0), Vec3::zeros());
    advance(&mut world, 1);
    assert!(world.state(1).velocity.x.abs() < 1e-2);
    assert!(apart(&world) < 1e-12 && closing(&world) < 1e-12);
}
