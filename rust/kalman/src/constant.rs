//! The same steps with constant parameters: what the channels read, and how far that is from the data.
//!
//! Points in parameter space run side by side on all cores; each is computed alone, so that the result does not depend
//! on how many there are.

use rayon::prelude::*;

use crate::{Augmented, Dynamics, KalmanError};

/// Walk from a start through `samples` samples with one set of parameters, giving each reading to `see`.
fn run(
    dynamics: &mut Augmented<'_>,
    start: &[f64],
    parameters: &[f64],
    samples: usize,
    mut see: impl FnMut(usize, &[f64]),
) -> Result<(), KalmanError> {
    let mut moving = start.to_vec();
    let mut reading = vec![0.0; dynamics.channels()];
    dynamics.restart();
    dynamics.set(0, parameters)?;
    for sample in 0..samples {
        if sample > 0 {
            dynamics.walk(sample, &mut moving, None);
        }
        dynamics.read(sample, &moving, &mut reading, None);
        see(sample, &reading);
    }
    Ok(())
}

fn points<'a>(
    dynamics: &Augmented<'_>,
    start: &[f64],
    parameters: &'a [f64],
    samples: usize,
) -> Result<rayon::slice::ChunksExact<'a, f64>, KalmanError> {
    let count = dynamics.states() - dynamics.moving();
    for (what, found, expected) in [
        ("start", start.len(), dynamics.moving()),
        ("input", dynamics.samples().min(samples), samples),
        (
            "parameters",
            parameters.len(),
            parameters.len() / count.max(1) * count.max(1),
        ),
    ] {
        if found != expected {
            return Err(KalmanError::Length {
                what,
                found,
                expected,
            });
        }
    }
    Ok(parameters.par_chunks_exact(count.max(1)))
}

/// Readings of each point, (points, samples, channels); NaN throughout for a point the system cannot take.
pub fn respond(
    dynamics: &Augmented<'_>,
    start: &[f64],
    parameters: &[f64],
    samples: usize,
) -> Result<Vec<f64>, KalmanError> {
    let channels = dynamics.channels();
    let all: Vec<Vec<f64>> = points(dynamics, start, parameters, samples)?
        .map_with(dynamics.clone(), |dynamics, point| {
            let mut out = Vec::with_capacity(samples * channels);
            let done = run(dynamics, start, point, samples, |_, reading| {
                out.extend_from_slice(reading);
            });
            if done.is_err() {
                out = vec![f64::NAN; samples * channels];
            }
            out
        })
        .collect();
    Ok(all.concat())
}

/// Sums of squared differences from data (samples, channels) of each point, (points, channels); measurements that are
/// NaN are left out.
pub fn misfit(
    dynamics: &Augmented<'_>,
    start: &[f64],
    parameters: &[f64],
    data: &[f64],
) -> Result<Vec<f64>, KalmanError> {
    let channels = dynamics.channels();
    let samples = data.len() / channels;
    let all: Vec<Vec<f64>> = points(dynamics, start, parameters, samples)?
        .map_with(dynamics.clone(), |dynamics, point| {
            let mut sums = vec![0.0; channels];
            let done = run(dynamics, start, point, samples, |sample, reading| {
                let measured = &data[sample * channels..(sample + 1) * channels];
                for ((sum, z), y) in sums.iter_mut().zip(measured).zip(reading) {
                    if !z.is_nan() {
                        *sum += (z - y) * (z - y);
                    }
                }
            });
            if done.is_err() {
                sums.fill(f64::NAN);
            }
            sums
        })
        .collect();
    Ok(all.concat())
}
