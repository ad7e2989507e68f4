//! Contact level: forces of a peer under prescribed motion, limits and moments in closed form, objectivity, energy.

use crate::common::material;
use nalgebra::{Rotation3, Vector3};
use percuss_grains::{Contact, Material, Motion, advance};
use percuss_laws::grain::{GrainLaw, MomentLimit};
use proptest::prelude::*;

const RADII: [f64; 2] = [0.003, 0.002];
const DT: f64 = 1e-6;
const MASS: f64 = 1e-4;

/// The peer's test: what is printed at step n are forces of step n, before the position moves on.
fn compare(law: GrainLaw, moment_limit: MomentLimit, table: &str) {
    let phases = [
        (Vector3::new(-0.05, 0.0, 0.0), Vector3::zeros()),
        (Vector3::new(0.0, 0.05, 0.0), Vector3::zeros()),
        (Vector3::zeros(), Vector3::new(0.0, 40.0, 0.0)),
        (Vector3::zeros(), Vector3::new(40.0, 0.0, 0.0)),
    ];
    let rows: Vec<Vec<f64>> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let printed = Material {
        rescaled: false,
        moment_limit,
        ..material(law)
    };
    let mut branch = Vector3::new(0.005, 0.0, 0.0);
    let mut contact: Option<Contact> = None;
    let mut rows = rows.iter();
    for step in 1..=1600 {
        let (velocity, spin) = phases[(step - 1) / 400];
        let motion = Motion {
            branch_m: branch,
            velocity_m_s: velocity,
            spins_rad_s: [Vector3::zeros(), spin],
            radii_m: RADII,
        };
        let found = advance(&printed, &mut contact, &motion, DT, MASS);
        branch += velocity * DT;
        if step % 10 != 0 {
            continue;
        }
        let (force, torques, normal) = found.expect("the spheres overlap");
        let row = rows.next().unwrap();
        assert_eq!(row[0] as usize, step);
        let shear = contact.unwrap().shear_n;
        // Nine digits are printed: half a unit of the ninth, and 1e-10 of the whole vector for rounding on the way.
        let near = |a: f64, b: f64, whole: f64| {
            let ninth = if b == 0.0 {
                0.0
            } else {
                10_f64.powf(b.abs().log10().floor() - 8.0)
            };
            (a - b).abs() <= 0.5001 * ninth + 1e-10 * whole
        };
        for k in 0..3 {
            assert!(
                near(force[k], row[5 + k], force.norm()),
                "{step}: force {k}: {} {}",
                force[k],
                row[5 + k]
            );
            let scale = torques[1].norm();
            assert!(
                near(torques[1][k], row[8 + k], scale),
                "{step}: torque {k}: {} {}",
                torques[1][k],
                row[8 + k]
            );
        }
        assert!(
            near(normal, row[13], normal),
            "{step}: normal {normal} {}",
            row[13]
        );
        assert!(
            near(shear.norm(), row[14], shear.norm()),
            "{step}: shear {} {}",
            shear.norm(),
            row[14]
        );
    }
    assert!(rows.next().is_none());
}

#[test]
fn linear_contact_as_the_peer_has_it() {
    compare(
        GrainLaw::ClassicalLinear,
        MomentLimit::Separate,
        include_str!("../../../tests/golden/grains/two_spheres_CL.csv"),
    );
}

#[test]
fn hertz_mindlin_contact_as_the_peer_has_it() {
    compare(
        GrainLaw::HertzMindlin,
        MomentLimit::Rolling,
        include_str!("../../../tests/golden/grains/two_spheres_HM.csv"),
    );
}

/// Rolling about y or twisting about x, long enough to pass the limit: stiffness times angle, then the limit.
#[test]
fn moments_grow_with_the_angle_up_to_their_limit() {
    for law in [GrainLaw::ClassicalLinear, GrainLaw::HertzMindlin] {
        let m = material(law);
        for axis in [Vector3::x(), Vector3::y()] {
            let mut contact = None;
            let overlap = 2e-5;
            let branch = Vector3::new(RADII[0] + RADII[1] - overlap, 0.0, 0.0);
            let effective = RADII[0] * RADII[1] / (RADII[0] + RADII[1]);
            let (normal, rolling) = match law {
                GrainLaw::ClassicalLinear => {
                    let kn = 2.0 * m.grain.young_pa * effective;
                    (
                        kn * overlap,
                        m.grain.rolling_stiffness * RADII[0] * RADII[1] * m.grain.poisson * kn,
                    )
                }
                GrainLaw::HertzMindlin => {
                    let nu = m.grain.poisson;
                    let kn = 2.0 * m.grain.young_pa / (3.0 * (1.0 - nu * nu))
                        * (effective * overlap).sqrt();
                    (kn * overlap, m.grain.rolling_stiffness)
                }
            };
            let limit = m.grain.rolling_friction * normal * RADII[1];
            for step in 1..=2000 {
                let spin = axis * 40.0;
                // Both turn against each other so that the contact point does not slip.
                let spins = [-spin * (RADII[1] / RADII[0]), spin];
                let motion = Motion {
                    branch_m: branch,
                    velocity_m_s: Vector3::zeros(),
                    spins_rad_s: spins,
                    radii_m: RADII,
                };
                advance(&m, &mut contact, &motion, DT, MASS).unwrap();
                let angle = (spin - spins[0]).norm() * DT * step as f64;
                let expected = (rolling * angle).min(limit);
                let found = contact.unwrap().moment_n_m.norm();
                assert!(
                    (found - expected).abs() < 1e-9 * limit,
                    "{law:?} {step}: {found} {expected}"
                );
            }
        }
    }
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    [-1.0..1.0_f64, -1.0..1.0, -1.0..1.0].prop_map(move |v| Vector3::from(v) * size)
}

proptest! {
    /// The same history seen in a turned frame: the same forces, turned.
    #[test]
    fn forces_do_not_depend_on_the_frame(
        turn in vector(3.0), steps in prop::collection::vec((vector(0.05), vector(40.0), vector(40.0)), 1..40),
        hertz in any::<bool>(),
    ) {
        let law = if hertz { GrainLaw::HertzMindlin } else { GrainLaw::ClassicalLinear };
        let frame = Rotation3::new(turn);
        let (mut plain, mut turned) = (None, None);
        let mut branch = Vector3::new(0.00497, 0.0, 0.0);
        for (velocity, w1, w2) in steps {
            let motion = Motion { branch_m: branch, velocity_m_s: velocity, spins_rad_s: [w1, w2], radii_m: RADII };
            let other = Motion {
                branch_m: frame * branch,
                velocity_m_s: frame * velocity,
                spins_rad_s: [frame * w1, frame * w2],
                radii_m: RADII,
            };
            let a = advance(&material(law), &mut plain, &motion, DT, MASS).unwrap();
            let b = advance(&material(law), &mut turned, &other, DT, MASS).unwrap();
            prop_assert!((frame * a.0 - b.0).norm() < 1e-11 * a.0.norm());
            prop_assert!((frame * a.1[1] - b.1[1]).norm() < 1e-11 * (a.0.norm() * RADII[1]));
            branch += velocity * DT;
        }
    }

    /// A loaded pair turned as one body: the contact turns along, nothing is added. First order in the angle of a step.
    #[test]
    fn a_rigid_rotation_adds_nothing(spin in vector(1.0), hertz in any::<bool>()) {
        let law = if hertz { GrainLaw::HertzMindlin } else { GrainLaw::ClassicalLinear };
        let mut contact = None;
        let start = Vector3::new(0.00498, 0.0, 0.0);
        let slide = Motion {
            branch_m: start,
            velocity_m_s: Vector3::new(0.0, 0.02, 0.01),
            spins_rad_s: [Vector3::new(10.0, 5.0, 0.0), Vector3::zeros()],
            radii_m: RADII,
        };
        for _ in 0..100 {
            advance(&material(law), &mut contact, &slide, DT, MASS).unwrap();
        }
        let before = contact.unwrap();
        let steps = 4000;
        let angle = spin * (1.0 / steps as f64);
        let step = Rotation3::new(angle);
        let mut branch = start;
        for _ in 0..steps {
            let next = step * branch;
            let motion = Motion {
                branch_m: next,
                velocity_m_s: angle.cross(&next) / DT,
                spins_rad_s: [angle / DT; 2],
                radii_m: RADII,
            };
            advance(&material(law), &mut contact, &motion, DT, MASS).unwrap();
            branch = next;
        }
        let after = contact.unwrap();
        let whole = Rotation3::new(spin);
        // Errors of the first-order frame add up to half the angle of a step, over an angle of one.
        let bound = 2.0 / steps as f64;
        prop_assert!((after.shear_n - whole * before.shear_n).norm() < bound * before.shear_n.norm());
        prop_assert!((after.moment_n_m - whole * before.moment_n_m).norm() < bound * before.moment_n_m.norm());
    }

    /// Pushed in, dragged and turned around any closed path with the overlap changing on the way, and back: work is
    /// taken, never given, by both laws as they are by default, whatever the moment's limit holds for.
    #[test]
    fn closed_loops_create_no_energy(
        corners in prop::collection::vec((0.1..1.0_f64, vector(1.0), vector(1.0)), 2..6), hertz in any::<bool>(),
        friction in 0.0..2.0_f64, rolling_friction in 0.0..1.0_f64, limit in 0..3_usize,
    ) {
        let law = if hertz { GrainLaw::HertzMindlin } else { GrainLaw::ClassicalLinear };
        let mut m = material(law);
        m.moment_limit = MomentLimit::TABLE[limit].1;
        m.grain.friction = friction;
        m.grain.rolling_friction = rolling_friction;
        let (taken, scale) = work_around(&m, &corners);
        prop_assert!(taken > -2e-3 * scale, "{taken} of {scale}");
    }
}

/// Overlap, place sideways and turn of the second grain, as shares of 20 um, 5 um and 10 mrad.
type Corner = (f64, Vector3<f64>, Vector3<f64>);

/// Work done on a contact along a closed path through the corners, and its largest size. Both grains turn so that the
/// contact point does not slip.
fn work_around(m: &Material, corners: &[Corner]) -> (f64, f64) {
    let touching = RADII[0] + RADII[1];
    let place = |c: &Corner| {
        let aside = Vector3::new(touching - 2e-5 * c.0, 5e-6 * c.1.y, 5e-6 * c.1.z);
        (aside, c.2 * 0.01)
    };
    let mut stops = vec![(Vector3::new(touching, 0.0, 0.0), Vector3::zeros())];
    stops.extend(corners.iter().map(place));
    stops.push((Vector3::new(touching - 1e-9, 0.0, 0.0), Vector3::zeros()));
    let pieces = 2000;
    let (mut contact, mut taken, mut scale) = (None, 0.0_f64, 0.0_f64);
    let mut old = (Vector3::zeros(), [Vector3::zeros(); 2]);
    for pair in stops.windows(2) {
        let way = (pair[1].0 - pair[0].0) / pieces as f64;
        let turn = (pair[1].1 - pair[0].1) / pieces as f64;
        let turns = [-turn * (RADII[1] / RADII[0]), turn];
        for k in 1..=pieces {
            let motion = Motion {
                branch_m: pair[0].0 + way * k as f64,
                velocity_m_s: way / DT,
                spins_rad_s: turns.map(|t| t / DT),
                radii_m: RADII,
            };
            let (force, torques) = advance(m, &mut contact, &motion, DT, MASS)
                .map_or(Default::default(), |found| (found.0, found.1));
            taken -= (force + old.0).dot(&way) * 0.5;
            for (n, turned) in turns.iter().enumerate() {
                taken -= (torques[n] + old.1[n]).dot(turned) * 0.5;
            }
            scale = scale.max(taken.abs());
            old = (force, torques);
        }
    }
    (taken, scale)
}

/// Why shear forces are rescaled by default: sheared when pressed hard, let loose, sheared back.
#[test]
fn hertz_mindlin_as_printed_can_give_back_more_than_it_took() {
    let at = |overlap, aside| (overlap, Vector3::y() * aside, Vector3::zeros());
    let corners = [at(1.0, 0.0), at(1.0, 1.0), at(0.3, 1.0), at(0.3, 0.0)];
    let mut m = material(GrainLaw::HertzMindlin);
    m.grain.friction = 10.0;
    assert!(work_around(&m, &corners).0 > 0.0);
    m.rescaled = false;
    assert!(work_around(&m, &corners).0 < 0.0);
}

/// Rolled beyond the limit and then twisted beyond it: what is left of both, in closed form.
#[test]
fn limits_of_moments_hold_for_what_they_say() {
    for law in [GrainLaw::ClassicalLinear, GrainLaw::HertzMindlin] {
        for (_, moment_limit) in MomentLimit::TABLE {
            let m = Material {
                moment_limit,
                ..material(law)
            };
            let mut contact = None;
            let branch = Vector3::new(RADII[0] + RADII[1] - 2e-5, 0.0, 0.0);
            let mut turn = |axis: Vector3<f64>, steps: usize| {
                let spin = axis * 40.0;
                let motion = Motion {
                    branch_m: branch,
                    velocity_m_s: Vector3::zeros(),
                    spins_rad_s: [-spin * (RADII[1] / RADII[0]), spin],
                    radii_m: RADII,
                };
                let mut normal = 0.0;
                for _ in 0..steps {
                    normal = advance(&m, &mut contact, &motion, DT, MASS).unwrap().2;
                }
                (
                    contact.unwrap().moment_n_m,
                    m.grain.rolling_friction * normal * moment_limit.length_m(RADII[0], RADII[1]),
                )
            };
            let (rolled, limit) = turn(Vector3::y(), 4000);
            assert!(
                (rolled.norm() / limit - 1.0).abs() < 1e-12,
                "{law:?} {moment_limit:?} {rolled:?} {limit}"
            );
            let (after, _) = turn(Vector3::x(), 20_000);
            let (rolling, twisting) = (after.y.hypot(after.z) / limit, after.x.abs() / limit);
            match moment_limit {
                // Twisting has pushed rolling out: on the sphere the moment turns towards the rate.
                MomentLimit::Joint => assert!(rolling < 1e-3 && (twisting - 1.0).abs() < 1e-3),
                MomentLimit::Separate => {
                    assert!((rolling - 1.0).abs() < 1e-9 && (twisting - 1.0).abs() < 1e-9);
                }
                MomentLimit::Rolling => assert!((rolling - 1.0).abs() < 1e-9 && twisting > 2.0),
            }
        }
    }
}
