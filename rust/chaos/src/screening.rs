//! Which candidate is next, without looking at all of them.
//!
//! A path takes the part sum_k b_k q_k out of the first residual, q_k the orthonormal directions of the terms entered so
//! far. A candidate last looked at when e terms were in had c = x . r then. Since that moment r has moved by a
//! known multiple of the direction u of that moment, along which a = x . u is known too, and by the b_k of the
//! directions entered since. Columns have length one, so now
//!
//! ```text
//! |x . r|  <=  |c - lead_e a| + rest_e,     rest_e = (sum_{k > e} b_k^2)^(1/2),
//! ```
//!
//! and a candidate whose bound is below what is needed cannot be the next one and stays unread. The answer is the
//! one a complete product Psi^T r gives, ties included (the lower number in graded order wins); on designs of 300
//! points about one column in ten is read per step. Before the bound, a coarser one that needs no arithmetic:
//! the last bound plus the length of the way since, kept for groups of candidates.

use crate::basis::Basis;
use crate::vector::{dot, dot_pair, product};

/// Candidates per group.
const GROUP: usize = 16;
/// Room for rounding in the bounds, relative to the first correlation.
const ROUNDING: f64 = 1e-11;
/// Bounds are made anew when the step in question has fallen to this share of the one they were made for.
const ANEW: f64 = 0.8;

/// What is known of a candidate from when it was last looked at.
#[derive(Clone, Copy)]
struct Seen {
    c: f64,
    a: f64,
    epoch: u32,
}

/// How far the residual has moved since each epoch: along the direction of that epoch, and otherwise.
#[derive(Clone, Copy, Default)]
pub(crate) struct Drift {
    pub(crate) lead: f64,
    pub(crate) rest: f64,
}

/// The candidates of a path and what is known of their correlations with the residual.
#[derive(Clone)]
pub(crate) struct Screen<'a> {
    basis: &'a Basis,
    members: Vec<u32>,
    seen: Vec<Seen>,
    /// An upper bound of |x . r| less the way gone when it was made; minus infinity once out of the race.
    keys: Vec<f64>,
    /// Largest key of each group.
    tops: Vec<f64>,
    way: f64,
    rounding: f64,
    left: u32,
    weighted: [Vec<f64>; 2],
    runner_up: Option<usize>,
}

/// A candidate on its turn: place in the set, sign of its correlation, and the step or the correlation it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Next {
    pub(crate) place: usize,
    pub(crate) sign: f64,
    pub(crate) value: f64,
}

/// The residual and where it goes.
#[derive(Clone, Copy)]
pub(crate) struct Motion<'a> {
    pub(crate) residual: &'a [f64],
    /// Length one.
    pub(crate) direction: &'a [f64],
    /// |x . r| of the active columns.
    pub(crate) level: f64,
    /// x . u of the active columns.
    pub(crate) slope: f64,
}

impl<'a> Screen<'a> {
    /// The candidates kept; `correlations` holds their x . r for the first residual: epoch 0.
    pub(crate) fn new(basis: &'a Basis, correlations: &[f64], keep: &[bool]) -> Self {
        let wanted = |&term: &u32| keep[term as usize] && basis.scale(term as usize) > 0.0;
        let members: Vec<u32> = (1..keep.len() as u32).filter(wanted).collect();
        let seen: Vec<Seen> = members
            .iter()
            .map(|&term| Seen {
                c: correlations[term as usize],
                a: 0.0,
                epoch: 0,
            })
            .collect();
        let keys: Vec<f64> = seen.iter().map(|seen| seen.c.abs()).collect();
        let tops: Vec<f64> = keys.chunks(GROUP).map(largest).collect();
        let rounding = ROUNDING * largest(&tops).max(0.0);
        let weighted = [vec![0.0; basis.stride()], vec![0.0; basis.stride()]];
        Self {
            basis,
            members,
            seen,
            keys,
            tops,
            way: 0.0,
            rounding,
            left: u32::MAX,
            weighted,
            runner_up: None,
        }
    }

    /// The term at a place.
    pub(crate) fn term(&self, place: usize) -> u32 {
        self.members[place]
    }

    /// The place of a term still there.
    pub(crate) fn place(&self, term: u32) -> Option<usize> {
        self.members.binary_search(&term).ok()
    }

    /// Forget all candidates but those kept; places change.
    pub(crate) fn restrict(&mut self, keep: &[bool]) {
        let runner_up = self.runner_up.map(|place| self.members[place]);
        let mut to = 0;
        for from in 0..self.members.len() {
            if keep[self.members[from] as usize] {
                self.members[to] = self.members[from];
                self.seen[to] = self.seen[from];
                self.keys[to] = self.keys[from];
                to += 1;
            }
        }
        self.members.truncate(to);
        self.seen.truncate(to);
        self.keys.truncate(to);
        self.tops = self.keys.chunks(GROUP).map(largest).collect();
        self.runner_up = runner_up.and_then(|term| self.place(term));
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

    /// The candidate with the largest |x . residual|; `drift` one entry per epoch, this one is `drift.len()`.
    pub(crate) fn strongest(&mut self, residual: &[f64], drift: &[Drift]) -> Option<Next> {
        let mut best = Next {
            place: usize::MAX,
            sign: 1.0,
            value: f64::NEG_INFINITY,
        };
        self.left = u32::MAX;
        for group in self.best_group().into_iter().chain(0..self.tops.len()) {
            let needed = |screen: &Self, best: &Next| best.value - screen.way - screen.rounding;
            if self.tops[group] < needed(self, &best) || self.tops[group] == f64::NEG_INFINITY {
                continue;
            }
            for place in group * GROUP..((group + 1) * GROUP).min(self.keys.len()) {
                if self.keys[place] == f64::NEG_INFINITY || self.keys[place] < needed(self, &best) {
                    continue;
                }
                let Seen { c, a, epoch } = self.seen[place];
                if let Some(drift) = drift.get(epoch as usize) {
                    let bound = (c - drift.lead * a).abs() + drift.rest;
                    self.keys[place] = self.keys[place].min(bound - self.way);
                    if self.keys[place] < needed(self, &best) {
                        continue;
                    }
                }
                let c = self.correlation(place, residual);
                self.seen[place] = Seen {
                    c,
                    a: 0.0,
                    epoch: drift.len() as u32,
                };
                self.keys[place] = c.abs() - self.way;
                if c.abs() > best.value || (c.abs() == best.value && place < best.place) {
                    best = Next {
                        place,
                        sign: 1f64.copysign(c),
                        value: c.abs(),
                    };
                }
            }
            self.refresh(group);
        }
        (best.place != usize::MAX).then_some(best)
    }

    /// The candidate that first ties with the active ones when the residual moves along `direction`: the least step g
    /// with |c - g a| = level - g slope. `None` when none does before the active ones are fitted completely.
    ///
    /// `drift(g, out)` writes one entry per epoch for the residual g further on; this epoch is the next number.
    pub(crate) fn first_to_tie(
        &mut self,
        motion: Motion,
        epoch: usize,
        mut drift: impl FnMut(f64, &mut Vec<Drift>),
    ) -> Option<Next> {
        let Motion { level, slope, .. } = motion;
        let mut best = Next {
            place: usize::MAX,
            sign: 1.0,
            value: level / slope,
        };
        let mut second = (f64::INFINITY, None);
        self.left = u32::MAX;
        let (mut here, mut there, mut reach) = (vec![], vec![], best.value);
        // Who nearly tied last time is likely to do so now: a short first step spares many others.
        for place in [self.runner_up, self.best_group().map(|group| group * GROUP)]
            .into_iter()
            .flatten()
        {
            if self.keys[place] > f64::NEG_INFINITY {
                self.look(place, epoch, motion);
                self.compare(place, motion, &mut best, &mut second);
            }
        }
        drift(0.0, &mut here);
        for group in 0..self.tops.len() {
            let needed = level - best.value * (1.0 + slope) - self.way - self.rounding;
            if self.tops[group] < needed || self.tops[group] == f64::NEG_INFINITY {
                continue;
            }
            if there.is_empty() || best.value < ANEW * reach {
                reach = best.value;
                drift(reach, &mut there);
            }
            for place in group * GROUP..((group + 1) * GROUP).min(self.keys.len()) {
                let needed = level - best.value * (1.0 + slope) - self.way - self.rounding;
                if self.keys[place] < needed || self.keys[place] == f64::NEG_INFINITY {
                    continue;
                }
                let Seen { c, a, epoch: then } = self.seen[place];
                if (then as usize) < epoch {
                    // The bound is convex in the step, so that below at both ends is below all the way.
                    let (here, there) = (here[then as usize], there[then as usize]);
                    let now = (c - here.lead * a).abs() + here.rest;
                    let ahead = (c - there.lead * a).abs() + there.rest;
                    self.keys[place] = self.keys[place].min(now - self.way);
                    if now < level - self.rounding && ahead < level - reach * slope - self.rounding
                    {
                        continue;
                    }
                    self.look(place, epoch, motion);
                }
                self.compare(place, motion, &mut best, &mut second);
            }
            self.refresh(group);
        }
        self.runner_up = second.1;
        (best.place != usize::MAX).then_some(best)
    }

    fn best_group(&self) -> Option<usize> {
        (0..self.tops.len()).max_by(|&a, &b| self.tops[a].total_cmp(&self.tops[b]))
    }

    fn correlation(&mut self, place: usize, residual: &[f64]) -> f64 {
        let term = self.members[place] as usize;
        if self.basis.left_of(term) != self.left {
            self.left = self.basis.left_of(term);
            product(&mut self.weighted[0], self.basis.left(self.left), residual);
        }
        dot(&self.weighted[0], self.basis.right(term)) * self.basis.scale(term)
    }

    /// Read a column: its products with residual and direction.
    fn look(&mut self, place: usize, epoch: usize, motion: Motion) {
        let term = self.members[place] as usize;
        let [with_residual, with_direction] = &mut self.weighted;
        if self.basis.left_of(term) != self.left {
            self.left = self.basis.left_of(term);
            let left = self.basis.left(self.left);
            product(with_residual, left, motion.residual);
            product(with_direction, left, motion.direction);
        }
        let (c, a) = dot_pair(with_residual, with_direction, self.basis.right(term));
        let (c, a) = (c * self.basis.scale(term), a * self.basis.scale(term));
        self.seen[place] = Seen {
            c,
            a,
            epoch: epoch as u32,
        };
        self.keys[place] = c.abs() - self.way;
    }

    /// Whether a candidate read in this epoch ties before the best so far.
    fn compare(
        &self,
        place: usize,
        motion: Motion,
        best: &mut Next,
        second: &mut (f64, Option<usize>),
    ) {
        let Seen { c, a, .. } = self.seen[place];
        let (up, down) = (
            tie(motion.level - c, motion.slope - a),
            tie(motion.level + c, motion.slope + a),
        );
        let (sign, step) = if up <= down { (1.0, up) } else { (-1.0, down) };
        if step < best.value || (step == best.value && place < best.place) {
            if best.place < usize::MAX {
                *second = (best.value, Some(best.place));
            }
            *best = Next {
                place,
                sign,
                value: step,
            };
        } else if step < second.0 && place != best.place {
            *second = (step, Some(place));
        }
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
