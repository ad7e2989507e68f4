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
