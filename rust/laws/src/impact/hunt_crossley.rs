//! The force of [`super::hertz_damp`] with the damping of Hunt and Crossley (1975): `D = 3 (1 - e) / 2`.
//!
//! First order in `1 - e` (`e` 0.5 gives 0.663). Its exact damping is that of [`super::hertz_damp`].

use super::{
    Damping, ImpactLaw, LawFacts, SMALLEST_RESTITUTION, hertz_damp::HertzDamp, indentation_relation,
};

/// The law.
pub enum HuntCrossley {}

impl ImpactLaw for HuntCrossley {
    type Force = HertzDamp;

    const FACTS: LawFacts = LawFacts {
        name: "hunt-crossley",
        summary: "F = k d^1.5 (1 + D d'/v); nominal D = 3 (1 - e)/2",
        citation: "Hunt and Crossley (1975), J. Appl. Mech. 42, 440-445",
        exponent: 1.5,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Factor `D` of `d'/v`.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        match damping {
            Damping::Exact => indentation_relation::damping_of_restitution(restitution),
            Damping::Nominal => (1.5 * (1.0 - restitution), -1.5),
        }
    }
}
