//! Adams' predictor and corrector with Milne's modifier: two evaluations a step, where Runge and Kutta's takes four.
//!
//! ```text
//! p = y + h/24 (55 f0 - 59 f1 + 37 f2 - 9 f3)       Bashforth, off by 251/720 h^5 times the fifth derivative
//! c = y + h/24 (9 f(p) + 19 f0 - 5 f1 + f2)         Moulton, off by -19/720 of the same
//! p + 251/270 (c - p)                               off by no more than h^6
//! ```
//!
//! with f0 the derivative now and f1 to f3 those at the starts of the three steps before (Hamming 1959; Hairer,
//! Norsett and Wanner 1993, section III.1). A kink of the forces must not lie between them. At one, and where a step is
//! too long for the method, predictor and corrector part: then the step is taken by `rk4`, and so are the next three.

use super::{NUMBERS, Smooth, VELOCITIES};
use crate::setup::Setup;

/// Derivatives at the starts of earlier steps, the newest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Past {
    slopes: [Vec<f64>; BACK],
    /// How many of them are of a smooth past.
    known: usize,
    /// How far predictor and corrector were apart lately [m/s or rad/s]; infinite: nothing is known.
    apart: f64,
}

/// Steps that the predictor looks back.
const BACK: usize = 3;
const PREDICTOR: [f64; 4] = [55.0 / 24.0, -59.0 / 24.0, 37.0 / 24.0, -9.0 / 24.0];
/// The last is that of f(p).
const CORRECTOR: [f64; 4] = [19.0 / 24.0, -5.0 / 24.0, 1.0 / 24.0, 9.0 / 24.0];
/// Share of the way from predictor to corrector that leaves no error of fifth order.
const TAKEN: f64 = 251.0 / 270.0;

/// Predictor and corrector that part so many times as far as lately have met a kink. One that is missed so does no
/// more harm than the steps around it.
const KINK: f64 = 2.0;
/// How the memory of that fades in a step: slower than the difference itself goes through zero.
const FADING: f64 = 0.9;
/// Below this the difference is rounding [m/s or rad/s].
const ROUNDING: f64 = 1e-12;
/// Above this the step is too long for the method, which goes unstable at less than half the step of `rk4`.
const TOO_LONG: f64 = 1e-3;

impl Past {
    pub fn new(length: usize) -> Self {
        Self {
            slopes: std::array::from_fn(|_| vec![0.0; length]),
            known: 0,
            apart: f64::INFINITY,
        }
    }

    /// What was before no longer tells what comes.
    pub fn forget(&mut self) {
        self.known = 0;
        self.apart = f64::INFINITY;
    }

    /// Keeps the slope at the start of a step just taken, and hands out the place of one no longer needed.
    fn remember(&mut self, slope: &mut Vec<f64>) {
        self.slopes.rotate_right(1);
        std::mem::swap(&mut self.slopes[0], slope);
        self.known = (self.known + 1).min(BACK);
    }

    /// Whether predictor and corrector that are this far apart have met a kink, or a step too long.
    fn parts(&mut self, apart: f64) -> bool {
        let parts = apart > TOO_LONG || apart > KINK * self.apart.max(ROUNDING);
        let known = self.apart.is_finite();
        self.apart = apart.max(if known { FADING * self.apart } else { 0.0 });
        parts
    }

    /// All its numbers.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let slopes = self.slopes.iter().flatten().copied();
        slopes.chain([self.known as f64, self.apart])
    }

    /// Takes back what [`Past::numbers`] gave.
    pub fn set(&mut self, mut next: impl FnMut() -> f64) {
        self.slopes.iter_mut().flatten().for_each(|x| *x = next());
        self.known = next() as usize;
        self.apart = next();
    }
}

impl Smooth {
    /// A step of `h` from `t`.
    pub(super) fn predict_and_correct(&mut self, setup: &Setup, t: f64, h: f64) {
        if self.past.known < BACK || !self.follow(setup, t, h) {
            self.advance(setup, t, h);
        }
        self.past.remember(&mut self.slopes[0]);
        self.accept();
    }

    /// The state after `h` by the past, and the derivative there, as [`Smooth::advance`] leaves them; false where the
    /// past does not tell.
    fn follow(&mut self, setup: &Setup, t: f64, h: f64) -> bool {
        let last = self.slopes.len() - 1;
        let [w0, w1, w2, w3] = PREDICTOR.map(|weight| h * weight);
        let length = self.stage.len();
        // Slices of one length: the compiler then checks it once, and takes the numbers by pairs.
        let [f1, f2, f3] = self.past.slopes.each_ref().map(|f| &f[..length]);
        let (start, f0) = (&self.state[..length], &self.slopes[0][..length]);
        for (k, y) in self.stage.iter_mut().enumerate() {
            *y = start[k] + (w0 * f0[k] + w1 * f1[k]) + (w2 * f2[k] + w3 * f3[k]);
        }
        self.evaluate(setup, t + h, last, false);
        let [w0, w1, w2, w] = CORRECTOR.map(|weight| h * weight);
        let [f1, f2, _] = self.past.slopes.each_ref().map(|f| &f[..length]);
        let [f0, .., difference] = &mut self.slopes[..] else {
            return false;
        };
        let (f0, start, predicted) = (&f0[..length], &self.state[..length], &self.stage[..length]);
        for (k, f) in difference[..length].iter_mut().enumerate() {
            let by = (w0 * f0[k] + w1 * f1[k]) + (w2 * f2[k] + w * *f);
            *f = start[k] + by - predicted[k];
        }
        let velocities = difference
            .chunks_exact(NUMBERS)
            .flat_map(|x| &x[VELOCITIES]);
        if self
            .past
            .parts(velocities.fold(0.0, |worst, x| worst.max(x.abs())))
        {
            self.past.forget();
            return false;
        }
        for (y, difference) in self.stage.iter_mut().zip(&*difference) {
            *y += TAKEN * difference;
        }
        self.normalise();
        self.evaluate(setup, t + h, last, true);
        true
    }
}
