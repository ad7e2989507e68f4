//! Sweeps without W that turn to the few contacts that still move: further passes over those (`few`), and Newton steps where they jam
//! (`jam`).
//!
//! The restarts are those of `accelerated`, by what a sweep moves instead of the residual: the two are of one size, and the first costs
//! nothing.

use super::{BodyForm, PATIENCE, REFRESH};
use crate::bodies::Bodies;
use crate::focus;
use crate::jam;
use crate::residual;
use crate::solver::Settings;

/// Share of the tolerance, moved by a sweep before the passes, from which on the residual is computed.
const NEAR: f64 = 10.0;
/// Sweeps after which progress counts as poor: restarts go by size too, and jams are solved by themselves.
const POOR: usize = 30;
/// Passes over the contacts that move, fewer than with W because sweeps over all cost less.
const PASSES: usize = 4;
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
    /// Sweeps until the residual meets the tolerance, or until they stall; how many. For problems of one slab.
    pub(crate) fn iterate_focused(&mut self, settings: &Settings, bodies: &Bodies<'_>) -> usize {
        if self.judge(settings.tolerance) {
            return 0;
        }
        self.previous_r.clone_from(&self.r);
        self.previous_v.clone_from(&self.v);
        let limit = focus::limit(&self.local, settings);
        let (mut momentum, mut reached) = (Momentum::new(), f64::INFINITY);
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
            if sweep.is_multiple_of(PATIENCE) {
                if momentum.best > PROGRESS * reached {
                    return sweep;
                }
                reached = momentum.best;
            }
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
            let passes = PASSES + sweep / focus::MORE;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::{Assembly, Contact, InverseMass};
    use crate::block_matrix::{Lanes, Vector3};
    use crate::body_form::Order;
    use crate::few::Few;
    use crate::four::Plain;
    use crate::ground::Moving;
    use crate::problem::{BlockKind, Problem, cross};
    use crate::residual::Residuals;
    use crate::swept::Motion;

    /// Towers side by side on the ground, of cubes of 1 and 3 kg in turn, pushed sideways.
    fn towers(count: u32, height: u32) -> (Vec<InverseMass>, Vec<Contact>) {
        let (mut masses, mut contacts) = (vec![], vec![]);
        for tower in 0..count {
            for level in 0..height {
                let body = tower * height + level;
                let mass = if level % 2 == 0 { 1.0 } else { 3.0 };
                let inertia = 6.0 / mass;
                masses.push(InverseMass {
                    translation_per_kg: 1.0 / mass,
                    rotation_per_kg_m2: [
                        [inertia, 0.0, 0.0],
                        [0.0, inertia, 0.0],
                        [0.0, 0.0, inertia],
                    ],
                });
                for corner in 0..4 {
                    let [x, y] = [corner & 1, corner >> 1].map(|side| f64::from(side) - 0.5);
                    let rows = |sign: f64, z: f64| {
                        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|d: Vector3| {
                            let turn = cross(&[x, y, z], &d);
                            [d[0], d[1], d[2], turn[0], turn[1], turn[2]].map(|x| sign * x)
                        })
                    };
                    let push = 0.4 * f64::from(tower + level).sin();
                    contacts.push(Contact {
                        bodies: [level.checked_sub(1).map(|_| body - 1), Some(body)],
                        jacobians: [rows(-1.0, 0.5), rows(1.0, -0.5)],
                        free_velocity: [-1.0, push, 0.3 * x],
                        friction: 0.3,
                        kind: BlockKind::Contact,
                    });
                }
            }
        }
        (masses, contacts)
    }

    fn form(masses: &[InverseMass], contacts: &[Contact]) -> BodyForm {
        let mut form = BodyForm::default();
        let rest = vec![[0.0; 3]; contacts.len()];
        assert!(form.begin(masses, contacts, Order::ByPair, &rest).unwrap());
        form
    }

    fn bits(r: &[Lanes], v: &[Motion]) -> (Vec<[u64; 3]>, String) {
        let r = r.iter().map(|r| r.map(f64::to_bits));
        (r.collect(), format!("{v:?}"))
    }

    /// A pass over all contacts, packed again, is a sweep to the bit; on any processor.
    #[test]
    fn a_pass_over_all_is_a_sweep() {
        let (masses, contacts) = towers(5, 7);
        let mut form = form(&masses, &contacts);
        let start = (form.r.clone(), form.v.clone());
        for _ in 0..3 {
            form.sweep_plainly();
        }
        let swept = bits(&form.r, &form.v);
        let all: Vec<Moving> = (0..)
            .zip(&form.batches)
            .map(|(batch, own)| Moving {
                batch,
                lanes: (1 << own.count) - 1,
            })
            .collect();
        let (mut few, limits) = (Few::default(), (-1.0, 3));
        let (mut r, mut v) = start.clone();
        few.sweep(&form.ground, &all, limits, (&mut r, &mut v));
        assert!(bits(&r, &v) == swept);
        let (mut r, mut v) = start;
        few.pack(&form.ground, &all);
        few.pass(Plain, &form.ground, limits, (&mut r, &mut v));
        assert!(bits(&r, &v) == swept);
    }

    /// With passes over few contacts and jams solved by themselves there are fewer sweeps than with sweeps alone; and W agrees that the law is met.
    #[test]
    fn few_contacts_swept_again_save_sweeps() {
        let (masses, contacts) = towers(12, 3);
        let bodies = Bodies {
            masses: &masses,
            contacts: &contacts,
            joined: None,
        };
        let settings = Settings {
            tolerance: 1e-8,
            max_iterations: 5_000,
            max_factorisations: 100,
        };
        let mut problem = Problem::default();
        let mut assembly = Assembly::default();
        assembly.assemble(&masses, &contacts, &mut problem).unwrap();
        let sweeps = [true, false].map(|focused| {
            let mut form = form(&masses, &contacts);
            let sweeps = if focused {
                form.iterate_focused(&settings, &bodies)
            } else {
                form.iterate(&settings, PATIENCE, false)
            };
            let mut r = vec![[0.0; 3]; contacts.len()];
            let mut u = r.clone();
            assert!(form.end(&settings, sweeps, &mut r, &mut u).converged);
            let residual = Residuals::new(&problem, &r, &u).energy;
            assert!(residual < 1.01e-8, "{residual}");
            sweeps
        });
        assert!(4 * sweeps[0] < 3 * sweeps[1], "{sweeps:?}");
    }
}
