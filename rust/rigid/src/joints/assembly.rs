//! The start: bodies and velocities brought onto the constraints, what is redundant or impossible named.
//!
//! Places are corrected by Newton's method along M^-1 J^T, so that light bodies move rather than heavy ones; then
//! velocities likewise, by the smallest change in kinetic energy's norm. Rows that depend on others are left out of
//! the correction: if they hold all the same they are redundant, if not the joints conflict.

use super::{Joint, Mechanism, Placed};
use crate::body::Inertia;
use crate::error::RigidError;
use crate::free_motion::BodyState;
use percuss_geometry::{Quat, Vec3};

/// Most Newton steps.
const NEWTON_STEPS: usize = 60;
/// Largest turn of a body in one of them [rad].
const LARGEST_TURN: f64 = 0.3;
/// What may remain of a row, relative to the size of the scene.
const CLOSED: f64 = 1e-10;

/// How a scene went together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Assembled {
    /// Largest way of a centre of mass to its place [m].
    pub moved_m: f64,
    /// Rows that others imply: name of the joint, and of the row.
    pub redundant: Vec<(String, String)>,
}

/// Brings the states of a connected part onto the constraints at time zero.
pub(crate) fn assemble(
    joints: &[Joint],
    inertia: &[Option<Inertia>],
    states: &mut [BodyState],
) -> Result<(Mechanism, Assembled), RigidError> {
    let start: Vec<Vec3> = states.iter().map(|s| s.position).collect();
    let there: Vec<_> = states.iter().map(Placed::of).collect();
    let mut mechanism = Mechanism::new(joints, &[], inertia, &there)?;
    if joints.is_empty() {
        return Ok((mechanism, Assembled::default()));
    }
    mechanism.aim(0.0);
    let size = start.iter().fold(1.0_f64, |size, x| size.max(x.amax()));
    let mut rows = vec![0.0; mechanism.rows.len()];
    let mut changes = vec![[0.0; 6]; states.len() + 1];
    let mut best = f64::INFINITY;
    for _ in 0..NEWTON_STEPS {
        put(&mut mechanism, states);
        let worst = mechanism.residuals(&mut rows);
        // Newton's method gains digits until rounding stops it.
        if worst == 0.0 || (worst < CLOSED * size && worst > 0.1 * best) {
            break;
        }
        best = best.min(worst);
        correct(&mechanism, &mut rows, &mut changes);
        let turn = |c: &[f64; 6]| Vec3::new(c[3], c[4], c[5]).norm();
        let largest = changes.iter().map(turn).fold(0.0, f64::max);
        let share = if largest > LARGEST_TURN {
            LARGEST_TURN / largest
        } else {
            1.0
        };
        for (state, change) in states.iter_mut().zip(&changes) {
            let [x, y, z, a, b, c] = change.map(|x| share * x);
            if change != &[0.0; 6] {
                state.position += Vec3::new(x, y, z);
                state.rotation = Quat::from_scaled_axis(Vec3::new(a, b, c)) * state.rotation;
            }
        }
    }
    let worst = mechanism.residuals(&mut rows);
    if worst.is_nan() || worst >= CLOSED * size {
        return Err(conflict(joints, &mechanism, &rows, "place"));
    }
    let speeds = |mechanism: &Mechanism, rows: &mut [f64]| {
        let twists: Vec<[f64; 6]> = mechanism.placed.iter().map(Placed::twist).collect();
        let fastest = twists
            .iter()
            .flatten()
            .fold(1.0_f64, |most, x| most.max(x.abs()));
        mechanism.rate_residuals(&twists, rows);
        fastest
    };
    speeds(&mechanism, &mut rows);
    if rows.iter().any(|x| *x != 0.0) {
        correct(&mechanism, &mut rows, &mut changes);
        for (state, change) in states.iter_mut().zip(&changes) {
            if change != &[0.0; 6] {
                state.velocity += Vec3::new(change[0], change[1], change[2]);
                state.spin += state.rotation.inverse() * Vec3::new(change[3], change[4], change[5]);
            }
        }
        put(&mut mechanism, states);
        let fastest = speeds(&mechanism, &mut rows);
        let allowed = CLOSED * size * fastest;
        if rows.iter().any(|x| x.is_nan() || x.abs() >= allowed) {
            return Err(conflict(joints, &mechanism, &rows, "velocity"));
        }
    }
    let redundant = (0..rows.len()).filter(|&row| mechanism.is_dependent(row));
    let named = |row: usize| {
        let (joint, name) = mechanism.named(row);
        (joints[joint].name.clone(), name)
    };
    let moved = states
        .iter()
        .zip(&start)
        .map(|(s, x)| (s.position - x).norm());
    let assembled = Assembled {
        moved_m: moved.fold(0.0, f64::max),
        redundant: redundant.map(named).collect(),
    };
    Ok((mechanism, assembled))
}

fn put(mechanism: &mut Mechanism, states: &[BodyState]) {
    for (body, state) in states.iter().enumerate() {
        mechanism.placed[body] = Placed::of(state);
        mechanism.turn(body);
    }
    mechanism.linearise();
}

/// Twists that take away the rows' values, to first order.
fn correct(mechanism: &Mechanism, rows: &mut [f64], changes: &mut [[f64; 6]]) {
    rows.iter_mut().for_each(|x| *x = -*x);
    mechanism.solve(rows);
    changes.fill([0.0; 6]);
    mechanism.respond(rows, changes);
}

/// The row farthest from being met.
fn conflict(joints: &[Joint], mechanism: &Mechanism, rows: &[f64], of: &'static str) -> RigidError {
    let worst = (0..rows.len()).max_by(|&p, &q| rows[p].abs().total_cmp(&rows[q].abs()));
    let (joint, row) = mechanism.named(worst.unwrap_or(0));
    RigidError::Conflict {
        joint: joints[joint].name.clone(),
        row,
        of,
        off_by: worst.map_or(0.0, |row| rows[row].abs()),
    }
}
