//! Newton steps for the few contacts of a jam, the others held.
//!
//! Light bodies wedged between heavy ones settle slowly: from sweep to sweep their impulses grow by less than a thousandth, in one
//! direction, and momentum takes hundreds of sweeps to go where they end. Newton goes there at once. For all contacts a factorisation costs
//! as much as dozens of sweeps; for those that still move, less than one sweep over all. The others answer in the sweeps that follow.

use crate::assembly::{Assembly, Contact, InverseMass};
use crate::block_matrix::{Lanes, Vector3};
use crate::newton::{self, Newton};
use crate::problem::{BlockKind, Problem};
use crate::residual;
use crate::solver::{Iteration, Settings};

/// Most contacts that are worth it: a factorisation costs about as much as the square of their number.
pub(crate) const MOST: usize = 60;
/// Most factorisations: what fewer do not solve is mostly not solved by more.
const STEPS: usize = 30;
/// Share of its residual, and of the tolerance, that a jam is solved to.
const SHARE: f64 = 0.1;
const SHARE_OF_TOLERANCE: f64 = 0.3;
/// Share of its residual that is worth going on from.
const PROGRESS: f64 = 0.9;

/// A jam as a problem of its own, with storage kept from one to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jam {
    pub(crate) contacts: Vec<Contact>,
    /// Their impulses, and their velocities, to which the impulses of all contacts add.
    pub(crate) r: Vec<Vector3>,
    pub(crate) u: Vec<Lanes>,
    assembly: Assembly,
    problem: Problem,
    state: Iteration,
    newton: Newton,
}

impl Jam {
    /// Improve the impulses, judged as part of the problem `whole`; whether they are much better now.
    pub(crate) fn solve(
        &mut self,
        masses: &[InverseMass],
        whole: &Problem,
        settings: &Settings,
    ) -> bool {
        // A couple asks for the impulse of its contact, which may not be among these.
        let couple = |contact: &Contact| contact.kind == BlockKind::Couple;
        !self.contacts.iter().any(couple) && self.pose(masses) && self.step(whole, settings)
    }

    /// The problem of these contacts: q is what their velocities are without their own impulses. False where it is none.
    fn pose(&mut self, masses: &[InverseMass]) -> bool {
        let (assembly, problem) = (&mut self.assembly, &mut self.problem);
        if assembly.assemble(masses, &self.contacts, problem).is_err() {
            return false;
        }
        let back = |r: &Vector3| Lanes::from(r.map(|r| -r));
        let back: Vec<Lanes> = self.r.iter().map(back).collect();
        problem.matrix.add_product(&back, &mut self.u);
        problem.free_velocity.clear();
        problem.free_velocity.extend(self.u.iter().map(|u| **u));
        problem.measure().is_ok()
    }

    fn step(&mut self, whole: &Problem, settings: &Settings) -> bool {
        let (problem, state) = (&self.problem, &mut self.state);
        state.start(problem, &self.r);
        let before = residual::judged(problem, &state.r, &state.u);
        // The tolerance is relative to the velocities of all contacts.
        let tolerance = settings.tolerance * (whole.judged_scale / problem.judged_scale).sqrt();
        let aim = Settings {
            tolerance: f64::max(SHARE * before, SHARE_OF_TOLERANCE * tolerance),
            max_factorisations: STEPS.min(settings.max_factorisations),
            ..*settings
        };
        if !aim.tolerance.is_finite() || before <= aim.tolerance {
            return false;
        }
        newton::solve(problem, &aim, state, &mut self.newton);
        if state.best > PROGRESS * before {
            return false;
        }
        for (r, best) in self.r.iter_mut().zip(&state.best_r) {
            *r = **best;
        }
        true
    }
}
