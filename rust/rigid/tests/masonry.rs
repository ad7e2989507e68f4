//! Blocks that stand, rock, topple and fall.

use crate::common::*;
use percuss_rigid::*;

/// A tower of cubes of 1 m and 100 kg.
fn tower(count: usize) -> World {
    let mut scene = ground(Pose::identity());
    for k in 0..count {
        let pose = Pose::translation(0.0, 0.0, 0.5 + k as f64);
        add_box(&mut scene, [1.0; 3], 100.0, pose);
    }
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.5));
    scene.add_law(ContactLaw::new((1, 1), 0.0, 0.5));
    let settings = Settings {
        tolerance: 1e-8,
        max_factorisations: 200,
        ..Settings::with_step(1e-2)
    };
    World::new(scene, settings).unwrap()
}

#[test]
fn towers_at_rest_stay_at_rest() {
    for count in [10, 50] {
        let mut world = tower(count);
        let start: Vec<Vec3> = (1..=count).map(|k| world.state(k).position).collect();
        advance(&mut world, 1000);
        for (k, start) in start.iter().enumerate() {
            let drift = (world.state(k + 1).position - start).norm();
            assert!(drift < 1e-6, "cube {k} of {count} drifted by {drift:e}");
        }
    }
}

#[test]
fn a_block_topples_when_the_push_exceeds_its_slenderness() {
    // Width 0.4, height 1: the resultant leaves the base at 0.4 g.
    for (push, stands) in [(0.39, true), (0.41, false)] {
        let mut scene = ground(Pose::identity());
        scene.gravity_m_per_s2 = Vec3::new(push * G, 0.0, -G);
        let block = add_box(
            &mut scene,
            [0.4, 0.6, 1.0],
            500.0,
            Pose::translation(0.0, 0.0, 0.5),
        );
        scene.add_law(ContactLaw::new((0, 1), 0.0, 0.9));
        let mut world = World::new(scene, precise(1e-3)).unwrap();
        advance(&mut world, 1500);
        let tilt = world.state(block).rotation.angle();
        assert_eq!(tilt < 1e-6, stands, "push {push}: tilt {tilt}");
    }
}

#[test]
fn a_rocking_block_follows_housner() {
    // Housner (1963): quarter period acosh(1 / (1 - t0/alpha)) / p from tilt t0, p2 = m g R / I0, and the
    // angular velocity kept at an impact 1 - 3/2 sin2(alpha) for a slender block of uniform mass.
    let (width, height) = (0.2_f64, 1.0_f64);
    let alpha = (width / height).atan();
    let radius = 0.5 * width.hypot(height);
    let tilt = 0.5 * alpha;
    let p = (0.75 * G / radius).sqrt();
    let quarter = (1.0 / (1.0 - tilt / alpha)).acosh() / p;
    let kept = 1.0 - 1.5 * alpha.sin().powi(2);

    let mut scene = ground(Pose::identity());
    // Tilted about the lower edge at x = +width/2.
    let turn = Vec3::new(0.0, tilt, 0.0);
    let rotation = Pose::new(Vec3::zeros(), turn).rotation;
    let arm = rotation * Vec3::new(-0.5 * width, 0.0, 0.5 * height);
    let pose = Pose::new(arm, turn);
    let block = add_box(&mut scene, [width, 0.5, height], 300.0, pose);
    scene.add_law(ContactLaw::new((0, 1), 0.0, 2.0));
    let dt = 1e-4;
    let mut world = World::new(scene, precise(dt)).unwrap();
    let mut last = 0.0;
    let (mut time, mut ratio) = (None, None);
    for _ in 0..(2.0 * quarter / dt) as usize {
        advance(&mut world, 1);
        let now = world.angular_velocity(block).y;
        if time.is_none() && (now - last).abs() > 0.02 * last.abs() && last.abs() > 0.3 {
            time = Some(world.time_s());
            ratio = Some(now / last);
        }
        last = now;
    }
    let (time, ratio) = (time.unwrap(), ratio.unwrap());
    // Housner's quarter period takes sin(alpha - t) for its argument: alpha^2/6 of error.
    assert!(
        (time / quarter - 1.0).abs() < 0.01,
        "{time} against {quarter}"
    );
    assert!((ratio - kept).abs() < 2e-3, "{ratio} against {kept}");
    assert!(closing(&world) < 1e-11, "{:e}", closing(&world));
}

/// A semicircular arch of voussoirs of mean radius 1 m on fixed springers.
fn arch(thickness: f64, count: usize) -> Scene {
    let mut scene = Scene::default();
    let (inner, outer) = (1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness);
    let width = 0.3;
    let base = scene.add_body(Body::fixed("ground"));
    scene.add_contactor(base, Shape::half_space(), Pose::identity(), 0);
    for k in 0..count {
        let angle = |k: usize| std::f64::consts::PI * k as f64 / count as f64;
        let (low, high) = (angle(k), angle(k + 1));
        let middle = 0.5 * (low + high);
        let centre = Vec3::new(middle.cos(), 0.0, middle.sin());
        let mut corners = Vec::new();
        for a in [low, high] {
            for r in [inner, outer] {
                for y in [-0.5 * width, 0.5 * width] {
                    corners.push(Vec3::new(r * a.cos(), y, r * a.sin()) - centre);
                }
            }
        }
        let name = format!("voussoir {k}");
        let body = scene.add_body(
            Body::dynamic(&name, Mass::Density(2000.0)).at(Pose::new(centre, Vec3::zeros())),
        );
        let shape = Shape::polyhedron(&corners).unwrap();
        scene.add_contactor(body, shape, Pose::identity(), 1);
    }
    scene.add_law(ContactLaw::new((0, 1), 0.0, 0.9));
    scene.add_law(ContactLaw::new((1, 1), 0.0, 0.9));
    scene
}

#[test]
fn a_semicircular_arch_needs_its_thickness() {
    // Couplet and Heyman: the least thickness over mean radius is 0.1075.
    let sag = |thickness: f64| {
        let count = 21;
        let settings = Settings {
            max_iterations: 300,
            max_factorisations: 20,
            ..Settings::with_step(1e-3)
        };
        let mut world = World::new(arch(thickness, count), settings).unwrap();
        let crown = 1 + count / 2;
        let start = world.state(crown).position.z;
        for _ in 0..500 {
            world.step().unwrap();
        }
        start - world.state(crown).position.z
    };
    let (standing, falling) = (sag(0.115), sag(0.100));
    assert!(standing.abs() < 1e-4, "t/R = 0.115 sags by {standing:e}");
    assert!(falling > 1e-2, "t/R = 0.100 sags by {falling:e}");
}
