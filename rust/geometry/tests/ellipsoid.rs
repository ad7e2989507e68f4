//! The ellipsoid, which says of itself only what a convex shape must: the general ways against closed forms.

use percuss_geometry::{ContactPoint, Frame, Pose, Shape, Vec3, Workspace, contact_points};

fn points(a: (&Shape, &Frame), b: (&Shape, &Frame)) -> Vec<ContactPoint> {
    let mut found = Vec::new();
    contact_points(a, b, 0.1, &mut Workspace::default(), &mut found);
    found
}

#[test]
fn a_plane_is_as_far_as_the_support_function_says() {
    let (x, y, z) = (0.5, 0.3, 0.2);
    let shape = Shape::ellipsoid(x, y, z).unwrap();
    for turn in [[0.0, 0.0, 0.0], [0.4, -0.2, 0.9], [2.0, 0.3, -1.0]] {
        let frame = Pose::new(Vec3::new(0.3, -0.1, 0.35), Vec3::from(turn)).frame();
        let up = frame.local_vector(&Vec3::z());
        let reach = Vec3::new(x * up.x, y * up.y, z * up.z).norm();
        let ground = Shape::half_space();
        let found = points((&shape, &frame), (&ground, &Frame::identity()));
        if 0.35 - reach > 0.1 {
            assert!(found.is_empty());
            continue;
        }
        assert_eq!(found.len(), 1);
        assert!((found[0].gap - (0.35 - reach)).abs() < 1e-15);
        let bounds = shape.bounds(&frame);
        assert!((bounds.min.z - (0.35 - reach)).abs() < 1e-15);
    }
}

#[test]
fn with_equal_axes_it_meets_every_shape_as_a_ball_does() {
    let (round, ball) = (
        Shape::ellipsoid(0.4, 0.4, 0.4).unwrap(),
        Shape::sphere(0.4).unwrap(),
    );
    let others = [
        Shape::sphere(0.3).unwrap(),
        Shape::cuboid(1.0, 0.8, 0.6).unwrap(),
        Shape::cylinder(0.4, 0.9).unwrap(),
        Shape::capsule(0.2, 0.7).unwrap(),
        Shape::cone(0.5, 0.9).unwrap(),
        Shape::half_space(),
        Shape::height_field(
            3,
            3,
            [2.0, 2.0],
            &[0.0, 0.1, 0.0, 0.1, 0.3, 0.1, 0.0, 0.1, 0.0],
        )
        .unwrap(),
    ];
    let mut met = 0;
    for other in &others {
        for k in 0..40 {
            let angle = f64::from(k);
            let place = Vec3::new(
                2.0 + 0.5 * angle.sin(),
                2.0 + 0.4 * (1.7 * angle).cos(),
                0.7 + 0.1 * (0.3 * angle).sin(),
            );
            let at = if matches!(other.name(), "mesh") {
                place
            } else {
                place - Vec3::new(2.0, 2.0, 0.0)
            };
            let frame = Pose::new(at, Vec3::new(0.2, 0.1 * angle, 0.3)).frame();
            let (one, two) = (
                points((&round, &frame), (other, &Frame::identity())),
                points((&ball, &frame), (other, &Frame::identity())),
            );
            let least =
                |list: &[ContactPoint]| list.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            // The general path knows a smooth gap to 1e-9 of the size, for overlaps below a twentieth of it.
            if least(&two) < 0.0999 && least(&two) > -0.02 {
                met += 1;
                assert!(
                    (least(&one) - least(&two)).abs() < 4e-9,
                    "{}: {} {}",
                    other.name(),
                    least(&one),
                    least(&two)
                );
            }
        }
    }
    assert!(met > 60, "{met}");
}

#[test]
fn its_mass_is_that_of_a_stretched_ball() {
    let found = Shape::ellipsoid(1.0, 2.0, 3.0)
        .unwrap()
        .mass_properties(5.0)
        .unwrap();
    let mass = 5.0 * 4.0 / 3.0 * std::f64::consts::PI * 6.0;
    assert!((found.mass_kg - mass).abs() < 1e-12);
    // The second moments of a ball of radius 1, m/5 along each axis, stretched.
    for (i, sum) in [(0, 4.0 + 9.0), (1, 1.0 + 9.0), (2, 1.0 + 4.0)] {
        assert!((found.inertia_kg_m2[(i, i)] - mass / 5.0 * sum).abs() < 1e-11);
    }
    let fault = Shape::ellipsoid(1.0, 0.0, 1.0).unwrap_err().to_string();
    assert_eq!(
        fault,
        "ellipsoid: half_axes_m along y = 0, must be a finite number > 0"
    );
}
