//! The force of [`crate::hertz_damp`] with the damping of Hunt and Crossley (1975): `D = 3 (1 - e) / 2`.
//!
//! First order in `1 - e` (`e` 0.5 gives 0.663). Its exact damping is that of [`crate::hertz_damp`].

use crate::{Damping, LawFacts, SMALLEST_RESTITUTION, indentation_relation};

/// Name, summary and source.
pub const FACTS: LawFacts = LawFacts {
    name: "hunt-crossley",
    summary: "F = k d^1.5 (1 + D d'/v); nominal D = 3 (1 - e)/2",
    citation: "Hunt and Crossley (1975), J. Appl. Mech. 42, 440-445",
    exponent: 1.5,
    smallest_restitution: SMALLEST_RESTITUTION,
};

/// Factor `D` of `d'/v`.
pub fn damping_factor(damping: Damping, restitution: f64) -> (f64, f64) {
    match damping {
        Damping::Exact => indentation_relation::damping_of_restitution(restitution),
        Damping::Nominal => (1.5 * (1.0 - restitution), -1.5),
    }
}
