//! The contact problem of one island.

use super::contact::{Block, Found, Touch, dot};
use super::desk::Desk;
use super::joints::{Articulation, couple, drag};
use super::middle::Middle;
use crate::error::RigidError;
use percuss_geometry::Pose;
use percuss_solvers::{Bodies, Contact, InverseMass, Settings, Solver, apply_impulses, response};
use rayon::prelude::*;

/// Contacts of an island from which on a second thread is worth waking to make their blocks.
const LARGE: usize = 4_000;

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

/// What a solver makes of an island; buffers are kept.
#[derive(Default)]
pub(crate) struct Island {
    /// Impulses and velocities of its blocks, in the order in which they were laid.
    pub impulses: Vec<[f64; 3]>,
    pub velocities: Vec<[f64; 3]>,
    /// Twists of its bodies with the impulses found.
    pub after: Vec<[f64; 6]>,
    /// Size of the free velocities q, sqrt(sum |q_i|^2 / trace W_ii), as the residual is judged by.
    pub free_size: f64,
    verdict: Option<Result<Verdict, RigidError>>,
}

impl Island {
    /// Begins the problem of these bodies; its blocks are laid next.
    pub fn stand(&mut self, bodies: &[u32], middle: &Middle, desk: &mut Desk) {
        desk.bodies.clear();
        desk.bodies.extend_from_slice(bodies);
        desk.masses.clear();
        let masses = bodies.iter().map(|&b| middle.masses[b as usize]);
        desk.masses.extend(masses);
        desk.contacts.clear();
        self.impulses.clear();
        self.after.clear();
        let after = bodies.iter().map(|&b| middle.after[b as usize]);
        self.after.extend(after);
        self.verdict = None;
    }

    /// Sizes up the free velocities of all blocks that were laid.
    pub fn size_up(&mut self, desk: &Desk) {
        let square = |contact: &Contact| {
            let q = &contact.free_velocity;
            let trace = trace(contact, &desk.masses);
            if trace > 0.0 { dot(q, q) / trace } else { 0.0 }
        };
        self.free_size = desk.contacts.iter().map(square).sum::<f64>().sqrt();
    }

    /// Adds a block. `local` gives the number of a body of the scene within the island.
    pub fn lay(&mut self, block: &Block, local: &[u32], desk: &mut Desk) {
        desk.contacts.push(numbered(&block.contact, local));
        self.impulses.push(block.impulse);
    }

    /// Adds the blocks of contacts; those of a large island are made by all threads.
    pub fn lay_touches(
        &mut self,
        touches: &[Touch],
        among: &[u32],
        (poses, local): (&[Pose], &[u32]),
        desk: &mut Desk,
    ) {
        let touch = |&index: &u32| &touches[index as usize];
        let plain = |index: &u32| touch(index).couple.is_none();
        if among.len() >= LARGE && among.par_iter().all(plain) {
            let block = |index| numbered(&touch(index).block(poses), local);
            among
                .par_iter()
                .map(block)
                .collect_into_vec(&mut desk.contacts);
            self.impulses
                .extend(among.iter().map(|index| touch(index).impulse));
            return;
        }
        for touch in among.iter().map(touch) {
            desk.contacts.push(numbered(&touch.block(poses), local));
            self.impulses.push(touch.impulse);
            if let (Some(block), Some(couple)) = (touch.couple_block(), &touch.couple) {
                desk.contacts.push(numbered(&block, local));
                self.impulses.push(couple.impulse);
            }
        }
    }

    /// Solves it from the impulses of its blocks, and moves its bodies by what comes out. `held` gives the part of joints
    /// of a body of the scene, and its number there.
    pub fn solve<'a>(
        &mut self,
        solver: Solver,
        settings: &Settings,
        held: &impl Fn(u32) -> Option<(&'a Articulation, usize)>,
        desk: &mut Desk,
    ) {
        self.velocities.clear();
        self.velocities.resize(desk.contacts.len(), [0.0; 3]);
        self.verdict = Some(self.try_solve(solver, settings, held, desk));
    }

    /// The same for the problem of gaps, whose blocks have no friction: without W where no joint asks for it.
    pub fn clear<'a>(
        &mut self,
        solver: Solver,
        settings: &Settings,
        held: &impl Fn(u32) -> Option<(&'a Articulation, usize)>,
        desk: &mut Desk,
    ) {
        if desk.bodies.iter().any(|&body| held(body).is_some()) {
            return self.solve(solver, settings, held, desk);
        }
        self.velocities.clear();
        self.velocities.resize(desk.contacts.len(), [0.0; 3]);
        let problem = Bodies {
            masses: &desk.masses,
            contacts: &desk.contacts,
            joined: None,
        };
        let swept = Solver::sweep_bodies(
            &problem,
            settings,
            &mut self.impulses,
            &mut self.velocities,
            &mut desk.workspace,
        );
        self.verdict = Some(swept.map(|_| Verdict::NOTHING).map_err(RigidError::from));
        apply_impulses(
            &desk.masses,
            &desk.contacts,
            &self.impulses,
            &mut self.after,
        );
    }

    fn try_solve<'a>(
        &mut self,
        solver: Solver,
        settings: &Settings,
        held: &impl Fn(u32) -> Option<(&'a Articulation, usize)>,
        desk: &mut Desk,
    ) -> Result<Verdict, RigidError> {
        if desk.contacts.is_empty() {
            return Ok(Verdict::NOTHING);
        }
        let bodies = &desk.bodies;
        let in_part = |body: u32| held(bodies[body as usize]);
        let jointed = name_groups(bodies.len(), in_part, &mut desk.joined.groups)
            && couple(&desk.masses, &desk.contacts, in_part, &mut desk.joined);
        let problem = Bodies {
            masses: &desk.masses,
            contacts: &desk.contacts,
            joined: jointed.then_some(&desk.joined),
        };
        let report = solver.solve_bodies(
            &problem,
            settings,
            &mut self.impulses,
            &mut self.velocities,
            &mut desk.workspace,
        )?;
        if jointed {
            drag(&desk.contacts, &desk.joined.blocked, &mut self.impulses);
        }
        apply_impulses(
            &desk.masses,
            &desk.contacts,
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

    /// What was found for a contact, the first of whose blocks is `block`; its couple takes it at once.
    #[inline(always)]
    pub fn found(&self, touch: &mut Touch, block: u32) -> Found {
        let block = block as usize;
        if let Some(couple) = &mut touch.couple {
            couple.impulse = self.impulses[block + 1];
        }
        Found {
            impulse: self.impulses[block],
            velocity: self.velocities[block],
        }
    }

    /// Gives the twists of its bodies to the scene.
    pub fn scatter(&self, bodies: &[u32], after: &mut [[f64; 6]]) {
        for (&body, own) in bodies.iter().zip(&self.after) {
            after[body as usize] = *own;
        }
    }
}

/// Trace of a diagonal block of W, joints left out.
pub(super) fn trace(contact: &Contact, masses: &[InverseMass]) -> f64 {
    let mut sum = 0.0;
    for (body, jacobian) in contact.bodies.iter().zip(&contact.jacobians) {
        let Some(body) = body else { continue };
        let given = response(&masses[*body as usize], jacobian);
        let products = jacobian.iter().flatten().zip(given.iter().flatten());
        sum += products.map(|(row, given)| row * given).sum::<f64>();
    }
    sum
}

/// A block whose bodies are numbered within the island.
#[inline(always)]
fn numbered(contact: &Contact, local: &[u32]) -> Contact {
    Contact {
        bodies: contact.bodies.map(|body| Some(local[body? as usize])),
        ..*contact
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
