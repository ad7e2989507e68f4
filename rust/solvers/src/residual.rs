//! How well (r, u) satisfies the contact law: the one judge of every solver.
//!
//! All measures come from the natural map F_i of `cone` with rho_i = 1/trace(W_ii), an inverse mass turned
//! into a mass, so that they are free of units and of the scale of each contact:
//!
//! - energy   = |F_i / sqrt(rho_i)| / |sqrt(rho_i) q_i|, the one that decides unless another is asked for;
//! - plain    = |F_i| / |rho_i q_i|, ruled by the heaviest bodies;
//! - velocity = |F_i / rho_i| / |q_i|, ruled by the lightest;
//! - siconos  = |F_i with rho = 1| / max(|q|, |r|, |u|), the measure of Siconos (Acary et al. 2019), which
//!   depends on units and is here for comparison only.
//!
//! Where impulses are so large that W r swallows q, the map may vanish by rounding alone. So a residual that is told has a bound of
//! that rounding added to it, [`ROUNDING`] times the size of the impulses in the same norm.

use crate::block_matrix::{Lanes, Vector3};
use crate::cone::dot;
use crate::error::{self, Error};
use crate::parallel;
use crate::problem::Problem;
use std::ops::Range;

/// A norm of the natural map that a solve can be judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Norm {
    /// Fair to light and heavy bodies.
    #[default]
    Energy,
    /// That of impulses.
    Plain,
    /// That of velocities.
    Velocity,
}

impl Norm {
    /// Every norm by the name users type.
    pub const TABLE: [(&'static str, Self); 3] = [
        ("energy", Self::Energy),
        ("plain", Self::Plain),
        ("velocity", Self::Velocity),
    ];

    /// The norm of that name.
    ///
    /// # Errors
    /// When the table has no such name.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        error::named("norm", &Self::TABLE, name)
    }

    /// Weight of |F_i|^2; that of |q_i|^2 is the same times rho_i^2.
    #[inline(always)]
    pub(crate) fn weight(self, trace: f64) -> f64 {
        match self {
            Self::Energy => trace,
            Self::Plain => 1.0,
            Self::Velocity => trace * trace,
        }
    }
}

/// The residual in its four norms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residuals {
    /// Energy norm: compared with the tolerance, unless another is asked for.
    pub energy: f64,
    /// Impulse norm.
    pub plain: f64,
    /// Velocity norm.
    pub velocity: f64,
    /// The measure of Siconos, not free of units.
    pub siconos: f64,
}

impl Residuals {
    /// All norms of (r, u), with u = W r + q as given by the caller.
    pub fn new(problem: &Problem, r: &[Vector3], u: &[Vector3]) -> Self {
        let lanes = |vectors: &[Vector3]| -> Vec<Lanes> {
            vectors.iter().copied().map(Lanes::from).collect()
        };
        Self::of(problem, &lanes(r), &lanes(u))
    }

    pub(crate) fn of(problem: &Problem, r: &[Lanes], u: &[Lanes]) -> Self {
        let parts = parallel::pieces(problem.contacts(), |part| Squares::of(problem, r, u, part));
        let sum = parts.iter().skip(1).fold(parts[0], Squares::plus);
        let told = |square, impulse, reference| {
            relative(square, reference) + ROUNDING * relative(impulse, reference)
        };
        Self {
            energy: told(sum.energy, sum.energy_r, sum.energy_q),
            plain: told(sum.plain, sum.size_r, sum.plain_q),
            velocity: told(sum.velocity, sum.velocity_r, sum.velocity_q),
            siconos: relative(
                sum.unscaled,
                f64::max(sum.velocity_q, f64::max(sum.size_r, sum.size_u)),
            ),
        }
    }
}

/// Rounding of u = W r + q and of the map, in shares of the impulses: some units in the last place.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Sums of squares over some contacts.
#[derive(Clone, Copy, Default)]
struct Squares {
    plain: f64,
    energy: f64,
    velocity: f64,
    unscaled: f64,
    plain_q: f64,
    energy_q: f64,
    velocity_q: f64,
    energy_r: f64,
    velocity_r: f64,
    size_r: f64,
    size_u: f64,
}

impl Squares {
    fn of(problem: &Problem, r: &[Lanes], u: &[Lanes], contacts: Range<usize>) -> Self {
        let mut sum = Self::default();
        for i in contacts {
            let (rho, q) = (problem.rho[i], &problem.free_velocity[i]);
            let f = problem.natural_map(i, r, &u[i], rho);
            let (f, q) = (dot(&f, &f), dot(q, q));
            sum.plain += f;
            sum.energy += f / rho;
            sum.velocity += f / (rho * rho);
            sum.plain_q += q * rho * rho;
            sum.energy_q += q * rho;
            sum.velocity_q += q;
            let f = problem.natural_map(i, r, &u[i], 1.0);
            sum.unscaled += dot(&f, &f);
            let size = dot(&r[i], &r[i]);
            sum.size_r += size;
            sum.energy_r += size / rho;
            sum.velocity_r += size / (rho * rho);
            sum.size_u += dot(&u[i], &u[i]);
        }
        sum
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            plain: self.plain + other.plain,
            energy: self.energy + other.energy,
            velocity: self.velocity + other.velocity,
            unscaled: self.unscaled + other.unscaled,
            plain_q: self.plain_q + other.plain_q,
            energy_q: self.energy_q + other.energy_q,
            velocity_q: self.velocity_q + other.velocity_q,
            energy_r: self.energy_r + other.energy_r,
            velocity_r: self.velocity_r + other.velocity_r,
            size_r: self.size_r + other.size_r,
            size_u: self.size_u + other.size_u,
        }
    }
}

impl Residuals {
    /// The residual in one norm.
    pub fn in_norm(&self, norm: Norm) -> f64 {
        match norm {
            Norm::Energy => self.energy,
            Norm::Plain => self.plain,
            Norm::Velocity => self.velocity,
        }
    }
}

/// Square root of the ratio of two sums of squares, where nothing over nothing is nothing.
pub(crate) fn relative(square: f64, reference: f64) -> f64 {
    if square == 0.0 {
        0.0
    } else {
        (square / reference).sqrt()
    }
}

/// The residual in the norm of the problem alone: what the iterations watch.
#[inline(always)]
pub(crate) fn judged(problem: &Problem, r: &[Lanes], u: &[Lanes]) -> f64 {
    let mut sum = 0.0;
    for i in 0..problem.contacts() {
        sum += square(problem, i, r, &u[i]);
    }
    relative(sum, problem.judged_scale)
}

/// Whether that residual exceeds the tolerance, the velocity of contact i being `u(i)`. Mostly a few contacts are enough
/// to tell; they are looked for from the `witness` of the last time on. Of many contacts only some are looked at so: the sum over
/// all of them is then taken by all threads.
#[inline(always)]
pub(crate) fn exceeds(
    tolerance: f64,
    witness: &mut usize,
    problem: &Problem,
    r: &[Lanes],
    u: impl Fn(usize) -> Vector3 + Send + Sync,
) -> bool {
    let limit = tolerance * tolerance * problem.judged_scale;
    let many = r.len() >= parallel::MUCH;
    let (mut sum, mut i) = (0.0, *witness);
    for _ in 0..if many { FEW } else { r.len() } {
        if i >= r.len() {
            i = 0;
        }
        sum += square(problem, i, r, &u(i));
        if sum > limit {
            *witness = i;
            return true;
        }
        i += 1;
    }
    if many {
        let square = |i: usize| square(problem, i, r, &u(i));
        let of = |part: Range<usize>| (part.start, part.map(square).sum::<f64>());
        let parts = parallel::pieces(r.len(), of);
        sum = parts.iter().map(|part| part.1).sum();
        if sum > limit {
            let most = parts.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            *witness = most.map_or(0, |part| part.0);
            return true;
        }
    }
    // A sum that is no number exceeds nothing, but meets nothing either.
    sum.is_nan()
}

/// Whether what one contact adds is enough for that.
pub(crate) fn exceeds_at(
    contact: usize,
    tolerance: f64,
    problem: &Problem,
    r: &[Lanes],
    u: &Vector3,
) -> bool {
    square(problem, contact, r, u) > tolerance * tolerance * problem.judged_scale
}

/// Contacts among which the witness is looked for where there are many.
const FEW: usize = 512;

/// What contact i adds to the square of that residual, not yet relative.
#[inline(always)]
fn square(problem: &Problem, i: usize, r: &[Lanes], u: &Vector3) -> f64 {
    let f = problem.natural_map(i, r, u, problem.rho[i]);
    dot(&f, &f) * problem.weight[i]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_matrix::BlockMatrix;
    use proptest::prelude::*;

    proptest! {
        /// From whatever contact on it is looked for, the tolerance is exceeded exactly where the residual says so.
        #[test]
        fn a_witness_changes_no_verdict(
            vectors in prop::collection::vec(prop::array::uniform3(prop::array::uniform3(-1.0..1.0_f64)), 1..9),
            mass in 0.1..9.0_f64,
            first in 0_usize..9,
            share in 0.01..3.0_f64,
        ) {
            let contacts = vectors.len();
            let starts: Vec<usize> = (0..=contacts).collect();
            let block = [1.0 / mass, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0];
            let matrix = BlockMatrix::from_block_rows(&starts, &starts[..contacts], &vec![block; contacts]).unwrap();
            let q = vectors.iter().map(|v| v[0]).collect();
            let problem = Problem::new(matrix, q, vec![0.4; contacts]).unwrap();
            let r: Vec<Lanes> = vectors.iter().map(|v| v[1].into()).collect();
            let u: Vec<Lanes> = vectors.iter().map(|v| v[2].into()).collect();
            let residual = judged(&problem, &r, &u);
            // Away from equality, which rounding decides.
            for tolerance in [share * residual, residual * (1.0 + 1e-12), residual * (1.0 - 1e-12)] {
                let mut witness = first;
                prop_assume!((tolerance - residual).abs() > 1e-13 * residual);
                prop_assert_eq!(exceeds(tolerance, &mut witness, &problem, &r, |i| *u[i]), residual > tolerance);
                prop_assert!(witness < contacts || witness == first);
            }
        }
    }
}
