//! Newton's steps of `newton` without W: what is solved for is the change of the velocities of the bodies.
//!
//! A step of Newton with the regularisation e D says of each contact (A + e B D) dr + B du = -F, so that
//!
//! ```text
//! dr = -f - C du,   f = (A + e B D)^-1 F,   C = (A + e B D)^-1 B,   (1 + sum J^T C J) dV = -sum J^T f,   du = J dV,
//! ```
//!
//! in velocities V for which M is the identity: L^-1 times those of the bodies, M^-1 = L L^T. Redundant contacts, of which a wall has ten to each body,
//! only add to this matrix: it has six rows a body instead of three a contact, and the neighbours of a
//! body instead of those of all its contacts. A wall of 1000 blocks and 11 644 contacts is factored some hundred times
//! faster so than with W. A body is two blocks of three, velocity and spin.

use pulp::{Arch, NullaryFnOnce};

use crate::assembly::Contact;
use crate::block_lu::{self, BlockLu};
use crate::block_matrix::{Block, BlockMatrix, Lanes, Vector3, add_product, product};
use crate::body_form::BodyForm;
use crate::cone::dot;
use crate::newton::{self, Schedule};
use crate::parallel;
use crate::problem::{BlockKind, Problem};
use crate::residual;
use crate::sides::Sides;
use crate::solver::Settings;

/// Sweeps before the first step, as in `newton`.
const SWEEPS: usize = 5;
/// Steps beyond the one that met the tolerance that a target below it is worth.
const BEYOND: usize = 2;
/// Share of the tolerance that they go on to: the last steps are the cheapest, and a pile at rest stays below the tolerance for long.
const TARGET: f64 = 0.01;
/// Fewest steps that are worth the analysis.
const LEAST: usize = 6;

/// The linear systems, and the best impulses met; storage is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyNewton {
    factors: BlockLu,
    /// The contacts in the order of the sweeps.
    sides: Vec<Sides>,
    /// 1 + sum J^T C J, two nodes a body.
    matrix: BlockMatrix,
    /// Bodies that share a contact with each, itself among them, rising; and where the list of each begins.
    near: Vec<u32>,
    near_starts: Vec<u32>,
    /// Of each contact, for each side that it moves, where both sides are in the list of that body.
    places: Vec<[[u32; 2]; 2]>,
    /// Diagonal blocks of the matrix while it is summed up.
    diagonal: Vec<[Lanes; 3]>,
    /// f and C of each contact.
    answers: Vec<(Vector3, Block)>,
    unscaled: Vec<Block>,
    unbound: Vec<Vector3>,
    step: Vec<Vector3>,
    best_r: Vec<Lanes>,
    lowest_r: Vec<Lanes>,
}

impl BodyNewton {
    /// The pattern of the matrix for contacts between bodies of so many places, and its factors' order; products of blocks that a
    /// factorisation takes, none where they are more than `most`.
    fn analyse(&mut self, form: &BodyForm, contacts: &[Contact], most: usize) -> Option<usize> {
        let roots = &form.roots;
        parallel::fill(&mut self.sides, contacts.len(), |at| {
            let (contact, bodies) = form.at(at, contacts);
            let jacobian = |k: usize| {
                let root = contact.bodies[k].map(|body| &roots[body as usize]);
                root.map(|root| root.times(&contact.jacobians[k]))
            };
            Sides {
                jacobians: [0, 1].map(|k| jacobian(k).unwrap_or_default()),
                bodies,
            }
        });
        let (sides, places) = (&self.sides, form.places());
        let mut pairs: Vec<(u32, u32)> = (0..places as u32).map(|body| (body, body)).collect();
        for sides in sides {
            if let [Some(a), Some(b)] = sides.moving() {
                pairs.extend([(a, b), (b, a)]);
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.near.clear();
        self.near.extend(pairs.iter().map(|&(_, other)| other));
        self.near_starts.clear();
        self.near_starts.extend(
            (0..=places as u32).map(|body| pairs.partition_point(|&(own, _)| own < body) as u32),
        );
        let (near, starts) = (&self.near, &self.near_starts);
        self.places.clear();
        self.places.extend(sides.iter().map(|sides| {
            let bodies = sides.moving();
            bodies.map(|own| {
                let own = own.unwrap_or(0) as usize;
                let list = &near[starts[own] as usize..starts[own + 1] as usize];
                bodies.map(|other| match other {
                    Some(other) => list.partition_point(|&body| body < other) as u32,
                    None => 0,
                })
            })
        }));
        let matrix = &mut self.matrix;
        matrix.starts.clear();
        matrix.rows.clear();
        for node in 0..2 * places as u32 {
            matrix.starts.push(matrix.rows.len() as u32);
            let body = node as usize / 2;
            let range = self.near_starts[body] as usize..self.near_starts[body + 1] as usize;
            let rows = self.near[range].iter().flat_map(|&n| [2 * n, 2 * n + 1]);
            matrix.rows.extend(rows.filter(|&row| row != node));
        }
        matrix.starts.push(matrix.rows.len() as u32);
        matrix.diagonal.resize(2 * places, Block::default());
        matrix
            .blocks
            .resize(matrix.rows.len(), [Lanes::default(); 3]);
        self.unscaled.clear();
        self.unscaled.resize(2 * places, newton::IDENTITY);
        self.unbound.clear();
        self.unbound.resize(2 * places, [0.0; 3]);
        let possible = self.factors.analyse_within(&self.matrix, most);
        possible.then(|| self.factors.products())
    }

    /// The step of all impulses from (r, u) with regularisation e into `answers`, instead of f; false where it does not exist.
    fn find_step(&mut self, problem: &Problem, r: &[Lanes], u: &[Lanes], e: f64) -> bool {
        self.answers.clear();
        for i in 0..self.sides.len() {
            let (f, mut a, b) = newton::law(problem, i, r, u);
            for (k, a) in a.iter_mut().enumerate() {
                let mut column = [0.0; 3];
                column[k] = e * problem.trace[i];
                add_product(a, &b, &column);
            }
            let Some(inverse) = block_lu::inverse(&a.map(Lanes::from)) else {
                return false;
            };
            let inverse = inverse.map(|column| *column);
            let c = b.map(|column| product(&inverse, &column));
            self.answers.push((product(&inverse, &f), c));
        }
        Arch::new().dispatch(Assembling(self));
        let Self {
            sides,
            factors,
            matrix,
            unscaled,
            unbound,
            step,
            answers,
            ..
        } = self;
        step.clear();
        step.resize(unbound.len(), [0.0; 3]);
        for (sides, (f, _)) in sides.iter().zip(answers.iter()) {
            for (j, body) in sides.each() {
                for (k, column) in j.iter().enumerate() {
                    step[2 * body as usize + k / 3][k % 3] -= dot(column, f);
                }
            }
        }
        if !factors.factor(matrix, &matrix.diagonal, unscaled, unbound) {
            return false;
        }
        factors.solve(step);
        for (sides, (f, c)) in sides.iter().zip(answers.iter_mut()) {
            let mut du = [0.0; 3];
            for (j, body) in sides.each() {
                for (k, column) in j.iter().enumerate() {
                    let dv = step[2 * body as usize + k / 3][k % 3];
                    for (du, j) in du.iter_mut().zip(column.iter()) {
                        *du += j * dv;
                    }
                }
            }
            let answered = product(c, &du);
            *f = std::array::from_fn(|k| -f[k] - answered[k]);
        }
        let mut numbers = answers.iter().flat_map(|(step, _)| step);
        numbers.all(|x| x.is_finite())
    }

    /// 1 + sum J^T C J
    #[inline(always)]
    fn assemble(&mut self) {
        let one = newton::IDENTITY.map(Lanes::from);
        self.diagonal.clear();
        self.diagonal.resize(self.matrix.diagonal.len(), one);
        self.matrix.blocks.fill([Lanes::default(); 3]);
        for (i, sides) in self.sides.iter().enumerate() {
            let (c, places) = (self.answers[i].1.map(Lanes::from), self.places[i]);
            let moving = sides.moving();
            // J^T of velocity and spin, and C J.
            let turned = sides.jacobians.map(|j| {
                j.map(|column| {
                    let mut product = Lanes::default();
                    product.add_product(&c, &column);
                    product
                })
            });
            let across = sides
                .jacobians
                .map(|j| [transposed(&j, 0), transposed(&j, 3)]);
            for (b, column_body) in moving.iter().enumerate() {
                let Some(column_body) = column_body else {
                    continue;
                };
                for (a, row_body) in moving.iter().enumerate() {
                    let Some(row_body) = row_body else {
                        continue;
                    };
                    for half in 0..2 {
                        let column_node = 2 * *column_body as usize + half;
                        let right = &turned[b][3 * half..3 * half + 3];
                        let start = (self.matrix.starts[column_node] + 2 * places[b][a]) as usize;
                        for (other, left) in across[a].iter().enumerate() {
                            let row_node = 2 * *row_body as usize + other;
                            // The node itself is not in its list.
                            let at = start + other - usize::from(row_node > column_node);
                            let block = if row_node == column_node {
                                &mut self.diagonal[row_node]
                            } else {
                                &mut self.matrix.blocks[at]
                            };
                            for (column, right) in block.iter_mut().zip(right) {
                                column.add_product(left, right);
                            }
                        }
                    }
                }
            }
        }
        for (block, sum) in self.matrix.diagonal.iter_mut().zip(&self.diagonal) {
            *block = sum.map(|column| *column);
        }
    }
}

/// The transpose of three columns from `first` on.
#[inline(always)]
fn transposed(j: &[Lanes; 6], first: usize) -> [Lanes; 3] {
    std::array::from_fn(|k| [j[first][k], j[first + 1][k], j[first + 2][k]].into())
}

/// [`BodyNewton::assemble`], compiled for the processor at hand.
struct Assembling<'a>(&'a mut BodyNewton);

impl NullaryFnOnce for Assembling<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.assemble();
    }
}

impl BodyForm {
    /// Newton steps from the iterate until the residual meets the target or `paid` products of blocks are spent, for contacts
    /// without couples. The best impulses met are left as the iterate; their residual, and the factorisations made.
    pub(crate) fn step_by_newton(
        &mut self,
        newton: &mut BodyNewton,
        contacts: &[Contact],
        settings: &Settings,
        paid: usize,
    ) -> (f64, usize) {
        self.refresh();
        self.read();
        let mut best = residual::judged(&self.local, &self.r, &self.u);
        newton.best_r.clone_from(&self.r);
        if self.local.kinds.contains(&BlockKind::Couple) || settings.max_factorisations == 0 {
            return (best, 0);
        }
        for _ in 0..SWEEPS {
            self.sweep_plainly();
        }
        self.refresh();
        self.read();
        let mut residual = residual::judged(&self.local, &self.r, &self.u);
        let Some(products) = newton.analyse(self, contacts, paid / LEAST) else {
            self.r.clone_from(&newton.best_r);
            self.refresh();
            return (best, 0);
        };
        let most = settings.max_factorisations.min(paid / products.max(1));
        let target = TARGET * settings.tolerance;
        let mut schedule = Schedule::new(residual);
        newton.lowest_r.clone_from(&self.r);
        let (mut made, mut beyond) = (0, BEYOND);
        while best > target && made < most {
            if best <= settings.tolerance {
                if beyond == 0 {
                    break;
                }
                beyond -= 1;
            }
            made += 1;
            let (r, u) = (&self.r, &self.u);
            if !newton.find_step(&self.local, r, u, schedule.e) {
                schedule.e *= 10.0;
                continue;
            }
            for (r, (step, _)) in self.r.iter_mut().zip(&newton.answers) {
                for (r, step) in r.iter_mut().zip(step) {
                    *r += step;
                }
            }
            self.refresh();
            self.read();
            residual = residual::judged(&self.local, &self.r, &self.u);
            if residual < best {
                best = residual;
                newton.best_r.clone_from(&self.r);
            }
            let heard = schedule.hear(residual);
            if heard.lowest {
                newton.lowest_r.clone_from(&self.r);
            }
            if heard.back {
                self.r.clone_from(&newton.lowest_r);
                self.refresh();
                self.read();
            }
        }
        self.r.clone_from(&newton.best_r);
        self.refresh();
        self.read();
        (best, made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::{Assembly, InverseMass, Jacobian};
    use crate::body_form::Order;
    use crate::newton::Newton;
    use crate::problem::cross;
    use proptest::prelude::*;

    const BODIES: u32 = 4;

    /// Rows of a side at that arm, of axes that a rotation by the quaternion has turned.
    fn rows(sign: f64, [w, x, y, z]: [f64; 4], arm: Vector3) -> Jacobian {
        let axes = [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y + w * z),
                2.0 * (x * z - w * y),
            ],
            [
                2.0 * (x * y - w * z),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z + w * x),
            ],
            [
                2.0 * (x * z + w * y),
                2.0 * (y * z - w * x),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ];
        axes.map(|d| {
            let turn = cross(&arm, &d);
            [d[0], d[1], d[2], turn[0], turn[1], turn[2]].map(|x| sign * x)
        })
    }

    fn contact() -> impl Strategy<Value = Contact> {
        let vector = || prop::array::uniform3(-1.0..1.0_f64);
        (
            (0..BODIES, 0..=BODIES),
            (prop::array::uniform4(0.1..1.0_f64), vector(), vector()),
            prop::array::uniform3(-1.0..0.5_f64),
            0.0..1.0_f64,
            any::<bool>(),
        )
            .prop_map(
                |((a, b), (q, arm_a, arm_b), free_velocity, friction, bounded)| {
                    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                    let q = q.map(|x| x / length);
                    Contact {
                        // The last one stands for the ground.
                        bodies: [Some(a), (b < BODIES && b != a).then_some(b)],
                        jacobians: [rows(-1.0, q, arm_a), rows(1.0, q, arm_b)],
                        free_velocity,
                        friction,
                        kind: if bounded {
                            BlockKind::Bounded
                        } else {
                            BlockKind::Contact
                        },
                    }
                },
            )
    }

    proptest! {
        /// With W and without it a step is the same, whatever contacts do.
        #[test]
        fn steps_are_those_of_newton_with_w(
            contacts in prop::collection::vec(contact(), 1..9),
            start in prop::collection::vec(prop::array::uniform3(-0.5..1.0_f64), 9),
            e in 0.01..0.1_f64,
        ) {
            let masses = vec![InverseMass {
                translation_per_kg: 0.5,
                rotation_per_kg_m2: [[2.0, 0.3, 0.0], [0.3, 3.0, 0.1], [0.0, 0.1, 1.0]],
            }; BODIES as usize];
            let mut form = BodyForm::default();
            assert!(form.begin(&masses, &contacts, Order::ByRank, &start[..contacts.len()]).unwrap());
            form.read();
            // In the order of the sweeps.
            let sorted: Vec<Contact> = (0..contacts.len()).map(|k| *form.at(k, &contacts).0).collect();
            let mut problem = Problem::default();
            Assembly::default().assemble(&masses, &sorted, &mut problem).unwrap();
            let mut with = Newton::default();
            with.factors.analyse(&problem.matrix);
            let mut without = BodyNewton::default();
            without.analyse(&form, &contacts, usize::MAX).unwrap();
            let both = [
                with.find_step(&problem, &form.r, &form.u, e),
                without.find_step(&form.local, &form.r, &form.u, e),
            ];
            prop_assume!(both == [true; 2]);
            let size = with.step.iter().flatten().fold(1.0_f64, |most, x| most.max(x.abs()));
            prop_assume!(size < 1e3);
            for (a, (b, _)) in with.step.iter().zip(&without.answers) {
                for k in 0..3 {
                    prop_assert!((a[k] - b[k]).abs() < 1e-8 * size * size, "{a:?} {b:?}");
                }
            }
        }
    }
}
