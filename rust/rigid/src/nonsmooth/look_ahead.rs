//! Looking ahead: contacts that end at touch, and overlap worked off by the contact's own closing velocity.
//!
//! The plain Moreau-Jean scheme sees a contact when the bodies overlap already, by up to h |u_N|, and from then on holds
//! u_N+ >= 0 in the frame of the middle of the step. Bodies that slide around each other turn that frame by an angle
//! a = h u_T / c in a step (c: a pin's clearance in its hole), and leave it outwards by c a^2 / 2; nothing brings them
//! back, and a light pin that whips around a hole sinks into its wall. With `look_ahead_m` > 0
//!
//! - a contact without restitution, still open by g > 0, that would close within the step may close by g alone: u_N+ >= -g/h
//!   (Stewart and Trinkle 1996), or as fast as it was parting. The next step stops it for good;
//! - a contact that was closed and held u_N+ >= 0 in the last step, and closes all the same, does so because its frame has
//!   turned. It may send that velocity back as far as the overlap lasts: u_N+ >= min(|u_N-|, overlap / (4 h)).
//!
//! Both keep P_N (u_N+ + u_N-) / 2 <= 0: no contact gives energy. Between circles the second rule holds the speed of sliding,
//! which the plain scheme damps. Overlap that nothing closes is pushed apart at the end of the step.

use crate::settings::Settings;

/// Overlap left alone, as a share of `look_ahead_m`: the noise of solvers must not be sent back.
pub(crate) const LEFT: f64 = 0.05;
/// Steps in which overlap is worked off.
const STEPS: f64 = 4.0;

/// Least share of the overlap, closed in a step, that the second rule works it off by; slower contacts, and those at rest,
/// are pushed apart (`stabilisation.rs`).
const LEAST: f64 = 0.01;

/// Whether overlap beyond what is left alone, `beyond_m` < 0, is worked off by the velocity `before` of its contact.
pub(crate) fn works_off(settings: &Settings, before: f64, beyond_m: f64) -> bool {
    settings.look_ahead_m > 0.0 && settings.dt_s * before < LEAST * beyond_m
}

/// A contact at the middle of a step; velocities along its normal [m/s].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Approach {
    pub gap_m: f64,
    pub before: f64,
    /// Without the impulses of contacts.
    pub free: f64,
    /// Closed in the last step as well.
    pub stays: bool,
    pub restitution: f64,
}

impl Approach {
    /// The normal shift of the contact problem, whose plain value is `shift`; none: not a contact of this step.
    #[inline]
    pub fn shift(&self, settings: &Settings, shift: f64) -> Option<f64> {
        let (h, gap) = (settings.dt_s, self.gap_m);
        if gap > settings.contact_tolerance_m {
            let closes = self.restitution == 0.0 && gap + h * self.free < 0.0;
            return closes.then_some(self.before.max(gap / h));
        }
        let beyond = gap + LEFT * settings.look_ahead_m;
        if settings.look_ahead_m > 0.0 && self.stays && self.before < 0.0 && beyond < 0.0 {
            return Some(shift.min(self.before.max(beyond / (STEPS * h))));
        }
        Some(shift)
    }
}
