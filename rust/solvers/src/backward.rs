//! The backward error of impulses: how little the free velocities have to change for a solution of the law to the last digit.
//!
//! One projected step r' = P_K(r - rho u^) leaves u^' = u^ + (r' - r) / rho, which lies in K* and is orthogonal to r'. So r' and the velocities
//! u' that belong to u^' (u'_T = u^'_T, u'_N = u^'_N - mu |u^'_T|) obey the law, and r' is a solution of the problem with the free velocities
//! u' - W r' in place of q, whatever the residual of r. With couples and bounded friction it is the same, on their balls.

use crate::block_matrix::{Lanes, Vector3};
use crate::cone::{self, dot, tangential};
use crate::couple;
use crate::problem::Problem;
use crate::residual::relative;

/// Impulses that solve a problem with other free velocities, and how these differ.
#[derive(Debug, Clone, PartialEq)]
pub struct BackwardError {
    /// The impulses: those given, after one projected step.
    pub impulses: Vec<Vector3>,
    /// What is to be added to the free velocities q for these impulses to be a solution.
    pub change: Vec<Vector3>,
    /// Its size over that of q, both in the energy norm of the residual.
    pub relative: f64,
}

impl Problem {
    /// The backward error of impulses.
    ///
    /// # Panics
    /// When there are not as many impulses as contacts.
    #[must_use]
    pub fn backward_error(&self, impulses: &[Vector3]) -> BackwardError {
        assert_eq!(impulses.len(), self.contacts());
        let r: Vec<Lanes> = impulses.iter().copied().map(Lanes::from).collect();
        let mut stepped = r.clone();
        let mut u = r.clone();
        self.matrix.velocity(&r, &self.free_velocity, &mut u);
        // The velocities that go with the stepped impulses by the law.
        let mut lawful = Vec::with_capacity(r.len());
        for (i, u) in u.iter().enumerate() {
            let (rho, mu) = (self.rho[i], self.friction[i]);
            // A couple lies in the ball of its contact, which comes before it and has been stepped.
            let radius = self.radius(i, &stepped);
            let shift = if radius.is_none() {
                mu * tangential(u)
            } else {
                0.0
            };
            let target: Vector3 =
                std::array::from_fn(|k| r[i][k] - rho * (u[k] + if k == 0 { shift } else { 0.0 }));
            let nearest = match radius {
                None => cone::project(&target, mu),
                Some(radius) => couple::project(&target, radius),
            };
            let mut velocity: Vector3 = std::array::from_fn(|k| (nearest[k] - target[k]) / rho);
            if radius.is_none() {
                velocity[0] -= mu * tangential(&velocity);
            }
            *stepped[i] = nearest;
            lawful.push(velocity);
        }
        self.matrix.velocity(&stepped, &self.free_velocity, &mut u);
        let change: Vec<Vector3> = lawful
            .iter()
            .zip(&u)
            .map(|(lawful, u)| std::array::from_fn(|k| lawful[k] - u[k]))
            .collect();
        let energy = change.iter().zip(&self.rho).map(|(x, rho)| rho * dot(x, x));
        BackwardError {
            relative: relative(energy.sum(), self.energy_scale),
            impulses: stepped.iter().map(|r| **r).collect(),
            change,
        }
    }
}
