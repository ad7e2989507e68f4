//! Limits of the moment that a contact of two grains transfers.

use crate::LawError;

/// What the limit of moments, eta Fn times a length, holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MomentLimit {
    /// The whole moment, with the smaller radius, as Table 1 prints it.
    #[default]
    Joint,
    /// Rolling and twisting each for itself, with the smaller radius, as YADE's linear law has it.
    Separate,
    /// Rolling alone, with the mean radius, twisting without any limit, as YADE's Hertz-Mindlin law has it.
    Rolling,
}

impl MomentLimit {
    /// Names and limits.
    pub const TABLE: [(&'static str, MomentLimit); 3] = [
        ("joint", MomentLimit::Joint),
        ("separate", MomentLimit::Separate),
        ("rolling", MomentLimit::Rolling),
    ];

    /// The limit of a name.
    pub fn from_name(name: &str) -> Result<Self, LawError> {
        crate::error::named(&Self::TABLE, name)
    }

    /// The length of a pair, m.
    #[inline(always)]
    pub fn length_m(self, r1_m: f64, r2_m: f64) -> f64 {
        match self {
            Self::Joint | Self::Separate => r1_m.min(r2_m),
            Self::Rolling => 0.5 * (r1_m + r2_m),
        }
    }
}
