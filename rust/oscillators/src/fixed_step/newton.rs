//! Newton's method for the accelerations of an implicit step with springs that yield.
//!
//! `left x + B' f(x) = right`, `f` the forces of springs with a law, cubic springs and contacts at the end of the step. The
//! tangent matrix is a band; its factors are kept as long as no slope changes, so that a step in which no spring
//! yields or unloads costs one solve. Forces rise with the motion, so the tangent is positive; should the residual not
//! fall all the same, the caller has a slower way that cannot fail.

use super::Walk;
use crate::Model;
use crate::matrices::propagator::Propagator;
use crate::matrices::tangent_band::TangentBand;
use crate::system::model::Pair;

/// Iterations after which the caller's way is taken.
pub(super) const ITERATIONS: usize = 40;
/// Residual in units of the largest force of the step.
pub(super) const TOLERANCE: f64 = 1e-12;

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
    left: TangentBand,
    stiffness: TangentBand,
    damping: TangentBand,
    /// Tangent without and with contacts that push, and which of them holds the factors.
    tangents: [TangentBand; 2],
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
            left: TangentBand::of(n, narrow, left),
            stiffness: TangentBand::of(n, narrow, &model.stiffness_matrix()),
            damping: TangentBand::of(n, narrow, &model.damping_matrix()),
            tangents: [TangentBand::new(n, narrow), TangentBand::new(n, wide)],
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
