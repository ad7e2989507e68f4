//! Six springs and dampers between two frames.
//!
//! With the offset d and the rotation vector theta of frame b as seen from frame a (axes of a), the energy is
//! (d, theta) . K (d, theta) / 2 less the work of the preload. Its gradient is the force K d and the torque
//! T(theta)^-T K theta, where theta' = T^-1 w for the relative angular velocity w: with one stiffness about all
//! axes that is K theta, with several a torque K theta would not be conservative. Dampers act on d' and w.

use crate::joints::Linkage;
use percuss_geometry::{Mat3, Vec3};

/// Cosine of the angle from which on the axis is read from the symmetric part of a rotation.
const HALF_TURN: f64 = -0.999;

#[derive(Debug, Clone)]
pub(super) struct Bushing {
    stiffness: [Vec3; 2],
    damping: [Vec3; 2],
    preload: [Vec3; 2],
    /// K theta is parallel to theta: T does nothing to it.
    round: bool,
}

impl Bushing {
    pub fn new(stiffness: &[f64; 6], damping: &[f64; 6], preload: &[f64; 6]) -> Self {
        let halves = |x: &[f64; 6]| [Vec3::new(x[0], x[1], x[2]), Vec3::new(x[3], x[4], x[5])];
        let [.., about_x, about_y, about_z] = *stiffness;
        Self {
            stiffness: halves(stiffness),
            damping: halves(damping),
            preload: halves(preload),
            round: about_x == about_y && about_y == about_z && preload[3..] == [0.0; 3],
        }
    }

    /// Forces and torques about the mass centres of a and b, and the power its dampers take.
    pub fn forces(&self, linkage: &Linkage) -> ([f64; 6], [f64; 6], f64) {
        let [a, b] = &linkage.sides;
        let offset = a.axes.tr_mul(&linkage.offset);
        // Rate of the offset as seen from a.
        let rate = a
            .axes
            .tr_mul(&(linkage.drift - a.turning.cross(&linkage.offset)));
        let spin = a.axes.tr_mul(&(b.turning - a.turning));
        let turn = rotation_vector(&(a.axes.tr_mul(&b.axes)));
        let [along, about] = &self.stiffness;
        let mut torque = self.preload[1] - about.component_mul(&turn);
        if !self.round {
            torque = inverse_transposed(&turn) * torque;
        }
        let damped = [
            self.damping[0].component_mul(&rate),
            self.damping[1].component_mul(&spin),
        ];
        let force = a.axes * (self.preload[0] - along.component_mul(&offset) - damped[0]);
        let torque = a.axes * (torque - damped[1]);
        let on_b = b.arm.cross(&force) + torque;
        let on_a = (a.arm + linkage.offset).cross(&force) + torque;
        (
            [-force.x, -force.y, -force.z, -on_a.x, -on_a.y, -on_a.z],
            [force.x, force.y, force.z, on_b.x, on_b.y, on_b.z],
            damped[0].dot(&rate) + damped[1].dot(&spin),
        )
    }

    pub fn energy_j(&self, linkage: &Linkage) -> f64 {
        let [a, b] = &linkage.sides;
        let offset = a.axes.tr_mul(&linkage.offset);
        let turn = rotation_vector(&(a.axes.tr_mul(&b.axes)));
        let one = |x: &Vec3, k: usize| {
            0.5 * x.dot(&self.stiffness[k].component_mul(x)) - self.preload[k].dot(x)
        };
        one(&offset, 0) + one(&turn, 1)
    }
}

/// Axis times angle, from zero to pi. Near a half turn the axis is read from the symmetric part, cos I + (1 - cos) n n', as
/// the skew part, sin n, vanishes there; at the half turn itself, where n and -n are the same rotation, it is the one
/// whose largest component is positive.
fn rotation_vector(r: &Mat3) -> Vec3 {
    let axis = Vec3::new(
        r[(2, 1)] - r[(1, 2)],
        r[(0, 2)] - r[(2, 0)],
        r[(1, 0)] - r[(0, 1)],
    ) * 0.5;
    let cosine = 0.5 * (r.trace() - 1.0);
    let square = axis.norm_squared();
    if cosine > 0.0 && square < 1e-4 {
        // arcsin(s) / s: the next term is below rounding.
        let series = 1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0 + square * (15.0 / 336.0)));
        return axis * series;
    }
    let sine = square.sqrt();
    if cosine < HALF_TURN {
        let symmetric = (r + r.transpose()) * 0.5 + Mat3::identity() * -cosine;
        let largest = symmetric.diagonal().imax();
        let direction = symmetric.column(largest).normalize();
        let side = if axis.dot(&direction) < 0.0 {
            -1.0
        } else {
            1.0
        };
        return direction * (side * sine.atan2(cosine));
    }
    axis * (sine.atan2(cosine) / sine)
}

/// T^-T for axes of frame a: the transposed inverse of the left Jacobian of the exponential map.
fn inverse_transposed(turn: &Vec3) -> Mat3 {
    let angle = turn.norm();
    let factor = if angle < 1e-2 {
        (1.0 + angle * angle / 60.0) / 12.0
    } else {
        // (1 + cos) / sin as the cotangent of half the angle, which is defined at the half turn
        1.0 / (angle * angle) - 1.0 / (2.0 * angle * (0.5 * angle).tan())
    };
    let skew = turn.cross_matrix();
    Mat3::identity() + skew * 0.5 + skew * skew * factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Rotation3;
    use std::f64::consts::PI;

    #[test]
    fn rotation_vectors_are_read_back_up_to_the_half_turn() {
        for axis in [
            Vec3::x(),
            Vec3::y(),
            Vec3::z(),
            Vec3::new(1.0, -2.0, 0.5).normalize(),
            Vec3::new(-0.1, 0.2, -3.0).normalize(),
        ] {
            for angle in [1e-9, 0.3, 3.0, 3.09, 3.1, PI - 1e-5, PI - 1e-9, PI] {
                let given = axis * angle;
                let found = rotation_vector(&Rotation3::new(given).into_inner());
                // at the half turn both senses are the same rotation
                let off = (found - given).norm();
                let off = if angle > PI - 1e-12 {
                    off.min((found + given).norm())
                } else {
                    off
                };
                assert!(off < 1e-12, "{given} {found}");
                assert!(inverse_transposed(&found).iter().all(|x| x.is_finite()));
            }
        }
        // written down exactly: the sine is zero to the bit
        let half = Mat3::from_diagonal(&Vec3::new(-1.0, 1.0, -1.0));
        assert_eq!(rotation_vector(&half), Vec3::y() * PI);
    }
}
