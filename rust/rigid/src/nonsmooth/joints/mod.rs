//! Joints in the Moreau-Jean scheme, held exactly.
//!
//! With G the rows of all joints at q_M and c' their imposed rates (zero for most), a step keeps
//!
//! ```text
//! G ((1 - theta) v_k + theta v_(k+1)) = mean of c' over the step
//! ```
//!
//! which is what G says of the way from q_k to q_(k+1). At theta = 1/2 the impulses of the joints then do no work but
//! that of imposed motions, to rounding; the mere projection of v_(k+1) would dissipate at first order. The impulses
//! lambda are eliminated: with G M^-1 G^T = L D L^T contacts see W = H (M^-1 - M^-1 G^T (G M^-1 G^T)^-1 G M^-1) H^T,
//! so that no iteration of the contact solver loosens a joint. At the end of the step places are projected on
//! g(q, t) = 0 and velocities on G v = c', both along M^-1 G^T: the scheme leaves errors of third and second order
//! in h there, the projections take them away, and the energy they give or take is booked. Velocities so
//! projected keep reactions from ringing after impacts.
//!
//! Springs, dampers and bushings act at the place q_M, implicitly: with k and c of a row s the impulse is
//! -h (f(q_M, v_k) + (h k / 4 + c / 2) (s'_(k+1) - s'_k)), the midpoint rule, stable at any h. Such a row stands among
//! those of the joints with a compliance: (S G) (v_(k+1) - v_k) + x = 0 with S^2 = h^2 k / 4 + h c / 2.
//!
//! Joints and elements act in connected parts, each on its own bodies, numbered within it.
//!
//! Limits are unilateral rows of the contact problem with Newton's restitution, friction of a coordinate is a row
//! bounded by its force times h: both act with the contacts, so that stick and rest are exact. A bound that grows with
//! the reaction of the joint is found with it, by solving again until it holds still.

mod account;
mod bounds;
mod columns;
mod projection;

use super::middle::Middle;
use crate::body::Role;
use crate::elements::{Acting, Effort, Element};
use crate::error::RigidError;
use crate::joints::{Connected, Linked, Mechanism, Placed, Row, Soft, Target, response};
use crate::settings::Settings;
use crate::setup::Setup;
use crate::signal::Signal;
use crate::state::State;
use bounds::Bound;
pub(crate) use bounds::{Bounded, drag};
pub(crate) use columns::couple;
use percuss_geometry::Vec3;

/// Joints and elements of a connected part of a scene, and what they do in a step. Bodies are numbered within the part,
/// the world last.
pub(crate) struct Articulation {
    mechanism: Mechanism,
    elements: Vec<Acting>,
    /// Indices of its bodies and joints in the scene.
    pub(crate) bodies: Vec<usize>,
    joints: Vec<usize>,
    /// Its bodies that are not static.
    moving: Vec<usize>,
    /// Joints (in the order of the mechanism) of each body, with the side it is on.
    joints_of: Vec<Vec<(usize, usize)>>,
    /// Whether nothing in it moves as given over time, so that it can rest.
    pub(crate) passive: bool,
    /// Limits and frictions of all joints.
    bounds: Vec<Bound>,
    /// What the last step's impulses of each of them were.
    remembered: Vec<f64>,
    /// Their coordinates, angles counted over full turns.
    counted: Vec<f64>,

    /// Impulses of the rows in this step, the rates they are to have after it, the mean of their imposed rates, and
    /// their compliance.
    impulses: Vec<f64>,
    targets: Vec<f64>,
    imposed: Vec<f64>,
    starts: Vec<[f64; 3]>,
    compliance: Vec<f64>,
    right: Vec<f64>,
    /// Forces of the elements at the middle of the step.
    forces: Vec<[f64; 6]>,
    /// Twists of the bodies, for whatever is being computed.
    twists: Vec<[f64; 6]>,
    changes: Vec<[f64; 6]>,
    /// Bounds that take part in this step.
    pub(crate) active: Vec<Bounded>,
    /// How often the friction of this step has been solved for, and what to start from.
    rounds: usize,
    free_impulses: Vec<f64>,
    /// Velocities were set from outside: to be made to fit the joints before the next step.
    pub(crate) loose: bool,
    /// Elastic energy at the end of the last step.
    pub(crate) elastic_now_j: f64,
}

impl Articulation {
    /// A connected part whose bodies have been put together.
    pub fn new(setup: &Setup, state: &State, part: &Connected) -> Result<Self, RigidError> {
        let (scene, settings) = (&setup.scene, &setup.settings);
        let (joints, elements) = (part.own_joints(scene), part.own_elements(scene));
        let inertia = part.own(&setup.inertia);
        let placed: Vec<Placed> = part.own(&state.bodies).iter().map(Placed::of).collect();
        let soft: Vec<Soft> = elements
            .iter()
            .map(|element| softness(element, settings))
            .filter(|soft| !soft.rows.is_empty())
            .collect();
        let mechanism = Mechanism::new(&joints, &soft, &inertia, &placed)?;
        let rows = mechanism.rows.len();
        let mut compliance = vec![0.0; rows];
        for &(row, _) in &mechanism.soft {
            compliance[row] = 1.0;
        }
        let elements_on = Acting::elements(&elements, &inertia, &mechanism.placed);
        let count = part.bodies.len();
        let role = |body: usize| &scene.bodies[part.bodies[body]].role;
        let moving = (0..count).filter(|&body| !matches!(role(body), Role::Static));
        let kinematic = (0..count).any(|body| matches!(role(body), Role::Kinematic(_)));
        let bounds = Bound::of(&joints, &mechanism)?;
        let start = |bound: &Bound| mechanism.joints[bound.joint].linkage.value(bound.row);
        Ok(Self {
            remembered: vec![0.0; bounds.len()],
            counted: bounds.iter().map(start).collect(),
            impulses: vec![0.0; rows],
            targets: vec![0.0; rows],
            imposed: vec![0.0; rows],
            starts: Vec::new(),
            right: vec![0.0; rows],
            forces: vec![[0.0; 6]; count + 1],
            twists: vec![[0.0; 6]; count + 1],
            changes: vec![[0.0; 6]; count + 1],
            active: Vec::new(),
            rounds: 0,
            free_impulses: Vec::new(),
            loose: false,
            elastic_now_j: elements_on
                .iter()
                .map(|e| e.energy_j(&mechanism.placed))
                .sum(),
            moving: moving.collect(),
            joints_of: columns::joints_of(&mechanism),
            passive: !kinematic
                && joints
                    .iter()
                    .all(|joint| joint.imposed.iter().all(is_still))
                && elements.iter().all(|element| !acts_over_time(element)),
            mechanism,
            elements: elements_on,
            bodies: part.bodies.clone(),
            joints: part.joints.clone(),
            bounds,
            compliance,
        })
    }

    /// What one step hands to the next besides the states of the bodies.
    pub fn carried(&self) -> Vec<f64> {
        let mut numbers = vec![f64::from(u8::from(self.loose)), self.elastic_now_j];
        numbers.extend(self.remembered.iter().chain(&self.counted));
        numbers.extend(self.elements.iter().filter_map(Acting::counted));
        numbers
    }

    /// Takes back what [`Articulation::carried`] gave.
    pub fn carry(&mut self, numbers: &mut impl Iterator<Item = f64>) {
        let mut next = || numbers.next().unwrap_or(0.0);
        self.loose = next() != 0.0;
        self.elastic_now_j = next();
        let own = self.remembered.iter_mut().chain(&mut self.counted);
        own.for_each(|x| *x = next());
        for element in self.elements.iter_mut().filter(|e| e.counted().is_some()) {
            element.count_from(next());
        }
    }

    /// Its bodies that forces move: their indices in the scene, and their numbers within it.
    pub fn dynamic(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let own = self.moving.iter().copied();
        own.filter(|&body| self.mechanism.weights[body].moves)
            .map(|body| (self.bodies[body], body))
    }

    /// Takes the twists of its bodies from those of the scene.
    fn gather(&mut self, twists: &[[f64; 6]]) {
        for (own, &body) in self.twists.iter_mut().zip(&self.bodies) {
            *own = twists[body];
        }
    }

    /// Gives the twists of the bodies that forces move to the scene.
    fn scatter(&self, twists: &mut [[f64; 6]]) {
        for (body, own) in self.dynamic() {
            twists[body] = self.twists[own];
        }
    }

    /// Mean of the imposed rates from `start` to `end`.
    fn aim(&mut self, start: f64, end: f64) {
        let mechanism = &mut self.mechanism;
        mechanism.aim(start);
        self.starts.clone_from(&mechanism.targets);
        mechanism.aim(end);
        let span = end - start;
        for linked in &mechanism.joints {
            for (row, held) in (linked.first..).zip(&linked.held) {
                let ([from, rate, _], [to, last, _]) = (self.starts[row], mechanism.targets[row]);
                self.imposed[row] = match &held.target {
                    Target::Value(_) => 0.0,
                    Target::Position(_) => (to - from) / span,
                    Target::Velocity(signal) => {
                        (rate + 4.0 * signal.at(0.5 * (start + end))[0] + last) / 6.0
                    }
                };
            }
        }
    }

    /// Forces of the elements, and the free velocities as the joints allow them.
    pub fn hold_free(&mut self, setup: &Setup, state: &State, middle: &mut Middle) {
        let (t, h, theta) = (
            setup.time_s(state),
            setup.settings.dt_s,
            setup.settings.theta,
        );
        let mechanism = &mut self.mechanism;
        for &own in &self.moving {
            let body = self.bodies[own];
            let twist = &middle.before[body];
            mechanism.placed[own] = Placed {
                centre: middle.poses[body].position,
                axes: middle.axes[body],
                velocity: Vec3::new(twist[0], twist[1], twist[2]),
                turning: Vec3::new(twist[3], twist[4], twist[5]),
            };
            mechanism.turn(own);
        }
        mechanism.linearise();
        self.forces.fill([0.0; 6]);
        for element in &self.elements {
            element.add(t + theta * h, &mechanism.placed, &mut self.forces);
        }
        for &own in &self.moving {
            let (weight, force) = (&mechanism.weights[own], &self.forces[own]);
            if weight.moves && *force != [0.0; 6] {
                let change = response(weight, force);
                let after = &mut middle.after[self.bodies[own]];
                for k in 0..6 {
                    after[k] += h * change[k];
                }
            }
        }
        self.aim(t, setup.step_end_s(state));
        self.gather(&middle.before);
        self.mechanism.rates(&self.twists, &mut self.targets);
        for row in 0..self.targets.len() {
            if self.compliance[row] == 0.0 {
                let target = &mut self.targets[row];
                *target = (self.imposed[row] - (1.0 - theta) * *target) / theta;
            }
        }
        self.impulses.fill(0.0);
        self.hold(&mut middle.after);
    }

    /// Impulses that bring the velocities `after` to what the rows ask for, added to those there are.
    pub fn hold(&mut self, after: &mut [[f64; 6]]) {
        self.gather(after);
        let Self {
            mechanism,
            right,
            targets,
            impulses,
            compliance,
            twists,
            ..
        } = self;
        mechanism.rates(twists, right);
        for row in 0..right.len() {
            right[row] = targets[row] - compliance[row] * impulses[row] - right[row];
        }
        mechanism.solve(right);
        for (impulse, change) in impulses.iter_mut().zip(&*right) {
            *impulse += change;
        }
        mechanism.respond(right, twists);
        self.scatter(after);
    }

    /// Takes from displacements what the rows do not allow.
    pub fn hold_still(&mut self, displacements: &mut [[f64; 6]]) {
        self.gather(displacements);
        let (mechanism, right) = (&self.mechanism, &mut self.right);
        mechanism.rates(&self.twists, right);
        for (right, compliance) in right.iter_mut().zip(&self.compliance) {
            *right *= compliance - 1.0;
        }
        mechanism.solve(right);
        mechanism.respond(right, &mut self.twists);
        self.scatter(displacements);
    }

    /// Elastic energy where the bodies are now.
    pub fn elastic_j(&self) -> f64 {
        let placed = &self.mechanism.placed;
        self.elements.iter().map(|e| e.energy_j(placed)).sum()
    }
}

/// Whether a coordinate is held where it is.
fn is_still(imposed: &crate::joints::Imposed) -> bool {
    matches!(
        &imposed.target,
        Target::Value(_) | Target::Position(Signal::Constant(_))
    )
}

/// Whether an element acts by the clock.
fn acts_over_time(element: &Element) -> bool {
    matches!(&element.effort, Effort::Actuator { effort, .. } if !matches!(effort, Signal::Constant(_)))
}

/// Adds to the reaction of a joint the force `along` a row: force, and torque about the origin of frame b.
fn react(reaction: &mut [f64; 6], linked: &Linked, row: &[f64; 6], along: f64) {
    let [x, y, z, a, b, c] = row.map(|x| x * along);
    let force = Vec3::new(x, y, z);
    let torque = Vec3::new(a, b, c) - linked.linkage.sides[1].arm.cross(&force);
    for k in 0..3 {
        reaction[k] += force[k];
        reaction[k + 3] += torque[k];
    }
}

/// Rate that bodies moved as given bring into a row.
fn given(mechanism: &Mechanism, linked: &Linked, row: usize, twists: &[[f64; 6]]) -> f64 {
    let jacobian = &mechanism.rows[row].value.jacobian;
    let one = |side: usize| -> f64 {
        let body = linked.bodies[side];
        if mechanism.weights[body].moves {
            return 0.0;
        }
        (0..6).map(|k| jacobian[side][k] * twists[body][k]).sum()
    };
    one(0) + one(1)
}

/// The rows of an element that give way, with S = sqrt(h^2 k / 4 + h c / 2) of each.
fn softness(element: &Element, settings: &Settings) -> Soft {
    let h = settings.dt_s;
    let scale =
        |stiffness: f64, damping: f64| (0.25 * h * h * stiffness + 0.5 * h * damping).sqrt();
    let rows = match &element.effort {
        Effort::Spring {
            row,
            stiffness,
            damping,
            ..
        } => vec![(*row, scale(*stiffness, *damping))],
        Effort::Bushing {
            stiffness, damping, ..
        } => {
            // Turns about the axes of a, near enough for what is a correction of a correction.
            const ROWS: [Row; 6] = [
                Row::Slide(0),
                Row::Slide(1),
                Row::Slide(2),
                Row::Perpendicular(1, 2),
                Row::Perpendicular(2, 0),
                Row::Perpendicular(0, 1),
            ];
            let own = |k: usize| (ROWS[k], scale(stiffness[k], damping[k]));
            (0..6).map(own).filter(|(_, scale)| *scale > 0.0).collect()
        }
        Effort::Actuator { .. } => Vec::new(),
    };
    Soft {
        bodies: element.bodies,
        frames: element.frames,
        rows,
    }
}
