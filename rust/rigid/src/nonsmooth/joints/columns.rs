//! How contacts act on one another through joints: Y = D^-1/2 L^-1 G M^-1 J^T of each contact.

use super::Articulation;
use crate::joints::Mechanism;
use percuss_solvers::{BlockKind, Contact, InverseMass, Joined, Span, response};

/// A contact whose own W the joints reduce to this share is held fast by them.
const HELD_FAST: f64 = 1e-10;

/// Joints of each body (their places in the mechanism), each with the side it is on.
pub(super) fn joints_of(mechanism: &Mechanism) -> Vec<Vec<(usize, usize)>> {
    let mut joints_of = vec![Vec::new(); mechanism.placed.len()];
    for (index, joint) in mechanism.joints.iter().enumerate() {
        for (side, &body) in joint.bodies.iter().enumerate() {
            if mechanism.weights[body].moves {
                joints_of[body].push((index, side));
            }
        }
    }
    joints_of
}

/// A body of the contact problem that joints hold: the part they are of, and its numbers there.
#[derive(Clone, Copy)]
struct Held<'a> {
    side: usize,
    /// What its part is called among the bodies of the problem: see [`Joined::groups`].
    group: u32,
    part: &'a Articulation,
    own: usize,
}

/// Writes what joints make of W for these contacts; `held` gives the part of a body of the problem and its number there.
/// False where no contact is at a body that joints hold.
pub(crate) fn couple<'a>(
    masses: &[InverseMass],
    contacts: &[Contact],
    held: impl Fn(u32) -> Option<(&'a Articulation, usize)>,
    joined: &mut Joined,
) -> bool {
    joined.spans.clear();
    joined.columns.clear();
    joined.blocked.clear();
    for contact in contacts {
        let one = |side: usize| {
            let body = contact.bodies[side]?;
            let (part, own) = held(body)?;
            (!part.joints_of[own].is_empty()).then(|| Held {
                side,
                group: joined.groups[body as usize],
                part,
                own,
            })
        };
        let mut sides = [one(0), one(1)];
        if sides[0].is_none() {
            sides.swap(0, 1);
        }
        let together = match sides {
            [Some(a), Some(b)] => a.group == b.group,
            _ => false,
        };
        let mut spans = [None; 2];
        let mut taken = [0.0; 3];
        for which in 0..2 {
            let Some(first) = sides[which] else { continue };
            if which == 1 && together {
                continue;
            }
            let acting = if together {
                &sides[..]
            } else {
                &sides[which..=which]
            };
            let (lowest, start) = push_column(acting, contact, joined);
            for column in &joined.columns[start..] {
                for k in 0..3 {
                    taken[k] += column[k] * column[k];
                }
            }
            spans[which] = Some(Span {
                group: first.group,
                first: lowest as u32,
                start: start as u32,
                end: joined.columns.len() as u32,
            });
        }
        joined.spans.push(spans);
        let blocked = spans != [None; 2] && is_held_fast(masses, contact, &taken);
        joined.blocked.push(blocked);
    }
    joined.spans.iter().any(|spans| spans[0].is_some())
}

/// Y of a contact at bodies of one part: its first row, and where it starts among the columns.
fn push_column(acting: &[Option<Held>], contact: &Contact, joined: &mut Joined) -> (usize, usize) {
    let start = joined.columns.len();
    let Some(part) = acting.iter().flatten().next().map(|held| held.part) else {
        return (0, start);
    };
    let mechanism = &part.mechanism;
    let rows = mechanism.rows.len();
    let own = |held: &Held| part.joints_of[held.own].iter();
    let joints = acting.iter().flatten().flat_map(own);
    let lowest = joints
        .map(|&(joint, _)| mechanism.joints[joint].first)
        .min()
        .unwrap_or(rows);
    joined.columns.resize(start + rows - lowest, [0.0; 3]);
    for held in acting.iter().flatten() {
        for &(joint, joint_side) in &part.joints_of[held.own] {
            let joint = &mechanism.joints[joint];
            for row in joint.first..joint.first + joint.held.len() {
                let given = &mechanism.rows[row].response[joint_side];
                let column = &mut joined.columns[start + row - lowest];
                for (x, j) in column.iter_mut().zip(&contact.jacobians[held.side]) {
                    *x += (0..6).map(|k| given[k] * j[k]).sum::<f64>();
                }
            }
        }
    }
    mechanism.halve(lowest, &mut joined.columns[start..]);
    (lowest, start)
}

/// Whether joints leave a contact nothing to move: its normal, or any of the rows of other blocks.
fn is_held_fast(masses: &[InverseMass], contact: &Contact, taken: &[f64; 3]) -> bool {
    let mut own = [0.0; 3];
    for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
        let Some(body) = body else { continue };
        let given = response(&masses[*body as usize], jacobian);
        for k in 0..3 {
            own[k] += (0..6).map(|l| given[k][l] * jacobian[k][l]).sum::<f64>();
        }
    }
    let (own, taken): (f64, f64) = match contact.kind {
        BlockKind::Contact => (own[0], taken[0]),
        BlockKind::Couple | BlockKind::Bounded => (own.iter().sum(), taken.iter().sum()),
    };
    own - taken <= HELD_FAST * own
}
