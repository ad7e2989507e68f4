//! Forces on bodies other than gravity and contact.

use crate::error::RigidError;
use crate::motion::{check_times, interpolate};
use percuss_geometry::Vec3;

/// A force at a point of a body and a torque, in world axes, scaled over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Index of the body.
    pub body: usize,
    /// Point of application in the body's frame [m].
    pub point_m: Vec3,
    /// Force [N], world axes.
    pub force_n: Vec3,
    /// Torque [N m], world axes.
    pub torque_n_m: Vec3,
    /// Instants of the history [s]; empty: the load acts unchanged all the time.
    pub times_s: Vec<f64>,
    /// Factor at each instant, linear between, held at both ends.
    pub factors: Vec<f64>,
}

impl Load {
    /// A constant force at a point.
    pub fn force(body: usize, point_m: Vec3, force_n: Vec3) -> Self {
        Self {
            body,
            point_m,
            force_n,
            torque_n_m: Vec3::zeros(),
            times_s: Vec::new(),
            factors: Vec::new(),
        }
    }

    pub(crate) fn factor(&self, t: f64) -> f64 {
        if self.times_s.is_empty() {
            1.0
        } else {
            interpolate(&self.times_s, t, |i| self.factors[i])
        }
    }

    pub(crate) fn check(&self, index: usize, bodies: usize) -> Result<(), RigidError> {
        if self.body >= bodies {
            return Err(RigidError::NoBody {
                what: format!("load {index}"),
                body: self.body,
                bodies,
            });
        }
        let numbers = [self.point_m, self.force_n, self.torque_n_m];
        let finite = numbers.iter().all(|v| v.iter().all(|x| x.is_finite()))
            && self.factors.iter().all(|x| x.is_finite());
        if !finite {
            return Err(RigidError::NotFinite {
                what: format!("load {index}"),
            });
        }
        if !(self.times_s.is_empty() && self.factors.is_empty()) {
            check_times(&format!("load {index}"), &self.times_s, self.factors.len())?;
        }
        Ok(())
    }
}
