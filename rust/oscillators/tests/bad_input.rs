//! Bad input gets one clear sentence.

use crate::common::{every, frames};
use percuss_laws::{Damping, Law};
use percuss_oscillators::{BaseMotion, Harmonic, Integrator, Node, Settings, System, simulate};

fn refusal(change: impl FnOnce(&mut System, &mut Settings)) -> String {
    let mut system = frames(Law::KelvinVoigt, Damping::Exact, 0.5, 2e6);
    let mut settings = every(0.5, 1.0, Integrator::Event);
    change(&mut system, &mut settings);
    simulate(&system, &settings).unwrap_err().to_string()
}

#[test]
fn sentences() {
    let wave = Harmonic {
        amplitude_m_s2: 1.0,
        frequency_hz: 1.0,
        phase_rad: 0.0,
        start_s: 2.0,
        end_s: 1.0,
    };
    for (sentence, expected) in [
        (
            refusal(|s, _| s.masses_kg[1] = -4.0),
            "mass 1 is -4: it must be positive and finite",
        ),
        (
            refusal(|s, _| s.contacts[0].restitution = 1.5),
            "contact 0: restitution 1.5 cannot be delivered by the law `kelvin-voigt`: it must lie in 0.001 to 1",
        ),
        (
            refusal(|s, _| s.initial_displacement_m[0] = 0.024),
            "contact 0 overlaps by 0.0010000000000000009 m at the start: the gap less the initial displacements must be zero or more",
        ),
        (
            refusal(|s, _| s.springs[0].nodes[1] = Node::Mass(7)),
            "spring 0 names mass 7, but the masses are 0 to 1",
        ),
        (
            refusal(|s, _| s.contacts[0].right = Node::Mass(0)),
            "contact 0 joins a node to itself: it needs two different ones",
        ),
        (
            refusal(|s, _| s.springs[1].linear_n_per_m = f64::NAN),
            "spring stiffness 1 is NaN: it must be finite",
        ),
        (
            refusal(|s, _| s.dampers[0].viscous_n_s_per_m = -1.0),
            "damper 0 is -1: it must be zero or positive, and finite",
        ),
        (
            refusal(|s, _| s.masses_kg.clear()),
            "a system needs at least one mass",
        ),
        (
            refusal(|s, _| s.initial_velocity_m_s.push(0.0)),
            "initial velocity has 3 values for 2 masses",
        ),
        (
            refusal(|s, _| s.base = BaseMotion::Harmonics(vec![wave])),
            "harmonic 0 ends at 1 s, before its start at 2 s",
        ),
        (
            refusal(|_, t| t.duration_s = 0.0),
            "duration 0 s must be positive and finite",
        ),
        (
            refusal(|_, t| t.output_times_s = vec![0.5, 0.5]),
            "output time 1 is 0.5 s: output times must increase and lie in 0 to 1 s",
        ),
        (
            refusal(|_, t| t.integrator = Integrator::Newmark { step_s: -0.1 }),
            "step -0.1 s of newmark must be positive, finite and at most the duration",
        ),
    ] {
        assert_eq!(sentence, expected);
    }
    let unknown = Integrator::from_name("euler", 0.1).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "integrator `euler` is unknown: use one of event, central-difference, newmark, rk4, moreau-jean"
    );
}
