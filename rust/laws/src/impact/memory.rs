//! What a contact remembers of its own past.

/// Slower contacts than this count as touching: laws that divide by the approach speed then act as their spring alone.
pub const SLOWEST_APPROACH_M_S: f64 = 1e-9;

/// The past of one contact, reset at each onset.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Memory {
    /// Approach speed when the masses met, m/s (used by laws whose damping is scaled with it).
    pub approach_speed_m_s: f64,
    /// Deepest indentation at which the approach has turned, m (used by the springs that unload on another path).
    pub deepest_m: f64,
}

impl Memory {
    /// The memory of a contact that begins now, at this approach speed.
    pub fn at_onset(approach_speed_m_s: f64) -> Self {
        Self {
            approach_speed_m_s,
            deepest_m: 0.0,
        }
    }

    /// One over the approach speed; zero for a contact that merely touches.
    pub fn per_approach_speed(&self) -> f64 {
        if self.approach_speed_m_s > SLOWEST_APPROACH_M_S {
            1.0 / self.approach_speed_m_s
        } else {
            0.0
        }
    }
}
