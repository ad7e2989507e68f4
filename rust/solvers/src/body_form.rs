//! The accelerated sweeps without W: instead of u = W r + q the velocities that the impulses give the bodies,
//! V = M^-1 J^T r, are kept, and a contact reads its own u = q + J_a V_a + J_b V_b when its turn comes.
//!
//! A contact then costs the same however many others its bodies have, and there is nothing to assemble; with W
//! it costs one block for each of them. Flat bodies that meet in four and more points each (walls of blocks: thirty
//! blocks in a row of W) are solved faster in this form, chains and sparse piles with W. The iteration is that of
//! `accelerated`.
//!
//! Contacts that move no common body are answered four at a time (`batches`, `four_contacts`). Sweeps of many contacts wait for
//! memory, so that little of it is read (`swept`), and in its order: contacts are stored in the order of the sweeps.
//!
//! Large problems are cut into slabs (`slabs`), of which every other one is swept at the same time, by as many threads as
//! the pool has that the caller runs in: the same operations in the same order on each body, so the same bits.

mod focused;

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::assembly::{Contact, InverseMass};
use crate::batches::{self, Entry};
use crate::block_matrix::{Lanes, Vector3};
use crate::cone::dot;
use crate::error::Error;
use crate::few::Few;
use crate::focus::Focus;
use crate::ground::{Ground, Moving, by_slab};
use crate::jam::Jam;
use crate::parallel;
use crate::problem::{BlockKind, Problem};
use crate::residual::{self, Residuals};
use crate::sides::Root;
use crate::slabs::LARGE;
use crate::solver::{Report, Settings};
use crate::swept::{Batch, Inertia, Motion, Swept};

/// Share of the tolerance, moved by a sweep, from which on the residual is computed.
const NEAR: f64 = 4.0;
/// Growth of what a sweep moves, over its lowest since the last restart, that ends the momentum.
const GROWTH: f64 = 2.0;
/// Sweeps in which the residual has to be halved; else they count as stalled.
pub(crate) const PATIENCE: usize = 200;
/// Sweeps between two fresh computations of V, and between two looks at how many contacts still move.
const REFRESH: usize = 50;

/// The order of the sweeps within a slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The first points of all pairs of bodies, then the second ones, and so on: a tenth fewer sweeps than pair after pair.
    ByRank,
    /// As they are given, pair after pair: a quarter fewer sweeps where few contacts are swept again, which are then at few pairs.
    ByPair,
}

/// Bodies and contacts ready for sweeps, with storage kept from step to step. All but `order` is in that order.
#[derive(Debug, Clone, Default)]
pub struct BodyForm {
    /// Contacts in the order of the sweeps.
    order: Vec<Entry>,
    /// Them in batches.
    batches: Vec<Batch>,
    /// Where each contact is in that order.
    places: Vec<u32>,
    ground: Ground,
    /// Bodies and kinds of the contacts of a large problem that order and slabs were made for, and the number of its bodies.
    graph: Vec<([Option<u32>; 2], BlockKind)>,
    bodies: usize,
    /// How far the sweep of each slab went against the momentum, and the square of how far it went.
    sums: Vec<(f64, f64)>,
    /// Diagonal blocks, q, mu and what derives from them; no blocks between contacts.
    pub(crate) local: Problem,
    /// The batch of each contact.
    batch_of: Vec<u32>,
    /// Roots of the inverse masses of the bodies.
    pub(crate) roots: Vec<Root>,
    /// Velocities given to the bodies, in the places of `slabs`.
    v: Vec<Motion>,
    previous_v: Vec<Motion>,
    pub(crate) r: Vec<Lanes>,
    previous_r: Vec<Lanes>,
    pub(crate) u: Vec<Lanes>,
    /// Whether V is free of the rounding that sweeps collect.
    is_fresh: bool,
    /// A contact that was far from its law: see [`residual::exceeds`].
    witness: usize,
    /// Contacts that the last sweep has moved by much, and what is done with them.
    moving: Vec<Moving>,
    few: Few,
    jam: Jam,
}

impl BodyForm {
    /// Solve the contact problem of these bodies from the impulses `r`, leaving in `r` the last impulses and in
    /// `u` their velocities. Gives up where sweeps stall: [`Report::converged`] tells. None where W is needed, see [`Self::begin`].
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
    ) -> Result<Option<Report>, Error> {
        if !self.begin(bodies, contacts, Order::ByRank, r)? {
            return Ok(None);
        }
        let sweeps = self.iterate(settings, PATIENCE, false);
        Ok(Some(self.end(settings, sweeps, r, u)))
    }

    /// Make ready for these bodies, at the impulses `r`; false where some contact is not of a form that can be swept without W.
    pub(crate) fn begin(
        &mut self,
        bodies: &[InverseMass],
        contacts: &[Contact],
        order: Order,
        r: &[Vector3],
    ) -> Result<bool, Error> {
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
            self.ground.slabs.cut(bodies.len(), contacts);
            self.arrange(contacts, order);
            self.remember(bodies.len(), contacts);
        }
        let fits = match self.prepare(bodies, contacts) {
            Ok(fits) => fits,
            Err(_) => {
                // Told in the order that the caller knows.
                self.graph.clear();
                self.order.sort_unstable_by_key(|&(_, _, contact)| contact);
                self.prepare(bodies, contacts)?
            }
        };
        if fits {
            self.v.clear();
            self.v.resize(self.places(), Motion::default());
            self.go_to(r);
            self.witness = 0;
        }
        Ok(fits)
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

    /// The contact that comes at this place of the sweeps, and the places of its bodies.
    pub(crate) fn at<'a>(&self, place: usize, contacts: &'a [Contact]) -> (&'a Contact, [u32; 2]) {
        let (slab, _, index) = self.order[place];
        let contact = &contacts[index as usize];
        (
            contact,
            contact
                .bodies
                .map(|body| self.ground.slabs.place(slab, body)),
        )
    }

    /// Number of places of bodies.
    pub(crate) fn places(&self) -> usize {
        self.ground.slabs.bodies[self.ground.slabs.count()]
    }

    /// V computed afresh.
    pub(crate) fn refresh(&mut self) {
        self.ground.refresh(&self.r, &mut self.v);
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

    /// Everything that the contacts are asked for; false where one is of another form.
    fn prepare(&mut self, bodies: &[InverseMass], contacts: &[Contact]) -> Result<bool, Error> {
        parallel::fill(&mut self.roots, bodies.len(), |body| {
            Root::new(&bodies[body])
        });
        self.ground.inertias.clear();
        self.ground
            .inertias
            .resize(self.places(), Inertia::default());
        for (mass, &place) in bodies.iter().zip(&self.ground.slabs.place) {
            if let Some(inertia) = self.ground.inertias.get_mut(place as usize) {
                *inertia = Inertia::from(mass);
            }
        }
        let (order, slabs) = (&self.order, &self.ground.slabs);
        let (places, batches, inertias) = (&self.places, &self.batches, &self.ground.inertias);
        let (count, at) = (contacts.len(), |k: usize| &contacts[order[k].2 as usize]);
        let fits = AtomicBool::new(true);
        let much = count >= parallel::MUCH;
        parallel::fill_if(much, &mut self.ground.swept, batches.len(), |k| {
            let batch = batches[k];
            let slab = order[batch.first as usize].0;
            let mut swept = Swept::new(batch, slabs.place(slab, None));
            for lane in 0..batch.count as usize {
                let (slab, _, index) = order[batch.first as usize + lane];
                let contact = &contacts[index as usize];
                let bodies = contact.bodies.map(|body| slabs.place(slab, body));
                let before = places[index.saturating_sub(1) as usize];
                if !swept.put(lane, contact, bodies, before) {
                    fits.store(false, Ordering::Relaxed);
                }
            }
            swept.prepare(inertias);
            swept
        });
        if !fits.into_inner() {
            return Ok(false);
        }
        let (local, swept) = (&mut self.local, &self.ground.swept);
        local.matrix.starts.clear();
        local.matrix.starts.resize(contacts.len() + 1, 0);
        parallel::fill(&mut local.free_velocity, count, |k| at(k).free_velocity);
        parallel::fill(&mut local.friction, count, |k| at(k).friction);
        parallel::fill(&mut local.kinds, count, |k| at(k).kind);
        let batch_of = &self.batch_of;
        parallel::fill(&mut local.matrix.diagonal, count, |k| {
            let swept = &swept[batch_of[k] as usize];
            swept.block(k - swept.batch.first as usize)
        });
        local.measure()?;
        Ok(true)
    }

    /// Order the sweeps: slab after slab, and in each as asked for; a couple goes with its contact.
    fn arrange(&mut self, contacts: &[Contact], order: Order) {
        self.order.clear();
        let mut rank = 0;
        for (index, contact) in contacts.iter().enumerate() {
            if contact.kind != BlockKind::Couple {
                let same = index > 0 && contacts[index - 1].bodies == contact.bodies;
                rank = if same && order == Order::ByRank {
                    rank + 1
                } else {
                    0
                };
            }
            self.order
                .push((self.ground.slabs.of(contact), rank, index as u32));
        }
        let slabs = self.ground.slabs.count();
        if slabs == 1 {
            self.order.sort_unstable();
        } else {
            self.order.par_sort_unstable();
        }
        self.ground.slabs.contacts.clear();
        self.ground
            .slabs
            .contacts
            .extend((0..slabs as u32).map(|slab| {
                let order = &self.order;
                order.partition_point(|&(other, _, _)| other < slab)
            }));
        self.ground.slabs.contacts.push(contacts.len());
        self.pack(contacts);
        self.places.clear();
        self.places.resize(contacts.len(), 0);
        for (place, &(_, _, contact)) in (0..).zip(&self.order) {
            self.places[contact as usize] = place;
        }
    }

    /// Put the contacts of each slab into batches.
    fn pack(&mut self, contacts: &[Contact]) {
        let slabs = &self.ground.slabs;
        let parts = by_slab(slabs, &mut self.order);
        let pack = |(slab, entries): (usize, &mut [Entry])| {
            let reach = slabs.reach(slab);
            let place = |body: u32| slabs.place[body as usize] as usize - reach.start;
            batches::pack(
                contacts,
                entries,
                slabs.contacts[slab],
                (reach.len(), place),
            )
        };
        let packed: Vec<Vec<Batch>> = if parts.len() == 1 {
            parts.into_iter().map(pack).collect()
        } else {
            parts.into_par_iter().map(pack).collect()
        };
        self.batches.clear();
        self.ground.batches.clear();
        for batches in packed {
            self.ground.batches.push(self.batches.len());
            self.batches.extend(batches);
        }
        self.ground.batches.push(self.batches.len());
        self.batch_of.clear();
        for (k, batch) in (0..).zip(&self.batches) {
            let end = self.batch_of.len() + batch.count as usize;
            self.batch_of.resize(end, k);
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
        self.u.clear();
        self.u.resize(self.r.len(), Lanes::default());
        self.ground.read(&self.v, &mut self.u);
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
        // Those of all contacts are read at once, four at a time, unless the last witness tells, or there are many.
        let few = self.r.len() < parallel::MUCH;
        if few && self.witness < self.r.len() {
            let (i, local, r) = (self.witness, &self.local, &self.r);
            if residual::exceeds_at(i, tolerance, local, r, &self.velocity_of(i)) {
                return true;
            }
        }
        if few {
            self.read();
        }
        let (local, swept, v) = (&self.local, &self.ground.swept, &self.v);
        let (batch_of, u) = (&self.batch_of, &self.u);
        residual::exceeds(tolerance, &mut self.witness, local, &self.r, |i| {
            if few {
                return *u[i];
            }
            let swept = &swept[batch_of[i] as usize];
            swept.velocity_of(i - swept.batch.first as usize, v)
        })
    }

    /// The velocity of one contact.
    fn velocity_of(&self, contact: usize) -> Vector3 {
        let swept = &self.ground.swept[self.batch_of[contact] as usize];
        swept.velocity_of(contact - swept.batch.first as usize, &self.v)
    }

    /// Sweeps until the residual meets the tolerance, or so many have not halved it, or, where that is asked for, only a few contacts still
    /// move; how many.
    pub(crate) fn iterate(
        &mut self,
        settings: &Settings,
        patience: usize,
        leave_few: bool,
    ) -> usize {
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
                self.ground.refresh(&self.r, &mut self.v);
                self.ground.refresh(&self.previous_r, &mut self.previous_v);
            }
            if size <= NEAR * settings.tolerance && self.judge(settings.tolerance) {
                return sweep;
            }
            if leave_few && sweep.is_multiple_of(REFRESH) && self.few_move(settings) {
                return sweep;
            }
            least = least.min(size);
            if sweep.is_multiple_of(patience) {
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
        let (v, previous_v) = (&self.v, &mut self.previous_v);
        let extrapolate = |(old, new): (&mut [Motion], &[Motion])| {
            for (old, new) in old.iter_mut().zip(new) {
                *old = old.beyond(new, beta);
            }
        };
        if self.ground.slabs.count() == 1 {
            extrapolate((previous_v, v));
        } else {
            let parts = previous_v.par_chunks_mut(CHUNK).zip(v.par_chunks(CHUNK));
            parts.for_each(extrapolate);
        }
        self.sums.clear();
        self.sums.resize(self.ground.slabs.count(), (0.0, 0.0));
        let (v, r) = (&mut self.previous_v, &mut self.previous_r);
        self.ground.sweep(&self.r, beta, (r, v), &mut self.sums);
        // In the order of the slabs, whoever was first.
        self.sums
            .iter()
            .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

/// Bodies that a thread takes at once.
const CHUNK: usize = 1_000;
