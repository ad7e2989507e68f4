//! Newmark's method for several alike systems at once, one a lane: steps in which no contact closes.
//!
//! A chain of storeys is a chain of operations, each of which waits for the one before; lanes fill the gaps with the same
//! operations of other runs, in vector registers. The equations are those of [`super::newton`] for springs whose law is a
//! slider. A lane never looks at another: one that has converged is left as it is, one that cannot take a step stays
//! behind and takes it by itself. So a run is the same to the bit in any company, and alone.
//!
//! The loop is compiled for several processors, and the one at hand is chosen when it is called (`pulp`): vectors of two,
//! four or eight numbers with the same operations in the same order, so that results are the same bits on all of them.

mod band;
mod step;

use std::ops::{Index, IndexMut};

use percuss_laws::Hysteresis;
use pulp::{Arch, NullaryFnOnce};

use self::band::Band;
use super::{Matrices, Scheme, Walk};
use crate::matrices::banded::Banded;
use crate::system::model::Pair;
use crate::{Integrator, Model, Settings, System};

/// Runs that go together.
pub(crate) const LANES: usize = 8;
/// Fewest masses for which this way is taken: smaller systems have matrices in registers.
const FEWEST_MASSES: usize = 5;

/// One number of each run; whole vectors, none of which lies across two lines of the cache.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Lane([f64; LANES]);

const ZERO: Lane = Lane([0.0; LANES]);

impl Index<usize> for Lane {
    type Output = f64;
    #[inline(always)]
    fn index(&self, lane: usize) -> &f64 {
        &self.0[lane]
    }
}

impl IndexMut<usize> for Lane {
    #[inline(always)]
    fn index_mut(&mut self, lane: usize) -> &mut f64 {
        &mut self.0[lane]
    }
}

/// One number for each lane.
#[inline(always)]
fn lane(of: impl FnMut(usize) -> f64) -> Lane {
    Lane(std::array::from_fn(of))
}

/// Whether some of these runs may go in lanes; the others are better spread over the threads one by one.
pub(crate) fn asked(systems: &[System], settings: &Settings) -> bool {
    let yields = |system: &System| system.springs.iter().any(|spring| spring.law.is_some());
    matches!(settings.integrator, Integrator::Newmark { .. }) && systems.iter().any(yields)
}

/// Whether a system may go in a lane.
pub(crate) fn fits(model: &Model) -> bool {
    let slides = |law: &Hysteresis| law.slider().is_some() || law.initial() == law.linear();
    model.masses() >= FEWEST_MASSES
        && !model.elements.is_empty()
        && model.springs.iter().all(|spring| spring.cubic == 0.0)
        && model
            .elements
            .iter()
            .all(|e| slides(&e.law) && !e.law.is_damper())
}

/// Whether two systems join the same masses in the same order.
pub(crate) fn alike(a: &Model, b: &Model) -> bool {
    let springs = |model: &Model| model.springs.iter().map(|s| s.pair).collect::<Vec<Pair>>();
    let dampers = |model: &Model| model.dampers.iter().map(|d| d.0).collect::<Vec<Pair>>();
    let contacts = |model: &Model| model.contacts.iter().map(|c| c.pair).collect::<Vec<Pair>>();
    let elements = |model: &Model| model.elements.iter().map(|e| e.pair).collect::<Vec<Pair>>();
    a.masses() == b.masses()
        && springs(a) == springs(b)
        && dampers(a) == dampers(b)
        && contacts(a) == contacts(b)
        && elements(a) == elements(b)
}

/// A spring of all lanes; ends at the number of masses are the base.
struct Element {
    left: usize,
    right: usize,
    stiffness: Lane,
    reach: Lane,
    plastic: Lane,
    offset: Lane,
    elongation: Lane,
    force: Lane,
    work: Lane,
    peak: Lane,
    slope: Lane,
    factored: Lane,
}

struct Contact {
    left: usize,
    right: usize,
    gap: Lane,
    nearest: Lane,
}

/// The systems of a group, their state while they go together, and room for a step. Vectors of displacements and the
/// like have a last entry for the base, which stays zero.
pub(crate) struct Lanes {
    n: usize,
    dt: f64,
    masses: Vec<Lane>,
    left: Band,
    stiffness: Band,
    damping: Band,
    tangent: Band,
    elements: Vec<Element>,
    contacts: Vec<Contact>,
    state: [Vec<Lane>; 3],
    next: [Vec<Lane>; 3],
    x: Vec<Lane>,
    right: Vec<Lane>,
    residual: Vec<Lane>,
    damped: Vec<Lane>,
    base: Lane,
    peaks: [Vec<Lane>; 3],
    /// Whether the state of a lane is that of its run; else the run has gone on by itself.
    here: [bool; LANES],
}

/// Runs on their way together, for the version of the loop that suits the processor.
struct Going<'a, 'b> {
    lanes: &'a mut Lanes,
    walks: &'a mut [Walk<'b, Banded>],
    going: [bool; LANES],
    stop: u64,
}

impl NullaryFnOnce for Going<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.lanes.steps(self.walks, self.going, self.stop);
    }
}

impl Lanes {
    /// For runs of alike systems; `scheme` gives the constant matrices.
    pub fn new(walks: &[Walk<'_, Banded>], scheme: &impl Scheme<Banded>) -> Self {
        let first = &walks[0];
        let (n, dt) = (first.model.masses(), first.dt);
        let model = |lane: usize| walks[lane.min(walks.len() - 1)].model;
        let stiffness: Vec<Vec<f64>> = (0..LANES).map(|l| model(l).stiffness_matrix()).collect();
        let damping: Vec<Vec<f64>> = (0..LANES).map(|l| model(l).damping_matrix()).collect();
        let left: Vec<Vec<f64>> = (0..LANES)
            .map(|l| {
                let Matrices { left, .. } =
                    scheme.matrices(model(l), &stiffness[l], &damping[l], dt);
                left
            })
            .collect();
        let mut before = vec![0; n];
        let springs = first.model.springs.iter().map(|spring| spring.pair);
        let dampers = first.model.dampers.iter().map(|damper| damper.0);
        let elements = first.model.elements.iter().map(|element| element.pair);
        for pair in springs.chain(dampers).chain(elements) {
            let (low, high) = (pair.left.min(pair.right), pair.left.max(pair.right));
            if high < n {
                before[high] = before[high].max(high - low);
            }
        }
        let elements = (0..first.model.elements.len()).map(|e| {
            let pair = first.model.elements[e].pair;
            let slider = |l: usize| model(l).elements[e].law.slider();
            Element {
                left: pair.left.min(n),
                right: pair.right.min(n),
                stiffness: lane(|l| slider(l).map_or(0.0, |(k, _)| k)),
                reach: lane(|l| slider(l).map_or(f64::INFINITY, |(_, reach)| reach)),
                plastic: ZERO,
                offset: ZERO,
                elongation: ZERO,
                force: ZERO,
                work: ZERO,
                peak: ZERO,
                slope: ZERO,
                // no slope is this, so that the first step factors
                factored: Lane([f64::NAN; LANES]),
            }
        });
        let contacts = (0..first.model.contacts.len()).map(|c| {
            let pair = first.model.contacts[c].pair;
            Contact {
                left: pair.left.min(n),
                right: pair.right.min(n),
                gap: lane(|l| model(l).contacts[c].gap),
                nearest: ZERO,
            }
        });
        let vector = || vec![ZERO; n + 1];
        let three = || [vector(), vector(), vector()];
        Self {
            n,
            dt,
            masses: (0..n).map(|i| lane(|l| model(l).masses[i])).collect(),
            left: Band::of(&before, &left),
            stiffness: Band::of(&before, &stiffness),
            damping: Band::of(&before, &damping),
            tangent: Band::of(&before, &left),
            elements: elements.collect(),
            contacts: contacts.collect(),
            state: three(),
            next: three(),
            x: vector(),
            right: vector(),
            residual: vector(),
            damped: vector(),
            base: ZERO,
            peaks: three(),
            here: [false; LANES],
        }
    }

    /// Move all runs on to `stop`, or to the step before a contact closes in them. The state of those that reach it stays here
    /// until [`Lanes::give_back`].
    pub fn glide(&mut self, walks: &mut [Walk<'_, Banded>], stop: u64) {
        let goes = |walk: &Walk<'_, Banded>| {
            walk.index < stop && walk.contacts.iter().all(|contact| !contact.touching)
        };
        let last = walks.len() - 1;
        let going: [bool; LANES] = std::array::from_fn(|l| goes(&walks[l.min(last)]));
        if !going.contains(&true) {
            return;
        }
        for l in (0..LANES).filter(|&l| going[l]) {
            if !self.here[l] {
                // lanes without a run repeat the last one
                self.load(l, &walks[l.min(last)]);
                self.here[l] = true;
            }
        }
        Arch::new().dispatch(Going {
            lanes: self,
            walks,
            going,
            stop,
        });
        for l in (0..LANES).filter(|&l| going[l]) {
            let walk = &mut walks[l.min(last)];
            if walk.index < stop {
                self.store(l, walk);
                self.here[l] = false;
            }
        }
    }

    /// Give the runs their state.
    pub fn give_back(&self, walks: &mut [Walk<'_, Banded>]) {
        for (l, walk) in walks.iter_mut().enumerate() {
            if self.here[l] {
                self.store(l, walk);
            }
        }
    }

    /// Steps until no lane goes any more.
    #[inline(always)]
    fn steps(&mut self, walks: &mut [Walk<'_, Banded>], mut going: [bool; LANES], stop: u64) {
        let last = walks.len() - 1;
        while going.contains(&true) {
            let mut ground = ZERO;
            for (l, walk) in walks.iter_mut().enumerate() {
                if going[l] {
                    ground[l] = walk.reader.at((walk.index + 1) as f64 * walk.dt);
                }
            }
            for l in walks.len()..LANES {
                ground[l] = ground[last];
            }
            let width = self.left.width;
            let taken = match width {
                // chains of storeys have this width: the compiler then knows the inner loops
                1 => self.step(1, &ground, &mut going),
                _ => self.step(width, &ground, &mut going),
            };
            for (l, walk) in walks.iter_mut().enumerate() {
                if taken[l] {
                    walk.index += 1;
                    walk.ground = ground[l];
                    going[l] = walk.index < stop;
                }
            }
            for l in walks.len()..LANES {
                going[l] = going[last];
            }
        }
    }

    /// Take the state of a run.
    fn load(&mut self, l: usize, walk: &Walk<'_, Banded>) {
        for i in 0..self.n {
            self.state[0][i][l] = walk.u[i];
            self.state[1][i][l] = walk.v[i];
            self.state[2][i][l] = walk.a[i];
            self.damped[i][l] = walk.tally.damped[i];
            for (part, peaks) in self.peaks.iter_mut().enumerate() {
                peaks[i][l] = walk.tally.peaks[part][i];
            }
        }
        self.base[l] = walk.tally.base;
        for (element, own) in self.elements.iter_mut().zip(&walk.elements) {
            element.plastic[l] = own.past.flowing()[0];
            element.elongation[l] = own.elongation;
            element.force[l] = own.force;
            element.work[l] = own.work;
            element.peak[l] = own.peak_drift;
        }
        for (contact, watch) in self.contacts.iter_mut().zip(&walk.watches) {
            contact.nearest[l] = watch.nearest;
        }
    }

    /// Give a run its state.
    fn store(&self, l: usize, walk: &mut Walk<'_, Banded>) {
        for i in 0..self.n {
            walk.u[i] = self.state[0][i][l];
            walk.v[i] = self.state[1][i][l];
            walk.a[i] = self.state[2][i][l];
            walk.tally.damped[i] = self.damped[i][l];
            for (part, peaks) in self.peaks.iter().enumerate() {
                walk.tally.peaks[part][i] = peaks[i][l];
            }
        }
        walk.tally.base = self.base[l];
        for (e, element) in self.elements.iter().enumerate() {
            let own = &mut walk.elements[e];
            own.past.set_flowing([element.plastic[l], 0.0]);
            own.elongation = element.elongation[l];
            own.force = element.force[l];
            own.work = element.work[l];
            own.peak_drift = element.peak[l];
            walk.element_forces[e] = element.force[l];
        }
        for (c, contact) in self.contacts.iter().enumerate() {
            walk.watches[c].nearest = contact.nearest[l];
            let own = &mut walk.contacts[c];
            own.before = own.pair.difference(&walk.u) - own.gap;
        }
    }
}
