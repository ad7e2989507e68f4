//! Newmark's method for several alike systems at once, one a lane: steps in which no contact closes.
//!
//! A chain of storeys is a chain of operations, each of which waits for the one before; lanes fill the gaps with the same
//! operations of other runs, in vector registers. The equations are those of [`super::newton`] for springs whose law is a
//! slider. A lane never looks at another: one that has converged is left as it is, one that cannot take a step stays
//! behind and takes it by itself. So a run is the same to the bit in any company, and alone.

use percuss_laws::Hysteresis;

use super::{Matrices, Scheme, Walk};
use crate::fixed_step::newton::{ITERATIONS, TOLERANCE};
use crate::matrices::banded::Banded;
use crate::system::model::Pair;
use crate::{Integrator, Model, Settings, System};

/// Runs that go together.
pub(crate) const LANES: usize = 8;
/// Fewest masses for which this way is taken: smaller systems have matrices in registers.
const FEWEST_MASSES: usize = 5;

type Lane = [f64; LANES];
const ZERO: Lane = [0.0; LANES];

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

/// A symmetric band in lanes, lower half: entry `(i, i - back)` at `i * (width + 1) + back`.
struct Band {
    width: usize,
    rows: Vec<Lane>,
}

impl Band {
    fn of(n: usize, width: usize, matrices: &[Vec<f64>]) -> Self {
        let mut rows = vec![ZERO; n * (width + 1)];
        for i in 0..n {
            for back in 0..=width.min(i) {
                rows[i * (width + 1) + back] =
                    std::array::from_fn(|lane| matrices[lane][i * n + i - back]);
            }
        }
        Self { width, rows }
    }

    /// Subtract this matrix times `x` from `out`.
    #[inline(always)]
    fn subtract_times(&self, w: usize, x: &[Lane], out: &mut [Lane]) {
        for (i, row) in self.rows.chunks_exact(w + 1).enumerate() {
            let here = x[i];
            let mut sum: Lane = std::array::from_fn(|l| row[0][l] * here[l]);
            for back in 1..=w.min(i) {
                let (entry, there) = (row[back], x[i - back]);
                let out = &mut out[i - back];
                for l in 0..LANES {
                    sum[l] += entry[l] * there[l];
                    out[l] -= entry[l] * here[l];
                }
            }
            for l in 0..LANES {
                out[i][l] -= sum[l];
            }
        }
    }

    /// Factor in place as `L D L'`, with `1 / D` on the diagonal.
    #[inline(always)]
    fn factor(&mut self, w: usize) {
        let n = self.rows.len() / (w + 1);
        let at = |i: usize, j: usize| i * (w + 1) + i - j;
        for i in 0..n {
            let start = i - w.min(i);
            let mut pivot = self.rows[at(i, i)];
            for j in start..i {
                let mut scaled = self.rows[at(i, j)];
                for k in start..j {
                    if j - k <= w {
                        let (a, b) = (self.rows[at(i, k)], self.rows[at(j, k)]);
                        for l in 0..LANES {
                            scaled[l] -= a[l] * b[l];
                        }
                    }
                }
                self.rows[at(i, j)] = scaled;
            }
            for j in start..i {
                let (scaled, inverse) = (self.rows[at(i, j)], self.rows[at(j, j)]);
                let entry: Lane = std::array::from_fn(|l| scaled[l] * inverse[l]);
                for l in 0..LANES {
                    pivot[l] -= scaled[l] * entry[l];
                }
                self.rows[at(i, j)] = entry;
            }
            self.rows[at(i, i)] = std::array::from_fn(|l| 1.0 / pivot[l]);
        }
    }

    #[inline(always)]
    fn solve(&self, w: usize, x: &mut [Lane]) {
        let rows = || self.rows.chunks_exact(w + 1).enumerate();
        for (i, row) in rows() {
            let mut sum = x[i];
            for back in 1..=w.min(i) {
                let (entry, there) = (row[back], x[i - back]);
                for l in 0..LANES {
                    sum[l] -= entry[l] * there[l];
                }
            }
            x[i] = sum;
        }
        for (i, row) in rows() {
            for l in 0..LANES {
                x[i][l] *= row[0][l];
            }
        }
        for (i, row) in rows().rev() {
            let here = x[i];
            for back in 1..=w.min(i) {
                let (entry, there) = (row[back], &mut x[i - back]);
                for l in 0..LANES {
                    there[l] -= entry[l] * here[l];
                }
            }
        }
    }
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
        let reach = |pair: Pair| {
            if pair.left < n && pair.right < n {
                pair.left.abs_diff(pair.right)
            } else {
                0
            }
        };
        let springs = first.model.springs.iter().map(|spring| reach(spring.pair));
        let dampers = first.model.dampers.iter().map(|damper| reach(damper.0));
        let width = springs.chain(dampers).max().unwrap_or(0);
        let elements = (0..first.model.elements.len()).map(|e| {
            let pair = first.model.elements[e].pair;
            let slider = |l: usize| model(l).elements[e].law.slider();
            Element {
                left: pair.left.min(n),
                right: pair.right.min(n),
                stiffness: std::array::from_fn(|l| slider(l).map_or(0.0, |(k, _)| k)),
                reach: std::array::from_fn(|l| slider(l).map_or(f64::INFINITY, |(_, reach)| reach)),
                plastic: ZERO,
                offset: ZERO,
                elongation: ZERO,
                force: ZERO,
                work: ZERO,
                peak: ZERO,
                slope: ZERO,
                // no slope is this, so that the first step factors
                factored: [f64::NAN; LANES],
            }
        });
        let contacts = (0..first.model.contacts.len()).map(|c| {
            let pair = first.model.contacts[c].pair;
            Contact {
                left: pair.left.min(n),
                right: pair.right.min(n),
                gap: std::array::from_fn(|l| model(l).contacts[c].gap),
                nearest: ZERO,
            }
        });
        let vector = || vec![ZERO; n + 1];
        let three = || [vector(), vector(), vector()];
        Self {
            n,
            dt,
            masses: (0..n)
                .map(|i| std::array::from_fn(|l| model(l).masses[i]))
                .collect(),
            left: Band::of(n, width, &left),
            stiffness: Band::of(n, width, &stiffness),
            damping: Band::of(n, width, &damping),
            tangent: Band::of(n, width, &left),
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
        }
    }

    /// Move all runs on to `stop`, or to the step before a contact closes in them.
    pub fn glide(&mut self, walks: &mut [Walk<'_, Banded>], stop: u64) {
        let goes = |walk: &Walk<'_, Banded>| {
            walk.index < stop && walk.contacts.iter().all(|contact| !contact.touching)
        };
        let last = walks.len() - 1;
        let mut going: [bool; LANES] = std::array::from_fn(|l| goes(&walks[l.min(last)]));
        if !going.contains(&true) {
            return;
        }
        let took_part = going;
        self.load(walks);
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
        self.store(walks, &took_part);
    }

    /// One step of the lanes that go; those that cannot take it stop. Returns which have taken it.
    #[inline(always)]
    fn step(&mut self, w: usize, ground: &Lane, going: &mut [bool; LANES]) -> [bool; LANES] {
        let n = self.n;
        let (dt, half, quarter) = (self.dt, 0.5 * self.dt, 0.25 * self.dt * self.dt);
        let [u, v, a] = &self.state;
        let [next_u, next_v, _] = &mut self.next;
        for i in 0..n {
            for l in 0..LANES {
                next_u[i][l] = u[i][l] + dt * v[i][l] + quarter * a[i][l];
                next_v[i][l] = v[i][l] + half * a[i][l];
                self.x[i][l] = a[i][l];
                self.right[i][l] = -self.masses[i][l] * ground[l];
            }
        }
        self.stiffness.subtract_times(w, next_u, &mut self.right);
        self.damping.subtract_times(w, next_v, &mut self.right);
        let mut loads = ZERO;
        for right in &self.right[..n] {
            raise(&mut loads, right);
        }
        for element in &mut self.elements {
            let (left, right) = (next_u[element.left], next_u[element.right]);
            for l in 0..LANES {
                element.offset[l] = element.plastic[l] - (left[l] - right[l]);
            }
        }
        let mut converged = [false; LANES];
        for _ in 0..ITERATIONS {
            let largest = self.evaluate(w, quarter, loads);
            let mut off = ZERO;
            for residual in &self.residual[..n] {
                raise(&mut off, residual);
            }
            for l in 0..LANES {
                converged[l] |= off[l] <= TOLERANCE * largest[l];
            }
            if (0..LANES).all(|l| converged[l] || !going[l]) {
                break;
            }
            self.factor(w, quarter);
            self.tangent.solve(w, &mut self.residual);
            if !converged.contains(&true) {
                for i in 0..n {
                    for l in 0..LANES {
                        self.x[i][l] += self.residual[i][l];
                    }
                }
                continue;
            }
            for i in 0..n {
                for l in 0..LANES {
                    let moved = self.x[i][l] + self.residual[i][l];
                    self.x[i][l] = if converged[l] { self.x[i][l] } else { moved };
                }
            }
        }
        for l in 0..LANES {
            going[l] &= converged[l];
        }
        let [next_u, next_v, _] = &mut self.next;
        for i in 0..n {
            for l in 0..LANES {
                next_u[i][l] += quarter * self.x[i][l];
                next_v[i][l] += half * self.x[i][l];
            }
        }
        for contact in &self.contacts {
            for l in 0..LANES {
                let d = next_u[contact.left][l] - next_u[contact.right][l] - contact.gap[l];
                going[l] &= d <= 0.0;
            }
        }
        let taken = *going;
        // a version for the usual case, in which nothing is chosen lane by lane
        if taken == [true; LANES] {
            self.commit(w, ground, &[true; LANES]);
        } else {
            self.commit(w, ground, &taken);
        }
        taken
    }

    /// Residual and slopes at the accelerations `x`; returns the largest force of each lane.
    #[inline(always)]
    fn evaluate(&mut self, w: usize, quarter: f64, loads: Lane) -> Lane {
        let mut largest = loads;
        self.residual.copy_from_slice(&self.right);
        self.left.subtract_times(w, &self.x, &mut self.residual);
        for element in &mut self.elements {
            let (left, right) = (self.x[element.left], self.x[element.right]);
            let mut force = ZERO;
            for l in 0..LANES {
                let free = quarter * (left[l] - right[l]) - element.offset[l];
                let elastic = clamp(free, element.reach[l]);
                force[l] = element.stiffness[l] * elastic;
                element.slope[l] = if free == elastic {
                    element.stiffness[l]
                } else {
                    0.0
                };
            }
            raise(&mut largest, &force);
            for l in 0..LANES {
                self.residual[element.left][l] -= force[l];
                self.residual[element.right][l] += force[l];
            }
        }
        // what the base has taken up is nobody's residual
        self.residual[self.n] = ZERO;
        largest
    }

    /// Factor the tangent unless no slope has changed.
    #[inline(always)]
    fn factor(&mut self, w: usize, quarter: f64) {
        if self.elements.iter().all(|e| e.slope == e.factored) {
            return;
        }
        self.tangent.rows.copy_from_slice(&self.left.rows);
        for element in &mut self.elements {
            element.factored = element.slope;
            let (low, high) = (
                element.left.min(element.right),
                element.left.max(element.right),
            );
            for l in 0..LANES {
                let value = quarter * element.slope[l];
                self.tangent.rows[low * (w + 1)][l] += value;
                if high < self.n {
                    self.tangent.rows[high * (w + 1)][l] += value;
                    self.tangent.rows[high * (w + 1) + high - low][l] -= value;
                }
            }
        }
        self.tangent.factor(w);
    }

    /// Make the step the state of the lanes that take it; peaks, work and powers.
    #[inline(always)]
    fn commit(&mut self, w: usize, ground: &Lane, taken: &[bool; LANES]) {
        let n = self.n;
        let [next_u, next_v, _] = &self.next;
        let [u, v, a] = &mut self.state;
        let mut momentum = ZERO;
        for i in 0..n {
            let row = &self.damping.rows[i * (w + 1)..(i + 1) * (w + 1)];
            let mut beside = ZERO;
            for back in 1..=w.min(i) {
                let (entry, there) = (row[back], next_v[i - back]);
                for l in 0..LANES {
                    beside[l] += entry[l] * there[l];
                }
            }
            let rate = next_v[i];
            let mut absolute = ZERO;
            for l in 0..LANES {
                let power = rate[l] * (row[0][l] * rate[l] + 2.0 * beside[l]);
                self.damped[i][l] += if taken[l] { power } else { 0.0 };
                momentum[l] += self.masses[i][l] * rate[l];
                absolute[l] = self.x[i][l] + ground[l];
                u[i][l] = if taken[l] { next_u[i][l] } else { u[i][l] };
                v[i][l] = if taken[l] { rate[l] } else { v[i][l] };
                a[i][l] = if taken[l] { self.x[i][l] } else { a[i][l] };
            }
            // a lane that has not moved has its old values here, or a step's that do not count
            let [peak_u, peak_v, peak_a] = &mut self.peaks;
            raise_if(taken, &mut peak_u[i], &next_u[i]);
            raise_if(taken, &mut peak_v[i], &rate);
            raise_if(taken, &mut peak_a[i], &absolute);
        }
        for l in 0..LANES {
            self.base[l] += if taken[l] {
                -ground[l] * momentum[l]
            } else {
                0.0
            };
        }
        for element in &mut self.elements {
            let (left, right) = (next_u[element.left], next_u[element.right]);
            for l in 0..LANES {
                let elongation = left[l] - right[l];
                let elastic = clamp(elongation - element.plastic[l], element.reach[l]);
                let force = element.stiffness[l] * elastic;
                let work = 0.5 * (force + element.force[l]) * (elongation - element.elongation[l]);
                if taken[l] {
                    element.plastic[l] = elongation - elastic;
                    element.work[l] += work;
                    element.force[l] = force;
                    element.elongation[l] = elongation;
                }
            }
            raise_if(taken, &mut element.peak, &element.elongation);
        }
        for contact in &mut self.contacts {
            for l in 0..LANES {
                let d = next_u[contact.left][l] - next_u[contact.right][l] - contact.gap[l];
                let nearer = taken[l] && d > contact.nearest[l];
                contact.nearest[l] = if nearer { d } else { contact.nearest[l] };
            }
        }
    }

    /// Take the state of the runs; lanes without a run repeat the last one.
    fn load(&mut self, walks: &[Walk<'_, Banded>]) {
        let walk = |lane: usize| &walks[lane.min(walks.len() - 1)];
        for i in 0..self.n {
            self.state[0][i] = std::array::from_fn(|l| walk(l).u[i]);
            self.state[1][i] = std::array::from_fn(|l| walk(l).v[i]);
            self.state[2][i] = std::array::from_fn(|l| walk(l).a[i]);
            self.damped[i] = std::array::from_fn(|l| walk(l).tally.damped[i]);
            for (part, peaks) in self.peaks.iter_mut().enumerate() {
                peaks[i] = std::array::from_fn(|l| walk(l).tally.peaks[part][i]);
            }
        }
        self.base = std::array::from_fn(|l| walk(l).tally.base);
        for (e, element) in self.elements.iter_mut().enumerate() {
            let at = |l: usize| &walk(l).elements[e];
            element.plastic = std::array::from_fn(|l| at(l).past.flowing()[0]);
            element.elongation = std::array::from_fn(|l| at(l).elongation);
            element.force = std::array::from_fn(|l| at(l).force);
            element.work = std::array::from_fn(|l| at(l).work);
            element.peak = std::array::from_fn(|l| at(l).peak_drift);
        }
        for (c, contact) in self.contacts.iter_mut().enumerate() {
            contact.nearest = std::array::from_fn(|l| walk(l).watches[c].nearest);
        }
    }

    /// Give the state back to the runs that took part.
    fn store(&self, walks: &mut [Walk<'_, Banded>], took_part: &[bool; LANES]) {
        for (l, walk) in walks.iter_mut().enumerate().filter(|(l, _)| took_part[*l]) {
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
}

/// Within plus and minus `reach`, written so that it is two instructions a vector.
#[inline(always)]
fn clamp(value: f64, reach: f64) -> f64 {
    let below = if value > reach { reach } else { value };
    if below < -reach { -reach } else { below }
}

#[inline(always)]
fn raise(largest: &mut Lane, values: &Lane) {
    for l in 0..LANES {
        let size = values[l].abs();
        largest[l] = if size > largest[l] { size } else { largest[l] };
    }
}

#[inline(always)]
fn raise_if(taken: &[bool; LANES], peaks: &mut Lane, values: &Lane) {
    for l in 0..LANES {
        let size = values[l].abs();
        let higher = taken[l] && size > peaks[l];
        peaks[l] = if higher { size } else { peaks[l] };
    }
}
