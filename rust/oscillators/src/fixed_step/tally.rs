//! Sums and peaks over the steps of a run, and the loop that keeps them in registers.

use crate::Model;
use crate::matrices::propagator::{Propagator, Vector};

/// Sums and peaks over the steps of a run.
#[derive(Debug, Clone)]
pub(crate) struct Tally<V> {
    /// What the power lost in dampers is made of, one entry a mass.
    pub(super) damped: V,
    pub(super) base: f64,
    /// Of displacement, velocity and absolute acceleration.
    pub(super) peaks: [V; 3],
}

impl<V: Vector> Tally<V> {
    pub fn new<P: Propagator<Vector = V>>(n: usize) -> Self {
        Self {
            damped: P::zeros(n),
            base: 0.0,
            peaks: [P::zeros(n), P::zeros(n), P::zeros(n)],
        }
    }

    /// Take in a state; `a` is the absolute acceleration.
    #[inline(always)]
    pub fn add<P: Propagator<Vector = V>>(&mut self, propagator: &P, u: &V, v: &V, a: &V) {
        propagator.add_damped(v, &mut self.damped);
        let [peak_u, peak_v, peak_a] = &mut self.peaks;
        raise(peak_u, u);
        raise(peak_v, v);
        raise(peak_a, a);
    }

    /// Take in the power of the base.
    #[inline(always)]
    pub fn add_base(&mut self, model: &Model, ground: f64, v: &V) {
        self.base += model.base_power(ground, v.as_ref());
    }

    /// Take in the tally of a stretch in which velocity and acceleration were counted in other units.
    pub fn merge(&mut self, mut other: Self, velocity_unit: f64, acceleration_unit: f64) {
        let scale = |x: &mut V, factor: f64| x.as_mut().iter_mut().for_each(|x| *x *= factor);
        scale(&mut other.damped, velocity_unit * velocity_unit);
        scale(&mut other.peaks[1], velocity_unit);
        scale(&mut other.peaks[2], acceleration_unit);
        self.base += other.base;
        for (sum, more) in self.damped.as_mut().iter_mut().zip(other.damped.as_ref()) {
            *sum += more;
        }
        for (peaks, others) in self.peaks.iter_mut().zip(&other.peaks) {
            raise(peaks, others);
        }
    }
}

#[inline(always)]
fn raise<V: Vector>(peaks: &mut V, values: &V) {
    for (peak, value) in peaks.as_mut().iter_mut().zip(values.as_ref()) {
        let size = value.abs();
        *peak = if size > *peak { size } else { *peak };
    }
}

/// Call `self.glide_while(walk, stop, open)` with a test of whether all contacts stay open, in one version for each of
/// no contact, one and several; not at all where the base moves or springs are not linear, which take the plain way.
macro_rules! glide {
    ($scheme:ident, $walk:ident, $stop:ident) => {{
        if !$walk.reader.is_fixed() || !$walk.cubic.is_empty() || !$walk.elements.is_empty() {
            return;
        }
        let mut watches = std::mem::take(&mut $walk.watches);
        match watches.as_mut_slice() {
            [] => $scheme.glide_while($walk, $stop, |_| true),
            [watch] => $scheme.glide_while($walk, $stop, |u| watch.stays_open(u)),
            several => $scheme.glide_while($walk, $stop, |u| {
                several.iter_mut().all(|watch| watch.stays_open(u))
            }),
        }
        $walk.watches = watches;
    }};
}
pub(crate) use glide;
