//! The Coulomb cone K = { r : |r_T| <= mu r_N } and the natural map of the contact law.
//!
//! With the shifted velocity of De Saxce and Feng (1998), u^ = u + mu |u_T| n, the law K* ∋ u^ ⟂ r ∈ K holds
//! exactly when F(r, u) = r - P_K(r - rho u^) vanishes, for any rho > 0.

use crate::block_matrix::Vector3;

/// Length of the tangential part.
#[inline(always)]
pub(crate) fn tangential(x: &Vector3) -> f64 {
    (x[1] * x[1] + x[2] * x[2]).sqrt()
}

/// Inner product.
#[inline(always)]
pub(crate) fn dot(x: &Vector3, y: &Vector3) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// Whether x lies in K; squares spare the root.
#[inline(always)]
pub(crate) fn contains(x: &Vector3, mu: f64) -> bool {
    let limit = mu * x[0];
    x[0] >= 0.0 && x[1] * x[1] + x[2] * x[2] <= limit * limit
}

/// Orthogonal projection on K.
#[inline(always)]
pub(crate) fn project(x: &Vector3, mu: f64) -> Vector3 {
    if contains(x, mu) {
        return *x;
    }
    let t = tangential(x);
    if mu * t <= -x[0] {
        return [0.0; 3];
    }
    let normal = (x[0] + mu * t) / (1.0 + mu * mu);
    // Here t > 0, unless it is so small that its square vanishes.
    let scale = if t > 0.0 { mu * normal / t } else { 0.0 };
    [normal, scale * x[1], scale * x[2]]
}

/// P_K(r - rho u^): the projected step whose difference from r is the natural map.
#[inline(always)]
pub(crate) fn projected_step(r: &Vector3, u: &Vector3, mu: f64, rho: f64) -> Vector3 {
    let shifted = u[0] + mu * tangential(u);
    project(
        &[r[0] - rho * shifted, r[1] - rho * u[1], r[2] - rho * u[2]],
        mu,
    )
}

/// F(r, u) = r - P_K(r - rho u^).
#[inline(always)]
pub(crate) fn natural_map(r: &Vector3, u: &Vector3, mu: f64, rho: f64) -> Vector3 {
    if *r == [0.0; 3] && u[0] >= 0.0 {
        return [0.0; 3];
    }
    let p = projected_step(r, u, mu, rho);
    [r[0] - p[0], r[1] - p[1], r[2] - p[2]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The projection p of x is the point of K with x - p in the polar cone and orthogonal to p.
        #[test]
        fn projection_is_the_nearest_point(x in prop::array::uniform3(-1.0..1.0_f64), mu in 0.0..3.0_f64) {
            let p = project(&x, mu);
            let rest = [x[0] - p[0], x[1] - p[1], x[2] - p[2]];
            prop_assert!(p[0] >= 0.0 && tangential(&p) <= mu * p[0] + 1e-14);
            prop_assert!(dot(&p, &rest).abs() <= 1e-14);
            prop_assert!(mu * tangential(&rest) <= -rest[0] + 1e-14);
        }

        /// The map vanishes for stick, slip and take-off, whatever rho.
        #[test]
        fn natural_map_vanishes_on_the_law(
            normal in 0.1..2.0_f64, speed in 0.0..2.0_f64, angle in 0.0..6.3_f64, mu in 0.0..2.0_f64, rho in 0.1..9.0_f64,
        ) {
            let (sin, cos) = angle.sin_cos();
            let slip = ([normal, -mu * normal * cos, -mu * normal * sin], [0.0, speed * cos, speed * sin]);
            let stick = ([normal, 0.5 * mu * normal * cos, 0.5 * mu * normal * sin], [0.0; 3]);
            let open = ([0.0; 3], [speed, speed * cos, speed * sin]);
            for (r, u) in [slip, stick, open] {
                let f = natural_map(&r, &u, mu, rho);
                prop_assert!(dot(&f, &f).sqrt() <= 1e-13, "{r:?} {u:?}: {f:?}");
            }
        }
    }
}
