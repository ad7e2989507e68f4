//! Peaks of event-located runs: closed form where there is one, else what the motion shows when it is looked at densely.

use crate::common::{every, frames, hertz_stiffness};
use percuss_laws::{Damping, Impact, Law};
use percuss_oscillators::{
    BaseMotion, Harmonic, Integrator, Run, Settings, System, free_collision, simulate,
};
use proptest::prelude::*;

/// Largest force of the Kelvin-Voigt contact of a free pair over `v sqrt(k m)`. With `d'' + 2 z d' + d = 0` the force is
/// `-d''`. Its rate at the onset is `1 - 4 z^2`: where that is not positive the force is largest as it jumps, `2 z`;
/// else at `tan(s t) = s (1 - 4 z^2) / (z (3 - 4 z^2))` with `s^2 = 1 - z^2`.
fn kelvin_voigt_peak(z: f64) -> f64 {
    if z >= 0.5 {
        return 2.0 * z;
    }
    let s = (1.0 - z * z).sqrt();
    let t = f64::atan2(s * (1.0 - 4.0 * z * z), z * (3.0 - 4.0 * z * z)) / s;
    let (sin, cos) = (s * t).sin_cos();
    (-z * t).exp() * (sin / s + 2.0 * z * (cos - z * sin / s))
}

#[test]
fn kelvin_voigt_peak_is_that_of_the_closed_form() {
    let (masses, k, speed) = ([6.0239, 4.9871], 2e5, 0.25);
    let m = masses[0] * masses[1] / (masses[0] + masses[1]);
    for law in [Law::KelvinVoigt, Law::KelvinVoigtTension] {
        for damping in [Damping::Exact, Damping::Nominal] {
            for percent in 1..=100 {
                let e = f64::from(percent) / 100.0;
                let c = Impact::new(law, damping, e, k, m)
                    .unwrap()
                    .constant_damper();
                let exact = speed * (k * m).sqrt() * kelvin_voigt_peak(0.5 * c / (k * m).sqrt());
                let collision = free_collision(law, damping, e, k, masses, speed).unwrap();
                let off = collision.peak_force_n / exact - 1.0;
                assert!(off.abs() < 1e-12, "{law:?} {damping:?} e {e}: {off:e}");
            }
        }
    }
}

/// 131.22291006 N by scipy's DOP853 with events located, rtol 1e-13, force maximised over its dense output.
#[test]
fn soft_contact_of_the_frames_has_its_exact_peak() {
    let system = frames(Law::KelvinVoigt, Damping::Nominal, 0.5, 2e5);
    let run = simulate(&system, &every(12.0, 12.0, Integrator::Event)).unwrap();
    assert!(
        (run.peaks.force_n[0] - 131.22291006).abs() < 2e-8,
        "{}",
        run.peaks.force_n[0]
    );
    assert!((run.peaks.acceleration_m_s2[1] / 9.80665 - 2.68175435).abs() < 1e-8);
}

const SAMPLES: usize = 4000;

/// The run looked at from `from` to `to`.
fn looked_at(system: &System, from: f64, to: f64, duration_s: f64) -> Run {
    let time = |i: usize| from + (to - from) * i as f64 / SAMPLES as f64;
    let settings = Settings {
        duration_s,
        output_times_s: (0..=SAMPLES).map(time).collect(),
        integrator: Integrator::Event,
    };
    simulate(system, &settings).unwrap()
}

/// Largest size in a column, and that plus the change to the samples beside it: between the two the top must lie.
fn largest(values: &[f64], columns: usize, column: usize) -> [f64; 2] {
    let column = values.iter().skip(column).step_by(columns);
    let column: Vec<f64> = column.map(|x| x.abs()).collect();
    let best = (0..column.len()).fold(0, |best, i| if column[i] > column[best] { i } else { best });
    let beside = &column[best.saturating_sub(1)..(best + 2).min(column.len())];
    let lowest = beside.iter().fold(f64::INFINITY, |m, x| m.min(*x));
    [column[best], 2.0 * column[best] - lowest]
}

/// Whether a peak is no lower than the largest of looks at the motion, and no higher than it may have got in between.
fn is_top(peak: f64, looks: &[[f64; 2]]) -> bool {
    let most = |i: usize| looks.iter().fold(0.0_f64, |m, look| m.max(look[i]));
    peak >= most(0) * (1.0 - 1e-12) && peak <= most(1) * (1.0 + 1e-12)
}

fn shaken(law: Law, damping: Damping, restitution: f64, stiffness: f64, gap_m: f64) -> System {
    let mut system = frames(law, damping, restitution, stiffness);
    system.contacts[0].gap_m = gap_m;
    system.base = BaseMotion::Harmonics(vec![Harmonic {
        amplitude_m_s2: 1.0,
        frequency_hz: 1.3,
        phase_rad: 0.3,
        start_s: 0.1,
        end_s: 1.1,
    }]);
    system
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn peaks_are_those_of_the_motion(
        law in (0..Law::ALL.len() - 1).prop_map(|i| Law::ALL[i]), nominal: bool, e in 0.05..1.0_f64,
        decades in 4.0..7.0_f64, gap in 0.005..0.03_f64,
    ) {
        let stiffness = 10_f64.powf(decades);
        let stiffness = if law.facts().exponent > 1.0 { hertz_stiffness(stiffness / 1e3) } else { stiffness };
        let damping = if nominal { Damping::Nominal } else { Damping::Exact };
        let system = shaken(law, damping, e, stiffness, gap);
        let duration = 1.3;
        let run = simulate(&system, &every(duration, duration, Integrator::Event)).unwrap();
        let mut forces = Vec::new();
        let mut near_impacts = Vec::new();
        for impact in run.impacts.iter().filter(|impact| impact.duration_s > 1e-7) {
            // a hair inside: the force at the edges is that of the one side or the other
            let hair = 1e-12 * impact.duration_s;
            let end = impact.start_s + impact.duration_s - hair;
            let near = looked_at(&system, impact.start_s + hair, end, duration);
            let force = largest(&near.force_n, 1, 0);
            prop_assert!(
                is_top(impact.peak_force_n, &[force]),
                "{law:?} {damping:?} impact at {}: {} {force:?}", impact.start_s, impact.peak_force_n
            );
            prop_assert!(is_top(impact.deepest_m, &[largest(&near.gap_m, 1, 0)]));
            forces.push(force);
            near_impacts.push(near);
        }
        if !forces.is_empty() {
            prop_assert!(is_top(run.peaks.force_n[0], &forces));
        }
        near_impacts.push(looked_at(&system, 0.0, duration, duration));
        for mass in 0..2 {
            let seen = |history: &dyn Fn(&Run) -> Vec<f64>| -> Vec<[f64; 2]> {
                near_impacts.iter().map(|run| largest(&history(run), 2, mass)).collect()
            };
            let peaks = &run.peaks;
            let checks = [
                ("acceleration", peaks.acceleration_m_s2[mass], seen(&|run| run.acceleration_m_s2.clone())),
                ("velocity", peaks.velocity_m_s[mass], seen(&|run| run.velocity_m_s.clone())),
                ("displacement", peaks.displacement_m[mass], seen(&|run| run.displacement_m.clone())),
            ];
            for (what, peak, seen) in checks {
                prop_assert!(is_top(peak, &seen), "{law:?} {damping:?} {what} of {mass}: {peak} {seen:?}");
            }
        }
    }
}
