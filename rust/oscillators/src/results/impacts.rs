//! The list of impacts of a run.

use crate::system::model::{ContactElement, Model};

/// An impact whose free overshoot is less than this share of the motion is called grazing: whether it happens at all
/// depends on errors of that size.
const GRAZING_SHARE: f64 = 0.01;

/// One impact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImpactEvent {
    /// Index of the contact.
    pub contact: usize,
    /// When the masses met, s.
    pub start_s: f64,
    /// Approach speed then, m/s.
    pub approach_speed_m_s: f64,
    /// Speed at which they parted, m/s; NaN if the run ended first.
    pub rebound_speed_m_s: f64,
    /// How long they pushed, s; NaN if the run ended first.
    pub duration_s: f64,
    /// Largest force, N; NaN for an impulse of no duration.
    pub peak_force_n: f64,
    /// Impulse, N s.
    pub impulse_n_s: f64,
    /// Deepest indentation, m.
    pub deepest_m: f64,
    /// True when a slightly different motion might have missed.
    pub grazing: bool,
}

impl ImpactEvent {
    /// An impact that begins at `time` in the state `u`, `v`, with the relative acceleration the pair would have
    /// without contact force.
    pub(crate) fn begin(
        contact: usize,
        element: &ContactElement,
        time: f64,
        u: &[f64],
        v: &[f64],
        free_acceleration: f64,
    ) -> Self {
        let (_, speed) = element.indentation(u, v);
        let at = |i: usize| u.get(i).map_or(0.0, |u| u.abs());
        let reach = element
            .gap
            .abs()
            .max(at(element.pair.left))
            .max(at(element.pair.right));
        let grazing = free_acceleration < 0.0
            && speed * speed < -2.0 * free_acceleration * GRAZING_SHARE * reach;
        Self {
            contact,
            start_s: time,
            approach_speed_m_s: speed,
            rebound_speed_m_s: f64::NAN,
            duration_s: f64::NAN,
            peak_force_n: if element.impact.is_rigid() {
                f64::NAN
            } else {
                0.0
            },
            impulse_n_s: 0.0,
            deepest_m: 0.0,
            grazing,
        }
    }
}

/// Relative acceleration of a contact's pair without contact forces.
pub(crate) fn free_approach(
    model: &Model,
    contact: usize,
    ground: f64,
    u: &[f64],
    v: &[f64],
    element_forces: &[f64],
    work: &mut [f64],
) -> f64 {
    model.acceleration(ground, u, v, &[], element_forces, work);
    model.contacts[contact].pair.difference(work)
}
