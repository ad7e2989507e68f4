//! Newton's method for the accelerations of an implicit step with springs that yield.
//!
//! `left x + B' f(x) = right`, `f` the forces of springs with a law, cubic springs and contacts at the end of the step. The
//! tangent matrix is a band; its factors are kept as long as no slope changes, so that a step in which no spring
//! yields or unloads costs one solve. Forces rise with the motion, so the tangent is positive; should the residual not
//! fall all the same, the caller has a slower way that cannot fail.

use super::Walk;
use crate::Model;
use crate::matrices::propagator::Propagator;
use crate::system::model::Pair;

/// Iterations after which the caller's way is taken.
const ITERATIONS: usize = 40;
/// Residual in units of the largest force of the step.
const TOLERANCE: f64 = 1e-12;

/// A symmetric band, lower half: entry `(i, j)` at `i * (width + 1) + width + j - i`.
#[derive(Debug, Clone, Default)]
struct Band {
    n: usize,
    width: usize,
    rows: Vec<f64>,
}

impl Band {
    fn new(n: usize, width: usize) -> Self {
        Self {
            n,
            width,
            rows: vec![0.0; n * (width + 1)],
        }
    }

    fn of(n: usize, width: usize, matrix: &[f64]) -> Self {
        let mut band = Self::new(n, width);
        for i in 0..n {
            for j in i.saturating_sub(width)..=i {
                let at = band.at(i, j);
                band.rows[at] = matrix[i * n + j];
            }
        }
        band
    }

    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> usize {
        i * (self.width + 1) + self.width + j - i
    }

    /// Take the entries of a band that is not wider.
    fn take_from(&mut self, other: &Self) {
        if self.width == other.width {
            self.rows.copy_from_slice(&other.rows);
            return;
        }
        let skip = self.width - other.width;
        let rows = self.rows.chunks_exact_mut(self.width + 1);
        for (row, from) in rows.zip(other.rows.chunks_exact(other.width + 1)) {
            row[..skip].fill(0.0);
            row[skip..].copy_from_slice(from);
        }
    }

    /// Add the element matrix of a pair times `value`.
    #[inline(always)]
    fn add_pair(&mut self, pair: Pair, value: f64) {
        let (low, high) = (pair.left.min(pair.right), pair.left.max(pair.right));
        let at = self.at(low, low);
        self.rows[at] += value;
        if high < self.n {
            let (own, across) = (self.at(high, high), self.at(high, low));
            self.rows[own] += value;
            self.rows[across] -= value;
        }
    }

    /// Subtract this matrix times `x` from `out`.
    #[inline(always)]
    fn subtract_times(&self, x: &[f64], out: &mut [f64]) {
        let w = self.width;
        for (i, row) in self.rows.chunks_exact(w + 1).enumerate() {
            let start = i.saturating_sub(w);
            let mut sum = row[w] * x[i];
            for (j, entry) in (start..i).zip(&row[w + start - i..w]) {
                sum += entry * x[j];
                out[j] -= entry * x[i];
            }
            out[i] -= sum;
        }
    }

    /// Factor in place as `L D L'`, with `1 / D` on the diagonal.
    #[inline(always)]
    fn factor(&mut self) -> bool {
        let w = self.width;
        for i in 0..self.n {
            let start = i.saturating_sub(w);
            for j in start..i {
                let mut sum = self.rows[self.at(i, j)];
                for k in start.max(j.saturating_sub(w))..j {
                    sum -= self.rows[self.at(i, k)] * self.rows[self.at(j, k)];
                }
                // still L D: what the sums above and the pivot below want of one of the two
                let at = self.at(i, j);
                self.rows[at] = sum;
            }
            let mut pivot = self.rows[self.at(i, i)];
            for j in start..i {
                let scaled = self.rows[self.at(i, j)] * self.rows[self.at(j, j)];
                pivot -= scaled * self.rows[self.at(i, j)];
            }
            let at = self.at(i, i);
            self.rows[at] = 1.0 / pivot;
            if !(pivot > 0.0) {
                return false;
            }
            for j in start..i {
                let (at, diagonal) = (self.at(i, j), self.at(j, j));
                self.rows[at] *= self.rows[diagonal];
            }
        }
        true
    }

    #[inline(always)]
    fn solve(&self, x: &mut [f64]) {
        let w = self.width;
        for i in 1..self.n {
            let start = i.saturating_sub(w);
            let mut sum = x[i];
            for j in start..i {
                sum -= self.rows[self.at(i, j)] * x[j];
            }
            x[i] = sum;
        }
        for i in 0..self.n {
            x[i] *= self.rows[self.at(i, i)];
        }
        for i in (1..self.n).rev() {
            for j in i.saturating_sub(w)..i {
                x[j] -= self.rows[self.at(i, j)] * x[i];
            }
        }
    }
}

/// A spring whose force is that of a slider, laid out for the loop over all of them.
#[derive(Debug, Clone, Copy)]
struct SliderNumbers {
    left: usize,
    right: usize,
    stiffness: f64,
    reach: f64,
    /// Plastic elongation less the elongation there would be without acceleration.
    offset: f64,
}

/// Work space of the method for one system and step. Vectors have a last entry for the base, which stays zero.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newton {
    n: usize,
    left: Band,
    stiffness: Band,
    damping: Band,
    /// Tangent without and with contacts that push, and which of them holds the factors.
    tangents: [Band; 2],
    wide: bool,
    sliders: Vec<SliderNumbers>,
    slider_places: Vec<usize>,
    others: Vec<usize>,
    /// Slopes in the acceleration that the tangent was factored with: sliders, others, cubic springs, contacts.
    slopes: Vec<f64>,
    next_slopes: Vec<f64>,
    right: Vec<f64>,
    residual: Vec<f64>,
    predicted: [Vec<f64>; 2],
    x: Vec<f64>,
    /// Forces of the contacts at the end of the step.
    pub contact_forces: Vec<f64>,
}

impl Newton {
    /// For a system with the constant matrices of a scheme, row by row.
    pub fn new(model: &Model, left: &[f64]) -> Self {
        let n = model.masses();
        let reach = |pair: Pair| {
            if pair.left < n && pair.right < n {
                pair.left.abs_diff(pair.right)
            } else {
                0
            }
        };
        let springs = model.springs.iter().map(|spring| spring.pair);
        let dampers = model.dampers.iter().map(|&(pair, _)| pair);
        let elements = model.elements.iter().map(|element| element.pair);
        let narrow = springs.chain(dampers).chain(elements).map(reach).max();
        let narrow = narrow.unwrap_or(0);
        let contacts = model.contacts.iter().map(|contact| reach(contact.pair));
        let wide = contacts.fold(narrow, usize::max);
        let (mut sliders, mut slider_places, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (place, element) in model.elements.iter().enumerate() {
            match element.law.slider() {
                Some((stiffness, reach)) => {
                    sliders.push(SliderNumbers {
                        left: element.pair.left.min(n),
                        right: element.pair.right.min(n),
                        stiffness,
                        reach,
                        offset: 0.0,
                    });
                    slider_places.push(place);
                }
                None => others.push(place),
            }
        }
        let cubic = model.springs.iter().filter(|spring| spring.cubic != 0.0);
        let count = model.elements.len() + cubic.count() + model.contacts.len();
        Self {
            n,
            left: Band::of(n, narrow, left),
            stiffness: Band::of(n, narrow, &model.stiffness_matrix()),
            damping: Band::of(n, narrow, &model.damping_matrix()),
            tangents: [Band::new(n, narrow), Band::new(n, wide)],
            wide: false,
            sliders,
            slider_places,
            others,
            // no slope is this, so that the first step factors
            slopes: vec![f64::NAN; count],
            next_slopes: vec![0.0; count],
            right: vec![0.0; n],
            residual: vec![0.0; n + 1],
            predicted: [vec![0.0; n + 1], vec![0.0; n + 1]],
            x: vec![0.0; n + 1],
            contact_forces: vec![0.0; model.contacts.len()],
        }
    }

    /// Find the accelerations at the end of a step of Newmark's method from the predicted displacements and velocities,
    /// which they change by `quarter` and `half` times themselves. They are left in `a`, which holds those of the start;
    /// false if the method has not converged, with `a` as it was.
    pub fn solve<P: Propagator>(
        &mut self,
        walk: &Walk<'_, P>,
        [u, v]: [&[f64]; 2],
        [quarter, half]: [f64; 2],
        a: &mut [f64],
    ) -> bool {
        let n = self.n;
        self.predicted[0][..n].copy_from_slice(u);
        self.predicted[1][..n].copy_from_slice(v);
        self.x[..n].copy_from_slice(a);
        for (right, mass) in self.right.iter_mut().zip(&walk.model.masses) {
            *right = -mass * walk.ground;
        }
        self.stiffness.subtract_times(u, &mut self.right);
        self.damping.subtract_times(v, &mut self.right);
        for (slider, &place) in self.sliders.iter_mut().zip(&self.slider_places) {
            let plastic = walk.elements[place].past.flowing()[0];
            let predicted = &self.predicted[0];
            slider.offset = plastic - (predicted[slider.left] - predicted[slider.right]);
        }
        for _ in 0..ITERATIONS {
            let largest = self.evaluate(walk, quarter, half);
            let off = self.residual[..n]
                .iter()
                .fold(0.0, |m: f64, r| m.max(r.abs()));
            if off <= TOLERANCE * largest {
                a.copy_from_slice(&self.x[..n]);
                return true;
            }
            if off.is_nan() || !self.factor(walk, quarter) {
                return false;
            }
            self.tangents[usize::from(self.wide)].solve(&mut self.residual);
            for (x, change) in self.x[..n].iter_mut().zip(&self.residual) {
                *x += change;
            }
        }
        false
    }

    /// Residual and slopes at the accelerations `x`; returns the largest force.
    #[inline(always)]
    fn evaluate<P: Propagator>(&mut self, walk: &Walk<'_, P>, quarter: f64, half: f64) -> f64 {
        let n = self.n;
        self.residual[..n].copy_from_slice(&self.right);
        self.left.subtract_times(&self.x[..n], &mut self.residual);
        let mut largest = self.right.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        for (slider, slope) in self.sliders.iter().zip(&mut self.next_slopes) {
            let x = self.x[slider.left] - self.x[slider.right];
            let free = quarter * x - slider.offset;
            let elastic = free.clamp(-slider.reach, slider.reach);
            let force = slider.stiffness * elastic;
            *slope = if free == elastic {
                slider.stiffness
            } else {
                0.0
            };
            self.residual[slider.left] -= force;
            self.residual[slider.right] += force;
            largest = largest.max(force.abs());
        }
        let mut at = self.sliders.len();
        let [u, v] = &self.predicted;
        let mut push = |pair: Pair, slope_at: usize, force: f64, slope: f64| {
            pair.push_apart(force, &mut self.residual[..n]);
            self.next_slopes[slope_at] = slope;
            largest = largest.max(force.abs());
        };
        for &place in &self.others {
            let element = &walk.elements[place];
            let x = element.pair.difference(&self.x[..n]);
            let e = element.pair.difference(&u[..n]) + quarter * x;
            let rate = element.pair.difference(&v[..n]) + half * x;
            let response = element.law.respond(&element.past, e, rate);
            let slope = response.by_elongation + half / quarter * response.by_rate;
            push(element.pair, at, response.force, slope);
            at += 1;
        }
        for (pair, cubic, _) in &walk.cubic {
            let e = pair.difference(&u[..n]) + quarter * pair.difference(&self.x[..n]);
            push(*pair, at, cubic * e * e * e, 3.0 * cubic * e * e);
            at += 1;
        }
        for (contact, force) in walk.contacts.iter().zip(&mut self.contact_forces) {
            let x = contact.pair.difference(&self.x[..n]);
            let d = contact.pair.difference(&u[..n]) - contact.gap + quarter * x;
            let (pushing, slope) = if d > 0.0 {
                let rate = contact.pair.difference(&v[..n]) + half * x;
                let (pushing, by_d, by_rate) = contact.trial_slopes(d, rate);
                (pushing, by_d + half / quarter * by_rate)
            } else {
                (0.0, 0.0)
            };
            *force = pushing;
            push(contact.pair, at, pushing, slope);
            at += 1;
        }
        largest
    }

    /// Factor the tangent unless no slope has changed.
    #[inline(always)]
    fn factor<P: Propagator>(&mut self, walk: &Walk<'_, P>, quarter: f64) -> bool {
        if self.slopes == self.next_slopes {
            return true;
        }
        self.slopes.copy_from_slice(&self.next_slopes);
        let contacts = &self.slopes[self.slopes.len() - walk.contacts.len()..];
        self.wide = contacts.iter().any(|&slope| slope != 0.0);
        let tangent = &mut self.tangents[usize::from(self.wide)];
        tangent.take_from(&self.left);
        let sliders = self.slider_places.iter().chain(&self.others);
        let elements = sliders.map(|&place| walk.elements[place].pair);
        let cubic = walk.cubic.iter().map(|(pair, ..)| *pair);
        let contacts = walk.contacts.iter().map(|contact| contact.pair);
        for (pair, slope) in elements.chain(cubic).chain(contacts).zip(&self.slopes) {
            if *slope != 0.0 {
                tangent.add_pair(pair, quarter * slope);
            }
        }
        tangent.factor()
    }
}
