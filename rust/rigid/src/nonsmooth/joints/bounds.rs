//! Limits and friction of joint coordinates, as blocks of the contact problem.

use super::super::contact::Block;
use super::super::middle::Middle;
use super::Articulation;
use crate::error::RigidError;
use crate::joints::{Joint, Mechanism, Row};
use crate::settings::Settings;
use percuss_geometry::Vec3;
use percuss_laws::contact::ImpactLaw;
use percuss_solvers::{BlockKind, Contact, Jacobian};

/// Rates below this share of the velocities they are the difference of are rounding.
const ROUNDING: f64 = 1e-13;

/// Most times that friction which grows with the reaction is solved for again; each gains some factor 1 / mu.
const ROUNDS: usize = 50;

/// What bounds a coordinate.
#[derive(Debug, Clone, Copy)]
pub(super) enum BoundKind {
    Limit {
        low: f64,
        high: f64,
        restitution: f64,
    },
    Friction {
        /// Largest force [N] or torque [N m].
        most: f64,
        /// What the reaction adds to it.
        per_reaction: f64,
    },
}

/// A limit or friction of a coordinate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// Place of its joint in the mechanism.
    pub joint: usize,
    pub row: Row,
    pub kind: BoundKind,
}

/// A bound that takes part in a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounded {
    pub bound: usize,
    pub jacobian: [[f64; 6]; 2],
    pub block: Block,
    /// Work of its impulse in the step [J].
    pub work_j: f64,
}

impl Bound {
    /// Those of all joints.
    pub fn of(joints: &[Joint], mechanism: &Mechanism) -> Result<Vec<Self>, RigidError> {
        let mut bounds = Vec::new();
        for (place, linked) in mechanism.joints.iter().enumerate() {
            let Some(joint) = joints.get(linked.joint) else {
                continue;
            };
            for limit in &joint.limits {
                bounds.push(Self {
                    joint: place,
                    row: joint.coordinate(&limit.coordinate)?,
                    kind: BoundKind::Limit {
                        low: limit.low,
                        high: limit.high,
                        restitution: limit.restitution,
                    },
                });
            }
            for friction in &joint.friction {
                bounds.push(Self {
                    joint: place,
                    row: joint.coordinate(&friction.coordinate)?,
                    kind: BoundKind::Friction {
                        most: friction.bound,
                        per_reaction: friction.per_reaction,
                    },
                });
            }
        }
        Ok(bounds)
    }
}

impl Articulation {
    /// The bounds reached at the middle of the step.
    pub fn bound(&mut self, settings: &Settings, middle: &Middle) {
        self.active.clear();
        self.rounds = 0;
        self.free_impulses.clone_from(&self.impulses);
        if self.bounds.is_empty() {
            return;
        }
        self.gather(&middle.after);
        self.changes.clone_from(&self.twists);
        self.gather(&middle.before);
        for index in 0..self.bounds.len() {
            let bound = self.bounds[index];
            let linkage = &self.mechanism.joints[bound.joint].linkage;
            match bound.kind {
                BoundKind::Limit {
                    low,
                    high,
                    restitution,
                } => {
                    let counted = &mut self.counted[index];
                    *counted += bound.row.difference(linkage.value(bound.row), *counted);
                    let value = *counted;
                    for (gap, sign) in [(value - low, 1.0), (high - value, -1.0)] {
                        if gap <= settings.contact_tolerance_m {
                            self.push_bound(index, sign, restitution, 0.0);
                        }
                    }
                }
                BoundKind::Friction { .. } => {
                    let most = self.friction_bound(&bound, settings.dt_s);
                    self.push_bound(index, 1.0, 0.0, most);
                }
            }
        }
    }

    /// Adds a bound to those that take part; `twists` are those before the step, `changes` those after it.
    fn push_bound(&mut self, index: usize, sign: f64, restitution: f64, most: f64) {
        let bound = self.bounds[index];
        let linked = &self.mechanism.joints[bound.joint];
        let row = linked.linkage.row(bound.row);
        let jacobian = row.jacobian.map(|side| side.map(|x| sign * x));
        let rate = |twists: &[[f64; 6]]| {
            let (mut sum, mut size) = (0.0, 0.0);
            for (side, &body) in linked.bodies.iter().enumerate() {
                for (j, v) in jacobian[side].iter().zip(&twists[body]) {
                    sum += j * v;
                    size += (j * v).abs();
                }
            }
            if sum.abs() <= ROUNDING * size {
                0.0
            } else {
                sum
            }
        };
        let (before, free) = (rate(&self.twists), rate(&self.changes));
        let friction = matches!(bound.kind, BoundKind::Friction { .. });
        let shift = if friction {
            0.0
        } else {
            ImpactLaw::Newton.shift(&[before, 0.0, 0.0], restitution)[0]
        };
        let moves = |own: usize| self.mechanism.weights[own].moves;
        let in_scene = |own: usize| moves(own).then(|| self.bodies[own] as u32);
        let contact = Contact {
            bodies: linked.bodies.map(in_scene),
            jacobians: jacobian.map(|row| -> Jacobian { [row, [0.0; 6], [0.0; 6]] }),
            free_velocity: [free + shift, 0.0, 0.0],
            friction: most,
            kind: if friction {
                BlockKind::Bounded
            } else {
                BlockKind::Contact
            },
        };
        self.active.push(Bounded {
            bound: index,
            jacobian,
            block: Block::new(contact, [self.remembered[index], 0.0, 0.0]),
            work_j: 0.0,
        });
    }

    /// Whether the bounds of friction have changed with the reactions just found, so that all is to be solved again.
    pub fn regrip(&mut self, settings: &Settings) -> bool {
        let mut changed = false;
        for place in 0..self.active.len() {
            let bound = self.bounds[self.active[place].bound];
            if let BoundKind::Friction { per_reaction, .. } = bound.kind
                && per_reaction > 0.0
            {
                let most = self.friction_bound(&bound, settings.dt_s);
                let now = &mut self.active[place].block.contact.friction;
                changed |= (most - *now).abs() > settings.tolerance * most;
                *now = most;
            }
        }
        if changed {
            self.rounds += 1;
        }
        changed && self.gripped()
    }

    /// Back to the impulses before the contact problem was solved.
    pub fn release(&mut self) {
        self.impulses.clone_from(&self.free_impulses);
    }

    /// Holds velocities before the contact problem anew, after forces have changed them.
    pub fn hold_again(&mut self, free: &mut [[f64; 6]]) {
        self.release();
        self.hold(free);
        self.free_impulses.clone_from(&self.impulses);
    }

    /// Whether the friction of joints and the reactions it grows with agree.
    pub fn gripped(&self) -> bool {
        self.rounds <= ROUNDS
    }

    /// Largest impulse of a friction, with the reactions as they are now.
    fn friction_bound(&self, bound: &Bound, h: f64) -> f64 {
        let BoundKind::Friction { most, per_reaction } = bound.kind else {
            return 0.0;
        };
        let linked = &self.mechanism.joints[bound.joint];
        let mut force = [0.0; 3];
        for row in linked.first..linked.first + linked.held.len() {
            let jacobian = &self.mechanism.rows[row].value.jacobian[1];
            for k in 0..3 {
                force[k] += self.impulses[row] * jacobian[k];
            }
        }
        h * most + per_reaction * Vec3::from(force).norm()
    }
}

/// Friction of coordinates that joints move whatever it does: known without being solved for.
pub(crate) fn drag(contacts: &[Contact], blocked: &[bool], impulses: &mut [[f64; 3]]) {
    for ((contact, blocked), impulse) in contacts.iter().zip(blocked).zip(impulses) {
        if *blocked && contact.kind == BlockKind::Bounded {
            *impulse = [-contact.friction * sign(contact.free_velocity[0]), 0.0, 0.0];
        }
    }
}

/// -1, 0 or 1.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
