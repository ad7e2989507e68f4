//! The contact problem of one island.

use super::contact::Block;
use super::joints::{Articulation, couple, drag};
use super::middle::Middle;
use crate::error::RigidError;
use percuss_solvers::{
    Bodies, Contact, InverseMass, Joined, Settings, Solver, Workspace, apply_impulses,
};

/// What a solver made of a contact problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Verdict {
    pub iterations: usize,
    pub factorisations: usize,
    pub residual: f64,
    pub residual_siconos: f64,
    pub met: bool,
}

impl Verdict {
    /// Of a problem without contacts.
    pub const NOTHING: Self = Self {
        iterations: 0,
        factorisations: 0,
        residual: 0.0,
        residual_siconos: 0.0,
        met: true,
    };

    /// Of several problems: the most work and the worst residual of any, met if all are.
    pub fn with(self, other: &Self) -> Self {
        Self {
            iterations: self.iterations.max(other.iterations),
            factorisations: self.factorisations.max(other.factorisations),
            residual: self.residual.max(other.residual),
            residual_siconos: self.residual_siconos.max(other.residual_siconos),
            met: self.met && other.met,
        }
    }
}

/// Bodies and blocks of an island, numbered within it, and what a solver makes of them; buffers are kept.
#[derive(Default)]
pub(crate) struct Island {
    /// Its bodies, by their indices in the scene.
    bodies: Vec<u32>,
    masses: Vec<InverseMass>,
    contacts: Vec<Contact>,
    impulses: Vec<[f64; 3]>,
    velocities: Vec<[f64; 3]>,
    /// Twists of its bodies with the impulses found.
    after: Vec<[f64; 6]>,
    joined: Joined,
    verdict: Option<Result<Verdict, RigidError>>,
}

impl Island {
    /// The problem of these bodies and blocks. `local` gives the number of a body of the scene within the island.
    pub fn fill(
        &mut self,
        bodies: &[u32],
        local: &[u32],
        middle: &Middle,
        blocks: impl Iterator<Item = Block>,
    ) {
        self.bodies.clear();
        self.bodies.extend_from_slice(bodies);
        self.masses.clear();
        self.masses
            .extend(bodies.iter().map(|&b| middle.masses[b as usize]));
        self.after.clear();
        self.after
            .extend(bodies.iter().map(|&b| middle.after[b as usize]));
        self.contacts.clear();
        self.impulses.clear();
        for block in blocks {
            let mut contact = block.contact;
            contact.bodies = contact.bodies.map(|body| Some(local[body? as usize]));
            self.contacts.push(contact);
            self.impulses.push(block.impulse);
        }
        self.velocities.clear();
        self.velocities.resize(self.contacts.len(), [0.0; 3]);
        self.verdict = None;
    }

    /// Solves it from the impulses of its blocks, and moves its bodies by what comes out. `held` gives the part of joints
    /// of a body of the scene, and its number there.
    pub fn solve<'a>(
        &mut self,
        solver: Solver,
        settings: &Settings,
        held: &impl Fn(u32) -> Option<(&'a Articulation, usize)>,
        workspace: &mut Workspace,
    ) {
        self.verdict = Some(self.try_solve(solver, settings, held, workspace));
    }

    /// The same for the problem of gaps, whose blocks have no friction: without W where no joint asks for it.
    pub fn clear<'a>(
        &mut self,
        solver: Solver,
        settings: &Settings,
        held: &impl Fn(u32) -> Option<(&'a Articulation, usize)>,
        workspace: &mut Workspace,
    ) {
        let bodies = &self.bodies;
        if (0..bodies.len()).any(|body| held(bodies[body]).is_some()) {
            return self.solve(solver, settings, held, workspace);
        }
        let problem = Bodies {
            masses: &self.masses,
            contacts: &self.contacts,
            joined: None,
        };
        let swept = Solver::sweep_bodies(
            &problem,
            settings,
            &mut self.impulses,
            &mut self.velocities,
            workspace,
        );
        self.verdict = Some(swept.map(|_| Verdict::NOTHING).map_err(RigidError::from));
        apply_impulses(
            &self.masses,
            &self.contacts,
            &self.impulses,
            &mut self.after,
        );
    }

    fn try_solve<'a>(
        &mut self,
        solver: Solver,
        settings: &Settings,
        held: &impl Fn(u32) -> Option<(&'a Articulation, usize)>,
        workspace: &mut Workspace,
    ) -> Result<Verdict, RigidError> {
        if self.contacts.is_empty() {
            return Ok(Verdict::NOTHING);
        }
        let bodies = &self.bodies;
        let in_part = |body: u32| held(bodies[body as usize]);
        let jointed = name_groups(bodies.len(), in_part, &mut self.joined.groups)
            && couple(&self.masses, &self.contacts, in_part, &mut self.joined);
        let joined = jointed.then_some(&self.joined);
        let problem = Bodies {
            masses: &self.masses,
            contacts: &self.contacts,
            joined,
        };
        let report = solver.solve_bodies(
            &problem,
            settings,
            &mut self.impulses,
            &mut self.velocities,
            workspace,
        )?;
        if jointed {
            drag(&self.contacts, &self.joined.blocked, &mut self.impulses);
        }
        apply_impulses(
            &self.masses,
            &self.contacts,
            &self.impulses,
            &mut self.after,
        );
        Ok(Verdict {
            iterations: report.iterations,
            factorisations: report.factorisations,
            residual: report.residuals.energy,
            residual_siconos: report.residuals.siconos,
            met: report.converged,
        })
    }

    /// How it went, once it has been solved.
    pub fn verdict(&mut self) -> Result<Verdict, RigidError> {
        self.verdict.take().unwrap_or(Ok(Verdict::NOTHING))
    }

    /// Impulses and velocities of its blocks, in the order in which they were given.
    pub fn solved(&self) -> impl Iterator<Item = ([f64; 3], [f64; 3])> + '_ {
        let velocities = self.velocities.iter().copied();
        self.impulses.iter().copied().zip(velocities)
    }

    /// Gives the twists of its bodies to the scene.
    pub fn scatter(&self, after: &mut [[f64; 6]]) {
        for (&body, own) in self.bodies.iter().zip(&self.after) {
            after[body as usize] = *own;
        }
    }
}

/// A number for each body, shared by those of one part of joints; false where there is no such part.
fn name_groups<'a>(
    bodies: usize,
    part_of: impl Fn(u32) -> Option<(&'a Articulation, usize)>,
    groups: &mut Vec<u32>,
) -> bool {
    groups.clear();
    groups.extend(0..bodies as u32);
    let mut first: Vec<(*const Articulation, u32)> = Vec::new();
    for body in 0..bodies as u32 {
        let Some((part, _)) = part_of(body) else {
            continue;
        };
        match first.iter().find(|(known, _)| std::ptr::eq(*known, part)) {
            Some((_, name)) => groups[body as usize] = *name,
            None => first.push((part, body)),
        }
    }
    !first.is_empty()
}
