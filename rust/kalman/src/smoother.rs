//! The smoother of Rauch, Tung and Striebel (1965): every sample in the light of the whole record.
//!
//! Backwards from the last sample, `m_s = m + G (m_s' - m')`, `P_s = P + G (P_s' - P') G'`, `G = P F' P'^-1`, primes for
//! the next sample (smoothed and predicted). P' is factored in units of its own standard deviations, since those of
//! displacements and stiffnesses lie many powers of ten apart.

use nalgebra::{Cholesky, DMatrix, DVector};

use crate::{Filtered, KalmanError};

/// Smoothed histories, row by row, one row a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Smoothed {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations.
    pub std: Vec<f64>,
}

/// Smooth the course of a filter that kept what this needs (`Settings::keep`).
pub fn smooth(filtered: &Filtered) -> Result<Smoothed, KalmanError> {
    let n = filtered.states;
    let samples = filtered.mean.len() / n;
    if filtered.kept.len() != samples {
        return Err(KalmanError::Length {
            what: "record kept for smoothing",
            found: filtered.kept.len(),
            expected: samples,
        });
    }
    let matrix = |rows: &[f64]| DMatrix::from_row_slice(n, n, rows);
    let row = |at: usize| DVector::from_column_slice(&filtered.mean[at * n..(at + 1) * n]);
    let mut out = Smoothed {
        mean: filtered.mean.clone(),
        std: filtered.std.clone(),
    };
    let mut mean = row(samples - 1);
    let mut covariance = matrix(&filtered.covariance);
    for at in (0..samples - 1).rev() {
        let next = &filtered.kept[at + 1];
        let own = matrix(&filtered.kept[at].covariance);
        let predicted = matrix(&next.predicted);
        let mut tangent = DMatrix::identity(n, n);
        for (i, slope) in next.slope.chunks_exact(n).enumerate() {
            for (j, value) in slope.iter().enumerate() {
                tangent[(i, j)] = *value;
            }
        }
        let gain =
            gain(&own, &tangent, &predicted).ok_or(KalmanError::Covariance { sample: at + 1 })?;
        mean = row(at) + &gain * (mean - DVector::from_column_slice(&next.predicted_mean));
        covariance = &own + &gain * (covariance - predicted) * gain.transpose();
        covariance = (&covariance + covariance.transpose()) * 0.5;
        out.mean[at * n..(at + 1) * n].copy_from_slice(mean.as_slice());
        for i in 0..n {
            out.std[at * n + i] = covariance[(i, i)].max(0.0).sqrt();
        }
    }
    Ok(out)
}

/// `P F' P'^-1`; an entry without variance (a parameter taken as known) stands aside.
fn gain(
    own: &DMatrix<f64>,
    tangent: &DMatrix<f64>,
    predicted: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let n = own.nrows();
    let scale: Vec<f64> = (0..n)
        .map(|i| match predicted[(i, i)].sqrt() {
            s if s > 0.0 => s,
            _ => 1.0,
        })
        .collect();
    let correlation = DMatrix::from_fn(n, n, |i, j| {
        if i == j {
            1.0
        } else {
            predicted[(i, j)] / (scale[i] * scale[j])
        }
    });
    // G' = P'^-1 F P: solved with the scaled factor, S^-1 C^-1 S^-1 F P
    let mut right = tangent * own;
    for i in 0..n {
        right.row_mut(i).scale_mut(1.0 / scale[i]);
    }
    let mut solved = Cholesky::new(correlation)?.solve(&right);
    for i in 0..n {
        solved.row_mut(i).scale_mut(1.0 / scale[i]);
    }
    Some(solved.transpose())
}
