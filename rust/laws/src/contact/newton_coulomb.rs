//! Newton's impact law with Coulomb friction, as in the Moreau-Jean scheme (Jean 1999).
//!
//! w = (u_N+ + e u_N-, u_T+). The work of the contact over the step, P . (u+ + u-)/2, is
//! (1 - e)/2 P_N u_N- in the normal direction, never positive for a closing contact; friction may give
//! energy back when the impact turns the sliding round and e > 0 (Kane and Levinson 1985).

use super::normal_shift;

/// The shift of the velocity.
#[inline]
pub fn shift(before: &[f64; 3], restitution: f64) -> [f64; 3] {
    [normal_shift(before[0], restitution), 0.0, 0.0]
}
