//! The pin in the hole against dense sampling of both surfaces, and its closed form for parallel axes.

use crate::common::{Stream, points};
use percuss_geometry::{Pose, Shape, Vec3};
use std::f64::consts::TAU;

const HOLE: f64 = 0.077;
const PIN: f64 = 0.06985;
const HALF_TUBE: f64 = 0.03;

fn ring() -> Shape {
    Shape::ring(HOLE, 0.12, 2.0 * HALF_TUBE).unwrap()
}

/// Least clearance over sampled points of the hole's wall and of the pin's rims.
fn sampled(pin_half: f64, pin: &Pose, ring: &Pose) -> f64 {
    let (fp, fr) = (pin.frame(), ring.frame());
    let mut least = f64::INFINITY;
    let count = 4000;
    for i in 0..count {
        let (s, c) = (f64::from(i) * TAU / f64::from(count)).sin_cos();
        for k in 0..=20 {
            let z = HALF_TUBE * (f64::from(k) / 10.0 - 1.0);
            let q = fp.local_point(&fr.point(&Vec3::new(HOLE * c, HOLE * s, z)));
            if q.z.abs() <= pin_half {
                least = least.min(q.x.hypot(q.y) - PIN);
            }
        }
        for end in [-pin_half, pin_half] {
            let q = fr.local_point(&fp.point(&Vec3::new(PIN * c, PIN * s, end)));
            if q.z.abs() <= HALF_TUBE {
                least = least.min(HOLE - q.x.hypot(q.y));
            }
        }
    }
    least
}

#[test]
fn parallel_pin_touches_at_both_ends_of_the_hole() {
    let pin = Shape::cylinder(PIN, 0.8).unwrap();
    for offset in [1e-6, 1e-3, 7.15e-3, 8e-3] {
        let list = points(
            &pin,
            &Pose::translation(0.0, offset, 0.1),
            &ring(),
            &Pose::identity(),
            0.005,
        );
        let gap = HOLE - PIN - offset;
        if gap > 0.005 {
            assert!(list.is_empty());
            continue;
        }
        assert_eq!(list.len(), 2);
        for p in &list {
            assert!((p.gap - gap).abs() < 1e-15 && (p.normal - Vec3::y()).norm() < 1e-12);
            assert!((p.position.z.abs() - HALF_TUBE).abs() < 1e-15);
        }
    }
}

#[test]
fn tilted_pins_agree_with_sampling() {
    let mut stream = Stream(3);
    for trial in 0..150 {
        let half = if trial % 3 == 0 { 0.1 } else { 0.4 };
        let pin = Shape::cylinder(PIN, 2.0 * half).unwrap();
        let at = stream.pose(1.0);
        // A third of the pins are short and end inside the hole.
        let height = if trial % 3 == 0 {
            half - 0.01
        } else {
            stream.between(-0.2, 0.2)
        };
        let inner = Pose::new(
            Vec3::new(
                stream.between(-4e-3, 4e-3),
                stream.between(-4e-3, 4e-3),
                0.0,
            ),
            stream.direction() * stream.between(0.0, 0.08),
        );
        let pose = at
            .compose(&inner)
            .compose(&Pose::translation(0.0, 0.0, height));
        let list = points(&pin, &pose, &ring(), &at, 0.05);
        let least = list.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        let expected = sampled(half, &pose, &at);
        // The samples miss the extreme by at most R (pi / count)^2 / 2 in angle.
        assert!(
            least <= expected + 1e-12 && expected < least + 1e-6,
            "{trial}: {least} {expected}"
        );
    }
}

#[test]
fn a_tight_pin_is_held_from_all_sides() {
    let pin = Shape::cylinder(HOLE - 1e-4, 0.8).unwrap();
    let list = points(&pin, &Pose::identity(), &ring(), &Pose::identity(), 1e-3);
    for k in 0..8 {
        let (s, c) = (f64::from(k) * TAU / 8.0).sin_cos();
        let facing = list
            .iter()
            .map(|p| p.normal.x * c + p.normal.y * s)
            .fold(0.0, f64::max);
        assert!(facing > 0.7, "{list:?}");
    }
}

#[test]
fn a_pin_that_has_left_the_hole_is_free() {
    let pin = Shape::cylinder(PIN, 0.2).unwrap();
    let out = Pose::translation(0.005, 0.0, 0.1 + HALF_TUBE + 1e-6);
    assert!(points(&pin, &out, &ring(), &Pose::identity(), 0.01).is_empty());
    let wide = Shape::cylinder(0.1, 0.2).unwrap();
    assert!(!points(&wide, &out, &ring(), &Pose::identity(), 0.01).is_empty());
}

#[test]
fn a_capsule_and_a_ball_go_through_the_hole_too() {
    let gap = HOLE - PIN - 5e-3;
    let capsule = Shape::capsule(PIN, 0.6).unwrap();
    let list = points(
        &capsule,
        &Pose::translation(5e-3, 0.0, 0.1),
        &ring(),
        &Pose::identity(),
        0.005,
    );
    assert_eq!(list.len(), 2);
    assert!(
        list.iter()
            .all(|p| (p.gap - gap).abs() < 1e-15 && (p.normal - Vec3::x()).norm() < 1e-12)
    );
    // Its straight part has left the hole upwards: its lower ball is still in.
    let leaving = Pose::translation(5e-3, 0.0, 0.3 + HALF_TUBE + 0.01);
    let list = points(&capsule, &leaving, &ring(), &Pose::identity(), 0.01);
    let expected = (HOLE - 5e-3).hypot(0.01) - PIN;
    assert_eq!(list.len(), 1);
    assert!((list[0].gap - expected).abs() < 1e-15);
    let ball = Shape::sphere(PIN).unwrap();
    let list = points(
        &ball,
        &Pose::translation(5e-3, 0.0, 0.01),
        &ring(),
        &Pose::identity(),
        0.005,
    );
    assert!(list.len() == 1 && (list[0].gap - gap).abs() < 1e-15);
}
