//! The contact problem of one step as a stepper has it: bodies, contacts and joints, W only where a method asks for it.

use crate::assembly::{Assembly, Contact, InverseMass, Joined};
use crate::auto::{self, Way};
use crate::block_matrix::Vector3;
use crate::body_form::BodyForm;
use crate::body_newton::BodyNewton;
use crate::error::Error;
use crate::problem::{BlockKind, Problem};
use crate::slabs::LARGE;
use crate::solver::{Report, Settings, Solver, Workspace, check};

/// Blocks in a row of W, counted for each body, from which on `auto` begins without it: nothing is assembled, and where
/// sweeps stall those with W come before any factorisation. Found by time on walls (docs/contact-solvers.md).
const CROWDED: usize = 8;
/// Contacts and blocks of W between which passes over the contacts that still move come with the first sweeps already (`focused`).
const LEAST: usize = 100;
const MOST: usize = 10_000;
/// Blocks in a row of W, counted for each body, from which on it is never assembled for a large problem: walls have 45, piles of spheres
/// 9 to 12, whose W is small beside its sweeps.
const TIGHT: usize = 20;

/// Bodies, the contacts between them, and what joints make of both.
#[derive(Debug, Clone, Copy)]
pub struct Bodies<'a> {
    /// Inverse mass of each body.
    pub masses: &'a [InverseMass],
    /// Contacts; a couple follows its contact.
    pub contacts: &'a [Contact],
    /// The joints between some of the bodies.
    pub joined: Option<&'a Joined>,
}

/// Storage of what is made of bodies, kept from step to step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Storage {
    pub(crate) body_form: BodyForm,
    pub(crate) newton: BodyNewton,
    assembly: Assembly,
    pub(crate) problem: Problem,
    /// Impulses that a solve began from.
    pub(crate) start: Vec<Vector3>,
    /// Contacts of each body.
    counts: Vec<usize>,
}

impl Storage {
    /// Assemble W.
    pub(crate) fn assemble(&mut self, bodies: &Bodies<'_>) -> Result<(), Error> {
        let problem = &mut self.problem;
        self.assembly
            .assemble_joined(bodies.masses, bodies.contacts, bodies.joined, problem)
    }

    /// How many blocks W has, counted for each body, and whether there are couples.
    fn count(&mut self, bodies: &Bodies<'_>) -> (usize, bool) {
        self.counts.clear();
        self.counts.resize(bodies.masses.len(), 0);
        let mut couples = false;
        for contact in bodies.contacts {
            couples |= contact.kind == BlockKind::Couple;
            for body in contact.bodies.into_iter().flatten() {
                if let Some(count) = self.counts.get_mut(body as usize) {
                    *count += 1;
                }
            }
        }
        (self.counts.iter().map(|&n| n * n).sum(), couples)
    }
}

impl Solver {
    /// As [`Solver::solve`], for the contacts of bodies.
    ///
    /// # Errors
    /// As [`Assembly::assemble`] and [`Solver::solve`].
    pub fn solve_bodies(
        self,
        bodies: &Bodies<'_>,
        settings: &Settings,
        r: &mut [Vector3],
        u: &mut [Vector3],
        workspace: &mut Workspace,
    ) -> Result<Report, Error> {
        // Through joints there are no sweeps without W.
        if self == Self::Auto && bodies.joined.is_none() {
            let contacts = bodies.contacts.len();
            let (blocks, couples) = workspace.bodies.count(bodies);
            if blocks > CROWDED * contacts {
                check(settings, contacts, r, u)?;
                // Newton steps without W know no couples.
                let way = if contacts >= LEAST && blocks <= MOST {
                    Way::Focused
                } else if contacts >= LARGE && blocks > TIGHT * contacts && !couples {
                    Way::WithoutW
                } else {
                    Way::Swept
                };
                return auto::solve_bodies(bodies, way, settings, r, u, workspace);
            }
        }
        workspace.bodies.assemble(bodies)?;
        let problem = std::mem::take(&mut workspace.bodies.problem);
        let report = self.solve(&problem, settings, r, u, workspace);
        workspace.bodies.problem = problem;
        report
    }

    /// Accelerated sweeps only, without W where neither joints nor contacts ask for it: for corrections that need not be exact.
    ///
    /// # Errors
    /// As [`Solver::solve_bodies`].
    pub fn sweep_bodies(
        bodies: &Bodies<'_>,
        settings: &Settings,
        r: &mut [Vector3],
        u: &mut [Vector3],
        workspace: &mut Workspace,
    ) -> Result<Report, Error> {
        if bodies.joined.is_none() {
            check(settings, bodies.contacts.len(), r, u)?;
            let form = &mut workspace.bodies.body_form;
            if let Some(report) = form.solve(bodies.masses, bodies.contacts, settings, r, u)? {
                return Ok(report);
            }
        }
        Self::Accelerated.solve_bodies(bodies, settings, r, u, workspace)
    }
}
