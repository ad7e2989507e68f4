//! Springs with a law and nonlinear dampers of a fixed-step run.
//!
//! Each step takes the elongation straight from one state to the next, which for laws independent of rate is the whole
//! truth unless the motion turns within the step. The work is that of the mean force over the change of elongation.

use percuss_laws::{Hysteresis, Past};

use super::Walk;
use crate::matrices::propagator::Propagator;
use crate::system::model::{Element, Pair};

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct WalkElement {
    pub pair: Pair,
    pub law: Hysteresis,
    pub past: Past,
    /// Elongation in the current state.
    pub elongation: f64,
    pub(super) force: f64,
    pub(super) work: f64,
    pub(super) peak_drift: f64,
    stored_at_start: f64,
}

impl WalkElement {
    pub fn new(element: &Element, u0: &[f64], v0: &[f64]) -> Self {
        let (elongation, rate) = (element.pair.difference(u0), element.pair.difference(v0));
        let past = element.law.begin(elongation, rate);
        Self {
            pair: element.pair,
            law: element.law,
            past,
            elongation,
            force: element.law.respond(&past, elongation, rate).force,
            work: 0.0,
            peak_drift: elongation.abs(),
            stored_at_start: element.law.stored(&past, elongation),
        }
    }

    /// Force for a state that may or may not become the next one.
    #[inline(always)]
    pub fn trial_force(&self, elongation: f64, rate: f64) -> f64 {
        self.law.respond(&self.past, elongation, rate).force
    }

    /// Energy held at the start and now, J.
    pub fn stored(&self) -> [f64; 2] {
        [
            self.stored_at_start,
            self.law.stored(&self.past, self.elongation),
        ]
    }

    #[inline(always)]
    fn take(&mut self, elongation: f64, rate: f64) -> f64 {
        let force = self.law.take(&mut self.past, elongation, rate);
        self.work += 0.5 * (force + self.force) * (elongation - self.elongation);
        self.peak_drift = self.peak_drift.max(elongation.abs());
        self.elongation = elongation;
        self.force = force;
        force
    }
}

impl<P: Propagator> Walk<'_, P> {
    /// Take the elements to the new state.
    #[inline]
    pub fn commit_elements(&mut self) {
        for (element, force) in self.elements.iter_mut().zip(&mut self.element_forces) {
            let elongation = element.pair.difference(self.u.as_ref());
            let rate = element.pair.difference(self.v.as_ref());
            *force = element.take(elongation, rate);
        }
    }

    /// As [`Walk::commit_elements`], with rates over the step before, for schemes that do not know the velocity yet.
    #[inline]
    pub fn commit_elements_lagging(&mut self) {
        let per_step = 1.0 / self.dt;
        for (element, force) in self.elements.iter_mut().zip(&mut self.element_forces) {
            let elongation = element.pair.difference(self.u.as_ref());
            let rate = (elongation - element.elongation) * per_step;
            *force = element.take(elongation, rate);
        }
    }
}
