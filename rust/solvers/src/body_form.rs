//! The accelerated sweeps without W: instead of u = W r + q the velocities that the impulses give the bodies,
//! V = M^-1 J^T r, are kept, and a contact reads its own u = q + J_a V_a + J_b V_b when its turn comes.
//!
//! A contact then costs the same however many others its bodies have, and there is nothing to assemble; with W
//! it costs one block for each of them. Flat bodies that meet in four and more points each (walls of blocks: thirty
//! blocks in a row of W) are solved faster in this form, chains and sparse piles with W. The iteration is that of
//! `accelerated`.
//!
//! Sweeps of many contacts wait for memory, so that little of it is read, and in its order: with M^-1 = L L^T and V
//! kept as L^-1 V, the one matrix J L both reads a velocity and, transposed, gives an impulse; and contacts are stored
//! in the order of the sweeps.
//!
//! Large problems are cut into slabs (`slabs`), of which every other one is swept at the same time, by as many threads as
//! the pool has that the caller runs in: the same operations in the same order on each body, so the same bits.

use std::ops::Range;

use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

use crate::assembly::{Contact, InverseMass};
use crate::block_matrix::{Lanes, Vector3};
use crate::cone::dot;
use crate::error::Error;
use crate::focus::Focus;
use crate::parallel;
use crate::problem::{BlockKind, Problem};
use crate::residual::{self, Residuals};
use crate::sides::{Root, Sides};
use crate::slabs::{LARGE, Slabs};
use crate::solver::{Report, Settings};

/// Share of the tolerance, moved by a sweep, from which on the residual is computed.
const NEAR: f64 = 4.0;
/// Growth of what a sweep moves, over its lowest since the last restart, that ends the momentum.
const GROWTH: f64 = 2.0;
/// Sweeps in which the residual has to be halved; else they count as stalled.
const PATIENCE: usize = 200;
/// Sweeps between two fresh computations of V, and between two looks at how many contacts still move.
const REFRESH: usize = 50;

/// Bodies and contacts ready for sweeps, with storage kept from step to step. All but `order` is in that order.
#[derive(Debug, Clone, Default)]
pub struct BodyForm {
    /// Contacts in the order of the sweeps, each after its slab and its rank among those of its pair of bodies.
    order: Vec<(u32, u32, u32)>,
    /// Where each contact is in that order.
    places: Vec<u32>,
    slabs: Slabs,
    /// Bodies and kinds of the contacts of a large problem that order and slabs were made for, and the number of its bodies.
    graph: Vec<([Option<u32>; 2], BlockKind)>,
    bodies: usize,
    /// How far the sweep of each slab went against the momentum, and the square of how far it went.
    sums: Vec<(f64, f64)>,
    /// L of each body.
    roots: Vec<Root>,
    /// Diagonal blocks, q, mu and what derives from them; no blocks between contacts.
    pub(crate) local: Problem,
    pub(crate) sides: Vec<Sides>,
    /// Velocities given to the bodies, in the places of `slabs`.
    pub(crate) v: Vec<[f64; 6]>,
    previous_v: Vec<[f64; 6]>,
    pub(crate) r: Vec<Lanes>,
    previous_r: Vec<Lanes>,
    pub(crate) u: Vec<Lanes>,
    /// Whether V is free of the rounding that sweeps collect.
    is_fresh: bool,
    /// A contact that was far from its law: see [`residual::exceeds`].
    witness: usize,
}

impl BodyForm {
    /// Solve the contact problem of these bodies from the impulses `r`, leaving in `r` the last impulses and in
    /// `u` their velocities. Gives up where sweeps stall: [`Report::converged`] tells.
    ///
    /// # Errors
    /// As [`crate::Assembly::assemble`] and [`crate::Solver::solve`].
    pub fn solve(
        &mut self,
        bodies: &[InverseMass],
        contacts: &[Contact],
        settings: &Settings,
        r: &mut [Vector3],
        u: &mut [Vector3],
    ) -> Result<Report, Error> {
        self.begin(bodies, contacts, r)?;
        let sweeps = self.iterate(settings, false);
        Ok(self.end(settings, sweeps, r, u))
    }

    /// Make ready for these bodies, at the impulses `r`.
    pub(crate) fn begin(
        &mut self,
        bodies: &[InverseMass],
        contacts: &[Contact],
        r: &[Vector3],
    ) -> Result<(), Error> {
        parallel::fill(&mut self.roots, bodies.len(), |body| {
            Root::new(&bodies[body])
        });
        parallel::first_fault(contacts.len(), |contact| {
            let bad = |body: &&u32| **body as usize >= bodies.len();
            match contacts[contact].bodies.iter().flatten().find(bad) {
                None => Ok(()),
                Some(&body) => Err(Error::Index {
                    name: "body",
                    contact,
                    index: body as usize,
                    count: bodies.len(),
                }),
            }
        })?;
        if !self.knows(bodies.len(), contacts) {
            self.slabs.cut(bodies.len(), contacts);
            self.arrange(contacts);
            self.remember(bodies.len(), contacts);
        }
        if self.prepare(contacts).is_err() {
            // Told in the order that the caller knows.
            self.graph.clear();
            self.order.sort_unstable_by_key(|&(_, _, contact)| contact);
            self.prepare(contacts)?;
        }
        let places = self.slabs.bodies[self.slabs.count()];
        self.v.clear();
        self.v.resize(places, [0.0; 6]);
        self.go_to(r);
        self.witness = 0;
        Ok(())
    }

    /// Go on from the impulses `r`; from none where nothing moves.
    pub(crate) fn go_to(&mut self, r: &[Vector3]) {
        let still = self.local.energy_scale == 0.0;
        let order = &self.order;
        parallel::fill(&mut self.r, r.len(), |k| match still {
            true => Lanes::default(),
            false => Lanes::from(r[order[k].2 as usize]),
        });
        self.refresh();
    }

    /// End: the iterate into `r`, its velocities into `u`, both computed afresh.
    pub(crate) fn end(
        &mut self,
        settings: &Settings,
        sweeps: usize,
        r: &mut [Vector3],
        u: &mut [Vector3],
    ) -> Report {
        if !self.is_fresh {
            self.refresh();
        }
        self.read();
        let (places, own_r, own_u) = (&self.places, &self.r, &self.u);
        let give = |k: usize, r: &mut Vector3, u: &mut Vector3| {
            let place = places[k] as usize;
            (*r, *u) = (*own_r[place], *own_u[place]);
        };
        if places.len() < parallel::MUCH {
            let each = r.iter_mut().zip(u).enumerate();
            each.for_each(|(k, (r, u))| give(k, r, u));
        } else {
            let each = r.par_iter_mut().zip(u).enumerate();
            each.for_each(|(k, (r, u))| give(k, r, u));
        }
        let residuals = Residuals::of(&self.local, &self.r, &self.u);
        Report {
            converged: residuals.energy <= settings.tolerance,
            iterations: sweeps,
            factorisations: 0,
            residuals,
        }
    }

    /// The contacts, as the caller numbers them, in the order of the sweeps.
    #[cfg(test)]
    pub(crate) fn contacts(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&(_, _, contact)| contact as usize)
    }

    /// V computed afresh.
    pub(crate) fn refresh(&mut self) {
        fresh(&self.slabs, &self.sides, &self.r, &mut self.v);
        self.is_fresh = true;
    }

    /// A sweep without momentum.
    pub(crate) fn sweep_plainly(&mut self) {
        self.previous_r.clone_from(&self.r);
        self.previous_v.clone_from(&self.v);
        self.sweep(0.0);
        std::mem::swap(&mut self.r, &mut self.previous_r);
        std::mem::swap(&mut self.v, &mut self.previous_v);
    }

    fn prepare(&mut self, contacts: &[Contact]) -> Result<(), Error> {
        let local = &mut self.local;
        local.matrix.starts.clear();
        local.matrix.starts.resize(contacts.len() + 1, 0);
        let (slabs, roots) = (&self.slabs, &self.roots);
        let order = &self.order;
        let (count, at) = (contacts.len(), |k: usize| &contacts[order[k].2 as usize]);
        parallel::fill(&mut local.free_velocity, count, |k| at(k).free_velocity);
        parallel::fill(&mut local.friction, count, |k| at(k).friction);
        parallel::fill(&mut local.kinds, count, |k| at(k).kind);
        parallel::fill(&mut self.sides, contacts.len(), |at| {
            let (slab, _, index) = order[at];
            let contact = &contacts[index as usize];
            let jacobian = |k: usize| {
                let root = contact.bodies[k].map(|body| &roots[body as usize]);
                root.map(|root| root.times(&contact.jacobians[k]))
            };
            Sides {
                jacobians: [0, 1].map(|k| jacobian(k).unwrap_or_default()),
                bodies: contact.bodies.map(|body| slabs.place(slab, body)),
            }
        });
        let (sides, diagonal) = (&self.sides, &mut local.matrix.diagonal);
        parallel::fill(diagonal, contacts.len(), |at| sides[at].diagonal());
        local.prepare()
    }

    /// Order the sweeps: slab after slab, and in each the first points of all pairs of bodies, then the second ones, and so on; a couple goes
    /// with its contact. A tenth fewer sweeps than pair after pair, and a contact need not wait for the one before.
    fn arrange(&mut self, contacts: &[Contact]) {
        self.order.clear();
        let mut rank = 0;
        for (index, contact) in contacts.iter().enumerate() {
            if contact.kind != BlockKind::Couple {
                let same = index > 0 && contacts[index - 1].bodies == contact.bodies;
                rank = if same { rank + 1 } else { 0 };
            }
            self.order
                .push((self.slabs.of(contact), rank, index as u32));
        }
        let slabs = self.slabs.count();
        if slabs == 1 {
            self.order.sort_unstable();
        } else {
            self.order.par_sort_unstable();
        }
        self.slabs.contacts.clear();
        self.slabs.contacts.extend((0..slabs as u32).map(|slab| {
            let order = &self.order;
            order.partition_point(|&(other, _, _)| other < slab)
        }));
        self.slabs.contacts.push(contacts.len());
        self.places.clear();
        self.places.resize(contacts.len(), 0);
        for (place, &(_, _, contact)) in (0..).zip(&self.order) {
            self.places[contact as usize] = place;
        }
    }

    /// Whether slabs and order are those of these contacts already. What rests or moves little has the same contacts
    /// step after step, and to cut a large problem takes longer than to find that out.
    fn knows(&self, bodies: usize, contacts: &[Contact]) -> bool {
        let same = |(known, contact): (&([Option<u32>; 2], BlockKind), &Contact)| {
            *known == (contact.bodies, contact.kind)
        };
        contacts.len() >= LARGE
            && self.graph.len() == contacts.len()
            && self.bodies == bodies
            && self.graph.par_iter().zip(contacts).all(same)
    }

    fn remember(&mut self, bodies: usize, contacts: &[Contact]) {
        self.graph.clear();
        self.bodies = bodies;
        if contacts.len() >= LARGE {
            let all = contacts
                .iter()
                .map(|contact| (contact.bodies, contact.kind));
            self.graph.extend(all);
        }
    }

    /// Velocities of all contacts.
    pub(crate) fn read(&mut self) {
        let (sides, q, v) = (&self.sides, &self.local.free_velocity, &self.v);
        parallel::fill(&mut self.u, sides.len(), |i| {
            sides[i].velocity(&q[i], v, 0).into()
        });
    }

    /// Whether the iterate meets the tolerance, with velocities computed afresh.
    fn judge(&mut self, tolerance: f64) -> bool {
        !self.exceeds(tolerance)
            && (self.is_fresh || {
                self.refresh();
                !self.exceeds(tolerance)
            })
    }

    /// Whether it does not, by the velocities at hand.
    fn exceeds(&mut self, tolerance: f64) -> bool {
        let (local, sides, v) = (&self.local, &self.sides, &self.v);
        residual::exceeds(tolerance, &mut self.witness, local, &self.r, |i| {
            sides[i].velocity(&local.free_velocity[i], v, 0)
        })
    }

    /// Sweeps until the residual meets the tolerance, or until they stall, or, where that is asked for, only a few contacts still move; how many.
    pub(crate) fn iterate(&mut self, settings: &Settings, leave_few: bool) -> usize {
        if self.judge(settings.tolerance) {
            return 0;
        }
        self.previous_r.clone_from(&self.r);
        self.previous_v.clone_from(&self.v);
        let mut momentum = 1.0_f64;
        let (mut lowest, mut least, mut reached) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        for sweep in 1..=settings.max_iterations {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let beta = (momentum - 1.0) / next;
            momentum = next;
            let (against, moved) = self.sweep(beta);
            // What a sweep moves and the residual it leaves are of one size, and the first costs nothing.
            let size = residual::relative(moved, self.local.energy_scale);
            std::mem::swap(&mut self.r, &mut self.previous_r);
            std::mem::swap(&mut self.v, &mut self.previous_v);
            if sweep.is_multiple_of(REFRESH) {
                // Both: rounding left in one of the two would be fed to the momentum and grow without bound.
                let (slabs, sides) = (&self.slabs, &self.sides);
                fresh(slabs, sides, &self.r, &mut self.v);
                fresh(slabs, sides, &self.previous_r, &mut self.previous_v);
            }
            if size <= NEAR * settings.tolerance && self.judge(settings.tolerance) {
                return sweep;
            }
            if leave_few && sweep.is_multiple_of(REFRESH) && self.few_move(settings) {
                return sweep;
            }
            least = least.min(size);
            if sweep.is_multiple_of(PATIENCE) {
                if least > 0.5 * reached {
                    return sweep;
                }
                reached = least;
            }
            lowest = lowest.min(size);
            if against > 0.0 || size > GROWTH * lowest {
                momentum = 1.0;
                lowest = size;
            }
        }
        settings.max_iterations
    }

    /// Whether the last sweep has moved some contacts by much, and only a few.
    fn few_move(&self, settings: &Settings) -> bool {
        let mut focus = Focus::new(&self.local, settings);
        for (i, (new, old)) in self.r.iter().zip(&self.previous_r).enumerate() {
            let step = new.each(old, |new, old| new - old);
            focus.note(i, self.local.weight[i] * dot(&step, &step));
        }
        focus.is_few(self.r.len())
    }

    /// Extrapolate by `beta` and sweep: the older iterate becomes the extrapolated one, then the newest. How far that goes
    /// against the momentum, and the square of how far it goes in the energy norm.
    fn sweep(&mut self, beta: f64) -> (f64, f64) {
        self.is_fresh = false;
        let (v, previous_v) = (self.v.as_flattened(), self.previous_v.as_flattened_mut());
        let extrapolate = |(old, new): (&mut [f64], &[f64])| {
            for (old, new) in old.iter_mut().zip(new) {
                *old = new + beta * (new - *old);
            }
        };
        if self.slabs.count() == 1 {
            extrapolate((previous_v, v));
        } else {
            let parts = previous_v.par_chunks_mut(CHUNK).zip(v.par_chunks(CHUNK));
            parts.for_each(extrapolate);
        }
        self.sums.clear();
        self.sums.resize(self.slabs.count(), (0.0, 0.0));
        let (local, sides, current) = (&self.local, &self.sides, &self.r);
        for parity in 0..2 {
            let (r, sums) = (&mut self.previous_r, &mut self.sums);
            let parts = parts(&self.slabs, parity, r, &mut self.previous_v)
                .zip(sums.iter_mut().skip(parity).step_by(2));
            let work = |(part, sums): (Part<'_>, &mut (f64, f64))| {
                *sums = Arch::new().dispatch(Sweep {
                    part,
                    local,
                    sides,
                    current,
                    beta,
                });
            };
            parallel::side_by_side(parts, work);
        }
        // In the order of the slabs, whoever was first.
        self.sums
            .iter()
            .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

/// Numbers that a thread takes at once.
const CHUNK: usize = 6_000;

/// Contacts of one slab, their impulses, and the velocities of the bodies they move.
struct Part<'a> {
    contacts: Range<usize>,
    first_body: usize,
    r: &'a mut [Lanes],
    v: &'a mut [[f64; 6]],
}

/// Of every other slab, from `parity` on, the contacts, the first body they move, and the velocities of all of them.
fn reaches<'a>(
    slabs: &'a Slabs,
    parity: usize,
    mut v: &'a mut [[f64; 6]],
) -> impl ExactSizeIterator<Item = (Range<usize>, usize, &'a mut [[f64; 6]])> {
    let mut body = 0;
    (parity..slabs.count()).step_by(2).map(move |k| {
        let bodies = slabs.reach(k);
        let rest = &mut std::mem::take(&mut v)[bodies.start - body..];
        let (own, rest) = rest.split_at_mut(bodies.len());
        (v, body) = (rest, bodies.end);
        let contacts = slabs.contacts[k]..slabs.contacts[k + 1];
        (contacts, bodies.start, own)
    })
}

/// The same with their impulses.
fn parts<'a>(
    slabs: &'a Slabs,
    parity: usize,
    mut r: &'a mut [Lanes],
    v: &'a mut [[f64; 6]],
) -> impl ExactSizeIterator<Item = Part<'a>> {
    let mut contact = 0;
    reaches(slabs, parity, v).map(move |(contacts, first_body, v)| {
        let rest = &mut std::mem::take(&mut r)[contacts.start - contact..];
        let (own, rest) = rest.split_at_mut(contacts.len());
        (r, contact) = (rest, contacts.end);
        Part {
            contacts,
            first_body,
            r: own,
            v,
        }
    })
}

/// The sweep of one slab; compiled for the processor at hand.
struct Sweep<'a> {
    part: Part<'a>,
    local: &'a Problem,
    sides: &'a [Sides],
    /// The newer of the last two iterates.
    current: &'a [Lanes],
    beta: f64,
}

impl NullaryFnOnce for Sweep<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self {
            part,
            local,
            sides,
            current,
            beta,
        } = self;
        let Part {
            contacts,
            first_body,
            r,
            v,
        } = part;
        let first = contacts.start;
        for (old, new) in r.iter_mut().zip(&current[contacts.clone()]) {
            *old = old.each(new, |old, new| new + beta * (new - old));
        }
        let (mut against, mut moved) = (0.0, 0.0);
        for i in contacts {
            let sides = &sides[i];
            let u = sides.velocity(&local.free_velocity[i], v, first_body);
            let new = local.answer_from(first, i, r, &u.into());
            let old = &mut r[i - first];
            let change = [new[0] - old[0], new[1] - old[1], new[2] - old[2]];
            if change == [0.0; 3] {
                continue;
            }
            // Number by number: they are in registers.
            for k in 0..3 {
                old[k] = new[k];
            }
            sides.scatter(change, v, first_body);
            let current = &current[i];
            let progress = [
                new[0] - current[0],
                new[1] - current[1],
                new[2] - current[2],
            ];
            against -= local.trace[i] * dot(&change, &progress);
            moved += local.trace[i] * dot(&change, &change);
        }
        (against, moved)
    }
}

/// V = J^T r, free of the rounding that sweeps collect.
fn fresh(slabs: &Slabs, sides: &[Sides], r: &[Lanes], v: &mut [[f64; 6]]) {
    v.fill([0.0; 6]);
    for parity in 0..2 {
        let parts = reaches(slabs, parity, v);
        parallel::side_by_side(parts, |(contacts, first, v)| {
            for i in contacts {
                sides[i].scatter(*r[i], v, first);
            }
        });
    }
}
