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
    #[inline]
    pub fn update(
        &mut self,
        innovation: f64,
        h: &[f64],
        noise: f64,
        mean: &mut [f64],
        covariance: &mut [f64],
    ) -> Innovation {
        let n = mean.len();
        times(covariance, h, &mut self.ph);
        let variance = dot(h, &self.ph) + noise;
        for ((gain, ph), mean) in self.gain.iter_mut().zip(&self.ph).zip(mean.iter_mut()) {
            *gain = ph / variance;
            *mean += *gain * innovation;
        }
        // (I - K h) P, then its product with the transposed factor
        let rows = self.left.chunks_exact_mut(n);
        for ((left, row), gain) in rows.zip(covariance.chunks_exact(n)).zip(&self.gain) {
            for ((left, p), ph) in left.iter_mut().zip(row).zip(&self.ph) {
                *left = p - gain * ph;
            }
        }
        times(&self.left, h, &mut self.ph);
        for i in 0..n {
            for j in 0..=i {
                let upper = self.left[j * n + i] - self.ph[j] * self.gain[i];
                let lower = self.left[i * n + j] - self.ph[i] * self.gain[j];
                let value = 0.5 * (upper + lower) + noise * self.gain[i] * self.gain[j];
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
