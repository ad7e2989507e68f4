//! How the stepper works.

use crate::error::RigidError;
use crate::smooth::Method;
use percuss_solvers::Solver;

/// What steps a scene.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Stepper {
    /// The Moreau-Jean scheme: contacts, impacts and joints, first order.
    #[default]
    Nonsmooth,
    /// A method of high order for scenes without contact.
    Smooth(Method),
}

/// Largest tolerance of the contact solver. The residual of doing nothing is about 1: above it bodies fall through.
pub const LOOSEST_TOLERANCE: f64 = 0.1;

/// Most threads of a run.
const MOST_THREADS: usize = 1024;

/// Step length, scheme and contact solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Length of a step h [s].
    pub dt_s: f64,
    /// What takes the steps; the settings below are of the nonsmooth stepper.
    pub stepper: Stepper,
    /// The theta of the scheme: 1/2 conserves energy between impacts, 1 damps most.
    pub theta: f64,
    /// Solver of the contact problem.
    pub solver: Solver,
    /// Bound of its energy residual, at most [`LOOSEST_TOLERANCE`].
    pub tolerance: f64,
    /// Most sweeps of the solver in a step; a step that runs out of them is recorded as not met.
    pub max_iterations: usize,
    /// Most Newton steps in a step.
    pub max_factorisations: usize,
    /// A contact is active up to this gap [m]: bridges the rounding of bodies that rest on each other.
    pub contact_tolerance_m: f64,
    /// How far a step looks ahead [m], see `look_ahead.rs`: inelastic contacts end at touch; 0: the plain scheme.
    pub look_ahead_m: f64,
    /// Overlap allowed at the start [m].
    pub overlap_tolerance_m: f64,
    /// Push overlapping bodies apart at the end of a step, as far as this step's dissipation pays for.
    pub stabilise: bool,
    /// Islands whose bodies are all slower than this for [`Settings::sleep_steps`] steps fall asleep [m/s]; 0: none does.
    /// See `nonsmooth/rest.rs` for what wakes them.
    pub sleep_speed_m_per_s: f64,
    /// Steps in a row that bodies have to be slow for.
    pub sleep_steps: u64,
    /// Threads that a step takes; 0: one for each core. Results do not depend on it.
    pub threads: usize,
}

impl Settings {
    /// The defaults with steps of `dt_s`.
    pub fn with_step(dt_s: f64) -> Self {
        Self {
            dt_s,
            stepper: Stepper::default(),
            theta: 0.5,
            solver: Solver::Auto,
            tolerance: 1e-6,
            max_iterations: 1000,
            max_factorisations: 2_000,
            contact_tolerance_m: 1e-8,
            look_ahead_m: 0.0,
            overlap_tolerance_m: 1e-6,
            stabilise: false,
            sleep_speed_m_per_s: 0.0,
            sleep_steps: 50,
            threads: 1,
        }
    }

    /// Overlap that is left as it is at the end of a step [m].
    pub(crate) fn overlap_left_m(&self) -> f64 {
        if self.stabilise {
            self.contact_tolerance_m
        } else if self.look_ahead_m > 0.0 {
            crate::nonsmooth::LEFT_ALONE * self.look_ahead_m
        } else {
            f64::INFINITY
        }
    }

    pub(crate) fn check(&self) -> Result<(), RigidError> {
        if let Stepper::Smooth(method) = &self.stepper {
            method.check()?;
        }
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let length = |x: f64| x.is_finite() && x >= 0.0;
        let (more, least) = ("finite and > 0", "finite and >= 0");
        for (key, value, good, allowed) in [
            ("dt_s", self.dt_s, positive(self.dt_s), more),
            (
                "theta",
                self.theta,
                (0.5..=1.0).contains(&self.theta),
                "from 0.5 to 1",
            ),
            (
                "tolerance",
                self.tolerance,
                self.tolerance > 0.0 && self.tolerance <= LOOSEST_TOLERANCE,
                "> 0 and at most 0.1",
            ),
            (
                "contact_tolerance_m",
                self.contact_tolerance_m,
                length(self.contact_tolerance_m),
                least,
            ),
            (
                "look_ahead_m",
                self.look_ahead_m,
                length(self.look_ahead_m),
                least,
            ),
            (
                "overlap_tolerance_m",
                self.overlap_tolerance_m,
                length(self.overlap_tolerance_m),
                least,
            ),
            (
                "sleep_speed_m_per_s",
                self.sleep_speed_m_per_s,
                length(self.sleep_speed_m_per_s),
                least,
            ),
            (
                "threads",
                self.threads as f64,
                self.threads <= MOST_THREADS,
                "at most 1024",
            ),
        ] {
            if !good {
                return Err(RigidError::Setting {
                    key,
                    value,
                    allowed,
                });
            }
        }
        Ok(())
    }
}
