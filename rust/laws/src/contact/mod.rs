//! Laws of a frictional contact between rigid bodies, as velocity-level complementarity.
//!
//! A law turns the relative velocity before the step, u-, into a shift s such that the velocity the contact
//! problem speaks of is w = u+ + s, with K* ∋ w + mu |w_T| n ⟂ P ∈ K. Vectors are (normal, tangent 1,
//! tangent 2) in m/s, the normal velocity positive when the bodies part. One file for each law.

pub mod fremond;
pub mod newton_coulomb;

/// How a contact answers an impact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ImpactLaw {
    /// Newton's restitution with Coulomb friction on the velocity after the step.
    #[default]
    Newton,
    /// Newton's restitution with Coulomb friction on the mean velocity of the step: dissipates whatever e.
    Fremond,
}

impl ImpactLaw {
    /// Every law by the name users type.
    pub const TABLE: [(&'static str, Self); 2] =
        [("fremond", Self::Fremond), ("newton", Self::Newton)];

    /// The law of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::TABLE
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, law)| *law)
    }

    /// The shift s between the velocity after the step and the velocity of the contact problem.
    #[inline]
    pub fn shift(self, before: &[f64; 3], restitution: f64) -> [f64; 3] {
        match self {
            Self::Newton => newton_coulomb::shift(before, restitution),
            Self::Fremond => fremond::shift(before, restitution),
        }
    }
}
