//! What sweeps without W go over: slabs of batches of contacts, and the bodies they move; and what is done with each slab, on the
//! registers of the processor at hand.
//!
//! Every other slab is gone over at the same time, by the threads of the pool that the caller runs in: the same operations in the same
//! order on each body, so the same bits.

use crate::block_matrix::Lanes;
use crate::four::{self, Four, Fours, Task, WIDTH, Wide, gathered, scattered};
use crate::parallel;
use crate::slabs::Slabs;
use crate::swept::{Inertia, Motion, Swept};

/// What sweeps do not change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ground {
    pub(crate) slabs: Slabs,
    /// First batch of each slab, and the end of the last.
    pub(crate) batches: Vec<usize>,
    pub(crate) swept: Vec<Swept>,
    /// Inverse masses of the bodies, in the places of `slabs`.
    pub(crate) inertias: Vec<Inertia>,
}

impl Ground {
    /// Sweep from what is `beta` beyond `newer`, seen from the impulses r, with the velocities v of that place: both become those after the sweep.
    /// For each slab, how far that goes against the momentum, and the square of how far it goes.
    pub(crate) fn sweep(
        &self,
        newer: &[Lanes],
        beta: f64,
        (r, v): (&mut [Lanes], &mut [Motion]),
        sums: &mut [(f64, f64)],
    ) {
        for parity in 0..2 {
            let parts = parts(self, parity, r, v).zip(sums.iter_mut().skip(parity).step_by(2));
            parallel::side_by_side(parts, |(part, sums): (Part<'_>, &mut (f64, f64))| {
                *sums = four::on_registers(Sweep {
                    part,
                    current: newer,
                    beta,
                    limit: f64::INFINITY,
                    moving: &mut Vec::new(),
                });
            });
        }
    }

    /// The same of the only slab; `moving` lists the contacts whose step has a square above `limit`.
    pub(crate) fn sweep_noting(
        &self,
        newer: &[Lanes],
        beta: f64,
        (r, v): (&mut [Lanes], &mut [Motion]),
        (limit, moving): (f64, &mut Vec<Moving>),
    ) -> (f64, f64) {
        moving.clear();
        let only = parts(self, 0, r, v).next();
        only.map_or((0.0, 0.0), |part| {
            four::on_registers(Sweep {
                part,
                current: newer,
                beta,
                limit,
                moving,
            })
        })
    }

    /// Velocities of all contacts.
    pub(crate) fn read(&self, v: &[Motion], u: &mut [Lanes]) {
        let parts = by_slab(&self.slabs, u);
        parallel::side_by_side(parts.into_iter(), |(slab, u)| {
            four::on_registers(Reading {
                swept: &self.swept[self.batches[slab]..self.batches[slab + 1]],
                first_contact: self.slabs.contacts[slab],
                v,
                u,
            });
        });
    }

    /// V = M^-1 J^T r, free of the rounding that sweeps collect.
    pub(crate) fn refresh(&self, r: &[Lanes], v: &mut [Motion]) {
        v.fill(Motion::default());
        for parity in 0..2 {
            let parts = reaches(self, parity, v);
            parallel::side_by_side(parts, |(_, reach)| four::on_registers(Freshening(reach, r)));
        }
    }
}

/// Contacts of a batch that a sweep has moved by much, as bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moving {
    pub(crate) batch: u32,
    pub(crate) lanes: u32,
}

/// The contacts of each slab.
pub(crate) fn by_slab<'a, T>(
    slabs: &Slabs,
    mut contacts: &'a mut [T],
) -> Vec<(usize, &'a mut [T])> {
    let counts = slabs.contacts.windows(2).map(|ends| ends[1] - ends[0]);
    let split = |(slab, count)| {
        let (own, rest) = std::mem::take(&mut contacts).split_at_mut(count);
        contacts = rest;
        (slab, own)
    };
    counts.enumerate().map(split).collect()
}

/// Batches of one slab, and the velocities of the bodies they move.
struct Reach<'a> {
    swept: &'a [Swept],
    inertias: &'a [Inertia],
    first_body: usize,
    v: &'a mut [Motion],
}

/// The same with the impulses of their contacts.
struct Part<'a> {
    reach: Reach<'a>,
    first_contact: usize,
    r: &'a mut [Lanes],
}

/// Of every other slab, from `parity` on, its number and its reach.
fn reaches<'a>(
    ground: &'a Ground,
    parity: usize,
    mut v: &'a mut [Motion],
) -> impl ExactSizeIterator<Item = (usize, Reach<'a>)> {
    let Ground {
        slabs,
        batches,
        swept,
        inertias,
    } = ground;
    let mut body = 0;
    (parity..slabs.count()).step_by(2).map(move |k| {
        let bodies = slabs.reach(k);
        let rest = &mut std::mem::take(&mut v)[bodies.start - body..];
        let (own, rest) = rest.split_at_mut(bodies.len());
        (v, body) = (rest, bodies.end);
        let reach = Reach {
            swept: &swept[batches[k]..batches[k + 1]],
            inertias: &inertias[bodies.clone()],
            first_body: bodies.start,
            v: own,
        };
        (k, reach)
    })
}

/// The same with their impulses.
fn parts<'a>(
    ground: &'a Ground,
    parity: usize,
    mut r: &'a mut [Lanes],
    v: &'a mut [Motion],
) -> impl ExactSizeIterator<Item = Part<'a>> {
    let mut contact = 0;
    reaches(ground, parity, v).map(move |(k, reach)| {
        let contacts = ground.slabs.contacts[k]..ground.slabs.contacts[k + 1];
        let rest = &mut std::mem::take(&mut r)[contacts.start - contact..];
        let (own, rest) = rest.split_at_mut(contacts.len());
        (r, contact) = (rest, contacts.end);
        Part {
            reach,
            first_contact: contacts.start,
            r: own,
        }
    })
}

/// How many batches ahead of its turn a batch is fetched from memory, and then what it tells the places of: its
/// impulses and bodies. Else sweeps over a hundred thousand contacts and more wait for bodies, which lie scattered.
const FAR: usize = 4;
const NEAR: usize = 2;

/// The sweep of one slab; compiled for the processor at hand.
struct Sweep<'a> {
    part: Part<'a>,
    /// The newer of the last two iterates.
    current: &'a [Lanes],
    beta: f64,
    /// Square of a step from which on a contact moves by much, and the contacts that do.
    limit: f64,
    moving: &'a mut Vec<Moving>,
}

/// The impulses of a batch, those of contacts that it does not have being zero.
#[inline(always)]
fn impulses<W: Wide>(with: W, r: &[Lanes]) -> Fours<W> {
    let zero = [0.0; WIDTH];
    let of = |k: usize| r.get(k).map_or(&zero, Lanes::four);
    let [n, t, s, _] = gathered(with, [of(0), of(1), of(2), of(3)]);
    [n, t, s]
}

impl Task for Sweep<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<W: Wide>(self, with: W) -> Self::Output {
        let Self {
            part,
            current,
            beta,
            limit,
            moving,
        } = self;
        let Part {
            reach,
            first_contact,
            r,
        } = part;
        let Reach {
            swept: all,
            inertias,
            first_body,
            v,
        } = reach;
        let of_all = |swept: &Swept| {
            let first = swept.batch.first as usize;
            first..first + swept.batch.count as usize
        };
        let of_slab = |swept: &Swept| {
            let of_all = of_all(swept);
            of_all.start - first_contact..of_all.end - first_contact
        };
        let (beta, limit) = (Four::all(with, beta), Four::all(with, limit));
        let mut against = Four::all(with, 0.0);
        let mut moved = against;
        for (k, swept) in all.iter().enumerate() {
            if let Some(far) = all.get(k + FAR..=k + FAR) {
                with.fetch(far);
            }
            if let Some(near) = all.get(k + NEAR) {
                with.fetch(&current[of_all(near)]);
                with.fetch(&r[of_slab(near)]);
                near.fetch_bodies(with, v, (inertias, first_body));
            }
            let newer = impulses(with, &current[of_all(swept)]);
            let older = impulses(with, &r[of_slab(swept)]);
            let old = four::plus(&newer, &four::times(beta, &four::minus(&newer, &older)));
            let (new, change) = swept.step(
                with,
                &old,
                v,
                (inertias, first_body),
                #[inline(always)]
                |place| r[place as usize - first_contact][0],
            );
            let found = scattered(&new);
            for (k, r) in r[of_slab(swept)].iter_mut().enumerate() {
                *r = Lanes::of_four(found[k].numbers());
            }
            let Some(change) = change else { continue };
            let progress = four::minus(&new, &newer);
            let trace = swept.trace(with);
            against = against - trace * four::dot(&change, &progress);
            let square = trace * four::dot(&change, &change);
            moved = moved + square;
            let lanes = limit.below(square).bits();
            if lanes != 0 {
                let batch = k as u32;
                moving.push(Moving { batch, lanes });
            }
        }
        (against.sum(), moved.sum())
    }
}

/// Velocities of the contacts of a slab.
struct Reading<'a> {
    swept: &'a [Swept],
    first_contact: usize,
    v: &'a [Motion],
    u: &'a mut [Lanes],
}

impl Task for Reading<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Wide>(self, with: W) {
        for swept in self.swept {
            let at = swept.batch.first as usize - self.first_contact;
            let found = scattered(&swept.velocity(with, self.v, 0));
            let own = &mut self.u[at..at + swept.batch.count as usize];
            for (k, u) in own.iter_mut().enumerate() {
                *u = Lanes::of_four(found[k].numbers());
            }
        }
    }
}

/// V = M^-1 J^T r of a slab.
struct Freshening<'a>(Reach<'a>, &'a [Lanes]);

impl Task for Freshening<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Wide>(self, with: W) {
        let Self(reach, r) = self;
        for swept in reach.swept {
            let first = swept.batch.first as usize;
            let r = impulses(with, &r[first..first + swept.batch.count as usize]);
            swept.scatter(with, &r, reach.v, (reach.inertias, reach.first_body));
        }
    }
}
