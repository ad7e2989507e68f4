//! Fremond's impact law (Fremond 1995; Acary and Collins-Craft 2024 for its use in the Moreau-Jean scheme):
//! friction works against the mean of the velocities before and after.
//!
//! w = (u_N+ + e u_N-, u_T+ + u_T-), and Coulomb's law does not see the factor 2 between w_T and twice the
//! mean. The work over the step is (1 - e)/2 P_N u_N- - mu P_N |w_T|/2: never positive for a closing
//! contact, whatever e and mu. The price: a contact that sticks reverses what sliding was left.

use super::normal_shift;

/// The shift of the velocity.
#[inline]
pub fn shift(before: &[f64; 3], restitution: f64) -> [f64; 3] {
    [normal_shift(before[0], restitution), before[1], before[2]]
}
