//! Which damping a law uses for a given restitution.

use crate::LawError;

/// How the damping of a law follows from the coefficient of restitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Damping {
    /// Solved so that a free collision of two masses rebounds with exactly `e`.
    #[default]
    Exact,
    /// The formula printed with the law, whatever restitution it achieves.
    Nominal,
}

impl Damping {
    /// The damping of this name: `exact` or `nominal`.
    pub fn from_name(name: &str) -> Result<Self, LawError> {
        match name {
            "exact" => Ok(Self::Exact),
            "nominal" => Ok(Self::Nominal),
            _ => Err(LawError::UnknownDamping {
                name: name.to_owned(),
            }),
        }
    }

    /// The name [`Damping::from_name`] takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Nominal => "nominal",
        }
    }
}
