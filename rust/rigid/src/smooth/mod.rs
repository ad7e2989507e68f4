//! The smooth stepper: bodies with joints and force elements, no contacts, to high accuracy.
//!
//! The equations of motion with their constraints at the level of accelerations (index 1),
//!
//! ```text
//! [ M  J^T ] [  v'     ]   [ F - gyroscopic terms ]
//! [ J   0  ] [ -lambda ] = [ c'' - bias           ]
//! ```
//!
//! are solved by (J M^-1 J^T) lambda = c'' - bias - J M^-1 F, whose matrix couples only joints that share a body.
//! The state (centre of mass, quaternion, velocity, angular velocity in world axes) is integrated by an explicit
//! method; after each step place and velocity are projected on the constraints along M^-1 J^T (Eich
//! 1993), with the very Jacobian that the first stage of the next step needs, so that projection costs two
//! solutions and no evaluation. Works of elements, loads and imposed motions are integrated along, so that the
//! energy account closes to the accuracy of the method.

mod adams;
mod evaluation;
mod tableau;

pub use tableau::Method;

use crate::elements::{Acting, Power};
use crate::error::RigidError;
use crate::free_motion::BodyState;
use crate::joints::{Mechanism, Placed};
use crate::report::StepReport;
use crate::setup::Setup;
use crate::state::State;
use adams::Past;
use percuss_geometry::{Quat, Vec3};

/// Numbers of a body in the state: place, quaternion (w first), velocity, angular velocity.
pub(crate) const NUMBERS: usize = 13;
/// Where the velocities are among them.
const VELOCITIES: std::ops::Range<usize> = 7..NUMBERS;
/// Works integrated along, fewer than a body has numbers: loads and actuators, dampers, friction, imposed motions.
const WORKS: usize = 4;

/// Drift above this means that the constraints cannot be met [m or rad].
const BROKEN: f64 = 1e-6;

/// Everything a step needs; nothing is allocated on the way.
pub(crate) struct Smooth {
    pub(crate) mechanism: Mechanism,
    pub(crate) elements: Vec<Acting>,
    method: Method,
    state: Vec<f64>,
    stage: Vec<f64>,
    /// Derivatives of the state at the stages.
    slopes: Vec<Vec<f64>>,
    /// Those of earlier steps, for the method that looks back.
    past: Past,
    forces: Vec<[f64; 6]>,
    /// Accelerations of the bodies now, world axes; of the world, the last, zero.
    pub(crate) accelerations: Vec<[f64; 6]>,
    corrections: Vec<[f64; 6]>,
    twists: Vec<[f64; 6]>,
    right: Vec<f64>,
    /// Forces of the held rows now.
    pub(crate) multipliers: Vec<f64>,
    powers: Power,
    motion_power: f64,
    /// Largest residual found at the end of the last step, before it was projected away.
    drift: f64,
    /// Length of the next step within a step of the world [s]; zero: try the whole.
    substep_s: f64,
    /// Whether the first slope is that of the state.
    fresh: bool,
}

impl Smooth {
    /// A stepper of a scene that has been set up, its bodies on their constraints.
    ///
    /// # Errors
    /// Joints that cannot be.
    pub fn new(setup: &Setup, state: &State, method: Method) -> Result<Self, RigidError> {
        let (scene, inertia) = (&setup.scene, &setup.inertia);
        let placed: Vec<Placed> = state.bodies.iter().map(Placed::of).collect();
        let mut mechanism = Mechanism::new(&scene.joints, &[], inertia, &placed)?;
        for linked in &mut mechanism.joints {
            // lengths are those before the bodies were put together
            linked.held.clone_from(&setup.joints[linked.joint].held);
        }
        let mut elements = Acting::elements(&scene.elements, inertia, &mechanism.placed);
        let joints = scene.joints.iter();
        elements.extend(joints.flat_map(|joint| Acting::of_joint(joint, inertia)));
        let (bodies, rows) = (mechanism.placed.len() - 1, mechanism.rows.len());
        let length = NUMBERS * bodies + WORKS;
        let stages = method.tableau().rows.len() + 1;
        Ok(Self {
            method,
            state: vec![0.0; length],
            stage: vec![0.0; length],
            slopes: vec![vec![0.0; length]; stages],
            past: match method {
                Method::Adams => Past::new(length),
                Method::Rk4 | Method::DormandPrince { .. } => Past::default(),
            },
            forces: vec![[0.0; 6]; bodies + 1],
            accelerations: vec![[0.0; 6]; bodies + 1],
            corrections: vec![[0.0; 6]; bodies + 1],
            twists: vec![[0.0; 6]; bodies + 1],
            right: vec![0.0; rows],
            multipliers: vec![0.0; rows],
            powers: Power::default(),
            motion_power: 0.0,
            drift: 0.0,
            substep_s: 0.0,
            fresh: false,
            mechanism,
            elements,
        })
    }

    /// Lets the bodies in, and finds their accelerations.
    pub fn begin(&mut self, setup: &Setup, state: &mut State) {
        state.present.fill(true);
        setup.account_state(state);
        state.energy.brought_in_j = state.energy.kinetic_j + state.energy.potential_j;
        self.start(setup, state);
        state.energy.elastic_j = self.elastic_j();
        state.energy.brought_in_j += state.energy.elastic_j;
    }

    /// What one step hands to the next besides the states of the bodies: to go on with the same bits.
    pub fn carried(&self) -> Vec<f64> {
        let mut numbers = vec![f64::from(u8::from(self.fresh)), self.substep_s, self.drift];
        numbers.extend(&self.slopes[0]);
        numbers.extend(self.past.numbers());
        numbers.extend(self.accelerations.iter().flatten());
        numbers.extend(&self.multipliers);
        numbers.extend(self.elements.iter().filter_map(Acting::counted));
        numbers
    }

    /// Takes back what [`Smooth::carried`] gave; false if it does not fit.
    pub fn carry(&mut self, numbers: &[f64]) -> bool {
        if numbers.len() != self.carried().len() {
            return false;
        }
        let mut numbers = numbers.iter().copied();
        let mut next = || numbers.next().unwrap_or(0.0);
        self.fresh = next() != 0.0;
        (self.substep_s, self.drift) = (next(), next());
        self.slopes[0].iter_mut().for_each(|x| *x = next());
        self.past.set(&mut next);
        self.accelerations
            .iter_mut()
            .flatten()
            .for_each(|x| *x = next());
        self.multipliers.iter_mut().for_each(|x| *x = next());
        for element in self.elements.iter_mut().filter(|e| e.counted().is_some()) {
            element.count_from(next());
        }
        true
    }

    /// Whatever was known of the accelerations no longer holds.
    pub fn forget(&mut self) {
        self.fresh = false;
        self.past.forget();
    }

    fn load(&mut self, states: &[BodyState]) {
        for (numbers, state) in self.state.chunks_exact_mut(NUMBERS).zip(states) {
            let (x, q, v) = (&state.position, &state.rotation, &state.velocity);
            let w = state.rotation * state.spin;
            numbers.copy_from_slice(&[
                x.x, x.y, x.z, q.w, q.i, q.j, q.k, v.x, v.y, v.z, w.x, w.y, w.z,
            ]);
        }
        let works = self.state.len() - WORKS;
        self.state[works..].fill(0.0);
    }

    fn unload(&self, states: &mut [BodyState]) {
        for (numbers, state) in self.state.chunks_exact(NUMBERS).zip(states) {
            let vector = |k: usize| Vec3::new(numbers[k], numbers[k + 1], numbers[k + 2]);
            let q = nalgebra::Quaternion::new(numbers[3], numbers[4], numbers[5], numbers[6]);
            state.position = vector(0);
            state.rotation = Quat::new_unchecked(q);
            state.velocity = vector(7);
            state.spin = state.rotation.inverse() * vector(10);
        }
    }

    /// The state after `h`, in `stage`, and the derivative there (before projection), in the last slope.
    fn advance(&mut self, setup: &Setup, t: f64, h: f64) {
        let tableau = self.method.tableau();
        let last = tableau.rows.len() - 1;
        for (index, row) in tableau.rows.iter().enumerate() {
            self.stage.copy_from_slice(&self.state);
            for (slope, weight) in self.slopes.iter().zip(*row) {
                if *weight != 0.0 {
                    let factor = h * weight;
                    for (y, k) in self.stage.iter_mut().zip(slope) {
                        *y += factor * k;
                    }
                }
            }
            if index == last {
                self.normalise();
            }
            self.evaluate(
                setup,
                t + h * tableau.nodes[index],
                index + 1,
                index == last,
            );
        }
    }

    /// Quaternions of the stage brought to unit length.
    fn normalise(&mut self) {
        for numbers in self.stage.chunks_exact_mut(NUMBERS) {
            let q = &mut numbers[3..7];
            let scale = 1.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
            q.iter_mut().for_each(|x| *x *= scale);
        }
    }

    /// The stage becomes the state, its derivative the first slope.
    fn accept(&mut self) {
        std::mem::swap(&mut self.state, &mut self.stage);
        let last = self.slopes.len() - 1;
        self.slopes.swap(0, last);
    }

    /// Estimated error of the stage relative to the tolerance.
    fn error(&self, h: f64, tolerance: f64) -> f64 {
        let weights = self.method.tableau().error;
        let mut worst = 0.0_f64;
        for k in 0..self.state.len() - WORKS {
            let slope: f64 = weights
                .iter()
                .zip(&self.slopes)
                .map(|(w, s)| w * s[k])
                .sum();
            let scale = tolerance * (1.0 + self.state[k].abs().max(self.stage[k].abs()));
            let error = (h * slope).abs() / scale;
            worst = if error.is_nan() {
                f64::INFINITY
            } else {
                worst.max(error)
            };
        }
        worst
    }

    /// From `t` to `t + span`.
    fn integrate(&mut self, setup: &Setup, t: f64, span: f64) -> Result<(), RigidError> {
        let tolerance = match self.method {
            Method::Adams => {
                self.predict_and_correct(setup, t, span);
                return Ok(());
            }
            Method::Rk4 => {
                self.advance(setup, t, span);
                self.accept();
                return Ok(());
            }
            Method::DormandPrince { tolerance } => tolerance,
        };
        let mut done = 0.0;
        let mut wanted = if self.substep_s > 0.0 {
            self.substep_s
        } else {
            span
        };
        while done < span {
            let left = span - done;
            // The last but one is cut so that no sliver remains.
            let h = if wanted >= left {
                left
            } else if 2.0 * wanted > left {
                0.5 * left
            } else {
                wanted
            };
            self.advance(setup, t + done, h);
            let error = self.error(h, tolerance);
            let factor = (0.9 * error.powf(-0.2)).clamp(0.2, 5.0);
            if error <= 1.0 {
                self.accept();
                done = if h == left { span } else { done + h };
                // A step cut short says nothing against the length that was wanted.
                wanted = if h < wanted {
                    wanted.max(h * factor)
                } else {
                    h * factor
                };
            } else {
                wanted = h * factor;
                if wanted < 1e-9 * span {
                    return Err(RigidError::StepTooShort {
                        time_s: t + done,
                        step_s: wanted,
                        tolerance,
                    });
                }
            }
        }
        self.substep_s = wanted.min(span);
        Ok(())
    }
}

impl Smooth {
    /// Takes one step.
    ///
    /// # Errors
    /// A state that leaves the finite numbers, or constraints that cannot be met.
    pub fn step(&mut self, setup: &Setup, state: &mut State) -> Result<StepReport, RigidError> {
        let t = setup.time_s(state);
        self.start(setup, state);
        self.integrate(setup, t, setup.settings.dt_s)?;
        self.unload(&mut state.bodies);
        if let Some(body) = state.bodies.iter().position(|body| !body.is_finite()) {
            return Err(setup.diverged(state, body));
        }
        if self.drift > BROKEN {
            let name = |joint: usize| setup.scene.joints[joint].name.clone();
            return Err(self.mechanism.broken(t + setup.settings.dt_s, name));
        }
        for element in &mut self.elements {
            element.count(&self.mechanism.placed);
        }
        let works = &self.state[self.state.len() - WORKS..];
        state.energy.external_work_j += works[0];
        state.energy.damping_dissipation_j += works[1];
        state.energy.friction_dissipation_j += works[2];
        state.energy.motion_work_j += works[3];
        setup.account_state(state);
        state.energy.elastic_j = self.elastic_j();
        state.step += 1;
        Ok(StepReport {
            step: state.step - 1,
            time_s: setup.time_s(state),
            met: true,
            ..StepReport::default()
        })
    }

    /// Accelerations at the start of a step, unless they are known from the end of the last.
    fn start(&mut self, setup: &Setup, state: &State) {
        self.load(&state.bodies);
        if !self.fresh {
            self.stage.copy_from_slice(&self.state);
            self.evaluate(setup, setup.time_s(state), 0, true);
            self.state.copy_from_slice(&self.stage);
            self.fresh = true;
        }
    }
}

impl Smooth {
    /// Energy stored in the elements, where the bodies are now.
    pub fn elastic_j(&self) -> f64 {
        self.elements
            .iter()
            .map(|e| e.energy_j(&self.mechanism.placed))
            .sum()
    }
}
