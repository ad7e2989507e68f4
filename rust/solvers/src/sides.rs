//! One contact as sweeps without W see it: its two bodies, with M^-1 = L L^T of each, and J L.

use crate::assembly::{InverseMass, Jacobian};
use crate::block_matrix::{Block, Lanes, Vector3};
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
    #[inline(always)]
    pub(crate) fn times(&self, j: &Jacobian) -> [Lanes; 6] {
        let l = &self.rotation;
        std::array::from_fn(|c| {
            let row = |row: &[f64; 6]| match c {
                0..3 => row[c] * self.translation,
                _ => row[3] * l[0][c - 3] + row[4] * l[1][c - 3] + row[5] * l[2][c - 3],
            };
            [row(&j[0]), row(&j[1]), row(&j[2])].into()
        })
    }
}

/// u + J v, summed in pairs to shorten the chain of additions.
#[inline(always)]
fn gather(u: Lanes, j: &[Lanes; 6], v: &[f64; 6]) -> Lanes {
    let [a, b, c, d, e, f] = *j;
    let pair = |x: Lanes, y: Lanes, k: usize| x.each(&y, |x, y| x * v[k] + y * v[k + 1]);
    let sum = |x: Lanes, y: Lanes| x.each(&y, |x, y| x + y);
    sum(u, sum(sum(pair(a, b, 0), pair(c, d, 2)), pair(e, f, 4)))
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

    /// J_a J_a^T + J_b J_b^T, the block of W of a contact.
    pub(crate) fn diagonal(&self) -> Block {
        let mut diagonal = [[0.0; 3]; 3];
        for a in 0..2 {
            for b in (0..2).filter(|&b| self.bodies[b] == self.bodies[a]) {
                for (k, column) in diagonal.iter_mut().enumerate() {
                    let row = self.jacobians[b].map(|j| j[k]);
                    let sum = gather(Lanes::default(), &self.jacobians[a], &row);
                    for k in 0..3 {
                        column[k] += sum[k];
                    }
                }
            }
        }
        diagonal
    }

    /// q + J_a V_a + J_b V_b, V from that of body `first` on.
    #[inline(always)]
    pub(crate) fn velocity(&self, q: &Vector3, v: &[[f64; 6]], first: usize) -> Vector3 {
        let [a, b] = self.bodies.map(|body| &v[body as usize - first]);
        let a = gather((*q).into(), &self.jacobians[0], a);
        let b = gather(Lanes::default(), &self.jacobians[1], b);
        [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
    }

    /// V += J^T r
    #[inline(always)]
    pub(crate) fn scatter(&self, r: Vector3, v: &mut [[f64; 6]], first: usize) {
        for (j, body) in self.jacobians.iter().zip(self.bodies) {
            let v = &mut v[body as usize - first];
            *v = std::array::from_fn(|c| v[c] + (j[c][0] * r[0] + j[c][1] * r[1] + j[c][2] * r[2]));
        }
    }
}
