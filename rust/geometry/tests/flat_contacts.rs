//! Flat on flat: which points there are, where they are, and that they keep their names.

use crate::common::{Stream, points};
use percuss_geometry::{ContactPoint, Pose, Shape, Vec3};
use std::collections::BTreeMap;

fn by_name(list: &[ContactPoint]) -> BTreeMap<u32, ContactPoint> {
    let map: BTreeMap<u32, ContactPoint> = list.iter().map(|p| (p.feature, *p)).collect();
    assert_eq!(map.len(), list.len(), "two points with one name: {list:?}");
    map
}

fn yawed(x: f64, y: f64, z: f64, yaw: f64) -> Pose {
    Pose::new(Vec3::new(x, y, z), Vec3::new(0.0, 0.0, yaw))
}

/// Corners of the overlap of two rectangles, by clipping (Sutherland and Hodgman).
fn overlap(half_a: [f64; 2], half_b: [f64; 2], offset: [f64; 2], yaw: f64) -> Vec<[f64; 2]> {
    let corners = |h: [f64; 2]| [[-h[0], -h[1]], [h[0], -h[1]], [h[0], h[1]], [-h[0], h[1]]];
    let (s, c) = yaw.sin_cos();
    let mut polygon: Vec<[f64; 2]> = corners(half_b)
        .iter()
        .map(|p| {
            [
                offset[0] + c * p[0] - s * p[1],
                offset[1] + s * p[0] + c * p[1],
            ]
        })
        .collect();
    for (axis, sign) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
        let beyond = |p: &[f64; 2]| sign * p[axis] - half_a[axis];
        let mut cut = Vec::new();
        for i in 0..polygon.len() {
            let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
            let (dp, dq) = (beyond(&p), beyond(&q));
            if dp <= 0.0 {
                cut.push(p);
            }
            if dp * dq < 0.0 {
                let t = dp / (dp - dq);
                cut.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
            }
        }
        polygon = cut;
    }
    polygon
}

#[test]
fn box_on_box_gives_the_corners_of_the_overlap_at_every_yaw() {
    let a = Shape::cuboid(1.0, 0.8, 0.5).unwrap();
    let b = Shape::cuboid(0.7, 0.9, 0.4).unwrap();
    let mut stream = Stream(5);
    for step in 0..720 {
        let yaw = f64::from(step) * 0.00873;
        let (x, y) = (stream.between(-0.4, 0.4), stream.between(-0.4, 0.4));
        let gap = stream.between(-1e-3, 1e-3);
        let list = points(
            &a,
            &Pose::identity(),
            &b,
            &yawed(x, y, 0.45 + gap, yaw),
            0.01,
        );
        let corners = overlap([0.5, 0.4], [0.35, 0.45], [x, y], yaw);
        by_name(&list);
        for p in &list {
            assert!((p.normal - Vec3::z()).norm() < 1e-12 && (p.gap - gap).abs() < 1e-12);
            assert!((p.position.z - 0.25 - gap / 2.0).abs() < 1e-12);
        }
        let distance =
            |p: &ContactPoint, c: &[f64; 2]| (p.position.x - c[0]).hypot(p.position.y - c[1]);
        // Corners nearer to each other than the merging tolerance may share a point.
        let near = 1e-5;
        for c in &corners {
            assert!(
                list.iter().any(|p| distance(p, c) < near),
                "yaw {yaw}: no point at {c:?} in {list:?}"
            );
        }
        for p in &list {
            assert!(
                corners.iter().any(|c| distance(p, c) < near),
                "yaw {yaw}: {p:?} is no corner of {corners:?}"
            );
        }
    }
}

#[test]
fn aligned_cubes_keep_four_points_under_rounding_noise() {
    let cube = Shape::cuboid(1.0, 1.0, 1.0).unwrap();
    let mut stream = Stream(9);
    let first = by_name(&points(
        &cube,
        &Pose::identity(),
        &cube,
        &Pose::translation(0.0, 0.0, 1.0),
        0.01,
    ));
    assert_eq!(first.len(), 4);
    for _ in 0..200 {
        let mut noise = || stream.between(-1e-6, 1e-6);
        let pose = Pose::new(
            Vec3::new(noise(), noise(), 1.0 + noise()),
            Vec3::new(noise(), noise(), noise()),
        );
        let next = by_name(&points(&cube, &Pose::identity(), &cube, &pose, 0.01));
        assert_eq!(
            next.keys().collect::<Vec<_>>(),
            first.keys().collect::<Vec<_>>()
        );
        for (name, p) in &next {
            assert!((p.position - first[name].position).norm() < 1e-5);
        }
    }
}

#[test]
fn a_tiny_tilt_does_not_turn_a_face_into_an_edge() {
    let cube = Shape::cuboid(0.8, 0.8, 0.8).unwrap();
    for tilt in [0.0, 1e-9, 1e-6, 1e-4, 1e-3] {
        let pose = Pose::new(
            Vec3::new(0.05, 0.03, 0.8),
            Vec3::new(tilt, -2.0 * tilt, 0.4),
        );
        let list = points(&cube, &Pose::identity(), &cube, &pose, 0.01);
        assert_eq!(list.len(), 8, "tilt {tilt}");
    }
}

#[test]
fn neighbours_in_a_course_do_not_catch_a_block_that_slides_over_them() {
    // A block sliding over two blocks of equal height: the seam must never give a sideways normal.
    let block = Shape::cuboid(1.0, 1.0, 1.0).unwrap();
    let drum = Shape::cylinder(0.5, 1.0).unwrap();
    for shape in [&block, &drum] {
        for sunk in [-1e-4, -1e-6, 0.0, 1e-6, 1e-4] {
            for i in 0..2000 {
                let x = -1.2 + f64::from(i) * 1.3e-3;
                for p in points(
                    shape,
                    &Pose::identity(),
                    shape,
                    &Pose::translation(x, 0.0, 1.0 + sunk),
                    5e-3,
                ) {
                    assert!(
                        p.normal.z > 0.99,
                        "{} at {x}, sunk {sunk}: {p:?}",
                        shape.name()
                    );
                }
            }
        }
    }
}

#[test]
fn box_tilted_on_a_box_has_exact_gaps_at_its_corners() {
    let cube = Shape::cuboid(1.0, 1.0, 1.0).unwrap();
    let slab = Shape::cuboid(4.0, 4.0, 1.0).unwrap();
    let pose = Pose::new(Vec3::new(0.2, 0.1, 1.02), Vec3::new(0.03, -0.02, 0.4));
    let list = points(&slab, &Pose::identity(), &cube, &pose, 0.1);
    assert_eq!(list.len(), 4);
    for p in &list {
        let on_cube = p.position + p.normal * (p.gap / 2.0);
        let local = pose.frame().local_point(&on_cube);
        assert!((local.abs() - Vec3::repeat(0.5)).norm() < 1e-12);
        assert!((p.gap - (on_cube.z - 0.5)).abs() < 1e-12 && (p.normal - Vec3::z()).norm() < 1e-12);
    }
}

#[test]
fn standing_cylinder_keeps_four_rim_points_and_finds_its_lowest_one_when_tilted() {
    let ground = Shape::half_space();
    let drum = Shape::cylinder(0.38, 0.8).unwrap();
    let upright = points(
        &drum,
        &yawed(0.0, 0.0, 0.4, 0.7),
        &ground,
        &Pose::identity(),
        0.01,
    );
    assert_eq!(upright.len(), 4);
    for p in &upright {
        assert!((p.position.xy().norm() - 0.38).abs() < 1e-12 && p.gap.abs() < 1e-15);
        assert!((p.normal + Vec3::z()).norm() < 1e-15);
    }
    let tilt = 0.01;
    let pose = Pose::new(Vec3::new(0.0, 0.0, 0.4), Vec3::new(0.0, tilt, 0.0));
    let tilted = points(&drum, &pose, &ground, &Pose::identity(), 0.01);
    let least = tilted.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    assert!((least - (0.4 - 0.4 * tilt.cos() - 0.38 * tilt.sin())).abs() < 1e-15);
    let lying = Pose::new(
        Vec3::new(0.0, 0.0, 0.38),
        Vec3::new(0.0, std::f64::consts::FRAC_PI_2, 0.0),
    );
    let side = points(&drum, &lying, &ground, &Pose::identity(), 0.01);
    assert_eq!(side.len(), 2);
    assert!(
        side.iter()
            .all(|p| p.gap.abs() < 1e-15 && (p.position.x.abs() - 0.4).abs() < 1e-15)
    );
}

#[test]
fn drum_on_drum_gives_points_on_the_rim_of_the_lens() {
    let a = Shape::cylinder(0.38, 0.8).unwrap();
    let b = Shape::cylinder(0.3, 0.8).unwrap();
    for (lower, upper) in [(&a, &a), (&a, &b), (&b, &a)] {
        for i in 0..60 {
            let d = 0.01 * f64::from(i);
            let list = points(
                lower,
                &yawed(0.0, 0.0, 0.0, 0.3),
                upper,
                &yawed(d, 0.0, 0.801, 1.1),
                0.01,
            );
            let (ra, rb) = (list_radius(lower), list_radius(upper));
            if d > 0.99 * (ra + rb) {
                continue;
            }
            by_name(&list);
            assert!((4..=8).contains(&list.len()), "offset {d}: {}", list.len());
            for p in &list {
                assert!((p.gap - 1e-3).abs() < 1e-12 && (p.normal - Vec3::z()).norm() < 1e-12);
                let (to_a, to_b) = (
                    p.position.xy().norm(),
                    (p.position.x - d).hypot(p.position.y),
                );
                let on_rim = (to_a - ra).abs().min((to_b - rb).abs());
                assert!(on_rim < 1e-12 && to_a < ra + 1e-12 && to_b < rb + 1e-12);
            }
            // The points surround the middle of the lens: no half plane through it is empty.
            let middle = 0.5 * ((-ra).max(d - rb) + ra.min(d + rb));
            for k in 0..36 {
                let (s, c) = (f64::from(k) * 0.1745).sin_cos();
                assert!(
                    list.iter()
                        .any(|p| c * (p.position.x - middle) + s * p.position.y > 0.0)
                );
            }
        }
    }
}

fn list_radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Cylinder(s) => s.radius_m,
        _ => unreachable!(),
    }
}

#[test]
fn points_move_with_the_bodies_and_keep_their_names() {
    let drum = Shape::cylinder(0.38, 0.8).unwrap();
    let cube = Shape::cuboid(0.8, 0.7, 0.8).unwrap();
    let slab = Shape::cuboid(3.0, 3.0, 0.8).unwrap();
    let mut stream = Stream(11);
    for (a, b) in [
        (&drum, &drum),
        (&cube, &cube),
        (&slab, &drum),
        (&slab, &cube),
        (&cube, &drum),
    ] {
        let mut changes = 0;
        for _ in 0..300 {
            let (x, y, yaw) = (
                stream.between(-0.3, 0.3),
                stream.between(-0.3, 0.3),
                stream.between(-3.0, 3.0),
            );
            let tilt = stream.direction() * stream.between(0.0, 2e-3);
            let pose = Pose::new(Vec3::new(x, y, 0.8), tilt).compose(&yawed(0.0, 0.0, 0.0, yaw));
            let moved = Pose::new(
                pose.position + stream.direction() * 1e-7,
                stream.direction() * 1e-7,
            );
            let moved = Pose {
                position: moved.position,
                rotation: moved.rotation * pose.rotation,
            };
            let before = by_name(&points(a, &Pose::identity(), b, &pose, 0.01));
            let after = by_name(&points(a, &Pose::identity(), b, &moved, 0.01));
            assert!(!before.is_empty());
            changes += before.keys().filter(|k| !after.contains_key(k)).count();
            for (name, p) in &before {
                if let Some(q) = after.get(name) {
                    // The lowest rim point runs round the rim at 1/tilt; all others follow the bodies.
                    let lowest = matches!(a, Shape::Cylinder(_)) && *name == 6
                        || *name >= 0x2000 && *name < 0x3000;
                    let moved = (q.position - p.position).norm();
                    if !lowest {
                        assert!(
                            moved < 2e-6,
                            "{} on {}: {name} moved by {moved}",
                            b.name(),
                            a.name()
                        );
                        assert!((q.normal - p.normal).norm() < 2e-6);
                    }
                    assert!((q.gap - p.gap).abs() < 1e-6);
                }
            }
        }
        assert!(
            changes <= 2,
            "{} on {}: {changes} names lost",
            b.name(),
            a.name()
        );
    }
}

#[test]
fn voussoirs_of_an_arch_meet_in_the_corners_of_their_joint() {
    // Two wedges of a semicircular arch with a common joint, given as polyhedra in place.
    let wedge = |from: f64, to: f64| {
        let corner = |k: usize| {
            let angle: f64 = if k & 1 == 0 { from } else { to };
            let radius = if k & 2 == 0 { 0.9 } else { 1.1 };
            Vec3::new(
                radius * angle.cos(),
                if k & 4 == 0 { -0.2 } else { 0.2 },
                radius * angle.sin(),
            )
        };
        Shape::polyhedron(&(0..8).map(corner).collect::<Vec<_>>()).unwrap()
    };
    let (a, b) = (wedge(0.3, 0.6), wedge(0.6, 0.9));
    let joint = Vec3::new(-0.6_f64.sin(), 0.0, 0.6_f64.cos());
    let first = by_name(&points(&a, &Pose::identity(), &b, &Pose::identity(), 1e-3));
    assert_eq!(first.len(), 4);
    let mut stream = Stream(17);
    for _ in 0..100 {
        let pose = Pose::new(stream.direction() * 1e-7, stream.direction() * 1e-7);
        let next = by_name(&points(&a, &Pose::identity(), &b, &pose, 1e-3));
        assert_eq!(
            next.keys().collect::<Vec<_>>(),
            first.keys().collect::<Vec<_>>()
        );
        for (name, p) in &next {
            assert!((p.normal - joint).norm() < 1e-6 && p.gap.abs() < 1e-6);
            assert!((p.position - first[name].position).norm() < 1e-6);
        }
    }
}
