//! The event-located integrator against the stored trajectories of the two frames.

use crate::common::{every, frames, golden, hertz_stiffness};
use percuss_laws::{Damping, Law};
use percuss_oscillators::{Integrator, Run, simulate};

fn compare(name: &str, law: Law, stiffness: f64) -> Run {
    let settings = every(0.02, 12.0, Integrator::Event);
    let run = simulate(&frames(law, Damping::Nominal, 0.5, stiffness), &settings).unwrap();
    let table = golden(name);
    assert_eq!(table.len(), run.times_s.len());
    let mut worst = [0.0_f64; 3];
    for (row, stored) in table.iter().enumerate() {
        for mass in 0..2 {
            let u = run.displacement_m[2 * row + mass] * 1e3;
            worst[0] = worst[0].max((u - stored[1 + mass]).abs());
            let a = run.acceleration_m_s2[2 * row + mass];
            worst[1] = worst[1].max((a - stored[3 + mass]).abs() / (1.0 + stored[3 + mass].abs()));
        }
        worst[2] = worst[2].max((run.force_n[row] - stored[5]).abs() / (1.0 + stored[5]));
    }
    println!(
        "{name}: u {:.1e} mm, a {:.1e}, F {:.1e}, closing {:.1e}, {} impacts, {} steps",
        worst[0],
        worst[1],
        worst[2],
        run.energy.closing_error,
        run.impacts.len(),
        run.steps
    );
    assert!(
        worst[0] < 1e-6,
        "{name}: displacement off by {} mm",
        worst[0]
    );
    // nine stored digits of time limit the forces: k v dt = 2e6 * 0.2 * 5e-10 over 300 N
    assert!(worst[1] < 1e-6 && worst[2] < 1e-6, "{name}: {worst:?}");
    assert!(run.energy.closing_error.abs() < 1e-11);
    run
}

#[test]
fn kelvin_voigt_with_tension_cut() {
    compare("traj_kv_k2000_e0.5.csv", Law::KelvinVoigt, 2e6);
}

#[test]
fn ye() {
    compare("traj_ye_k2000_e0.5.csv", Law::Ye, 2e6);
}

#[test]
fn jankowski() {
    compare(
        "traj_jank_k500_e0.5.csv",
        Law::Jankowski,
        hertz_stiffness(500.0),
    );
}

#[test]
fn rigid() {
    compare("traj_rigid_e0.5.csv", Law::Rigid, f64::NAN);
}

#[test]
fn first_impact_resolved() {
    let table = golden("first_impact_kv_k2000_e0.5.csv");
    let mut settings = every(0.5, 0.5, Integrator::Event);
    settings.output_times_s = table.iter().map(|row| row[0]).collect();
    let run = simulate(
        &frames(Law::KelvinVoigt, Damping::Nominal, 0.5, 2e6),
        &settings,
    )
    .unwrap();
    let impact = run.impacts[0];
    for (row, stored) in table.iter().enumerate() {
        assert!((run.displacement_m[2 * row] * 1e3 - stored[1]).abs() < 1e-6);
        assert!((run.displacement_m[2 * row + 1] * 1e3 - stored[2]).abs() < 1e-6);
        // ten stored digits of time: the force moves by k v dt
        assert!(
            (run.force_n[row] - stored[5]).abs() < 2e6 * 0.25 * 1e-10 * 10.0 + 1e-7 * stored[5]
        );
    }
    let largest = table.iter().map(|row| row[5]).fold(0.0, f64::max);
    // the stored samples are 39 us apart: between two the force rises by (omega dt / 2)^2 / 2 = 1.5e-4 at most
    assert!(impact.peak_force_n >= largest && impact.peak_force_n < largest * 1.00015);
}

/// The onset is where the free flight of the first frame, in closed form, reaches the gap.
#[test]
fn first_impact_time_in_closed_form() {
    let run = simulate(
        &frames(Law::Rigid, Damping::Exact, 0.5, 0.0),
        &every(1.0, 1.0, Integrator::Event),
    )
    .unwrap();
    let (omega, ratio) = ((287.91_f64 / 6.0239).sqrt(), 0.006_f64);
    let damped = omega * (1.0 - ratio * ratio).sqrt();
    let t = run.impacts[0].start_s;
    let decay = (-ratio * omega * t).exp();
    let u = -0.04 * decay * ((damped * t).cos() + ratio * omega / damped * (damped * t).sin());
    let speed = 0.04 * decay * omega * omega / damped * (damped * t).sin();
    assert!(
        (u - 0.023).abs() < 1e-16 / 0.2
            && (run.impacts[0].approach_speed_m_s - speed).abs() < 1e-14
    );
}
