//! Which solver takes a contact problem, and with what storage.

use percuss_solvers::{
    Assembly, BodyForm, Contact, Error, InverseMass, Joined, Problem, Report, Settings, Solver,
    Workspace,
};
use std::cell::RefCell;

/// Blocks in a row of W, counted for each body, from which on sweeps begin without it: nothing is assembled, and where they
/// stall sweeps with W come before any factorisation. Found by time on walls (docs/contact-solvers.md).
const BODY_FORM: usize = 8;

/// Storage lent to the solvers; what they find does not depend on it.
#[derive(Default)]
pub(crate) struct Tools {
    assembly: Assembly,
    problem: Problem,
    body_form: BodyForm,
    workspace: Workspace,
    counts: Vec<usize>,
    start: Vec<[f64; 3]>,
}

thread_local! {
    static TOOLS: RefCell<Tools> = RefCell::default();
}

/// Inverse masses, contacts and joints of a problem.
type Bodies<'a> = (&'a [InverseMass], &'a [Contact], Option<&'a Joined>);

impl Tools {
    /// Lends those of this thread.
    pub fn lend<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        TOOLS.with_borrow_mut(work)
    }

    /// Solves from the impulses given.
    pub fn solve(
        &mut self,
        solver: Solver,
        settings: &Settings,
        bodies: Bodies<'_>,
        impulses: &mut [[f64; 3]],
        velocities: &mut [[f64; 3]],
    ) -> Result<Report, Error> {
        let (masses, contacts, joined) = bodies;
        let counts = &mut self.counts;
        let mut dense = || couplings(counts, masses.len(), contacts) > BODY_FORM * contacts.len();
        if joined.is_none() && solver == Solver::Auto && dense() {
            self.start.clear();
            self.start.extend_from_slice(impulses);
            let swept = self.sweep(settings, bodies, impulses, velocities)?;
            return if swept.converged {
                Ok(swept)
            } else {
                self.persist(swept, settings, bodies, impulses, velocities)
            };
        }
        self.assembly
            .assemble_joined(masses, contacts, joined, &mut self.problem)?;
        solver.solve(
            &self.problem,
            settings,
            impulses,
            velocities,
            &mut self.workspace,
        )
    }

    /// Sweeps without W.
    pub fn sweep(
        &mut self,
        settings: &Settings,
        (masses, contacts, _): Bodies<'_>,
        impulses: &mut [[f64; 3]],
        velocities: &mut [[f64; 3]],
    ) -> Result<Report, Error> {
        self.body_form
            .solve(masses, contacts, settings, impulses, velocities)
    }

    /// Goes on where sweeps without W stalled: with W, whose restarts are by the residual, for the sweeps left; then from
    /// where the sweeps began by Newton and interior points. In walls the first arrive more often, and a factorisation
    /// costs as much as some thirty of them.
    fn persist(
        &mut self,
        swept: Report,
        settings: &Settings,
        (masses, contacts, joined): Bodies<'_>,
        impulses: &mut [[f64; 3]],
        velocities: &mut [[f64; 3]],
    ) -> Result<Report, Error> {
        self.assembly
            .assemble_joined(masses, contacts, joined, &mut self.problem)?;
        let rest = Settings {
            max_iterations: settings.max_iterations - swept.iterations,
            ..*settings
        };
        let (problem, workspace) = (&self.problem, &mut self.workspace);
        let mut report =
            Solver::Accelerated.solve(problem, &rest, impulses, velocities, workspace)?;
        report.iterations += swept.iterations;
        if !report.converged && settings.max_factorisations > 0 {
            let mut other = self.start.clone();
            let mut moving = velocities.to_vec();
            let no_sweeps = Settings {
                max_iterations: 0,
                ..*settings
            };
            let last =
                Solver::Auto.solve(problem, &no_sweeps, &mut other, &mut moving, workspace)?;
            report.factorisations = last.factorisations;
            if last.residuals.energy < report.residuals.energy {
                impulses.copy_from_slice(&other);
                velocities.copy_from_slice(&moving);
                report = Report {
                    iterations: report.iterations,
                    ..last
                };
            }
        }
        Ok(report)
    }
}

/// Number of blocks W would have.
fn couplings(counts: &mut Vec<usize>, bodies: usize, contacts: &[Contact]) -> usize {
    counts.clear();
    counts.resize(bodies, 0);
    for body in contacts.iter().flat_map(|c| c.bodies).flatten() {
        counts[body as usize] += 1;
    }
    counts.iter().map(|&n| n * n).sum()
}
