//! Mass, centre of mass and inertia of solids, and how they add up.
//!
//! The inertia tensor is taken about the centre of mass, in the axes of the frame it is given in.
//! Moving to another point adds m (|d|^2 I - d d^T) (Steiner).

use crate::pose::{Mat3, Pose, Vec3};

/// Mass, centre of mass and inertia of a solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Mass (kg).
    pub mass_kg: f64,
    /// Centre of mass (m).
    pub centre_m: Vec3,
    /// Inertia tensor about the centre of mass (kg m2).
    pub inertia_kg_m2: Mat3,
}

impl MassProperties {
    /// Nothing: the start of a sum.
    pub fn zero() -> Self {
        Self {
            mass_kg: 0.0,
            centre_m: Vec3::zeros(),
            inertia_kg_m2: Mat3::zeros(),
        }
    }

    /// Of a solid symmetric about its own axes and centred in its frame.
    pub(crate) fn diagonal(mass_kg: f64, ixx: f64, iyy: f64, izz: f64) -> Self {
        Self {
            mass_kg,
            centre_m: Vec3::zeros(),
            inertia_kg_m2: Mat3::from_diagonal(&Vec3::new(ixx, iyy, izz)),
        }
    }

    /// The same solid seen from the frame in which it stands at `pose`.
    pub fn at(&self, pose: &Pose) -> Self {
        let turn = pose.rotation.to_rotation_matrix().into_inner();
        Self {
            mass_kg: self.mass_kg,
            centre_m: pose.point(&self.centre_m),
            inertia_kg_m2: turn * self.inertia_kg_m2 * turn.transpose(),
        }
    }

    /// The same solid with another mass spread in the same way.
    pub fn with_mass(&self, mass_kg: f64) -> Self {
        Self {
            mass_kg,
            centre_m: self.centre_m,
            inertia_kg_m2: self.inertia_kg_m2 * (mass_kg / self.mass_kg),
        }
    }

    /// Both solids as one.
    pub fn add(&self, other: &Self) -> Self {
        let mass_kg = self.mass_kg + other.mass_kg;
        if mass_kg == 0.0 {
            return Self::zero();
        }
        let centre_m = (self.centre_m * self.mass_kg + other.centre_m * other.mass_kg) / mass_kg;
        Self {
            mass_kg,
            centre_m,
            inertia_kg_m2: self.inertia_about(&centre_m) + other.inertia_about(&centre_m),
        }
    }

    /// Inertia tensor about any point (kg m2).
    pub fn inertia_about(&self, point: &Vec3) -> Mat3 {
        let d = self.centre_m - point;
        self.inertia_kg_m2
            + (Mat3::identity() * d.norm_squared() - d * d.transpose()) * self.mass_kg
    }

    /// Principal moments (kg m2) in rising order, and the rotation that turns the principal axes
    /// into the frame of this tensor.
    pub fn principal(&self) -> (Vec3, crate::pose::Quat) {
        let eigen = self.inertia_kg_m2.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        let column = |k: usize| eigen.eigenvectors.column(order[k]).into_owned();
        let (x, y) = (column(0), column(1));
        let axes = Mat3::from_columns(&[x, y, x.cross(&y)]);
        let turn = nalgebra::Rotation3::from_matrix_unchecked(axes);
        let moments = Vec3::from_fn(|i, _| eigen.eigenvalues[order[i]]);
        (moments, crate::pose::Quat::from_rotation_matrix(&turn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_halves_make_the_whole() {
        // A bar 2 x 1 x 1 cut in two cubes.
        let cube = MassProperties::diagonal(1.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0);
        let whole = cube
            .at(&Pose::translation(0.5, 0.0, 0.0))
            .add(&cube.at(&Pose::translation(-0.5, 0.0, 0.0)));
        let expected =
            Mat3::from_diagonal(&Vec3::new(2.0 / 6.0, 2.0 * 5.0 / 12.0, 2.0 * 5.0 / 12.0));
        assert!((whole.inertia_kg_m2 - expected).norm() < 1e-15);
        assert_eq!(whole.centre_m, Vec3::zeros());
    }

    #[test]
    fn principal_axes_rebuild_the_tensor() {
        let turned = MassProperties::diagonal(2.0, 3.0, 1.0, 2.5)
            .at(&Pose::new(Vec3::zeros(), Vec3::new(0.4, -0.2, 0.9)));
        let (moments, turn) = turned.principal();
        let r = turn.to_rotation_matrix().into_inner();
        assert!(
            (r * Mat3::from_diagonal(&moments) * r.transpose() - turned.inertia_kg_m2).norm()
                < 1e-13
        );
        assert!((moments - Vec3::new(1.0, 2.5, 3.0)).norm() < 1e-13);
    }
}
