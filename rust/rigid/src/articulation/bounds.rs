//! Limits and friction of joint coordinates, as blocks of the contact problem.

use super::Articulation;
use crate::error::RigidError;
use crate::joints::{Joint, Mechanism, Row};
use crate::world::World;
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
pub(super) struct Bounded {
    pub bound: usize,
    pub jacobian: [[f64; 6]; 2],
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

impl World {
    /// Adds the bounds reached to the contacts, and says how joints couple them all.
    pub(crate) fn bound_joints(&mut self) {
        let Some(mut joints) = self.articulation.take() else {
            return;
        };
        joints.active.clear();
        joints.contacts = self.contacts.len();
        for index in 0..joints.bounds.len() {
            let bound = joints.bounds[index];
            let linkage = &joints.mechanism.joints[bound.joint].linkage;
            match bound.kind {
                BoundKind::Limit {
                    low,
                    high,
                    restitution,
                } => {
                    let counted = &mut joints.counted[index];
                    *counted += bound.row.difference(linkage.value(bound.row), *counted);
                    let value = *counted;
                    let near = self.settings.contact_tolerance_m;
                    for (gap, sign) in [(value - low, 1.0), (high - value, -1.0)] {
                        if gap <= near {
                            self.push_bound(&mut joints, index, sign, restitution, 0.0);
                        }
                    }
                }
                BoundKind::Friction { .. } => {
                    let most = joints.friction_bound(&bound, self.settings.dt_s);
                    self.push_bound(&mut joints, index, 1.0, 0.0, most);
                }
            }
        }
        joints.rounds = 0;
        joints.free.clone_from(&self.after);
        joints.free_impulses.clone_from(&joints.impulses);
        joints.couple(&self.inverse_mass, &self.contacts);
        self.articulation = Some(joints);
    }

    fn push_bound(
        &mut self,
        joints: &mut Articulation,
        index: usize,
        sign: f64,
        restitution: f64,
        most: f64,
    ) {
        let bound = joints.bounds[index];
        let linked = &joints.mechanism.joints[bound.joint];
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
        let (before, free) = (rate(&self.before), rate(&self.after));
        let friction = matches!(bound.kind, BoundKind::Friction { .. });
        let shift = if friction {
            0.0
        } else {
            ImpactLaw::Newton.shift(&[before, 0.0, 0.0], restitution)[0]
        };
        let moves = |body: usize| joints.mechanism.weights[body].moves;
        self.contacts.push(Contact {
            bodies: linked.bodies.map(|body| moves(body).then_some(body as u32)),
            jacobians: jacobian.map(|row| -> Jacobian { [row, [0.0; 6], [0.0; 6]] }),
            free_velocity: [free + shift, 0.0, 0.0],
            friction: most,
            kind: if friction {
                BlockKind::Bounded
            } else {
                BlockKind::Contact
            },
        });
        self.impulses.push([joints.remembered[index], 0.0, 0.0]);
        joints.active.push(Bounded {
            bound: index,
            jacobian,
        });
    }

    /// Bounds of friction with the reactions just found; if they have changed, all is ready to be solved again.
    pub(crate) fn regrip(&mut self) -> bool {
        let Some(joints) = &mut self.articulation else {
            return false;
        };
        let mut changed = false;
        for (place, active) in joints.active.iter().enumerate() {
            let bound = &joints.bounds[active.bound];
            if let BoundKind::Friction { per_reaction, .. } = bound.kind
                && per_reaction > 0.0
            {
                let most = joints.friction_bound(bound, self.settings.dt_s);
                let now = &mut self.contacts[joints.contacts + place].friction;
                changed |= (most - *now).abs() > self.settings.tolerance * most;
                *now = most;
            }
        }
        if !changed {
            return false;
        }
        joints.rounds += 1;
        if joints.rounds > ROUNDS {
            return false;
        }
        self.after.clone_from(&joints.free);
        joints.impulses.clone_from(&joints.free_impulses);
        true
    }

    /// Whether the friction of joints and the reactions it grows with agree.
    pub(crate) fn gripped(&self) -> bool {
        let joints = self.articulation.as_ref();
        joints.is_none_or(|joints| joints.rounds <= ROUNDS)
    }

    /// Friction of coordinates that joints move whatever it does: known without being solved for.
    pub(crate) fn drag_joints(&mut self) {
        let Some(joints) = &self.articulation else {
            return;
        };
        for (place, active) in joints.active.iter().enumerate() {
            let block = joints.contacts + place;
            if let (true, BoundKind::Friction { .. }) = (
                joints.joined.blocked[block],
                joints.bounds[active.bound].kind,
            ) {
                let contact = &self.contacts[block];
                let rate = contact.free_velocity[0];
                self.impulses[block] = [-contact.friction * sign(rate), 0.0, 0.0];
            }
        }
    }
}

impl Articulation {
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

/// -1, 0 or 1.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
