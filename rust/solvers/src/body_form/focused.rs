//! Sweeps without W that turn to the few contacts that still move: further passes over those (`few`), and Newton steps where they jam
//! (`jam`).
//!
//! The restarts are those of `accelerated`, by what a sweep moves instead of the residual: the two are of one size, and the first costs
//! nothing.

use super::{BodyForm, REFRESH};
use crate::bodies::Bodies;
use crate::focus;
use crate::jam;
use crate::residual;
use crate::solver::Settings;

/// Share of the tolerance, moved by a sweep before the passes, from which on the residual is computed.
const NEAR: f64 = 10.0;
/// Sweeps after which progress counts as poor: restarts go by size too, and jams are solved by themselves.
const POOR: usize = 30;
/// Sweeps between two looks at jams.
const LOOK: usize = 20;
/// Growth of what a sweep moves, over its lowest since the last restart, that ends the momentum.
const GROWTH: f64 = 5.0;
/// Share of the lowest that has to be reached between restarts by growth; else each time the rest from momentum is twice as long.
const PROGRESS: f64 = 0.5;

/// Nesterov's momentum, and when it pauses.
struct Momentum {
    factor: f64,
    /// Sweeps without it that are to come, and how many come after the next restart by growth.
    rest: usize,
    rests: usize,
    lowest: f64,
    best: f64,
    reached: f64,
}

impl Momentum {
    fn new() -> Self {
        Self {
            factor: 1.0,
            rest: 1,
            rests: 1,
            lowest: f64::INFINITY,
            best: f64::INFINITY,
            reached: f64::INFINITY,
        }
    }

    /// How far the next sweep begins beyond the last iterate.
    fn beta(&mut self) -> f64 {
        if self.rest > 0 {
            self.rest -= 1;
            return 0.0;
        }
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.factor * self.factor).sqrt());
        let beta = (self.factor - 1.0) / next;
        self.factor = next;
        beta
    }

    /// Begin again, without it.
    fn restart(&mut self) {
        (self.factor, self.rest) = (1.0, 1);
    }

    /// A sweep that began `beta` beyond went so far against that, and has moved so much, which counts once progress is poor.
    fn hear(&mut self, beta: f64, against: f64, size: f64) {
        self.best = self.best.min(size);
        self.lowest = self.lowest.min(size);
        let grown = beta > 0.0 && size > GROWTH * self.lowest;
        if against > 0.0 || grown {
            self.restart();
            self.lowest = size;
        }
        if grown {
            self.rests = if self.best <= PROGRESS * self.reached {
                self.reached = self.best;
                1
            } else {
                2 * self.rests
            };
            self.rest = self.rests;
        }
    }
}

impl BodyForm {
    /// Sweeps until the residual meets the tolerance; how many. For problems of one slab.
    pub(crate) fn iterate_focused(&mut self, settings: &Settings, bodies: &Bodies<'_>) -> usize {
        if self.judge(settings.tolerance) {
            return 0;
        }
        self.previous_r.clone_from(&self.r);
        self.previous_v.clone_from(&self.v);
        let limit = focus::limit(&self.local, settings);
        let mut momentum = Momentum::new();
        for sweep in 1..=settings.max_iterations {
            let beta = momentum.beta();
            let (against, moved) = self.sweep_focused(beta, limit, sweep);
            if sweep.is_multiple_of(REFRESH) {
                // Both: rounding left in one of the two would be fed to the momentum and grow without bound.
                self.ground.refresh(&self.r, &mut self.v);
                self.ground.refresh(&self.previous_r, &mut self.previous_v);
            }
            let poor = sweep > POOR;
            if poor && sweep.is_multiple_of(LOOK) && self.solve_jam(settings, bodies) {
                momentum.restart();
            }
            let size = residual::relative(moved, self.local.judged_scale);
            if size <= NEAR * settings.tolerance && self.judge(settings.tolerance) {
                return sweep;
            }
            momentum.hear(beta, against, if poor { size } else { f64::INFINITY });
        }
        settings.max_iterations
    }

    /// One of them, with its passes: how far it goes against the momentum, and the square of how far it goes.
    fn sweep_focused(&mut self, beta: f64, limit: f64, sweep: usize) -> (f64, f64) {
        self.is_fresh = false;
        for (old, new) in self.previous_v.iter_mut().zip(&self.v) {
            *old = old.beyond(new, beta);
        }
        let (r, v) = (&mut self.previous_r, &mut self.previous_v);
        let noted = (limit, &mut self.moving);
        let sums = self.ground.sweep_noting(&self.r, beta, (r, v), noted);
        if focus::is_few(self.count_moving(), self.r.len()) {
            let passes = focus::passes(sweep - 1);
            let (r, v) = (&mut self.previous_r, &mut self.previous_v);
            let few = &mut self.few;
            few.sweep(&self.ground, &self.moving, (limit, passes), (r, v));
        }
        std::mem::swap(&mut self.r, &mut self.previous_r);
        std::mem::swap(&mut self.v, &mut self.previous_v);
        sums
    }

    fn count_moving(&self) -> usize {
        let counts = self.moving.iter().map(|moving| moving.lanes.count_ones());
        counts.sum::<u32>() as usize
    }

    /// Newton steps for the contacts that the last sweep has moved by much, if they are few; whether they are taken.
    fn solve_jam(&mut self, settings: &Settings, bodies: &Bodies<'_>) -> bool {
        let count = self.count_moving();
        if count == 0 || count > jam::MOST || settings.max_factorisations == 0 {
            return false;
        }
        let swept = &self.ground.swept;
        let places: Vec<usize> = (self.moving.iter())
            .flat_map(|moving| {
                let first = swept[moving.batch as usize].batch.first as usize;
                let lanes = moving.lanes;
                (0..32)
                    .filter(move |k| lanes >> k & 1 == 1)
                    .map(move |k| first + k)
            })
            .collect();
        let mut jam = std::mem::take(&mut self.jam);
        jam.contacts.clear();
        jam.r.clear();
        jam.u.clear();
        for &place in &places {
            jam.contacts.push(*self.at(place, bodies.contacts).0);
            jam.r.push(*self.r[place]);
            jam.u.push(self.velocity_of(place).into());
        }
        let better = jam.solve(bodies.masses, &self.local, settings);
        if better {
            for (&place, &r) in places.iter().zip(&jam.r) {
                self.r[place] = r.into();
            }
            self.refresh();
            self.previous_r.clone_from(&self.r);
            self.previous_v.clone_from(&self.v);
        }
        self.jam = jam;
        better
    }
}
