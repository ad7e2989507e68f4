//! Rolling and twisting friction: the couple of a contact as three more components, and its exact solution.
//!
//! A contact with normal impulse r_N may pass a couple c (about its normal, then its tangents) up to
//! |D^-1 c| <= r_N with D = diag(mu_twist, mu_roll, mu_roll) in metres, an ellipsoid whose size is ruled by the
//! normal impulse as the Coulomb disk is. Of all couples it passes the one that dissipates most: relative
//! spin w and couple obey c = -r_N D^2 w / |D w| where there is spin, and any couple holds where there is none.
//!
//! In the components s = D^-1 c [N s] and D w [m/s], whose product is the same power, the ellipsoid is a ball:
//!
//! ```text
//! |s| <= r_N,    D w = -k s with k >= 0, and k = 0 unless |s| = r_N
//! ```
//!
//! so that a couple is a block of W like any contact, with the rows D times those of the relative spin; a
//! coefficient that is zero leaves a zero row, and its component of the couple stays zero. With all others held
//! s is the least of s.A s / 2 + b.s in the ball: by Newton on the multiplier (More and Sorensen 1983).

use crate::block_matrix::{Block, Vector3, product};
use crate::cone::dot;
use crate::problem::inverse;

/// Newton steps on the multiplier; some four are needed.
const NEWTON_STEPS: usize = 40;
/// Relative error of |s| at which they end.
const EXACT: f64 = 1e-13;

/// The nearest point of the ball.
#[inline(always)]
pub(crate) fn project(s: &Vector3, radius: f64) -> Vector3 {
    let (square, radius) = (dot(s, s), radius.max(0.0));
    if square <= radius * radius {
        return *s;
    }
    let scale = radius / square.sqrt();
    s.map(|s| s * scale)
}

/// The new couple of a block that has couple `s` and velocity `w` now: its matrix, that inverted, and the
/// normal impulse of its contact.
#[inline]
pub(crate) fn solve(a: &Block, inverted: &Block, s: &Vector3, w: &Vector3, radius: f64) -> Vector3 {
    if radius <= 0.0 {
        return [0.0; 3];
    }
    // As for a contact: corrects s, so that an inexact inverse leaves no error.
    let step = product(inverted, w);
    let stick: Vector3 = std::array::from_fn(|k| s[k] - step[k]);
    if dot(&stick, &stick) <= radius * radius {
        return stick;
    }
    let own = product(a, s);
    let b: Vector3 = std::array::from_fn(|k| own[k] - w[k]);
    let trace = a[0][0] + a[1][1] + a[2][2];
    // 1/|s| is concave in the multiplier: from the left Newton never steps over the root.
    let (mut multiplier, mut found) = (0.0, stick);
    for _ in 0..NEWTON_STEPS {
        let mut shifted = *a;
        for (k, column) in shifted.iter_mut().enumerate() {
            column[k] += multiplier;
        }
        let inverted = inverse(&shifted, trace + 3.0 * multiplier);
        found = product(&inverted, &b);
        let length = dot(&found, &found).sqrt();
        let excess = length / radius - 1.0;
        if excess <= EXACT {
            break;
        }
        multiplier += excess * length * length / dot(&found, &product(&inverted, &found));
    }
    project(&found, radius)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Rest inside the ball, or a couple on it that opposes the spin; also where W_ii is singular.
        #[test]
        fn the_couple_holds_or_opposes(
            l in prop::array::uniform9(-1.0..1.0_f64), b in prop::array::uniform3(-1.0..1.0_f64),
            radius in 0.0..3.0_f64, rank in 1_usize..4,
        ) {
            let a: Block = std::array::from_fn(|j| std::array::from_fn(|i| {
                (0..3).map(|k| if i < rank && j < rank { l[3 * i + k] * l[3 * j + k] } else { 0.0 }).sum::<f64>()
                    + if i == j && i < rank { 0.1 } else { 0.0 }
            }));
            let b: Vector3 = std::array::from_fn(|k| if k < rank { b[k] } else { 0.0 });
            let inverted = inverse(&a, a[0][0] + a[1][1] + a[2][2]);
            let mut s = [0.0; 3];
            for _ in 0..8 {
                let own = product(&a, &s);
                s = solve(&a, &inverted, &s, &std::array::from_fn(|k| b[k] + own[k]), radius);
            }
            let own = product(&a, &s);
            let w: Vector3 = std::array::from_fn(|k| b[k] + own[k]);
            let (length, speed) = (dot(&s, &s).sqrt(), dot(&w, &w).sqrt());
            prop_assert!(length <= radius * (1.0 + 1e-12));
            prop_assert!((dot(&s, &w) + length * speed).abs() <= 1e-9, "opposes: {s:?} {w:?}");
            prop_assert!(speed <= 1e-9 || length >= radius * (1.0 - 1e-9), "spin under a couple that could grow");
            prop_assert!(s[rank..].iter().all(|s| s.abs() < 1e-12));
        }
    }
}
