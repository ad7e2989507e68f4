//! Two free masses that collide once: what restitution a law achieves.

use percuss_laws::{Damping, Law};

use crate::{Contact, Integrator, Node, OscillatorError, Settings, System, simulate};

/// A collision of two free masses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collision {
    /// Rebound speed over approach speed.
    pub restitution: f64,
    /// How long the masses pushed, s.
    pub duration_s: f64,
    /// Largest force, N; NaN for the rigid law.
    pub peak_force_n: f64,
}

/// Let a mass at `speed_m_s` hit one at rest, by integration of the motion: independent of the relations from which
/// the laws take their damping.
pub fn free_collision(
    law: Law,
    damping: Damping,
    restitution: f64,
    stiffness: f64,
    masses_kg: [f64; 2],
    speed_m_s: f64,
) -> Result<Collision, OscillatorError> {
    let [left, right] = [Node::Mass(0), Node::Mass(1)];
    let system = System {
        masses_kg: masses_kg.to_vec(),
        contacts: vec![Contact {
            left,
            right,
            gap_m: 0.0,
            law,
            damping,
            restitution,
            stiffness,
        }],
        initial_displacement_m: vec![0.0; 2],
        initial_velocity_m_s: vec![speed_m_s, 0.0],
        ..System::default()
    };
    // The masses part after a few times their time scale over e at most; nothing happens after that.
    let reduced = masses_kg[0] * masses_kg[1] / (masses_kg[0] + masses_kg[1]);
    let duration_s = match percuss_laws::Impact::new(law, damping, restitution, stiffness, reduced)
    {
        Ok(impact) if !impact.is_rigid() => 1e3 * impact.time_scale_s(speed_m_s) / restitution,
        _ => 1.0,
    };
    let settings = Settings {
        duration_s,
        output_times_s: vec![],
        integrator: Integrator::Event,
    };
    let run = simulate(&system, &settings)?;
    let impact = run
        .impacts
        .first()
        .ok_or(OscillatorError::Diverged { time_s: 0.0 })?;
    Ok(Collision {
        restitution: impact.rebound_speed_m_s / impact.approach_speed_m_s,
        duration_s: impact.duration_s,
        peak_force_n: impact.peak_force_n,
    })
}

/// Restitution a law achieves when `restitution` is asked, for a pair of 1 kg masses at 1 m/s and a stiffness of 1e6:
/// for every law here it depends on none of these.
pub fn achieved_restitution(
    law: Law,
    damping: Damping,
    restitution: f64,
) -> Result<f64, OscillatorError> {
    free_collision(law, damping, restitution, 1e6, [1.0, 1.0], 1.0)
        .map(|collision| collision.restitution)
}
