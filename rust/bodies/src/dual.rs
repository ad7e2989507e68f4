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

/// Nodes in each direction of the damped search.
const COARSE: usize = 8;
const STEPS: usize = 60;
/// Nodes of the full steps that follow, one each. The error of the rules falls exponentially, at least as its power 4/3
/// from one to the next: a step of less than `AGREED` of the multiplier leaves an error of about 1e-10.
const ROUNDS: [usize; 4] = [8, 12, 16, 20];
const AGREED: f64 = 3e-8;

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
    d = damped(law, d, target).ok_or_else(refuse)?;
    for count in ROUNDS {
        let here = law.moments(d, count);
        let step = newton(&here, target).ok_or_else(refuse)?;
        d = [0, 1, 2].map(|i| d[i] - step[i]);
        let size = d.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
        if step.amax() <= AGREED * size || count == ROUNDS[ROUNDS.len() - 1] {
            return Ok((d, here));
        }
    }
    Err(refuse())
}

/// The Newton step, to be taken away; none where the covariance is no covariance.
fn newton(here: &Moments, target: [f64; 3]) -> Option<Vector3<f64>> {
    let gradient = Vector3::from_fn(|i, _| target[i] - here.mean[i]);
    let hessian = Matrix3::from_fn(|i, j| here.covariance[i][j]);
    let step = hessian.cholesky()?.solve(&gradient);
    step.iter().all(|part| part.is_finite()).then_some(step)
}

/// The minimum by coarse rules, from anywhere.
fn damped(law: &MatrixBeta, start: [f64; 3], target: [f64; 3]) -> Option<[f64; 3]> {
    let value = |d: [f64; 3], at: &Moments| {
        at.log_expectation + (0..3).map(|i| d[i] * target[i]).sum::<f64>()
    };
    let mut d = start;
    let mut here = law.moments(d, COARSE);
    for _ in 0..STEPS {
        let step = newton(&here, target)?;
        let decrease: f64 = (0..3).map(|i| step[i] * (target[i] - here.mean[i])).sum();
        // Half of it is what F lies above its minimum: the finer rules do the rest.
        if decrease < 1e-10 {
            return Some(d);
        }
        let now = value(d, &here);
        let mut damping = 1.0;
        loop {
            let next = [0, 1, 2].map(|i| d[i] - damping * step[i]);
            let there = law.moments(next, COARSE);
            if value(next, &there) <= now - 1e-4 * damping * decrease {
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
            let (d, _) = multiplier(&law, 7.0, 7.0, target).unwrap();
            let finer = law.moments(d, 22);
            for i in 0..3 {
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
