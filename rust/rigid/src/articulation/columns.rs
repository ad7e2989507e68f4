//! How contacts act on one another through joints: Y = D^-1/2 L^-1 G M^-1 J^T of each contact.

use super::Articulation;
use crate::joints::Mechanism;
use percuss_solvers::{BlockKind, Contact, InverseMass, Joined, Span, response};

/// A contact whose own W the joints reduce to this share is held fast by them.
const HELD_FAST: f64 = 1e-10;

/// Joints of a body (their places in the mechanism), each with the side it is on.
type JointsOf = Vec<Vec<(usize, usize)>>;

/// By body: its joints, a number shared by all that joints connect it with, and the range of rows of all of these.
pub(super) fn reach(
    mechanism: &Mechanism,
    count: usize,
) -> (JointsOf, Vec<u32>, Vec<(usize, usize)>) {
    let mut joints_of: JointsOf = vec![Vec::new(); count];
    let mut groups: Vec<u32> = (0..count as u32).collect();
    let moves = |body: &usize| mechanism.weights[*body].moves;
    for (index, joint) in mechanism.joints.iter().enumerate() {
        for (side, body) in joint.bodies.iter().enumerate().filter(|(_, b)| moves(b)) {
            joints_of[*body].push((index, side));
        }
        let [a, b] = joint.bodies;
        if moves(&a) && moves(&b) {
            let (from, to) = (groups[a].max(groups[b]), groups[a].min(groups[b]));
            let joining = groups.iter_mut().filter(|group| **group == from);
            joining.for_each(|group| *group = to);
        }
    }
    // Joints come group by group, so that the rows of a group are one range.
    let mut ranges = vec![(0, 0); count];
    for joint in &mechanism.joints {
        if let Some(body) = joint.bodies.iter().find(|b| moves(b)) {
            let (first, end) = &mut ranges[groups[*body] as usize];
            if *end == 0 {
                *first = joint.first;
            }
            *end = joint.first + joint.held.len();
        }
    }
    let rows = |body: usize| match joints_of[body].is_empty() {
        true => (0, 0),
        false => ranges[groups[body] as usize],
    };
    let rows_of = (0..count).map(rows).collect();
    (joints_of, groups, rows_of)
}

impl Articulation {
    /// Whether any contact of the step is at a joined body.
    pub fn joined(&self) -> Option<&Joined> {
        let any = self.joined.spans.iter().any(|spans| spans[0].is_some());
        any.then_some(&self.joined)
    }

    /// Writes [`Articulation::joined`] for these contacts.
    pub fn couple(&mut self, masses: &[InverseMass], contacts: &[Contact]) {
        let Self {
            mechanism,
            joined,
            joints_of,
            rows_of,
            ..
        } = self;
        joined.spans.clear();
        joined.columns.clear();
        joined.blocked.clear();
        for contact in contacts {
            let held = |side: usize| {
                let body = contact.bodies[side]? as usize;
                (rows_of[body].1 > 0).then_some((side, body))
            };
            let mut sides = [held(0), held(1)];
            if sides[0].is_none() {
                sides.swap(0, 1);
            }
            let group = |of: Option<(usize, usize)>| of.map(|(_, body)| joined.groups[body]);
            let together = sides[0].is_some() && group(sides[0]) == group(sides[1]);
            let mut spans = [None; 2];
            let mut taken = [0.0; 3];
            for which in 0..2 {
                let Some((_, body)) = sides[which] else {
                    continue;
                };
                if which == 1 && together {
                    continue;
                }
                let (first, end) = rows_of[body];
                let start = joined.columns.len();
                joined.columns.resize(start + end - first, [0.0; 3]);
                let mut lowest = end;
                let acting = if together {
                    &sides[..]
                } else {
                    &sides[which..=which]
                };
                for &(side, body) in acting.iter().flatten() {
                    for &(joint, joint_side) in &joints_of[body] {
                        let joint = &mechanism.joints[joint];
                        lowest = lowest.min(joint.first);
                        for row in joint.first..joint.first + joint.held.len() {
                            let given = &mechanism.rows[row].response[joint_side];
                            let column = &mut joined.columns[start + row - first];
                            for (x, j) in column.iter_mut().zip(&contact.jacobians[side]) {
                                *x += (0..6).map(|k| given[k] * j[k]).sum::<f64>();
                            }
                        }
                    }
                }
                joined.columns.drain(start..start + lowest - first);
                let columns = &mut joined.columns[start..];
                mechanism.halve(lowest, columns);
                for column in &*columns {
                    for k in 0..3 {
                        taken[k] += column[k] * column[k];
                    }
                }
                spans[which] = Some(Span {
                    group: joined.groups[body],
                    first: lowest as u32,
                    start: start as u32,
                    end: joined.columns.len() as u32,
                });
            }
            joined.spans.push(spans);
            if spans == [None; 2] {
                joined.blocked.push(false);
                continue;
            }
            let mut own = [0.0; 3];
            for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
                let Some(body) = body else { continue };
                let given = response(&masses[*body as usize], jacobian);
                for k in 0..3 {
                    own[k] += (0..6).map(|l| given[k][l] * jacobian[k][l]).sum::<f64>();
                }
            }
            // What must be able to move: the normal of a contact, any of the rows of other blocks.
            let (own, taken) = match contact.kind {
                BlockKind::Contact => (own[0], taken[0]),
                _ => (own.iter().sum(), taken.iter().sum()),
            };
            joined.blocked.push(own - taken <= HELD_FAST * own);
        }
    }
}
