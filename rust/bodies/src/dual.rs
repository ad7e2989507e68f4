//! The multiplier that gives a tilted matrix Beta its mean: the minimum of a convex function, by damped Newton steps.
//!
//! ```text
//! F(D) = log E[exp(-tr(D U))] + tr(D M),   dF/dD = M - E_D[U],   d2F/dD2 = cov_D(U)
//! ```
//!
//! with E over the matrix Beta and M the mean that is asked for, diagonal in the frame of the bound; then so is D.

use nalgebra::{Matrix3, Vector3};

use crate::error::{BodyError, Result};
use crate::moments::{MatrixBeta, Moments};

/// Nodes in each direction, from one round to the next; a round that moves the multiplier by less than `AGREED` of it is
/// the last one.
const ROUNDS: [usize; 4] = [8, 12, 16, 20];
const AGREED: f64 = 1e-10;
const STEPS: usize = 60;

/// The diagonal of D for the mean `target`, entries within (0, 1) and falling; and the moments there.
pub(crate) fn multiplier(
    law: &MatrixBeta,
    a: f64,
    b: f64,
    target: [f64; 3],
) -> Result<([f64; 3], Moments)> {
    let refuse = || {
        let far = |&u: &f64| (u - 0.5).abs();
        let furthest = target.into_iter().max_by(|u, w| far(u).total_cmp(&far(w)));
        BodyError::Mean {
            ratio: 1.0 / furthest.unwrap_or(0.5),
        }
    };
    // Exact without tilt, and in the limit of bounds far away, where U is a Wishart matrix.
    let mut d = target.map(|u| a / u - b / (1.0 - u));
    let mut here = law.moments(d, ROUNDS[0]);
    for count in ROUNDS {
        let before = d;
        (d, here) = newton(law, d, target, count).ok_or_else(refuse)?;
        let moved = (0..3).map(|i| (d[i] - before[i]).abs()).fold(0.0, f64::max);
        let size = d.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        if count > ROUNDS[0] && moved <= AGREED * size {
            break;
        }
    }
    Ok((d, here))
}

fn newton(
    law: &MatrixBeta,
    start: [f64; 3],
    target: [f64; 3],
    count: usize,
) -> Option<([f64; 3], Moments)> {
    let value = |d: [f64; 3], at: &Moments| {
        at.log_expectation + (0..3).map(|i| d[i] * target[i]).sum::<f64>()
    };
    let mut d = start;
    let mut here = law.moments(d, count);
    for _ in 0..STEPS {
        let gradient = Vector3::from_fn(|i, _| target[i] - here.mean[i]);
        if (0..3).all(|i| gradient[i].abs() <= 1e-13 * target[i]) {
            return Some((d, here));
        }
        let hessian = Matrix3::from_fn(|i, j| here.covariance[i][j]);
        let step = hessian.cholesky()?.solve(&gradient);
        let decrease = gradient.dot(&step);
        // Below the rounding of F nothing is left to gain.
        if !(decrease > 1e-24) {
            return (decrease >= 0.0).then_some((d, here));
        }
        let now = value(d, &here);
        let mut damping = 1.0;
        loop {
            let next = [0, 1, 2].map(|i| d[i] - damping * step[i]);
            let there = law.moments(next, count);
            // Near the minimum the decrease drowns in the rounding of F, and the full step is right.
            if value(next, &there) <= now - 1e-4 * damping * decrease + 1e-12 * now.abs().max(1.0) {
                (d, here) = (next, there);
                break;
            }
            damping *= 0.5;
            if damping < 1e-6 {
                return None;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_met_along_every_axis() {
        let law = MatrixBeta::new(7.0, 7.0);
        for bound in [
            [1.5, 3.0, 9.0],
            [1.1, 1.1, 40.0],
            [2.0, 2.0, 2.5],
            [50.0, 60.0, 70.0],
        ] {
            let target = bound.map(|g: f64| 1.0 / g);
            let (d, here) = multiplier(&law, 7.0, 7.0, target).unwrap();
            let finer = law.moments(d, 24);
            for i in 0..3 {
                assert!((here.mean[i] / target[i] - 1.0).abs() < 1e-10, "{bound:?}");
                assert!((finer.mean[i] / target[i] - 1.0).abs() < 1e-8, "{bound:?}");
            }
        }
    }

    #[test]
    fn a_mean_on_the_bound_is_refused_in_words() {
        let law = MatrixBeta::new(7.0, 7.0);
        match multiplier(&law, 7.0, 7.0, [1.0 - 1e-16, 0.5, 0.5]) {
            Err(BodyError::Mean { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}
