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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_matrix::BlockMatrix;

    /// A ball of 2 kg on the ground, its centre at the contact.
    fn ball(kind: BlockKind) -> Contact {
        let axis = |k: usize| std::array::from_fn(|c| if c == k { 1.0 } else { 0.0 });
        Contact {
            bodies: [None, Some(0)],
            jacobians: [[[0.0; 6]; 3], [axis(0), axis(1), axis(2)]],
            free_velocity: [0.0; 3],
            friction: 0.5,
            kind,
        }
    }

    fn solved(kind: BlockKind) -> (bool, Vector3) {
        let mass = InverseMass {
            translation_per_kg: 0.5,
            rotation_per_kg_m2: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        };
        let block = [0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5];
        let matrix = BlockMatrix::from_block_rows(&[0, 1], &[0], &[block]).unwrap();
        let whole = Problem::new(matrix, vec![[-1.0, 0.0, 0.0]], vec![0.5]).unwrap();
        // Others push it down while it has an impulse of 3 N s already.
        let mut jam = Jam {
            contacts: vec![ball(kind)],
            r: vec![[3.0, 0.0, 0.0]],
            u: vec![[-0.6, 2.0, 0.0].into()],
            ..Jam::default()
        };
        let settings = Settings {
            tolerance: 1e-12,
            ..Settings::default()
        };
        (jam.solve(&[mass], &whole, &settings), jam.r[0])
    }

    /// The impulses of others stay as they are: a slipping ball is stopped by 0.6 m/s times 2 kg more, with friction of half of all.
    #[test]
    fn impulses_add_to_those_of_others() {
        let (better, [n, t, s]) = solved(BlockKind::Contact);
        assert!(better);
        assert!((n - 4.2).abs() < 0.2 && (t + 2.1).abs() < 0.2 && s.abs() < 1e-12);
    }

    #[test]
    fn couples_are_left_to_sweeps() {
        assert_eq!(solved(BlockKind::Couple), (false, [3.0, 0.0, 0.0]));
    }
}
