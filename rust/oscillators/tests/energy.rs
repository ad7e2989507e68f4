//! The energy account closes: to rounding for the event integrator, to the order of the scheme for the others.

use crate::common::{every, frames, hertz_stiffness};
use percuss_laws::{Damping, Law};
use percuss_oscillators::{BaseMotion, Harmonic, Integrator, Record, simulate};
use proptest::prelude::*;

fn stiffness(law: Law) -> f64 {
    if law.facts().exponent > 1.0 {
        hertz_stiffness(100.0)
    } else {
        2e5
    }
}

fn shaking(amplitude_m_s2: f64) -> BaseMotion {
    let wave = |frequency_hz, start_s, end_s| Harmonic {
        amplitude_m_s2,
        frequency_hz,
        phase_rad: 0.0,
        start_s,
        end_s,
    };
    BaseMotion::Harmonics(vec![wave(1.1, 0.0, 4.0), wave(2.3, 0.5, 3.0)])
}

#[test]
fn event_account_closes_for_every_law() {
    for law in Law::ALL {
        let mut system = frames(law, Damping::Exact, 0.6, stiffness(law));
        system.base = shaking(1.5);
        system.springs[0].cubic_n_per_m3 = 2e4;
        let run = simulate(&system, &every(0.5, 6.0, Integrator::Event)).unwrap();
        let energy = &run.energy;
        println!(
            "{law:?}: closing {:.1e}, contact {:.4} J, {} impacts",
            energy.closing_error,
            energy.contact_j[0],
            run.impacts.len()
        );
        assert!(energy.closing_error.abs() < 1e-11, "{law:?}: {energy:?}");
        assert!(energy.contact_j[0] > 0.0 && energy.damped_j > 0.0 && run.impacts.len() > 1);
    }
}

#[test]
fn fixed_step_accounts_close_with_the_step() {
    for (law, make) in [
        (
            Law::KelvinVoigt,
            (|step_s| Integrator::CentralDifference { step_s }) as fn(f64) -> Integrator,
        ),
        (Law::KelvinVoigt, |step_s| Integrator::Newmark { step_s }),
        (Law::KelvinVoigt, |step_s| Integrator::RungeKutta { step_s }),
        (Law::Rigid, |step_s| Integrator::MoreauJean {
            step_s,
            theta: 0.5,
        }),
    ] {
        let mut system = frames(law, Damping::Exact, 0.6, 2e5);
        system.base = shaking(1.5);
        let closing = |step: f64| {
            simulate(&system, &every(1.0, 3.0, make(step)))
                .unwrap()
                .energy
                .closing_error
                .abs()
        };
        let (coarse, fine) = (closing(1e-4), closing(1e-5));
        println!("{}: closing {coarse:.1e} -> {fine:.1e}", make(1.0).name());
        assert!(coarse < 5e-2 && fine < 5e-3);
    }
}

/// A free collision loses (1 - e^2) of the energy of approach, whatever the law.
#[test]
fn a_collision_loses_what_restitution_says() {
    for law in Law::ALL {
        let mut system = frames(law, Damping::Exact, 0.3, stiffness(law));
        system.springs.clear();
        system.dampers.clear();
        system.initial_velocity_m_s = vec![0.7, -0.1];
        let run = simulate(&system, &every(1.0, 1.0, Integrator::Event)).unwrap();
        let reduced = 6.0239 * 4.9871 / (6.0239 + 4.9871);
        let expected = 0.5 * reduced * 0.8 * 0.8 * (1.0 - 0.09);
        assert!(
            (run.energy.contact_j[0] / expected - 1.0).abs() < 1e-9,
            "{law:?}: {:?}",
            run.energy
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Contacts and dampers only take energy, and the account closes, for any law on a random record.
    #[test]
    fn nothing_is_gained(
        law in (0..Law::ALL.len()).prop_map(|i| Law::ALL[i]), e in 0.05..1.0_f64, nominal: bool,
        gap in 0.0..0.03_f64, values in prop::collection::vec(-5.0..5.0_f64, 60),
    ) {
        let damping = if nominal { Damping::Nominal } else { Damping::Exact };
        let mut system = frames(law, damping, e, stiffness(law));
        system.contacts[0].gap_m = gap;
        system.base = BaseMotion::Record(Record::new((0..60).map(|i| 0.05 * f64::from(i)).collect(), values).unwrap());
        let run = simulate(&system, &every(1.0, 4.0, Integrator::Event)).unwrap();
        prop_assert!(run.energy.closing_error.abs() < 1e-10, "{:?}", run.energy);
        // An elastic contact takes nothing, up to the integrator's error. A Hertz force is not smooth where the masses
        // part, which leaves up to 6e-11 in the restitution of one collision, and a run has some ten of them.
        prop_assert!(run.energy.damped_j >= 0.0 && run.energy.contact_j[0] >= -2e-9 * run.energy.initial_j);
        for impact in run.impacts.iter().filter(|impact| impact.rebound_speed_m_s.is_finite()) {
            prop_assert!(impact.approach_speed_m_s >= 0.0 && impact.duration_s >= 0.0 && impact.impulse_n_s >= 0.0);
        }
    }
}
