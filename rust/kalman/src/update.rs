//! One measured number taken in.
//!
//! Channels have independent noise, so that they can be taken one after the other: the result is that of the update
//! with all of them, without a matrix to invert. The covariance is updated in the form of Joseph,
//! `(I - K h) P (I - K h)' + R K K'`, a sum of positive terms whatever the rounding of the gain.

/// What an update says about its measurement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Innovation {
    /// Measured less expected.
    pub value: f64,
    /// Its variance as the filter expected it.
    pub variance: f64,
}

/// Calls a function with the number of states as a constant where it is small: loops over five numbers cost several
/// times as much when their length is not known in advance.
macro_rules! sized {
    ($states:expr, $function:ident ( $($argument:expr),* $(,)? )) => {
        match $states {
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            6 => $function::<6>($($argument),*),
            8 => $function::<8>($($argument),*),
            _ => $function::<0>($($argument),*),
        }
    };
}
pub(crate) use sized;

/// Room for one update.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    ph: Vec<f64>,
    gain: Vec<f64>,
    left: Vec<f64>,
}

/// Product of a symmetric matrix with a vector.
#[inline(always)]
fn times(matrix: &[f64], vector: &[f64], out: &mut [f64]) {
    for (out, row) in out.iter_mut().zip(matrix.chunks_exact(vector.len())) {
        *out = dot(row, vector);
    }
}

#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Room {
    pub fn new(states: usize) -> Self {
        Self {
            ph: vec![0.0; states],
            gain: vec![0.0; states],
            left: vec![0.0; states * states],
        }
    }

    /// Take in one number: `innovation` before it, `h` the derivatives of what was expected, `noise` its variance.
    /// `STATES` is the number of states, or 0: see [`sized`].
    #[inline]
    pub fn update<const STATES: usize>(
        &mut self,
        innovation: f64,
        h: &[f64],
        noise: f64,
        mean: &mut [f64],
        covariance: &mut [f64],
    ) -> Innovation {
        let n = if STATES > 0 { STATES } else { mean.len() };
        let (h, mean, covariance) = (&h[..n], &mut mean[..n], &mut covariance[..n * n]);
        let (ph, gains) = (&mut self.ph[..n], &mut self.gain[..n]);
        let lefts = &mut self.left[..n * n];
        times(covariance, h, ph);
        let variance = dot(h, ph) + noise;
        for ((gain, ph), mean) in gains.iter_mut().zip(&*ph).zip(mean.iter_mut()) {
            *gain = ph / variance;
            *mean += *gain * innovation;
        }
        // (I - K h) P, then its product with the transposed factor
        let rows = lefts.chunks_exact_mut(n);
        for ((left, row), gain) in rows.zip(covariance.chunks_exact(n)).zip(&*gains) {
            for ((left, p), ph) in left.iter_mut().zip(row).zip(&*ph) {
                *left = p - gain * ph;
            }
        }
        times(lefts, h, ph);
        for i in 0..n {
            for j in 0..=i {
                let upper = lefts[j * n + i] - ph[j] * gains[i];
                let lower = lefts[i * n + j] - ph[i] * gains[j];
                let value = 0.5 * (upper + lower) + noise * gains[i] * gains[j];
                covariance[i * n + j] = value;
                covariance[j * n + i] = value;
            }
        }
        Innovation {
            value: innovation,
            variance,
        }
    }
}
