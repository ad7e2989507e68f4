//! What must not matter: the frame of the world, the history of the detector, the order of the pair.

use crate::common::{Stream, points};
use percuss_geometry::{Contactor, Detector, Pose, Quat, Shape, Vec3, Visibility};

fn shapes() -> Vec<Shape> {
    let corners: Vec<Vec3> = (0..24)
        .map(|k| {
            let sign = |bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let mut p = [0.22 * sign(0), 0.22 * sign(1), 0.22 * sign(2)];
            p[k / 8] = 0.4 * sign(k / 8);
            Vec3::from(p)
        })
        .collect();
    vec![
        Shape::sphere(0.4).unwrap(),
        Shape::cuboid(0.8, 0.8, 0.8).unwrap(),
        Shape::cylinder(0.38, 0.8).unwrap(),
        Shape::capsule(0.25, 0.7).unwrap(),
        Shape::cone(0.45, 0.8).unwrap(),
        Shape::polyhedron(&corners).unwrap(),
        Shape::ring(0.1, 0.4, 0.8).unwrap(),
        Shape::half_space(),
    ]
}

/// Two shapes stacked with a small tilt and offset: the poses contacts are made of.
fn stacked(a: &Shape, b: &Shape, stream: &mut Stream) -> (Pose, Pose) {
    let below = Pose::identity();
    let tilt = stream.direction() * stream.between(0.0, 0.02);
    let mut above = Pose::new(Vec3::zeros(), tilt).compose(&Pose::new(
        Vec3::zeros(),
        Vec3::new(0.0, 0.0, stream.between(-3.0, 3.0)),
    ));
    let top = if matches!(a, Shape::HalfSpace(_)) {
        0.0
    } else {
        a.bounds(&below.frame()).max.z
    };
    let low = if matches!(b, Shape::HalfSpace(_)) {
        0.0
    } else {
        b.bounds(&above.frame()).min.z
    };
    above.position = Vec3::new(
        stream.between(-0.1, 0.1),
        stream.between(-0.1, 0.1),
        top - low + stream.between(-1e-3, 1e-3),
    );
    (below, above)
}

#[test]
fn points_turn_with_the_world() {
    let all = shapes();
    let mut stream = Stream(31);
    for a in &all {
        for b in &all {
            if matches!(b, Shape::HalfSpace(_)) {
                continue;
            }
            for _ in 0..20 {
                let (pa, pb) = stacked(a, b, &mut stream);
                let world = Pose {
                    position: stream.direction() * 3.0,
                    rotation: stream.rotation(),
                };
                let here = points(a, &pa, b, &pb, 0.02);
                let there = points(a, &world.compose(&pa), b, &world.compose(&pb), 0.02);
                // Closed forms to rounding; the general path stops within 1e-7 of the normal.
                let general = here
                    .iter()
                    .any(|p| p.feature >= 0x2000 && p.feature < 1 << 29)
                    || matches!(
                        (a, b),
                        (Shape::Cone(_) | Shape::Polyhedron(_), _)
                            | (_, Shape::Cone(_) | Shape::Polyhedron(_))
                    );
                let tolerance = if general { 1e-6 } else { 1e-10 };
                assert_eq!(here.len(), there.len(), "{} on {}", b.name(), a.name());
                for p in &here {
                    let q = there
                        .iter()
                        .find(|q| q.feature == p.feature)
                        .expect("the same name");
                    assert!(
                        (world.point(&p.position) - q.position).norm() < tolerance,
                        "{} on {}",
                        b.name(),
                        a.name()
                    );
                    assert!((world.rotation * p.normal - q.normal).norm() < tolerance);
                    assert!((p.gap - q.gap).abs() < tolerance);
                }
            }
        }
    }
}

#[test]
fn exchanging_the_shapes_turns_the_normals() {
    let all = shapes();
    let mut stream = Stream(37);
    for a in &all {
        for b in &all {
            for _ in 0..20 {
                let (pa, pb) = stacked(a, b, &mut stream);
                let (one, two) = (points(a, &pa, b, &pb, 0.02), points(b, &pb, a, &pa, 0.02));
                assert_eq!(one.len(), two.len(), "{} on {}", b.name(), a.name());
                for p in &one {
                    let found = two.iter().any(|q| {
                        (q.position - p.position).norm() < 1e-6
                            && (q.normal + p.normal).norm() < 1e-6
                            && (q.gap - p.gap).abs() < 1e-7
                    });
                    assert!(found, "{} on {}: {p:?} {two:?}", b.name(), a.name());
                }
            }
        }
    }
}

fn heap() -> (Vec<Contactor>, Vec<Pose>) {
    let mut stream = Stream(41);
    let all = shapes();
    let (mut contactors, mut poses) = (Vec::new(), Vec::new());
    for body in 0..60 {
        poses.push(stream.pose(1.5));
        for k in 0..2 {
            let pose = Pose::translation(0.3 * f64::from(k), 0.0, 0.0);
            let shape = all[(body as usize + k as usize) % 7].clone();
            contactors.push(Contactor {
                body,
                shape,
                pose,
                group: (body % 3) as u16,
            });
        }
    }
    poses.push(Pose::identity());
    contactors.push(Contactor {
        body: 60,
        shape: Shape::half_space(),
        pose: Pose::identity(),
        group: 9,
    });
    (contactors, poses)
}

fn detector() -> (Detector, Vec<Pose>) {
    let (contactors, poses) = heap();
    let mut fixed = vec![false; 61];
    fixed[60] = true;
    let visibility = Visibility::new(&[(0, 1), (1, 1), (2, 9), (0, 2)]).unwrap();
    (
        Detector::new(contactors, &fixed, visibility, 0.05).unwrap(),
        poses,
    )
}

#[test]
fn the_history_of_the_detector_does_not_matter() {
    let (mut old, mut poses) = detector();
    let mut stream = Stream(43);
    for step in 0..40 {
        for pose in &mut poses[..60] {
            pose.position += stream.direction() * 0.01;
            pose.rotation = Quat::from_scaled_axis(stream.direction() * 0.01) * pose.rotation;
        }
        old.update(&poses).unwrap();
        if step % 10 == 9 {
            let (mut new, _) = detector();
            new.update(&poses).unwrap();
            assert_eq!(new.manifolds(), old.manifolds());
            assert_eq!(new.points(), old.points());
        }
    }
}

#[test]
fn only_groups_that_see_each_other_meet_and_never_within_a_body() {
    let (mut detector, poses) = detector();
    detector.update(&poses).unwrap();
    assert!(detector.manifolds().len() > 50);
    let mut last = (0, 0);
    for m in detector.manifolds() {
        let (a, b) = (
            &detector.contactors()[m.a as usize],
            &detector.contactors()[m.b as usize],
        );
        assert!((m.a, m.b) > last && m.a < m.b && a.body != b.body);
        last = (m.a, m.b);
        let pair = (a.group.min(b.group), a.group.max(b.group));
        assert!([(0, 1), (1, 1), (2, 9), (0, 2)].contains(&pair));
        assert!(m.points.start < m.points.end);
        for p in &detector.points()[m.points.start as usize..m.points.end as usize] {
            assert!(
                p.gap <= 0.05
                    && (p.normal.norm() - 1.0).abs() < 1e-12
                    && p.position.iter().all(|x| x.is_finite())
            );
        }
    }
    let body = detector.contactors()[detector.manifolds()[0].a as usize].body;
    detector.set_present(body, false).unwrap();
    detector.update(&poses).unwrap();
    let touches = |d: &Detector| {
        d.manifolds().iter().any(|m| {
            d.contactors()[m.a as usize].body == body || d.contactors()[m.b as usize].body == body
        })
    };
    assert!(!touches(&detector));
    detector.set_present(body, true).unwrap();
    detector.update(&poses).unwrap();
    assert!(touches(&detector));
}

#[test]
fn bad_input_gets_one_clear_sentence() {
    let (mut detector, mut poses) = detector();
    assert_eq!(
        detector.update(&poses[..3]).unwrap_err().to_string(),
        "3 poses given for 61 bodies"
    );
    poses[7].position.x = f64::NAN;
    assert_eq!(
        detector.update(&poses).unwrap_err().to_string(),
        "pose of body 7: NaN is not finite"
    );
    assert_eq!(
        detector.set_present(99, true).unwrap_err().to_string(),
        "body 99, there are 61 bodies"
    );
    let (contactors, _) = heap();
    let made = Detector::new(contactors.clone(), &[false], Visibility::default(), 0.1);
    assert_eq!(
        made.err().unwrap().to_string(),
        "contactor 2 sits on body 1, there are 1 bodies"
    );
    let made = Detector::new(contactors, &[false; 61], Visibility::default(), -1.0);
    assert_eq!(
        made.err().unwrap().to_string(),
        "margin_m = -1, must be a finite number >= 0"
    );
    assert!(
        Visibility::new(&[(0, 5000)])
            .unwrap_err()
            .to_string()
            .contains("5000")
    );
}

#[test]
fn any_two_places_give_finite_points() {
    let mut all = shapes();
    all.push(
        Shape::height_field(
            3,
            3,
            [0.4, 0.4],
            &[0.0, 0.1, 0.0, 0.2, 0.5, 0.1, 0.0, 0.3, 0.1],
        )
        .unwrap(),
    );
    let mut stream = Stream(53);
    let turns = [
        Vec3::zeros(),
        Vec3::x() * std::f64::consts::FRAC_PI_2,
        Vec3::z() * std::f64::consts::PI,
    ];
    for a in &all {
        for b in &all {
            for trial in 0..60 {
                // Coincident, aligned and turned by right angles first; then anywhere.
                let reach = if trial < 6 { 0.0 } else { 0.8 };
                let (mut pa, mut pb) = (stream.pose(reach), stream.pose(reach));
                if trial < 30 {
                    pa.rotation = Quat::identity();
                    pb.rotation = Quat::from_scaled_axis(turns[trial % 3]);
                }
                if trial % 2 == 0 {
                    pb.position =
                        pa.position + Vec3::new(0.0, 0.0, 0.4 * f64::from((trial / 2) as u32 % 3));
                }
                for p in points(a, &pa, b, &pb, 0.05) {
                    let finite = p
                        .position
                        .iter()
                        .chain(p.normal.iter())
                        .all(|x| x.is_finite());
                    let names = format!("{} on {}: {p:?} {pa:?} {pb:?}", b.name(), a.name());
                    assert!(
                        finite && p.gap.is_finite() && (p.normal.norm() - 1.0).abs() < 1e-9,
                        "{names}"
                    );
                }
            }
        }
    }
}
