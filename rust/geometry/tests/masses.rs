//! Mass properties against integration over a fine grid, and of polyhedra against closed forms.

use crate::common::inside;
use percuss_geometry::{GeometryError, MassProperties, Mat3, Pose, Shape, Vec3};

/// Midpoint rule over a grid of `cells`^3 in the box of half side `reach`.
fn integrated(shape: &Shape, reach: f64, cells: usize) -> MassProperties {
    let step = 2.0 * reach / cells as f64;
    let volume = step.powi(3);
    let (mut mass, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
    let at = |i: usize| -reach + step * (i as f64 + 0.5);
    for i in 0..cells {
        for j in 0..cells {
            for k in 0..cells {
                let p = Vec3::new(at(i), at(j), at(k));
                if inside(shape, &Pose::identity(), &p, 0.0) {
                    mass += volume;
                    first += p * volume;
                    second += p * p.transpose() * volume;
                }
            }
        }
    }
    let centre_m = first / mass;
    let spread = second - centre_m * centre_m.transpose() * mass;
    MassProperties {
        mass_kg: mass,
        centre_m,
        inertia_kg_m2: Mat3::identity() * spread.trace() - spread,
    }
}

#[test]
fn solids_agree_with_integration() {
    let hexagon: Vec<Vec3> = (0..12)
        .map(|i| {
            let (s, c) = (f64::from(i % 6) * std::f64::consts::FRAC_PI_3).sin_cos();
            Vec3::new(0.4 * c, 0.4 * s, if i < 6 { -0.3 } else { 0.45 })
        })
        .collect();
    for shape in [
        Shape::sphere(0.45).unwrap(),
        Shape::cuboid(0.5, 0.9, 0.7).unwrap(),
        Shape::cylinder(0.4, 0.9).unwrap(),
        Shape::capsule(0.2, 0.5).unwrap(),
        Shape::cone(0.45, 0.9).unwrap(),
        Shape::polyhedron(&hexagon).unwrap(),
    ] {
        let exact = shape.mass_properties(1.0).unwrap();
        let grid = integrated(&shape, 0.5, 120);
        // The grid cuts the surface: relative error of about half a cell over the size.
        assert!(
            (exact.mass_kg / grid.mass_kg - 1.0).abs() < 8e-3,
            "{}",
            shape.name()
        );
        assert!(
            (exact.centre_m - grid.centre_m).norm() < 1e-3,
            "{}",
            shape.name()
        );
        let error = (exact.inertia_kg_m2 - grid.inertia_kg_m2).norm() / exact.inertia_kg_m2.norm();
        assert!(error < 2e-2, "{}: {error}", shape.name());
    }
}

#[test]
fn a_ring_is_a_cylinder_less_its_hole() {
    let ring = Shape::ring(0.077, 0.12, 0.06)
        .unwrap()
        .mass_properties(7850.0)
        .unwrap();
    let outer = Shape::cylinder(0.12, 0.06)
        .unwrap()
        .mass_properties(7850.0)
        .unwrap();
    let hole = Shape::cylinder(0.077, 0.06)
        .unwrap()
        .mass_properties(7850.0)
        .unwrap();
    assert!((ring.mass_kg - (outer.mass_kg - hole.mass_kg)).abs() < 1e-12);
    assert!((ring.inertia_kg_m2 - (outer.inertia_kg_m2 - hole.inertia_kg_m2)).norm() < 1e-14);
}

#[test]
fn polyhedra_are_exact_wherever_they_stand() {
    let pose = Pose::new(Vec3::new(10.0, -20.0, 30.0), Vec3::new(0.3, -0.8, 0.5));
    let cuboid = Shape::cuboid(0.5, 0.9, 0.7).unwrap();
    let corners: Vec<Vec3> = (0..8)
        .map(|k| {
            let side = |bit: usize, half: f64| if k >> bit & 1 == 1 { half } else { -half };
            pose.point(&Vec3::new(side(0, 0.25), side(1, 0.45), side(2, 0.35)))
        })
        .collect();
    let hull = Shape::polyhedron(&corners).unwrap();
    let (a, b) = (
        cuboid.mass_properties(2400.0).unwrap().at(&pose),
        hull.mass_properties(2400.0).unwrap(),
    );
    assert!((a.mass_kg / b.mass_kg - 1.0).abs() < 1e-12);
    assert!((a.centre_m - b.centre_m).norm() < 1e-12);
    assert!((a.inertia_kg_m2 - b.inertia_kg_m2).norm() / a.inertia_kg_m2.norm() < 1e-11);
    let Shape::Polyhedron(p) = &hull else {
        unreachable!()
    };
    assert_eq!((p.vertices().len(), p.faces().len()), (8, 6));
}

#[test]
fn hulls_drop_inner_points_and_merge_flat_faces() {
    let mut points = Vec::new();
    for i in 0..5 {
        for j in 0..5 {
            for k in 0..5 {
                points.push(Vec3::new(f64::from(i), f64::from(j), f64::from(k)));
            }
        }
    }
    let Shape::Polyhedron(p) = Shape::polyhedron(&points).unwrap() else {
        unreachable!()
    };
    assert_eq!((p.vertices().len(), p.faces().len()), (8, 6));
    assert!(p.faces().iter().all(|f| f.corners.len() == 4));
}

#[test]
fn bad_input_gets_one_clear_sentence() {
    let says = |r: Result<Shape, GeometryError>| r.unwrap_err().to_string();
    assert_eq!(
        says(Shape::sphere(0.0)),
        "sphere: radius_m = 0, must be a finite number > 0"
    );
    assert_eq!(
        says(Shape::cuboid(1.0, f64::NAN, 1.0)),
        "box: y_m = NaN, must be a finite number > 0"
    );
    assert_eq!(
        says(Shape::cylinder(1.0, -2.0)),
        "cylinder: height_m = -2, must be a finite number > 0"
    );
    assert_eq!(
        says(Shape::ring(0.2, 0.1, 0.1)),
        "ring: inner_radius_m = 0.2, must be less than outer_radius_m = 0.1"
    );
    let flat = [
        Vec3::zeros(),
        Vec3::x(),
        Vec3::y(),
        Vec3::new(1.0, 1.0, 0.0),
        Vec3::new(0.3, 0.2, 0.0),
    ];
    assert_eq!(
        says(Shape::polyhedron(&flat)),
        "polyhedron: 5 vertices span no volume (at least 4 not in one plane are needed)"
    );
    assert!(
        says(Shape::polyhedron(&[Vec3::repeat(f64::NAN); 4]))
            .starts_with("polyhedron: vertex 0: NaN")
    );
    assert!(Shape::half_space().mass_properties(1.0).is_err());
}
