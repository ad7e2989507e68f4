//! Which candidate is next, without looking at all of them.
//!
//! Centred columns have length one, so |x_j . r| cannot change by more than the way the residual r has gone since
//! x_j was last looked at. A candidate whose old correlation plus that way stays below what is needed now
//! cannot be the next one and is left unread. The answer is the one a complete product Psi^T r gives, ties
//! included (the lower number in graded order wins); on designs of 300 points a tenth or less of the columns
//! are read per step.

use crate::basis::Basis;
use crate::vector::{dot, dot_pair, product};

/// Candidates per group; the largest bound of a group is kept, so that most groups are passed over unread.
const GROUP: usize = 16;
/// Room for rounding in the bounds, relative to the first correlation.
const ROUNDING: f64 = 1e-12;

/// The candidates of one set and what is known of their correlations with the residual.
pub(crate) struct Screen<'a> {
    basis: &'a Basis,
    members: &'a [u32],
    /// |x_j . r| when last seen, less the way gone until then; minus infinity once out of the race.
    keys: Vec<f64>,
    tops: Vec<f64>,
    way: f64,
    rounding: f64,
    left: u32,
    weighted: [Vec<f64>; 2],
}

/// A candidate on its turn: place in the set, sign of its correlation, and the step or the correlation it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Next {
    pub(crate) place: usize,
    pub(crate) sign: f64,
    pub(crate) value: f64,
}

impl<'a> Screen<'a> {
    /// `correlations` holds |x_j . r| of all candidates of the basis for the first residual.
    pub(crate) fn new(basis: &'a Basis, members: &'a [u32], correlations: &[f64]) -> Self {
        let seen = |&term: &u32| {
            let term = term as usize;
            if basis.scale(term) > 0.0 { correlations[term] } else { f64::NEG_INFINITY }
        };
        let keys: Vec<f64> = members.iter().map(seen).collect();
        let tops: Vec<f64> = keys.chunks(GROUP).map(largest).collect();
        let rounding = ROUNDING * largest(&tops).max(0.0);
        let weighted = [vec![0.0; basis.stride()], vec![0.0; basis.stride()]];
        Self { basis, members, keys, tops, way: 0.0, rounding, left: u32::MAX, weighted }
    }

    /// Take a candidate out of the race.
    pub(crate) fn exclude(&mut self, place: usize) {
        self.keys[place] = f64::NEG_INFINITY;
        self.refresh(place / GROUP);
    }

    /// The residual has moved by at most this much.
    pub(crate) fn travelled(&mut self, length: f64) {
        self.way += length;
    }

    fn refresh(&mut self, group: usize) {
        let end = ((group + 1) * GROUP).min(self.keys.len());
        self.tops[group] = largest(&self.keys[group * GROUP..end]);
    }

    /// Groups whose bound reaches `threshold()`, the most promising first; `visit` may raise the threshold.
    fn sweep(&mut self, state: &mut Next, threshold: impl Fn(&Self, &Next) -> f64, mut visit: impl FnMut(&mut Self, usize, &mut Next)) {
        let first = (0..self.tops.len()).max_by(|&a, &b| self.tops[a].total_cmp(&self.tops[b]));
        let mut limit = threshold(self, state);
        for group in first.into_iter().chain(0..self.tops.len()) {
            if self.tops[group] < limit || self.tops[group] == f64::NEG_INFINITY {
                continue;
            }
            let end = ((group + 1) * GROUP).min(self.keys.len());
            for place in group * GROUP..end {
                if self.keys[place] >= limit && self.keys[place] > f64::NEG_INFINITY {
                    visit(self, place, state);
                    limit = threshold(self, state);
                }
            }
            self.refresh(group);
        }
    }

    /// The candidate with the largest |x_j . residual|.
    pub(crate) fn strongest(&mut self, residual: &[f64]) -> Option<Next> {
        let mut best = Next { place: usize::MAX, sign: 1.0, value: f64::NEG_INFINITY };
        self.left = u32::MAX;
        self.sweep(
            &mut best,
            |screen, best| best.value - screen.way - screen.rounding,
            |screen, place, best| {
                let term = screen.members[place] as usize;
                if screen.basis.left_of(term) != screen.left {
                    screen.left = screen.basis.left_of(term);
                    product(&mut screen.weighted[0], screen.basis.left(screen.left), residual);
                }
                let c = dot(&screen.weighted[0], screen.basis.right(term)) * screen.basis.scale(term);
                screen.keys[place] = c.abs() - screen.way;
                if c.abs() > best.value || (c.abs() == best.value && place < best.place) {
                    *best = Next { place, sign: 1f64.copysign(c), value: c.abs() };
                }
            },
        );
        (best.place != usize::MAX).then_some(best)
    }

    /// The candidate that first ties with the active ones when the residual moves along `direction` (length one):
    /// the least step g with |c_j - g a_j| = level - g slope. `None` when none does before the active ones are
    /// fitted completely.
    pub(crate) fn first_to_tie(&mut self, residual: &[f64], direction: &[f64], level: f64, slope: f64) -> Option<Next> {
        let mut best = Next { place: usize::MAX, sign: 1.0, value: level / slope };
        self.left = u32::MAX;
        self.sweep(
            &mut best,
            |screen, best| level - best.value * (1.0 + slope) - screen.way - screen.rounding,
            |screen, place, best| {
                let term = screen.members[place] as usize;
                if screen.basis.left_of(term) != screen.left {
                    screen.left = screen.basis.left_of(term);
                    let left = screen.basis.left(screen.left);
                    let [with_residual, with_direction] = &mut screen.weighted;
                    product(with_residual, left, residual);
                    product(with_direction, left, direction);
                }
                let [with_residual, with_direction] = &screen.weighted;
                let (c, a) = dot_pair(with_residual, with_direction, screen.basis.right(term));
                let (c, a) = (c * screen.basis.scale(term), a * screen.basis.scale(term));
                screen.keys[place] = c.abs() - screen.way;
                for (sign, step) in [(1.0, tie(level - c, slope - a)), (-1.0, tie(level + c, slope + a))] {
                    if step < best.value || (step == best.value && place < best.place) {
                        *best = Next { place, sign, value: step };
                    }
                }
            },
        );
        (best.place != usize::MAX).then_some(best)
    }
}

/// The step at which a gap closing at a rate is gone.
fn tie(gap: f64, rate: f64) -> f64 {
    if gap <= 0.0 {
        0.0
    } else if rate > 0.0 {
        gap / rate
    } else {
        f64::INFINITY
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
