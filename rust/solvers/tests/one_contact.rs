//! One contact, where the answer is known in closed form, by every solver.

use crate::problems::{single, solve};
use percuss_solvers::{Solver, Vector3};

const TOLERANCE: f64 = 1e-13;

fn every_solver(w: [f64; 9], q: Vector3, mu: f64, check: impl Fn(&str, Vector3, Vector3)) {
    for (name, solver) in Solver::TABLE {
        let (r, u, report) = solve(solver, &single(w, q, mu), TOLERANCE);
        assert!(report.converged, "{name}: {report:?}");
        check(name, r[0], u[0]);
    }
}

fn assert_close(name: &str, found: Vector3, expected: Vector3, scale: f64) {
    for k in 0..3 {
        assert!(
            (found[k] - expected[k]).abs() <= 1e-12 * scale,
            "{name}: {found:?} is not {expected:?}"
        );
    }
}

/// Sixteen directions in the contact plane.
fn azimuths() -> impl Iterator<Item = [f64; 2]> {
    (0..16).map(|k| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 16.0).sin_cos();
        [cos, sin]
    })
}

/// A mass point of 2 kg: W = 1/m.
const POINT: [f64; 9] = [0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5];

#[test]
fn separating_contact_takes_off() {
    for d in azimuths() {
        let q = [0.3, 2.0 * d[0], 2.0 * d[1]];
        every_solver(POINT, q, 0.4, |name, r, u| {
            assert_eq!((r, u), ([0.0; 3], q), "{name}");
        });
    }
}

#[test]
fn slow_tangential_motion_sticks() {
    for d in azimuths() {
        // Within the cone: 0.39 < 0.4.
        let q = [-1.0, 0.39 * d[0], 0.39 * d[1]];
        every_solver(POINT, q, 0.4, |name, r, u| {
            assert_close(name, r, [2.0, -0.78 * d[0], -0.78 * d[1]], 1.0);
            assert_close(name, u, [0.0; 3], 1.0);
        });
    }
}

#[test]
fn fast_tangential_motion_slips_against_friction() {
    for d in azimuths() {
        let q = [-1.0, 3.0 * d[0], 3.0 * d[1]];
        every_solver(POINT, q, 0.4, |name, r, u| {
            // r_N = m, r_T = mu m against the motion, which loses mu of its 3 m/s.
            assert_close(name, r, [2.0, -0.8 * d[0], -0.8 * d[1]], 1.0);
            assert_close(name, u, [0.0, 2.6 * d[0], 2.6 * d[1]], 1.0);
        });
    }
}

/// An eccentric contact couples normal and tangents: W of a 1 kg body with unit inertia and arm (0.3, 0.7, 1.1).
const ECCENTRIC: [f64; 9] = [2.7, -0.21, -0.33, -0.21, 2.3, -0.77, -0.33, -0.77, 1.58];

#[test]
fn slip_of_an_eccentric_contact_is_exactly_opposed_to_friction() {
    for mu in [0.01, 0.3, 1.0] {
        for d in azimuths() {
            let q = [-1.0, 5.0 * d[0], 5.0 * d[1]];
            every_solver(ECCENTRIC, q, mu, |name, r, u| {
                let (friction, slip) = (r[1].hypot(r[2]), u[1].hypot(u[2]));
                assert!(slip > 1.0, "{name}: should slip, {u:?}");
                assert!(
                    (friction - mu * r[0]).abs() <= 1e-12 * r[0],
                    "{name}: on the cone, {r:?}"
                );
                assert!(u[0].abs() <= 1e-11, "{name}: stays closed, {u:?}");
                let (across, along) = (r[1] * u[2] - r[2] * u[1], r[1] * u[1] + r[2] * u[2]);
                // The residual is relative to |q| = 5 and sees an error of direction times mu r_N < mu: 5e-13 / mu,
                // times a factor for the norms.
                assert!(
                    along < 0.0 && across.abs() <= 1e-11 / mu * friction * slip,
                    "{name}: {r:?} {u:?}"
                );
            });
        }
    }
}

#[test]
fn without_friction_only_the_normal_acts() {
    every_solver(ECCENTRIC, [-2.7, 1.0, 2.0], 0.0, |name, r, u| {
        assert_close(name, r, [1.0, 0.0, 0.0], 1.0);
        assert_close(name, u, [0.0, 0.79, 1.67], 1.0);
    });
}

#[test]
fn strong_friction_sticks_whatever_the_direction() {
    for d in azimuths() {
        let problem = single(ECCENTRIC, [-1.0, 0.8 * d[0], 0.8 * d[1]], 50.0);
        // The gradient method takes steps of the order of 1/mu and is left out.
        for solver in [
            Solver::Accelerated,
            Solver::Auto,
            Solver::Newton,
            Solver::Nsgs,
        ] {
            let (r, u, report) = solve(solver, &problem, TOLERANCE);
            assert!(report.converged && r[0][0] > 0.0, "{solver:?}: {report:?}");
            assert_close("stick", u[0], [0.0; 3], 10.0);
        }
    }
}

#[test]
fn a_block_that_only_the_normal_can_move_still_stops() {
    let w = [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    every_solver(w, [-1.0, 0.0, 0.0], 0.3, |name, r, u| {
        assert_close(name, r, [2.0, 0.0, 0.0], 1.0);
        assert_close(name, u, [0.0; 3], 1.0);
    });
}
