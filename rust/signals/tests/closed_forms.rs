//! Spectra against closed forms.

use percuss_signals::{SignalError, response_spectrum};
use std::f64::consts::{PI, TAU};

fn close(found: f64, expected: f64, relative: f64) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{found} is not {expected}"
    );
}

/// A base that starts to accelerate at once: an undamped oscillator goes to twice the static displacement, a damped one
/// to `1 + exp(-pi z / sqrt(1 - z^2))` times it.
#[test]
fn step() {
    let times = [0.0, 0.013, 40.0];
    for (period, damping) in [(0.1, 0.0), (1.0, 0.0), (1.0, 0.05), (3.0, 0.3), (8.0, 0.02)] {
        let found = response_spectrum(&times, &[2.0; 3], &[period], damping).unwrap();
        let omega = TAU / period;
        let over = 1.0 + (-PI * damping / (1.0f64 - damping * damping).sqrt()).exp();
        // Undamped, the end of the step may add to the swing: only the damped case has come to rest by then.
        if damping > 0.01 {
            close(found.displacement_m[0], 2.0 / (omega * omega) * over, 1e-9);
        } else {
            assert!(found.displacement_m[0] >= 2.0 / (omega * omega) * 2.0 * (1.0 - 1e-12));
        }
    }
}

/// Half a triangle: a ramp from 0 to `a` in `d`, then nothing. Undamped, the residual amplitude is the modulus of the
/// transform of the pulse, here by hand.
#[test]
fn ramp_that_ends() {
    let (a, d) = (3.0, 0.4);
    for period in [1.3, 2.0, 5.0, 60.0] {
        let w = TAU / period;
        let found = response_spectrum(&[0.0, d], &[0.0, a], &[period], 0.0).unwrap();
        // Integrals of t cos wt and t sin wt over the ramp.
        let c = d * (w * d).sin() / w + ((w * d).cos() - 1.0) / (w * w);
        let s = -d * (w * d).cos() / w + (w * d).sin() / (w * w);
        close(found.displacement_m[0], a / d * c.hypot(s) / w, 1e-9);
        close(found.acceleration_m_s2[0], a / d * c.hypot(s) * w, 1e-9);
    }
}

/// A full triangle shorter than half the period: the peak comes afterwards,
/// `u = 2 a / (w^3 h) (2 sin(w (t - h)) - sin(w t) - sin(w (t - 2h))) ` of the exact solution, `h` its half length.
#[test]
fn triangle() {
    let (a, h, period) = (1.5, 0.2, 1.7);
    let w = TAU / period;
    let found = response_spectrum(&[0.0, h, 2.0 * h], &[0.0, a, 0.0], &[period], 0.0).unwrap();
    let amplitude = a / (w * w * w * h) * 2.0 * (1.0 - (w * h).cos());
    close(found.displacement_m[0], amplitude, 1e-9);
    close(found.velocity_m_s[0], amplitude * w, 1e-6);
}

/// Long harmonic motion: the transmissibility of the steady state. Straight lines between 200 samples a period make
/// the wave smaller by the square of sinc(1/200), and nothing else.
#[test]
fn harmonic() {
    let (period, load, damping, per_period) = (0.8, 0.5, 0.1, 200);
    let count = 60 * per_period;
    let times: Vec<f64> = (0..=count)
        .map(|i| f64::from(i) * load / f64::from(per_period))
        .collect();
    let values: Vec<f64> = times.iter().map(|t| (TAU * t / load).sin()).collect();
    let found = response_spectrum(&times, &values, &[period], damping).unwrap();
    let r = period / load;
    let below = ((1.0 - r * r).powi(2) + (2.0 * damping * r).powi(2)).sqrt();
    let w = TAU / period;
    // The steady state is the smaller part here: the transient has gone after 60 periods but it peaked before.
    assert!(found.displacement_m[0] > 1.0 / (w * w) / below);
    // In resonance the steady state is approached from below, and the peak is its amplitude.
    let resonant = response_spectrum(&times, &values, &[load], damping).unwrap();
    let sinc = (PI / f64::from(per_period)).sin() / (PI / f64::from(per_period));
    let w = TAU / load;
    close(
        resonant.displacement_m[0],
        sinc * sinc / (w * w) / (2.0 * damping),
        1e-6,
    );
}

/// A stiff oscillator moves with the base, a soft one stays where it was.
#[test]
fn limits() {
    let times: Vec<f64> = (0..=400).map(|i| f64::from(i) * 0.01).collect();
    let values: Vec<f64> = times.iter().map(|t| (TAU * t).sin()).collect();
    let found = response_spectrum(&times, &values, &[1e-3, 1e5], 0.05).unwrap();
    close(found.acceleration_m_s2[0], 1.0, 1e-3);
    // a = sin(wt): u = -(t/w - sin(wt)/w^2), largest at the end and after it.
    close(found.velocity_m_s[1], 2.0 / TAU, 1e-3);
}

#[test]
fn cutting_a_record_changes_nothing() {
    let coarse = [0.0, 0.3, 0.7, 1.1];
    let values = [0.0, 2.0, -3.0, 1.0];
    let (mut times, mut fine) = (vec![0.0], vec![0.0]);
    for i in 1..4 {
        for k in 1..=7 {
            let share = f64::from(k) / 7.0;
            times.push(coarse[i - 1] + share * (coarse[i] - coarse[i - 1]));
            fine.push(values[i - 1] + share * (values[i] - values[i - 1]));
        }
    }
    let periods = [0.05, 0.3, 1.0, 4.0];
    let one = response_spectrum(&coarse, &values, &periods, 0.05).unwrap();
    let other = response_spectrum(&times, &fine, &periods, 0.05).unwrap();
    for i in 0..periods.len() {
        close(one.displacement_m[i], other.displacement_m[i], 1e-10);
        close(one.velocity_m_s[i], other.velocity_m_s[i], 1e-10);
        close(one.acceleration_m_s2[i], other.acceleration_m_s2[i], 1e-10);
    }
}

#[test]
fn bad_input_is_refused() {
    let refused = |t: &[f64], a: &[f64], p: &[f64], z| response_spectrum(t, a, p, z).unwrap_err();
    assert!(matches!(
        refused(&[0.0], &[0.0], &[1.0], 0.05),
        SignalError::Length { .. }
    ));
    assert!(matches!(
        refused(&[0.0, 0.0], &[0.0, 1.0], &[1.0], 0.05),
        SignalError::Order { index: 1, .. }
    ));
    for (value, period, damping) in [
        (f64::NAN, 1.0, 0.05),
        (1.0, 0.0, 0.05),
        (1.0, f64::NAN, 0.05),
        (1.0, 1.0, -0.1),
        (1.0, 1.0, f64::NAN),
    ] {
        assert!(matches!(
            refused(&[0.0, 1.0], &[0.0, value], &[period], damping),
            SignalError::Value { .. }
        ));
    }
}
