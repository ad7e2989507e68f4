//! Where the work of contacts goes.

use super::Nonsmooth;
use super::contact::{
    ActiveContact, Found, Touch, Work, couple_jacobians, dot, relative, relative_velocity,
};
use super::island::trace;
use super::middle::Middle;
use super::overlap::{Overlap, Widths};
use super::threads::piece;
use crate::body::Role;
use crate::energy::{Energy, PairWork};
use crate::setup::Setup;
use crate::state::State;
use percuss_solvers::Contact;
use rayon::prelude::*;

/// Work of the contacts of an island counts as a gain of energy above this many solver tolerances times its |P| |q|, and times
/// the square of what the residual is relative to, which is larger where light bodies touch heavy ones.
const GAIN_MARGIN: f64 = 10.0;

/// Contacts that are worked out before they are copied as a whole: what has just been written number by number is slow to
/// copy.
const BATCH: usize = 16;
/// Fewest islands whose gains a thread adds up at a time.
const FEW: usize = 32;

/// What contacts add to the account.
#[derive(Debug, Clone, Default)]
struct Sums {
    by_law: Vec<PairWork>,
    impact_dissipation_j: f64,
    friction_dissipation_j: f64,
    motion_work_j: f64,
    overlap: Overlap,
}

/// What tells whether the contacts of an island give energy: their work, and the squares of their impulses and free
/// velocities.
#[derive(Debug, Clone, Copy, Default)]
struct Gain {
    work_j: f64,
    size_p: f64,
    size_q: f64,
}

impl Gain {
    fn enter(&mut self, work_j: f64, impulse: &[f64; 3], q: &[f64; 3]) {
        self.work_j += work_j;
        self.size_p += dot(impulse, impulse);
        self.size_q += dot(q, q);
    }

    fn enter_touch(&mut self, touch: &Touch) {
        self.enter(touch.work.total_j(), &touch.impulse, &touch.free_velocity);
        if let Some(couple) = &touch.couple {
            self.enter(0.0, &couple.impulse, &couple.free_velocity);
        }
    }

    fn with(self, other: &Self) -> Self {
        Self {
            work_j: self.work_j + other.work_j,
            size_p: self.size_p + other.size_p,
            size_q: self.size_q + other.size_q,
        }
    }

    /// |P| |q|.
    fn size(&self) -> f64 {
        (self.size_p * self.size_q).sqrt()
    }
}

impl Sums {
    /// From nothing, or on from what the state has of them: sums of few contacts are the same as those of one after the
    /// other.
    fn begin(laws: usize, state: Option<(&Energy, &[PairWork])>) -> Self {
        match state {
            None => Self {
                by_law: vec![PairWork::default(); laws],
                ..Self::default()
            },
            Some((energy, by_law)) => Self {
                by_law: by_law.to_vec(),
                impact_dissipation_j: energy.impact_dissipation_j,
                friction_dissipation_j: energy.friction_dissipation_j,
                motion_work_j: energy.motion_work_j,
                ..Self::default()
            },
        }
    }

    /// Adds those of the contacts that follow.
    fn add(&mut self, other: &Self) {
        for (own, other) in self.by_law.iter_mut().zip(&other.by_law) {
            own.impact_dissipation_j += other.impact_dissipation_j;
            own.friction_dissipation_j += other.friction_dissipation_j;
            own.normal_impulse_n_s += other.normal_impulse_n_s;
            own.friction_impulse_n_s += other.friction_impulse_n_s;
        }
        self.impact_dissipation_j += other.impact_dissipation_j;
        self.friction_dissipation_j += other.friction_dissipation_j;
        self.motion_work_j += other.motion_work_j;
        self.overlap = self.overlap.deeper(other.overlap);
    }

    /// Books the work of a contact's impulses.
    #[inline(always)]
    fn book(&mut self, law: u32, normal_n_s: f64, work: &Work) {
        let by_law = &mut self.by_law[law as usize];
        by_law.impact_dissipation_j -= work.normal_j;
        by_law.friction_dissipation_j -= work.friction_j;
        by_law.normal_impulse_n_s += normal_n_s;
        by_law.friction_impulse_n_s += work.friction_n_s;
        self.impact_dissipation_j -= work.normal_j;
        self.friction_dissipation_j -= work.friction_j;
    }
}

impl Nonsmooth {
    /// Books the work of bonds, joints and elements, after that of contacts; gives that of contacts, limits and friction, and
    /// whether those of any island gave energy beyond what the solver's tolerance explains.
    pub(super) fn account(&mut self, setup: &Setup, state: &mut State) -> (f64, bool) {
        self.account_bonds(setup, state);
        for index in 0..self.parts.len() {
            if !self.sleeps(state, index) {
                self.parts[index].account(setup, state, &self.middle);
            }
        }
        let (mut work_j, mut gained) = (0.0, false);
        let explained = GAIN_MARGIN * setup.settings.tolerance;
        for (island, gain) in self.gains().into_iter().enumerate() {
            work_j += gain.work_j;
            // The second is rarely asked for: it takes the diagonal of W.
            if gain.work_j > explained * gain.size()
                && gain.work_j > explained * self.free_energy_j(island)
            {
                state.energy.contact_gain_j += gain.work_j;
                gained = true;
            }
        }
        state.energy.gain_steps += u64::from(gained);
        (work_j, gained)
    }

    /// Work and sizes for each island that was solved: nothing moves in the others.
    fn gains(&self) -> Vec<Gain> {
        let islands = 0..self.islands.count();
        if self.is_parallel() {
            let each = islands.into_par_iter().with_min_len(FEW);
            each.map(|island| self.gain_of(island)).collect()
        } else {
            islands.map(|island| self.gain_of(island)).collect()
        }
    }

    /// Sum of |q_i|^2 / trace W_ii over an island: the square of what the solver's residual is relative to.
    fn free_energy_j(&self, island: usize) -> f64 {
        let one = |contact: &Contact| {
            let (q, trace) = (&contact.free_velocity, trace(contact, &self.middle.masses));
            if trace > 0.0 { dot(q, q) / trace } else { 0.0 }
        };
        let mut sum = 0.0;
        for &index in self.islands.contacts.of(island) {
            match self.touches.get(index as usize) {
                Some(touch) => {
                    sum += one(&touch.block(&self.middle.poses));
                    sum += touch.couple_block().as_ref().map_or(0.0, one);
                }
                None => {
                    sum += one(&self.bonded[index as usize - self.touches.len()]
                        .block
                        .contact)
                }
            }
        }
        for &part in self.islands.parts.of(island) {
            let bounds = self.parts[part as usize].active.iter();
            sum += bounds.map(|bound| one(&bound.block.contact)).sum::<f64>();
        }
        sum
    }

    /// The contacts of a large island are added up piece by piece, as by [`Nonsmooth::take`].
    fn gain_of(&self, island: usize) -> Gain {
        if !self.awake[island] {
            return Gain::default();
        }
        // Contacts are counted before bonds.
        let contacts = self.islands.contacts.of(island);
        let touches = self.touches.len();
        let (contacts, bonds) =
            contacts.split_at(contacts.partition_point(|&index| (index as usize) < touches));
        let sum = |contacts: &[u32]| {
            let mut gain = Gain::default();
            for &contact in contacts {
                gain.enter_touch(&self.touches[contact as usize]);
            }
            gain
        };
        let piece = piece(contacts.len());
        let mut gain = if contacts.len() <= piece {
            sum(contacts)
        } else {
            let parts: Vec<Gain> = if self.is_parallel() {
                contacts.par_chunks(piece).map(sum).collect()
            } else {
                contacts.chunks(piece).map(sum).collect()
            };
            parts.iter().fold(Gain::default(), Gain::with)
        };
        let bonds = bonds.iter().map(|&index| {
            let bonded = &self.bonded[index as usize - touches];
            (&bonded.block, bonded.work_j)
        });
        let parts = self.islands.parts.of(island).iter();
        let bounds = parts.flat_map(|&part| &self.parts[part as usize].active);
        for (block, work_j) in bonds.chain(bounds.map(|bound| (&bound.block, bound.work_j))) {
            gain.enter(work_j, &block.impulse, &block.contact.free_velocity);
        }
        gain
    }

    /// Gives the contacts of islands that were solved what was found for them, books their work, and hands them to the next
    /// step. Many contacts are added up piece by piece, by the same pieces whatever the number of threads.
    pub(super) fn take(&mut self, setup: &Setup, state: &mut State) -> Overlap {
        let parallel = self.is_parallel();
        let Self {
            touches,
            islands,
            problems,
            awake,
            middle,
            detector,
            ..
        } = self;
        let contacts = &mut state.contacts;
        contacts.resize(touches.len(), ActiveContact::default());
        let widths = Widths::new(detector, middle);
        let found = |index: usize, touch: &mut Touch| match islands.of_moved(&touch.moving) {
            Some(island) if awake[island] => problems[island].found(touch, islands.rank[index]),
            _ => touch.found(),
        };
        let take = |first: usize,
                    touches: &mut [Touch],
                    contacts: &mut [ActiveContact],
                    mut sums: Sums| {
            let batches = touches.chunks_mut(BATCH).zip(contacts.chunks_mut(BATCH));
            for (first, (touches, contacts)) in (first..).step_by(BATCH).zip(batches) {
                for (index, touch) in (first..).zip(&mut *touches) {
                    let found = found(index, touch);
                    touch.work_out(middle, found, &mut sums);
                    let given = touch.is_given(setup, 0) || touch.is_given(setup, 1);
                    if given && touch.impulse != [0.0; 3] {
                        sums.motion_work_j = touch.motion_work(setup, middle, sums.motion_work_j);
                    }
                }
                for (contact, touch) in contacts.iter_mut().zip(&*touches) {
                    *contact = touch.contact;
                }
                sums.overlap = sums.overlap.deeper(widths.deepest(touches));
            }
            sums
        };
        let laws = state.pair_work.len();
        let whole = Sums::begin(laws, Some((&state.energy, &state.pair_work)));
        let piece = piece(touches.len());
        let sums = if touches.len() <= piece {
            take(0, touches, contacts, whole)
        } else {
            let one = |(k, (touches, contacts)): (usize, (&mut [Touch], &mut [ActiveContact]))| {
                take(k * piece, touches, contacts, Sums::begin(laws, None))
            };
            let parts: Vec<Sums> = if parallel {
                let pieces = touches
                    .par_chunks_mut(piece)
                    .zip(contacts.par_chunks_mut(piece));
                pieces.enumerate().map(one).collect()
            } else {
                let pieces = touches.chunks_mut(piece).zip(contacts.chunks_mut(piece));
                pieces.enumerate().map(one).collect()
            };
            parts.iter().fold(whole, |mut sum, part| {
                sum.add(part);
                sum
            })
        };
        let energy = &mut state.energy;
        energy.impact_dissipation_j = sums.impact_dissipation_j;
        energy.friction_dissipation_j = sums.friction_dissipation_j;
        energy.motion_work_j = sums.motion_work_j;
        state.pair_work.copy_from_slice(&sums.by_law);
        sums.overlap
    }
}

impl Touch {
    /// Takes what was found for it: velocity and impulse after the step, and the work of its impulses, P . (u- + u+)/2, which is
    /// booked.
    // All from what is in registers: to read what has just been written waits for all writes before it.
    #[inline(always)]
    fn work_out(&mut self, middle: &Middle, found: Found, sums: &mut Sums) {
        let Found { impulse, velocity } = found;
        let contact = &mut self.contact;
        let p = &impulse;
        let before = &contact.velocity_before_m_per_s;
        let shift = &self.shift;
        let after = [
            velocity[0] - shift[0],
            velocity[1] - shift[1],
            velocity[2] - shift[2],
        ];
        let acts = impulse != [0.0; 3];
        let mut work = self.work;
        if acts {
            let normal = 0.5 * p[0] * (before[0] + after[0]);
            let mut friction =
                0.5 * (p[1] * (before[1] + after[1]) + p[2] * (before[2] + after[2]));
            if let Some(couple) = &self.couple {
                let s = &couple.impulse;
                let jacobians = couple_jacobians(&contact.normal, &couple.scale);
                let [before, after] = [&middle.before, &middle.after]
                    .map(|twists| relative(&jacobians, &contact.bodies, twists));
                friction += 0.5 * (dot(s, &before) + dot(s, &after));
                contact.couple_n_m_s =
                    contact.world(&std::array::from_fn(|k| couple.scale[k] * s[k]));
            }
            work = Work {
                normal_j: normal,
                friction_j: friction,
                friction_n_s: (p[1] * p[1] + p[2] * p[2]).sqrt(),
            };
            sums.book(contact.law, p[0], &work);
        }
        contact.velocity_after_m_per_s = after;
        contact.impulse_n_s = contact.world(p);
        (self.impulse, self.velocity, self.work) = (impulse, velocity, work);
    }

    /// Whether the body of a side moves as given.
    #[inline(always)]
    fn is_given(&self, setup: &Setup, side: usize) -> bool {
        self.moving[side].is_none() && {
            let body = &setup.scene.bodies[self.contact.bodies[side] as usize];
            matches!(body.role, Role::Kinematic(_))
        }
    }

    /// The work of bodies that move as given, with what they do through this contact.
    #[cold]
    fn motion_work(&self, setup: &Setup, middle: &Middle, mut work_j: f64) -> f64 {
        for side in (0..2).filter(|&side| self.is_given(setup, side)) {
            let body = self.contact.bodies[side] as usize;
            let (before, after) = (&middle.before[body], &middle.after[body]);
            let mean = std::array::from_fn(|k| 0.5 * (before[k] + after[k]));
            let blocks = [Some(self.block(&middle.poses)), self.couple_block()];
            let impulses = [self.impulse, self.couple.map_or([0.0; 3], |c| c.impulse)];
            for (block, impulse) in blocks.iter().flatten().zip(&impulses) {
                let velocity = relative_velocity(&block.jacobians[side], &mean);
                work_j -= dot(impulse, &velocity);
            }
        }
        work_j
    }
}
