//! The contact problems of a step: islands, their solution, and what is taken from it.

use super::Nonsmooth;
use super::island::{Island, Verdict};
use super::joints::Articulation;
use super::workspace;
use crate::error::RigidError;
use crate::setup::Setup;
use crate::state::State;
use percuss_solvers::Settings as SolverSettings;
use rayon::prelude::*;

impl Nonsmooth {
    /// Splits the contacts into islands, and says which are to be solved.
    pub(super) fn split(&mut self, setup: &Setup, state: &mut State) {
        self.moved.clear();
        let touching = self.touches.iter().map(|touch| &touch.block);
        let bonded = self.bonded.iter().map(|bonded| &bonded.block);
        self.moved
            .extend(touching.chain(bonded).map(|block| block.contact.bodies));
        self.islands
            .split(state.bodies.len(), &self.moved, &self.parts);
        self.choose_awake(setup, state);
        if self.problems.len() < self.islands.count() {
            self.problems
                .resize_with(self.islands.count(), Island::default);
        }
    }

    /// Solves the contact problem of every island that is awake; where friction in joints grows with reactions, until
    /// both agree.
    pub(super) fn solve(&mut self, setup: &Setup) -> Result<Verdict, RigidError> {
        let settings = SolverSettings {
            tolerance: setup.settings.tolerance,
            max_iterations: setup.settings.max_iterations,
            max_factorisations: setup.settings.max_factorisations,
        };
        if !self.parts.is_empty() {
            self.free.clone_from(&self.middle.after);
        }
        let mut verdicts = vec![Verdict::NOTHING; self.islands.count()];
        while self.due.contains(&true) {
            self.solve_due(setup, &settings);
            for (island, verdict) in verdicts.iter_mut().enumerate() {
                if !self.due[island] {
                    continue;
                }
                let iterations = verdict.iterations;
                *verdict = self.problems[island].verdict()?;
                verdict.iterations += iterations;
                self.due[island] = self.take(setup, island);
                verdict.met &= self.gripped(island);
            }
        }
        let worst = |sum: Verdict, one: &Verdict| sum.with(one);
        Ok(verdicts.iter().fold(Verdict::NOTHING, worst))
    }

    /// Solves the islands that are due, each on one thread.
    fn solve_due(&mut self, setup: &Setup, settings: &SolverSettings) {
        let parallel = self.is_parallel();
        let Self {
            islands,
            problems,
            due,
            touches,
            bonded,
            parts,
            part_of,
            middle,
            ..
        } = self;
        let held = |body: u32| {
            let (part, own) = part_of[body as usize]?;
            Some((&parts[part as usize], own as usize))
        };
        // Contacts are counted before bonds.
        let blocks_of = |index: usize| match index.checked_sub(touches.len()) {
            None => touches[index].blocks(),
            Some(index) => [Some(bonded[index].block), None],
        };
        let one = |island: usize, problem: &mut Island| {
            if !due[island] {
                return;
            }
            let contacts = islands.contacts.of(island).iter();
            let blocks = contacts
                .flat_map(|&index| blocks_of(index as usize))
                .flatten();
            let bounds = islands.parts.of(island).iter();
            let bounds = bounds.flat_map(|&part| parts[part as usize].active.iter());
            problem.fill(
                islands.bodies.of(island),
                &islands.local,
                middle,
                blocks.chain(bounds.map(|bound| bound.block)),
            );
            workspace::lend(|own| problem.solve(setup.settings.solver, settings, &held, own));
        };
        let problems = &mut problems[..due.len()];
        if parallel {
            let each = problems.par_iter_mut().enumerate();
            each.for_each(|(island, problem)| one(island, problem));
        } else {
            for (island, problem) in problems.iter_mut().enumerate() {
                one(island, problem);
            }
        }
    }

    /// Takes what an island's solver found; whether friction in its joints asks for another solution.
    fn take(&mut self, setup: &Setup, island: usize) -> bool {
        let problem = &self.problems[island];
        let mut solved = problem.solved();
        for &index in self.islands.contacts.of(island) {
            match (index as usize).checked_sub(self.touches.len()) {
                None => self.touches[index as usize].take(&mut solved),
                Some(index) => self.bonded[index].block.take(&mut solved),
            }
        }
        problem.scatter(&mut self.middle.after);
        let mut again = false;
        for &part in self.islands.parts.of(island) {
            let part = &mut self.parts[part as usize];
            for bound in &mut part.active {
                bound.block.take(&mut solved);
            }
            part.hold(&mut self.middle.after);
            again |= part.regrip(&setup.settings);
        }
        if again {
            for &body in self.islands.bodies.of(island) {
                self.middle.after[body as usize] = self.free[body as usize];
            }
            for &part in self.islands.parts.of(island) {
                self.parts[part as usize].release();
            }
        }
        again
    }

    /// Whether friction in the joints of an island agrees with the reactions it grows with.
    fn gripped(&self, island: usize) -> bool {
        let parts = self.islands.parts.of(island).iter();
        parts
            .map(|&part| &self.parts[part as usize])
            .all(Articulation::gripped)
    }
}
