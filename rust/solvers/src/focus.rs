//! The few contacts that still move, swept again by themselves.
//!
//! After some sweeps of a wall whose blocks are held together by bars, most contacts have settled, and what is left of the residual is at a
//! twentieth of them: bars that jam in their holes. A sweep over all contacts then spends nearly all of its time on those that are done.
//! So after each sweep the contacts that it moved by much are swept again, up to [`PASSES`] times, as long as they move; four passes
//! over at most a quarter of the contacts take no longer than one sweep. Where more move, nothing is gained, and they are left to the next sweep.

use crate::block_matrix::Lanes;
use crate::cone::dot;
use crate::problem::Problem;
use crate::solver::Settings;

/// Passes over the contacts that move.
const PASSES: usize = 4;
/// Of how many contacts at most one moves, where passes over those alone are worth it.
const AMONG: usize = 4;
/// Fewest contacts worth it: sweeps of less cost next to nothing, and in small stacks that jam Newton steps decide.
const LEAST: usize = 100;
/// A contact moves by much where the square of its step is so many times the mean that the tolerance allows.
const MUCH: f64 = 30.0;

/// The contacts that the last sweep moved by much.
#[derive(Debug, Clone, Default)]
pub(crate) struct Focus {
    /// Square of a step, in the norm of the residual, from which on a contact is among them.
    limit: f64,
    moving: Vec<u32>,
}

impl Focus {
    /// Of a problem to be solved to that tolerance.
    pub(crate) fn new(problem: &Problem, settings: &Settings) -> Self {
        let contacts = problem.contacts().max(1) as f64;
        Self {
            limit: MUCH * settings.tolerance.powi(2) * problem.judged_scale / contacts,
            moving: Vec::new(),
        }
    }

    /// A sweep has moved contact i; `square` is that of its step.
    #[inline(always)]
    pub(crate) fn note(&mut self, i: usize, square: f64) {
        if square > self.limit {
            self.moving.push(i as u32);
        }
    }

    /// Whether there are some, but few among so many contacts.
    pub(crate) fn is_few(&self, contacts: usize) -> bool {
        contacts >= LEAST && !self.moving.is_empty() && AMONG * self.moving.len() <= contacts
    }

    /// Sweep those noted, if they are few, and forget them.
    #[inline(always)]
    pub(crate) fn sweep(&mut self, problem: &Problem, r: &mut [Lanes], u: &mut [Lanes]) {
        let passes = if self.is_few(r.len()) { PASSES } else { 0 };
        for _ in 0..passes {
            let mut kept = 0;
            for at in 0..self.moving.len() {
                let i = self.moving[at] as usize;
                let new = problem.answer(i, r, &u[i]);
                let change = [new[0] - r[i][0], new[1] - r[i][1], new[2] - r[i][2]];
                if change == [0.0; 3] {
                    continue;
                }
                for k in 0..3 {
                    r[i][k] = new[k];
                }
                problem.matrix.add_column(i, change, u);
                if problem.weight[i] * dot(&change, &change) > self.limit {
                    self.moving[kept] = i as u32;
                    kept += 1;
                }
            }
            self.moving.truncate(kept);
        }
        self.moving.clear();
    }
}
