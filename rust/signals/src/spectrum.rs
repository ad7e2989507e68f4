//! Elastic response spectra.

use rayon::prelude::*;

use crate::error::SignalError;
use crate::oscillator::{Oscillator, Response, State};

/// Steps that differ by less than this share are one: instants such as `i * 0.005` are rounded.
const SAME_STEP: f64 = 1e-9;

const RESPONSES: [Response; 3] = [
    Response::Displacement,
    Response::Velocity,
    Response::Acceleration,
];

/// Largest responses over all time, one entry a period.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spectrum {
    /// Displacement relative to the base, m.
    pub displacement_m: Vec<f64>,
    /// Velocity relative to the base, m/s.
    pub velocity_m_s: Vec<f64>,
    /// Absolute acceleration, m/s^2.
    pub acceleration_m_s2: Vec<f64>,
}

/// Peaks of oscillators that start at rest on a base with this acceleration, linear between samples and zero after the
/// last: the free vibration that follows is part of it. The same bits at any number of threads.
pub fn response_spectrum(
    times_s: &[f64],
    accelerations_m_s2: &[f64],
    periods_s: &[f64],
    damping: f64,
) -> Result<Spectrum, SignalError> {
    check(times_s, accelerations_m_s2, periods_s, damping)?;
    let peaks: Vec<[f64; 3]> = periods_s
        .par_iter()
        .map(|&period| peaks_of(times_s, accelerations_m_s2, period, damping))
        .collect();
    Ok(Spectrum {
        displacement_m: peaks.iter().map(|p| p[0]).collect(),
        velocity_m_s: peaks.iter().map(|p| p[1]).collect(),
        acceleration_m_s2: peaks.iter().map(|p| p[2]).collect(),
    })
}

fn check(times: &[f64], values: &[f64], periods: &[f64], damping: f64) -> Result<(), SignalError> {
    if times.len() != values.len() || times.len() < 2 {
        return Err(SignalError::Length {
            times: times.len(),
            values: values.len(),
        });
    }
    let refused = |key, value, allowed| SignalError::Value {
        key,
        value,
        allowed,
    };
    for (index, pair) in times.windows(2).enumerate() {
        // Written so that NaN is refused as well.
        if !matches!(
            pair[1].partial_cmp(&pair[0]),
            Some(std::cmp::Ordering::Greater)
        ) {
            return Err(SignalError::Order {
                index: index + 1,
                time_s: pair[1],
            });
        }
    }
    if let Some(&value) = times.iter().find(|v| !v.is_finite()) {
        return Err(refused("time_s", value, "must be finite"));
    }
    if let Some(&value) = values.iter().find(|v| !v.is_finite()) {
        return Err(refused("acceleration_m_s2", value, "must be finite"));
    }
    if let Some(&value) = periods.iter().find(|p| !(p.is_finite() && **p > 0.0)) {
        return Err(refused("period_s", value, "must be above 0"));
    }
    if !(0.0..=10.0).contains(&damping) {
        return Err(refused("damping", damping, "must lie from 0 to 10"));
    }
    Ok(())
}

/// A recurrence and the step it is for.
struct Stepper {
    step_s: f64,
    parts: usize,
    rows: [[f64; 4]; 2],
}

impl Stepper {
    fn new(oscillator: &Oscillator, step_s: f64) -> Self {
        let parts = oscillator.parts(step_s);
        Self {
            step_s,
            parts,
            rows: oscillator.recurrence(step_s / parts as f64),
        }
    }

    /// Step from a state; raise `peaks` to what is met on the way.
    fn advance(
        &self,
        oscillator: &Oscillator,
        mut state: State,
        from: f64,
        to: f64,
        peaks: &mut [f64; 3],
    ) -> State {
        let part = self.step_s / self.parts as f64;
        let slope = (to - from) / self.step_s;
        let mut a = from;
        let mut before = oscillator.responses(state, a);
        for _ in 0..self.parts {
            // Loads first: the chain from state to state stays short.
            let [u, v] = self
                .rows
                .map(|r| (r[2] * a + r[3] * slope) + (r[0] * state.u + r[1] * state.v));
            let next = State { u, v };
            let end = a + slope * part;
            let after = oscillator.responses(next, end);
            for (i, peak) in peaks.iter_mut().enumerate() {
                let ((x0, d0), (x1, d1)) = (before[i], after[i]);
                let ends = x0.abs().max(x1.abs());
                *peak = peak.max(ends);
                // A parabola with these rates rises by `part d0^2 / (2 |d0 - d1|)` above its start: twice that is safe
                // for steps of a tenth of the period, and few turns come near the peak. Without short circuit or
                // division: the sign of a rate cannot be predicted, this whole condition can.
                let turns = d0 * d1 < 0.0;
                if turns & (part * d0 * d0 > (*peak - x0.abs()) * (d0 - d1).abs()) {
                    *peak = peak.max(oscillator.peak(RESPONSES[i], state, a, slope, part));
                }
            }
            (state, a, before) = (next, end, after);
        }
        state
    }
}

fn peaks_of(times: &[f64], values: &[f64], period: f64, damping: f64) -> [f64; 3] {
    let oscillator = Oscillator::new(period, damping);
    let mut peaks = [0.0; 3];
    let mut state = State::default();
    let mut stepper = Stepper::new(&oscillator, times[1] - times[0]);
    for i in 1..times.len() {
        let step = times[i] - times[i - 1];
        if (step - stepper.step_s).abs() > SAME_STEP * stepper.step_s {
            stepper = Stepper::new(&oscillator, step);
        }
        state = stepper.advance(&oscillator, state, values[i - 1], values[i], &mut peaks);
    }
    // After the last sample the base is at rest, and every response peaks within a period.
    Stepper::new(&oscillator, period).advance(&oscillator, state, 0.0, 0.0, &mut peaks);
    peaks
}
