//! The contact problems of a step: islands, their solution, and what is taken from it.

use super::Nonsmooth;
use super::desk;
use super::island::{Island, Verdict};
use super::joints::Articulation;
use super::threads::share;
use crate::error::RigidError;
use crate::law_table::ContactLaw;
use crate::setup::Setup;
use crate::state::State;
use percuss_solvers::Settings as SolverSettings;
use rayon::prelude::*;

/// How often the problem of an island is solved again as the strength of its bonds falls within the step, and how often
/// if its tolerance is missed: such solutions cost most, and the first gains most.
const SOFTENINGS: usize = 12;
const SOFTENINGS_UNMET: usize = 2;

impl Nonsmooth {
    /// Splits the contacts into islands, and says which are to be solved.
    pub(super) fn split(&mut self, setup: &Setup, state: &mut State) {
        let bonded = self.bonded.iter().map(|bonded| bonded.block.contact.bodies);
        let touches = &self.touches;
        if self.pool.is_some() {
            let own = share(touches.len(), true);
            let moved = touches.par_iter().with_min_len(own);
            moved
                .map(|touch| touch.moving)
                .collect_into_vec(&mut self.moved);
        } else {
            self.moved.clear();
            self.moved.extend(touches.iter().map(|touch| touch.moving));
        }
        self.moved.extend(bonded);
        self.islands
            .split(state.bodies.len(), &self.moved, &self.parts);
        // Where contacts have couples, those before one in its island count twice.
        if setup.scene.laws.iter().any(ContactLaw::has_couple) {
            for island in 0..self.islands.count() {
                let mut blocks = 0;
                for &contact in self.islands.contacts.of(island) {
                    self.islands.rank[contact as usize] = blocks;
                    let touch = self.touches.get(contact as usize);
                    blocks += 1 + u32::from(touch.is_some_and(|touch| touch.couple.is_some()));
                }
            }
        }
        self.choose_awake(setup, state);
        if self.problems.len() < self.islands.count() {
            self.problems
                .resize_with(self.islands.count(), Island::default);
        }
    }

    /// Solves the contact problem of every island that is awake; where friction in joints grows with reactions, and the
    /// strength of bonds falls as they open, until both agree.
    pub(super) fn solve(&mut self, setup: &Setup, state: &State) -> Result<Verdict, RigidError> {
        let settings = SolverSettings {
            tolerance: setup.settings.tolerance,
            max_iterations: setup.settings.max_iterations,
            max_factorisations: setup.settings.max_factorisations,
        };
        if !(self.parts.is_empty() && self.bonded.is_empty()) {
            self.free.clone_from(&self.middle.after);
        }
        self.awake.clone_from(&self.due);
        let mut verdicts = vec![Verdict::NOTHING; self.islands.count()];
        let mut rounds = vec![0; self.islands.count()];
        while self.due.contains(&true) {
            self.solve_due(setup, &settings);
            for (island, verdict) in verdicts.iter_mut().enumerate() {
                if !self.due[island] {
                    continue;
                }
                let iterations = verdict.iterations;
                *verdict = self.problems[island].verdict()?;
                verdict.iterations += iterations;
                self.due[island] = self.hold(setup, island);
                let most = if verdict.met {
                    SOFTENINGS
                } else {
                    SOFTENINGS_UNMET
                };
                if self.due[island] {
                    // Friction in the joints asks for another solution first.
                } else if rounds[island] < most {
                    self.due[island] = self.soften(setup, state, island);
                    rounds[island] += 1;
                } else {
                    verdict.met &= self.is_softened(setup, state, island);
                }
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
        let one = |island: usize, problem: &mut Island| {
            if !due[island] {
                return;
            }
            // Contacts are counted before bonds.
            let contacts = islands.contacts.of(island);
            let bonds = contacts.partition_point(|&index| (index as usize) < touches.len());
            let (contacts, bonds) = contacts.split_at(bonds);
            let has_bonds = !bonds.is_empty();
            let bonds = bonds
                .iter()
                .map(|&index| &bonded[index as usize - touches.len()].block);
            let bounds = islands.parts.of(island).iter();
            let bounds = bounds.flat_map(|&part| &parts[part as usize].active);
            let local = &islands.local[..];
            desk::lend(|desk| {
                problem.stand(islands.bodies.of(island), middle, desk);
                problem.lay_touches(touches, contacts, (&middle.poses, local), desk);
                for block in bonds.chain(bounds.map(|bound| &bound.block)) {
                    problem.lay(block, local, desk);
                }
                if has_bonds {
                    problem.size_up(desk);
                }
                problem.solve(setup.settings.solver, settings, &held, desk);
            });
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

    /// Takes what an island's solver found for its bodies, its bonds and its joints; whether friction in the joints asks for another
    /// solution, from there.
    fn hold(&mut self, setup: &Setup, island: usize) -> bool {
        let problem = &self.problems[island];
        problem.scatter(self.islands.bodies.of(island), &mut self.middle.after);
        let contacts = self.islands.contacts.of(island).iter().rev();
        let bonds = contacts.map_while(|&index| (index as usize).checked_sub(self.touches.len()));
        for bond in bonds {
            let rank = self.islands.rank[self.touches.len() + bond];
            self.bonded[bond].block.impulse = problem.impulses[rank as usize];
            self.bonded[bond].free_size = problem.free_size;
        }
        let parts = self.islands.parts.of(island);
        if parts.is_empty() {
            return false;
        }
        let bounds: usize = parts
            .iter()
            .map(|&part| self.parts[part as usize].active.len())
            .sum();
        let mut found = problem.impulses[problem.impulses.len() - bounds..].iter();
        let mut again = false;
        for &part in parts {
            let part = &mut self.parts[part as usize];
            for (bound, impulse) in part.active.iter_mut().zip(&mut found) {
                bound.block.impulse = *impulse;
            }
            part.hold(&mut self.middle.after);
            again |= part.regrip(&setup.settings);
        }
        if again {
            self.start_over(island);
        }
        again
    }

    /// Back to the velocities before the contact problem of an island, whose next solution starts from the one there is.
    pub(super) fn start_over(&mut self, island: usize) {
        let problem = &self.problems[island];
        for &contact in self.islands.contacts.of(island) {
            if let Some(touch) = self.touches.get_mut(contact as usize) {
                let found = problem.found(touch, self.islands.rank[contact as usize]);
                touch.take(found);
            }
        }
        for &body in self.islands.bodies.of(island) {
            self.middle.after[body as usize] = self.free[body as usize];
        }
        for &part in self.islands.parts.of(island) {
            self.parts[part as usize].release();
        }
    }

    /// Whether friction in the joints of an island agrees with the reactions it grows with.
    fn gripped(&self, island: usize) -> bool {
        let parts = self.islands.parts.of(island).iter();
        parts
            .map(|&part| &self.parts[part as usize])
            .all(Articulation::gripped)
    }
}
