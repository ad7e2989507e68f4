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

/// The normal part of the shift: e u_N- for a closing contact. A contact that is parting already, though the
/// bodies still overlap, may at most fall back as fast as it parts (as a hop shorter than the step would), so
/// that P_N (u_N+ + u_N-)/2 = 0: without this rule forces that press it shut would do work on it.
#[inline]
pub(crate) fn normal_shift(before: f64, restitution: f64) -> f64 {
    if before > 0.0 {
        before
    } else {
        restitution * before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work over the step of a contact that answers with the velocity the law asks for.
    fn normal_work(law: ImpactLaw, before: f64, restitution: f64) -> f64 {
        let after = -law.shift(&[before, 0.3, 0.0], restitution)[0];
        0.5 * (before + after)
    }

    #[test]
    fn the_normal_direction_never_gains() {
        for (name, law) in ImpactLaw::TABLE {
            assert_eq!(ImpactLaw::from_name(name), Some(law));
            for e in [0.0, 0.3, 1.0] {
                for before in [-2.0, -1e-9, 0.0, 1e-9, 2.0] {
                    let work = normal_work(law, before, e);
                    assert!(work <= 0.0, "{name}: e {e}, u {before} gives {work}");
                }
                assert!((normal_work(law, -2.0, e) + (1.0 - e)).abs() < 1e-15);
            }
        }
        assert_eq!(ImpactLaw::from_name("poisson"), None);
    }

    #[test]
    fn only_fremond_looks_at_the_sliding_before() {
        let before = [-1.0, 0.3, -0.2];
        assert_eq!(ImpactLaw::Newton.shift(&before, 0.5), [-0.5, 0.0, 0.0]);
        assert_eq!(ImpactLaw::Fremond.shift(&before, 0.5), [-0.5, 0.3, -0.2]);
    }
}
