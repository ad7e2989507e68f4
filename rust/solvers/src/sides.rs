//! One contact as Newton's steps without W see it: its two bodies, with M^-1 = L L^T of each, and J L.

use crate::assembly::{InverseMass, Jacobian};
use crate::block_matrix::{Lanes, Vector3};
use crate::cone::dot;

/// The two bodies of a contact, and J L of each by columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sides {
    pub(crate) jacobians: [[Lanes; 6]; 2],
    pub(crate) bodies: [u32; 2],
}

/// L of one body, M^-1 = L L^T: 1/sqrt(m), and the factor of Cholesky of the inverse inertia.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root {
    translation: f64,
    rotation: [Vector3; 3],
}

impl Root {
    pub(crate) fn new(mass: &InverseMass) -> Self {
        let a = &mass.rotation_per_kg_m2;
        let mut l = [[0.0; 3]; 3];
        for j in 0..3 {
            let pivot = a[j][j] - dot(&l[j], &l[j]);
            // A body that cannot turn about some axis has none there.
            if pivot > 0.0 {
                l[j][j] = pivot.sqrt();
                for i in j + 1..3 {
                    l[i][j] = (a[i][j] - dot(&l[i], &l[j])) / l[j][j];
                }
            }
        }
        Self {
            translation: mass.translation_per_kg.sqrt(),
            rotation: l,
        }
    }

    /// J L by columns.
    pub(crate) fn times(&self, j: &Jacobian) -> [Lanes; 6] {
        let [x, y, z] = [0, 1, 2].map(|c| j.map(|row| row[c] * self.translation).into());
        let [a, b, c] = self.spins(j).map(Lanes::from);
        [x, y, z, a, b, c]
    }

    /// Those of the spins.
    pub(crate) fn spins(&self, j: &Jacobian) -> [Vector3; 3] {
        let l = &self.rotation;
        [0, 1, 2].map(|c| j.map(|row| row[3] * l[0][c] + row[4] * l[1][c] + row[5] * l[2][c]))
    }
}

impl Sides {
    /// The places of the bodies that forces move.
    #[inline(always)]
    pub(crate) fn moving(&self) -> [Option<u32>; 2] {
        let moves = |k: usize| self.jacobians[k].iter().any(|j| **j != [0.0; 3]);
        std::array::from_fn(|k| moves(k).then_some(self.bodies[k]))
    }

    /// The same, each with its matrix.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&[Lanes; 6], u32)> {
        let moving = self.jacobians.iter().zip(self.moving());
        moving.filter_map(|(j, body)| Some((j, body?)))
    }
}
