//! The least gap of every pair of convex shapes against a search over all directions; symmetry under
//! exchange of the shapes; independence of the frame.

use crate::common::{Stream, along, boulder, gap_by_search, inside, points, shapes};
use nalgebra::Quaternion;
use percuss_geometry::{Pose, Quat, Shape, Vec3};

/// Random poses at which the shapes are a little apart or overlap a little, with the true gap.
fn near_poses(
    a: &Shape,
    b: &Shape,
    seed: u64,
    count: usize,
    low: f64,
    high: f64,
) -> Vec<(Pose, Pose, f64)> {
    let mut stream = Stream(seed);
    let mut found = Vec::new();
    while found.len() < count {
        let (pa, mut pb) = (stream.pose(0.5), stream.pose(0.5));
        let away = stream.direction();
        pb.position = pa.position + away * 3.0;
        let wanted = stream.between(low, high);
        // Along a ray the gap is monotone once the shapes are apart: two secant steps come near.
        for _ in 0..4 {
            let gap = gap_by_search(a, &pa, b, &pb);
            pb.position -= away * (gap - wanted);
        }
        let gap = gap_by_search(a, &pa, b, &pb);
        if gap > low && gap < high {
            found.push((pa, pb, gap));
        }
    }
    found
}

fn check_pairs(seed: u64, count: usize, low: f64, high: f64, tolerance: f64) {
    let all = shapes();
    for (i, a) in all.iter().enumerate() {
        for b in &all[i..] {
            for (pa, pb, gap) in near_poses(a, b, seed, count, low, high) {
                let list = points(a, &pa, b, &pb, 0.3);
                let names = format!("{} on {}: {list:?} {pa:?} {pb:?}", a.name(), b.name());
                let least = list
                    .iter()
                    .min_by(|x, y| x.gap.total_cmp(&y.gap))
                    .expect(&names);
                let outlined = least.feature >= 0x2000 && least.feature != 0x4000;
                if list.len() == 1 && !outlined {
                    // Separated along the normal by the gap: no smaller than the truth allows. Reached
                    // by points of both shapes, and beaten by no other direction: no larger.
                    let bound = along(a, &pa, b, &pb, &least.normal);
                    assert!((bound - least.gap).abs() < tolerance, "{bound} {names}");
                    assert!(gap < least.gap + tolerance, "by search {gap} {names}");
                    let half = least.normal * (0.5 * least.gap);
                    assert!(inside(a, &pa, &(least.position - half), 1e-6), "{names}");
                    assert!(inside(b, &pb, &(least.position + half), 1e-6), "{names}");
                } else {
                    // Outlines of facing parts: their crossings keep a relative error of the tilt squared.
                    let near = 1e-5 + 0.05 * gap.abs();
                    assert!((least.gap - gap).abs() < near, "by search {gap} {names}");
                }
                for p in &list {
                    assert!((p.normal.norm() - 1.0).abs() < 1e-12);
                }
                let swapped = points(b, &pb, a, &pa, 0.3);
                assert_eq!(swapped.len(), list.len(), "{} on {}", a.name(), b.name());
                for p in &list {
                    let same = |q: &&percuss_geometry::ContactPoint| {
                        (q.position - p.position).norm() < 5e-5
                            && (q.normal + p.normal).norm() < 5e-5
                            && (q.gap - p.gap).abs() < 1e-5
                    };
                    assert!(
                        swapped.iter().any(|q| same(&q)),
                        "{} on {}: {p:?} {swapped:?}",
                        a.name(),
                        b.name()
                    );
                }
            }
        }
    }
}

#[test]
fn gaps_of_shapes_apart() {
    check_pairs(1, 10, 1e-3, 0.05, 1e-9);
}

#[test]
fn gaps_of_shapes_overlapping_a_little() {
    check_pairs(2, 10, -0.02, -1e-6, 1e-9);
}

/// Where a rim meets the edge of a face, the generator or the end beside it may face that face squarely and yet lie
/// over none of it.
#[test]
fn shapes_that_overlap_always_touch() {
    let (cylinder, cone) = (
        Shape::cylinder(0.38, 0.8).unwrap(),
        Shape::cone(0.45, 0.9).unwrap(),
    );
    for (shape, position, turn, position_b, turn_b) in [
        (
            &cone,
            [0.407, -0.200, 0.273],
            [-0.657, 0.204, -0.554, 0.469],
            [0.894, -0.473, -0.112],
            [0.924, -0.312, -0.137, 0.175],
        ),
        (
            &cone,
            [0.347, 0.007, -0.176],
            [0.024, 0.037, 0.017, 0.999],
            [0.479, 0.554, 0.224],
            [0.862, -0.395, -0.301, 0.101],
        ),
        (
            &cone,
            [0.093, -0.031, 0.248],
            [0.593, 0.490, 0.011, 0.639],
            [-0.451, -0.307, 0.932],
            [0.002, 0.074, 0.001, 0.997],
        ),
        (
            &cylinder,
            [-0.493, 0.448, -0.118],
            [0.449, -0.503, 0.119, 0.729],
            [-0.440, 0.161, 0.697],
            [-0.750, 0.046, -0.071, 0.656],
        ),
    ] {
        let pose = |position: [f64; 3], [x, y, z, w]: [f64; 4]| Pose {
            position: position.into(),
            rotation: Quat::from_quaternion(Quaternion::new(w, x, y, z)),
        };
        let (pa, pb) = (pose(position, turn), pose(position_b, turn_b));
        let gap = gap_by_search(shape, &pa, &boulder(), &pb);
        assert!(gap < -1e-4, "{gap}");
        let list = points(shape, &pa, &boulder(), &pb, 0.01);
        let least = list.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        assert!(
            (least - gap).abs() < 0.05 * gap.abs() + 1e-5,
            "{least} {gap}"
        );
    }
}

/// The least gap of two shapes moves no faster than they do, apart or overlapping: it never jumps from one way out to another.
#[test]
fn gaps_follow_the_motion() {
    const STEP: f64 = 1e-4;
    let all = shapes();
    for (i, a) in all.iter().enumerate() {
        for b in &all[i..] {
            let mut stream = Stream(7 + i as u64);
            for _ in 0..40 {
                let (pa, mut pb) = (stream.pose(0.5), stream.pose(0.5));
                if stream.unit() < 0.5 {
                    pb.rotation = pa.rotation;
                }
                let away = stream.direction();
                pb.position = pa.position + away * 3.0;
                for _ in 0..4 {
                    let wanted = stream.between(-0.01, 0.01);
                    pb.position -= away * (gap_by_search(a, &pa, b, &pb) - wanted);
                }
                let (velocity, spin) = (stream.direction(), stream.direction());
                let turn = Pose::new(Vec3::zeros(), spin * STEP).rotation;
                let mut last = None;
                for _ in 0..60 {
                    pb.position += velocity * STEP;
                    pb.rotation = turn * pb.rotation;
                    let list = points(a, &pa, b, &pb, 0.1);
                    let least = list.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
                    let jump = last.map_or(0.0, |last: f64| (least - last).abs());
                    // A point of B moves by less than 2 steps; crossings of outlines are inexact by their tilt.
                    assert!(
                        jump < 4.0 * STEP,
                        "{} on {}: {last:?} {list:?}",
                        a.name(),
                        b.name()
                    );
                    last = (least > -0.015 && least.is_finite()).then_some(least);
                }
            }
        }
    }
}

/// Stacks and courses: nearly parallel blocks and drums, over each other, beside and at the corner.
#[test]
fn gaps_of_nearly_parallel_shapes() {
    for shape in [
        Shape::cuboid(0.76, 0.7, 0.8).unwrap(),
        Shape::cylinder(0.38, 0.8).unwrap(),
    ] {
        let mut stream = Stream(5);
        let (mut seen, mut missing) = (0, 0);
        while seen < 150 {
            let tilt =
                stream.direction() * stream.between(0.0, [1e-3, 0.02, 0.05, 0.1, 0.3][seen % 5]);
            let yaw = Pose::new(
                Vec3::zeros(),
                Vec3::new(0.0, 0.0, stream.between(-3.0, 3.0)),
            );
            let mut pb = Pose::new(Vec3::zeros(), Vec3::new(tilt.x, tilt.y, 0.0)).compose(&yaw);
            let pa = Pose::identity();
            let away = Vec3::from_fn(|_, _| stream.between(-0.9, 0.9));
            pb.position = away * 2.0;
            let wanted = stream.between(-5e-3, 5e-3);
            for _ in 0..5 {
                let gap = gap_by_search(&shape, &pa, &shape, &pb);
                pb.position -= away.normalize() * (gap - wanted);
            }
            let gap = gap_by_search(&shape, &pa, &shape, &pb);
            if gap.abs() > 8e-3 {
                continue;
            }
            seen += 1;
            let list = points(&shape, &pa, &shape, &pb, 0.02);
            let Some(least) = list.iter().min_by(|x, y| x.gap.total_cmp(&y.gap)) else {
                missing += 1;
                continue;
            };
            // The search stalls on ridges; the separation along the reported normals makes up for it.
            let bound = list
                .iter()
                .map(|p| along(&shape, &pa, &shape, &pb, &p.normal))
                .fold(gap, f64::max);
            let error = (least.gap - bound).abs();
            assert!(
                error < 1e-4,
                "{}: {error} {} {bound} {list:?} {pb:?}",
                shape.name(),
                least.gap
            );
        }
        // Flush edges that graze are left out on purpose.
        assert!(missing <= 3, "{}: {missing} missing", shape.name());
    }
}
