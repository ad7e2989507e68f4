//! The extended Kalman filter (Green et al., Eqs. 3-13), parameters free to drift.
//!
//! Process noise acts on parameters only: a random step of `drift` times the estimate before it, in each sample
//! (Eq. 35). Displacements and velocities get none, so that whatever the model lacks must show in the parameters.
//! A measurement that is NaN is left out, and counted.

use std::f64::consts::TAU;

use crate::update::{Room, dot, sized};
use crate::{Dynamics, KalmanError};

/// Where a filter starts and what it believes.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Mean of the state at sample 0.
    pub mean: Vec<f64>,
    /// Covariance of the state at sample 0, row by row.
    pub covariance: Vec<f64>,
    /// Coefficient of variation of the step of each parameter.
    pub drift: Vec<f64>,
    /// Variance of the noise of each channel.
    pub noise: Vec<f64>,
    /// Whether sample 0 is measured, too; otherwise it is only where the filter starts.
    pub use_first: bool,
    /// Keep what a smoother needs.
    pub keep: bool,
}

/// The course of a filter. Histories are row by row, one row a sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filtered {
    /// Entries of the state.
    pub states: usize,
    /// Measured channels.
    pub channels: usize,
    /// Means after each sample.
    pub mean: Vec<f64>,
    /// Standard deviations after each sample.
    pub std: Vec<f64>,
    /// Measured less expected; NaN where nothing was measured. Channels are taken in order, each given those before.
    pub innovation: Vec<f64>,
    /// Variance the filter expected of each innovation; NaN where nothing was measured.
    pub innovation_variance: Vec<f64>,
    /// Sum of the logarithms of the densities of all innovations.
    pub log_likelihood: f64,
    /// Measurements taken in.
    pub used: usize,
    /// Measurements left out because they are NaN.
    pub skipped: usize,
    /// Covariance after the last sample, row by row.
    pub covariance: Vec<f64>,
    pub(crate) kept: Vec<Kept>,
}

/// What a smoother needs of a sample.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    /// Tangent of the step to this sample, moving rows.
    pub slope: Vec<f64>,
    pub predicted_mean: Vec<f64>,
    pub predicted: Vec<f64>,
    pub covariance: Vec<f64>,
}

impl Settings {
    fn check(&self, dynamics: &impl Dynamics, data: &[f64]) -> Result<usize, KalmanError> {
        let (states, moving) = (dynamics.states(), dynamics.moving());
        let channels = dynamics.channels();
        let samples = data.len() / channels.max(1);
        for (what, found, expected) in [
            ("start mean", self.mean.len(), states),
            ("start covariance", self.covariance.len(), states * states),
            ("drift", self.drift.len(), states - moving),
            ("noise", self.noise.len(), channels),
            ("data", data.len(), samples.max(2) * channels.max(1)),
            ("input", dynamics.samples().min(samples), samples),
        ] {
            if found != expected {
                return Err(KalmanError::Length {
                    what,
                    found,
                    expected,
                });
            }
        }
        let number = |what, values: &[f64], least: fn(f64) -> bool| match values
            .iter()
            .position(|&x| !(x.is_finite() && least(x)))
        {
            Some(index) => Err((what, index, values[index])),
            None => Ok(()),
        };
        let not_finite = |(what, index, value)| KalmanError::NotFinite { what, index, value };
        let negative = |(what, index, value)| KalmanError::Negative { what, index, value };
        number("start mean", &self.mean, |_| true).map_err(not_finite)?;
        number("start covariance", &self.covariance, |_| true).map_err(not_finite)?;
        let diagonal: Vec<f64> = self
            .covariance
            .iter()
            .step_by(states + 1)
            .copied()
            .collect();
        number("start variance", &diagonal, |x| x >= 0.0).map_err(negative)?;
        number("drift", &self.drift, |x| x >= 0.0).map_err(negative)?;
        number("noise variance", &self.noise, |x| x > 0.0)
            .map_err(|(what, index, value)| KalmanError::NotPositive { what, index, value })?;
        match data.iter().position(|x| x.is_infinite()) {
            Some(index) => Err(not_finite(("data", index, data[index]))),
            None => Ok(samples),
        }
    }
}

/// Follow the data, (samples, channels) row by row, NaN where nothing was measured.
pub fn filter(
    dynamics: &mut impl Dynamics,
    settings: &Settings,
    data: &[f64],
) -> Result<Filtered, KalmanError> {
    let samples = settings.check(dynamics, data)?;
    sized!(dynamics.states(), follow(dynamics, settings, data, samples))
}

fn follow<const STATES: usize>(
    dynamics: &mut impl Dynamics,
    settings: &Settings,
    data: &[f64],
    samples: usize,
) -> Result<Filtered, KalmanError> {
    let (n, moving, channels) = (dynamics.states(), dynamics.moving(), dynamics.channels());
    let mut mean = settings.mean.clone();
    let mut covariance = settings.covariance.clone();
    let mut out = Filtered {
        states: n,
        channels,
        mean: Vec::with_capacity(samples * n),
        std: Vec::with_capacity(samples * n),
        innovation: Vec::with_capacity(data.len()),
        innovation_variance: Vec::with_capacity(data.len()),
        kept: Vec::with_capacity(if settings.keep { samples } else { 0 }),
        ..Filtered::default()
    };
    let mut slope = vec![0.0; moving * n];
    let mut product = vec![0.0; moving * n];
    let mut step_variance = vec![0.0; n - moving];
    let mut reading = vec![0.0; channels];
    let mut derivative = vec![0.0; channels * n];
    let mut before = vec![0.0; n];
    let mut room = Room::new(n);
    for (sample, measured) in data.chunks_exact(channels).enumerate() {
        if sample > 0 {
            for ((variance, cv), value) in step_variance
                .iter_mut()
                .zip(&settings.drift)
                .zip(&mean[moving..])
            {
                *variance = (cv * value) * (cv * value);
            }
            dynamics.advance(sample, &mut mean, &mut slope)?;
            predict::<STATES>(
                n,
                moving,
                &slope,
                &step_variance,
                &mut product,
                &mut covariance,
            );
        }
        before.copy_from_slice(&mean);
        let predicted = settings.keep.then(|| covariance.clone());
        let measuring = sample > 0 || settings.use_first;
        if measuring && measured.iter().any(|z| !z.is_nan()) {
            dynamics.observe(sample, &mean, &mut reading, &mut derivative)?;
        }
        for channel in 0..channels {
            let z = measured[channel];
            if !measuring || z.is_nan() {
                out.skipped += usize::from(measuring);
                out.innovation.push(f64::NAN);
                out.innovation_variance.push(f64::NAN);
                continue;
            }
            let h = &derivative[channel * n..(channel + 1) * n];
            let mut innovation = z - reading[channel];
            if channel > 0 {
                // linearised once, at the prediction: what earlier channels moved is known through h
                innovation += dot(h, &before) - dot(h, &mean);
            }
            let noise = settings.noise[channel];
            let found = room.update::<STATES>(innovation, h, noise, &mut mean, &mut covariance);
            out.log_likelihood -=
                0.5 * ((TAU * found.variance).ln() + found.value * found.value / found.variance);
            out.used += 1;
            out.innovation.push(found.value);
            out.innovation_variance.push(found.variance);
        }
        if !mean.iter().all(|x| x.is_finite()) {
            return Err(KalmanError::Diverged { sample });
        }
        out.mean.extend_from_slice(&mean);
        out.std
            .extend(covariance.iter().step_by(n + 1).map(|v| v.max(0.0).sqrt()));
        if let Some(predicted) = predicted {
            out.kept.push(Kept {
                slope: slope.clone(),
                predicted_mean: before.clone(),
                predicted,
                covariance: covariance.clone(),
            });
        }
    }
    out.covariance = covariance;
    Ok(out)
}

/// `F P F' + Q` with `F = [slope; 0 I]` and Q on the diagonal of the parameters.
#[inline]
fn predict<const STATES: usize>(
    states: usize,
    moving: usize,
    slope: &[f64],
    step_variance: &[f64],
    product: &mut [f64],
    covariance: &mut [f64],
) {
    let n = if STATES > 0 { STATES } else { states };
    let covariance = &mut covariance[..n * n];
    for (out, row) in product.chunks_exact_mut(n).zip(slope.chunks_exact(n)) {
        out.fill(0.0);
        for (f, p) in row.iter().zip(covariance.chunks_exact(n)) {
            for (out, p) in out.iter_mut().zip(p) {
                *out += f * p;
            }
        }
    }
    for i in 0..moving {
        let row = &product[i * n..(i + 1) * n];
        for j in 0..=i {
            let value = dot(row, &slope[j * n..(j + 1) * n]);
            covariance[i * n + j] = value;
            covariance[j * n + i] = value;
        }
        for j in moving..n {
            covariance[i * n + j] = row[j];
            covariance[j * n + i] = row[j];
        }
    }
    for (i, variance) in (moving..n).zip(step_variance) {
        covariance[i * n + i] += variance;
    }
}
