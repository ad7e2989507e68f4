//! Meshes and height fields: a triangulated plane is a plane, and rough ground has the right distance.

use crate::common::{Stream, points, shapes};
use percuss_geometry::{Pose, Shape, Vec3};

fn flat() -> Shape {
    Shape::height_field(21, 21, [0.5, 0.4], &[0.0; 441]).unwrap()
}

#[test]
fn a_triangulated_plane_is_a_plane() {
    let (mesh, plane) = (flat(), Shape::half_space());
    let mut stream = Stream(21);
    for shape in &shapes() {
        for trial in 0..300 {
            let mut pose = stream.pose(0.0);
            if trial % 3 == 0 {
                pose = Pose::new(
                    Vec3::zeros(),
                    Vec3::new(0.0, 0.0, stream.between(-3.0, 3.0)),
                );
            }
            let low = shape.bounds(&pose.frame()).min.z;
            pose.position = Vec3::new(
                stream.between(2.0, 8.0),
                stream.between(2.0, 6.0),
                stream.between(-1e-3, 4e-3) - low,
            );
            if trial % 5 == 0 {
                // Exactly above grid lines.
                pose.position.x = 0.5 * (pose.position.x * 2.0).round();
                pose.position.y = 0.4 * (pose.position.y / 0.4).round();
            }
            let on_mesh = points(shape, &pose, &mesh, &Pose::identity(), 5e-3);
            let on_plane = points(shape, &pose, &plane, &Pose::identity(), 5e-3);
            assert_eq!(on_mesh.len(), on_plane.len(), "{}", shape.name());
            for q in &on_plane {
                let p = on_mesh
                    .iter()
                    .find(|p| p.feature == q.feature)
                    .expect("the same name");
                assert!(
                    (p.position - q.position).norm() < 1e-12
                        && (p.normal - q.normal).norm() < 1e-12
                );
                assert!((p.gap - q.gap).abs() < 1e-12);
            }
        }
    }
}

/// Distance of a point to a triangle, by the nearest of its inner foot, edges and corners.
fn to_triangle(p: &Vec3, t: &[Vec3; 3]) -> f64 {
    let n = (t[1] - t[0]).cross(&(t[2] - t[0])).normalize();
    let inside = (0..3).all(|k| n.cross(&(t[(k + 1) % 3] - t[k])).dot(&(p - t[k])) >= 0.0);
    if inside {
        return n.dot(&(p - t[0])).abs();
    }
    (0..3)
        .map(|k| {
            let d = t[(k + 1) % 3] - t[k];
            let s = ((p - t[k]).dot(&d) / d.norm_squared()).clamp(0.0, 1.0);
            (p - t[k] - d * s).norm()
        })
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn spheres_on_rough_ground_have_the_distance_to_the_nearest_triangle() {
    let mut stream = Stream(8);
    let heights: Vec<f64> = (0..144).map(|_| stream.between(-0.15, 0.15)).collect();
    let ground = Shape::height_field(12, 12, [0.5, 0.5], &heights).unwrap();
    let Shape::Mesh(mesh) = &ground else {
        unreachable!()
    };
    let at = Pose::new(Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.2, -0.1, 0.4));
    let ball = Shape::sphere(0.3).unwrap();
    for _ in 0..2000 {
        let local = Vec3::new(
            stream.between(1.0, 4.5),
            stream.between(1.0, 4.5),
            stream.between(0.15, 0.5),
        );
        let expected = mesh
            .triangles()
            .iter()
            .map(|t| to_triangle(&local, &t.corners.map(|v| mesh.vertices()[v as usize])))
            .fold(f64::INFINITY, f64::min)
            - 0.3;
        let list = points(
            &ball,
            &Pose::translation(0.0, 0.0, 0.0).compose(&at_point(&at, &local)),
            &ground,
            &at,
            0.05,
        );
        let least = list.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        if expected < -0.1 {
            continue;
        }
        if expected < 0.05 {
            assert!(
                (least - expected).abs() < 1e-9,
                "{least} {expected} at {local:?}"
            );
        } else {
            assert!(list.is_empty());
        }
    }
}

fn at_point(pose: &Pose, local: &Vec3) -> Pose {
    Pose {
        position: pose.point(local),
        ..Pose::identity()
    }
}

/// A shape that hovers over rough ground: what is nearest passes from corners and rims over triangles to ridges and peaks, and
/// the least gap moves no faster than the shape does.
#[test]
fn gaps_to_rough_ground_follow_the_motion() {
    const STEP: f64 = 1e-4;
    for shape in shapes() {
        let mut stream = Stream(11);
        for run in 0..240 {
            let rough = [0.02, 0.1, 0.3][run % 3];
            let heights: Vec<f64> = (0..64).map(|_| stream.between(-rough, rough)).collect();
            let ground = Shape::height_field(8, 8, [0.5, 0.5], &heights).unwrap();
            let least = |pose: &Pose| {
                let list = points(&shape, pose, &ground, &Pose::identity(), 0.1);
                list.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min)
            };
            let mut pose = stream.pose(0.5);
            pose.position = Vec3::new(stream.between(1.2, 2.3), stream.between(1.2, 2.3), 1.5);
            loop {
                let gap = least(&pose);
                if gap < 5e-3 {
                    break;
                }
                pose.position.z -= (0.3 * gap).clamp(2e-4, 0.01);
            }
            let (velocity, spin) = (stream.direction(), stream.direction());
            let velocity = Vec3::new(velocity.x, velocity.y, -0.3 * velocity.z.abs());
            let turn = Pose::new(Vec3::zeros(), spin * STEP).rotation;
            let mut last = least(&pose);
            for _ in 0..200 {
                pose.position += velocity * STEP;
                pose.rotation = turn * pose.rotation;
                let gap = least(&pose);
                if gap < 0.0 {
                    break;
                }
                assert!(
                    (gap - last).abs() < 4.0 * STEP,
                    "{}: {last} {gap}",
                    shape.name()
                );
                last = gap;
            }
        }
    }
}

#[test]
fn a_box_rests_on_a_ridge_by_two_points_and_on_a_peak_by_one() {
    // A roof along y, and a pyramid.
    let roof = Shape::height_field(3, 2, [1.0, 4.0], &[0.0, 0.5, 0.0, 0.0, 0.5, 0.0]).unwrap();
    let slab = Shape::cuboid(0.6, 0.8, 0.2).unwrap();
    let list = points(
        &slab,
        &Pose::translation(1.0, 2.0, 0.6),
        &roof,
        &Pose::identity(),
        0.01,
    );
    assert_eq!(list.len(), 2);
    for p in &list {
        assert!(
            p.gap.abs() < 1e-9 && (p.normal + Vec3::z()).norm() < 1e-9,
            "{p:?}"
        );
        assert!(
            (p.position.x - 1.0).abs() < 1e-9 && ((p.position.y - 2.0).abs() - 0.4).abs() < 1e-9
        );
    }
    let mut heights = [0.0; 9];
    heights[4] = 0.7;
    let tip = Shape::height_field(3, 3, [1.0, 1.0], &heights).unwrap();
    let list = points(
        &slab,
        &Pose::translation(1.1, 0.9, 0.801),
        &tip,
        &Pose::identity(),
        0.01,
    );
    assert_eq!(list.len(), 1);
    assert!(
        (list[0].gap - 1e-3).abs() < 1e-12
            && (list[0].position.xy() - Vec3::new(1.0, 1.0, 0.0).xy()).norm() < 1e-12
    );
}

#[test]
fn a_ball_in_a_valley_touches_both_sides() {
    let valley = Shape::height_field(3, 2, [1.0, 4.0], &[1.0, 0.0, 1.0, 1.0, 0.0, 1.0]).unwrap();
    let ball = Shape::sphere(0.3).unwrap();
    let list = points(
        &ball,
        &Pose::translation(1.0, 2.3, 0.3 * 2.0_f64.sqrt()),
        &valley,
        &Pose::identity(),
        0.01,
    );
    assert_eq!(list.len(), 2, "{list:?}");
    assert_ne!(list[0].feature, list[1].feature);
    assert!(
        list.iter()
            .all(|p| p.gap.abs() < 1e-12 && (p.normal.z + 0.5_f64.sqrt()).abs() < 1e-12)
    );
}

#[test]
fn bad_grounds_get_one_clear_sentence() {
    let corners = vec![Vec3::zeros(), Vec3::x(), Vec3::y()];
    let says = |r: Result<Shape, percuss_geometry::GeometryError>| r.unwrap_err().to_string();
    assert_eq!(
        says(Shape::mesh(corners.clone(), &[[0, 1, 3]])),
        "mesh: triangle 0 names vertex 3, the mesh has 3"
    );
    assert_eq!(
        says(Shape::mesh(corners.clone(), &[[0, 1, 1]])),
        "mesh: triangle 0 has no area"
    );
    assert_eq!(
        says(Shape::mesh(corners, &[])),
        "mesh: triangles = 0, at least 1 needed"
    );
    assert_eq!(
        says(Shape::height_field(2, 2, [1.0, 1.0], &[0.0; 3])),
        "height field: 3 heights for 2 x 2 points"
    );
    assert!(says(Shape::height_field(1, 2, [1.0, 1.0], &[0.0; 2])).contains("columns = 1"));
}
