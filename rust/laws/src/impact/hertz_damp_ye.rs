//! The force of [`super::hertz_damp`] with the damping of Ye, Li and Zhu (2009b): `D = 8 (1 - e) / (5 e)`.
//!
//! Derived for low restitution, it errs on the other side (`e` 0.5 gives 0.470). Its exact damping is that of
//! [`super::hertz_damp`].

use super::{
    Damping, ImpactLaw, LawFacts, SMALLEST_RESTITUTION, hertz_damp::HertzDamp, indentation_relation,
};

/// The law.
pub enum HertzDampYe {}

impl ImpactLaw for HertzDampYe {
    type Force = HertzDamp;

    const FACTS: LawFacts = LawFacts {
        name: "hertz-damp-ye",
        summary: "F = k d^1.5 (1 + D d'/v); nominal D = 8 (1 - e)/(5 e)",
        citation: "Ye, Li and Zhu (2009), Earthq. Eng. Struct. Dyn. 38, 1135-1142",
        exponent: 1.5,
        smallest_restitution: SMALLEST_RESTITUTION,
    };

    /// Factor `D` of `d'/v`.
    fn damping_number(damping: Damping, restitution: f64) -> (f64, f64) {
        match damping {
            Damping::Exact => indentation_relation::damping_of_restitution(restitution),
            Damping::Nominal => (
                1.6 * (1.0 - restitution) / restitution,
                -1.6 / (restitution * restitution),
            ),
        }
    }
}
