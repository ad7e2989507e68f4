//! The few contacts that still move, swept again by themselves.
//!
//! After some sweeps of a wall whose blocks are held together by bars, most contacts have settled, and what is left of the residual is at a
//! twentieth of them: bars that jam in their holes. A sweep over all contacts then spends nearly all of its time on those that are done.
//! So after each sweep the contacts that it moved by much are swept again, [`PASSES`] times or more, as long as they move. Where most
//! of them move, nothing is gained, and they are left to the next sweep.

use crate::block_matrix::Lanes;
use crate::cone::dot;
use crate::nsgs::sweep;
use crate::problem::Problem;
use crate::solver::Settings;

/// Passes over the contacts that move, and one more for so many sweeps: what is left after many is slow, and in few contacts.
const PASSES: usize = 6;
pub(crate) const MORE: usize = 25;
/// Share of the contacts, as a fraction, up to which passes over those alone are worth it.
const FEW: (usize, usize) = (2, 5);
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
    /// Those of the pass before.
    before: Vec<u32>,
}

impl Focus {
    /// Of a problem to be solved to that tolerance.
    pub(crate) fn new(problem: &Problem, settings: &Settings) -> Self {
        Self {
            limit: limit(problem, settings),
            moving: Vec::new(),
            before: Vec::new(),
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
        is_few(self.moving.len(), contacts)
    }

    /// Sweep those noted, if they are few, and forget them.
    #[inline(always)]
    pub(crate) fn sweep(
        &mut self,
        problem: &Problem,
        passes: usize,
        r: &mut [Lanes],
        u: &mut [Lanes],
    ) {
        if self.is_few(r.len()) {
            for _ in 0..passes {
                let mut before = std::mem::take(&mut self.before);
                std::mem::swap(&mut self.moving, &mut before);
                self.moving.clear();
                let contacts = before.iter().map(|&i| i as usize);
                sweep(
                    problem,
                    contacts,
                    r,
                    u,
                    #[inline(always)]
                    |i, _, change| self.note(i, problem.weight[i] * dot(change, change)),
                );
                self.before = before;
            }
        }
        self.moving.clear();
    }
}

/// The square of a step, in the norm of the residual, from which on a contact moves by much.
pub(crate) fn limit(problem: &Problem, settings: &Settings) -> f64 {
    let contacts = problem.contacts().max(1) as f64;
    MUCH * settings.tolerance.powi(2) * problem.judged_scale / contacts
}

/// Whether passes over so many of the contacts are worth it.
pub(crate) fn is_few(moving: usize, contacts: usize) -> bool {
    let (part, whole) = FEW;
    contacts >= LEAST && moving > 0 && whole * moving <= part * contacts
}

/// Passes after a sweep that so many went before.
pub(crate) fn passes(sweeps: usize) -> usize {
    PASSES + sweeps / MORE
}
