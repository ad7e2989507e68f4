//! The law of a random Euler tensor between two bounds, and its draws.

use nalgebra::{Matrix3, SymmetricEigen};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::dual::multiplier;
use crate::error::{BodyError, Result};
use crate::moments::MatrixBeta;
use crate::proposal::{Proposal, Target};
use crate::symmetric::{Symmetric, congruent, matrix};

/// Attempts of the trial that chooses an envelope.
const TRIAL: u64 = 1000;
/// An envelope that keeps less than this is worse than the walk.
const LEAST_KEPT: f64 = 2e-3;
/// Attempts before a draw is given up: beyond chance at the smallest share that is allowed.
const ATTEMPTS: usize = 100_000;

/// How draws are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Rejection from the matrix Beta: exact.
    Beta,
    /// Rejection from a Wishart matrix near the lower bound: exact.
    Lower,
    /// Rejection from a Wishart matrix near the upper bound: exact.
    Upper,
    /// Metropolis steps from the mean: the fall-back, exact in the limit of many steps.
    Metropolis,
}

/// What is known of a tensor: all in the same unit (m^2 for an Euler tensor over its mass).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Every draw lies above it; zero for a body of which nothing else is known.
    pub lower: Symmetric,
    /// Every draw lies below it.
    pub upper: Symmetric,
    /// The expectation.
    pub mean: Symmetric,
}

/// Kummer-Beta law of a symmetric 3 x 3 tensor Z with lower < Z < upper and a given mean: the law of largest entropy for
/// given expectations of Z, log det(Z - lower) and log det(upper - Z) (Batou and Soize, 2013, Eqs. 1.15-1.19).
#[derive(Debug, Clone)]
pub struct KummerBeta {
    lower: Symmetric,
    /// Z = lower + K U K'.
    factor: [[f64; 3]; 3],
    /// Ratios of bound to mean, above the lower bound: eigenvalues of Gmax.
    ratios: [f64; 3],
    axes: Matrix3<f64>,
    tilt: [f64; 3],
    proposal: Proposal,
    method: Method,
    kept: f64,
}

impl KummerBeta {
    /// Solve for the multiplier and choose an envelope.
    ///
    /// The exponents are the paper's lambda_l and lambda_u: the density goes with det(Z - lower)^-lambda_l
    /// det(upper - Z)^-lambda_u, both below 1. Below -2 the first leaves E[|J^-1|^2] finite (Eq. 1.20d).
    pub fn new(bounds: &Bounds, lower_exponent: f64, upper_exponent: f64) -> Result<Self> {
        for (key, value) in [
            ("lower_exponent", lower_exponent),
            ("upper_exponent", upper_exponent),
        ] {
            if !(-1e4..1.0).contains(&value) {
                return Err(BodyError::Value {
                    key,
                    value,
                    allowed: "must lie in [-10000, 1)",
                });
            }
        }
        let (lower, upper, mean) = (
            matrix(bounds.lower),
            matrix(bounds.upper),
            matrix(bounds.mean),
        );
        if bounds.lower.iter().any(|&value| value != 0.0) {
            let smallest = smallest_eigenvalue(lower);
            if smallest.is_nan() || smallest < -1e-12 * lower.norm() {
                return Err(BodyError::Order {
                    above: "lower",
                    below: "0",
                    smallest,
                });
            }
        }
        let (above, room) = (mean - lower, upper - mean);
        for (above, below, difference) in [("mean", "lower", above), ("upper", "mean", room)] {
            let smallest = smallest_eigenvalue(difference);
            if smallest.is_nan() || smallest <= 0.0 {
                return Err(BodyError::Order {
                    above,
                    below,
                    smallest,
                });
            }
        }
        let order = BodyError::Order {
            above: "mean",
            below: "lower",
            smallest: 0.0,
        };
        let cholesky = above.cholesky().ok_or(order.clone())?.l();
        let inverse = cholesky.try_inverse().ok_or(order)?;
        let scaled = inverse * (upper - lower) * inverse.transpose();
        let eigen = SymmetricEigen::new(0.5 * (scaled + scaled.transpose()));
        // Rising, as the quadrature wants them.
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        let ratios = order.map(|i| eigen.eigenvalues[i]);
        let axes = Matrix3::from_columns(&order.map(|i| eigen.eigenvectors.column(i).into_owned()));
        let (a, b) = (2.0 - lower_exponent, 2.0 - upper_exponent);
        let target = ratios.map(|g| 1.0 / g);
        let (tilt, moments) = multiplier(&MatrixBeta::new(a, b), a, b, target)?;
        let deviation = [0, 1, 2].map(|i| moments.covariance[i][i].sqrt());
        let goal = Target {
            a,
            b,
            tilt,
            mean: target,
            deviation,
        };
        let (method, proposal, kept) = chosen(&goal);
        let k = cholesky * axes * Matrix3::from_diagonal(&ratios.map(f64::sqrt).into());
        let factor = [0, 1, 2].map(|i| [0, 1, 2].map(|j| k[(i, j)]));
        Ok(Self {
            lower: bounds.lower,
            factor,
            ratios,
            axes,
            tilt,
            proposal,
            method,
            kept,
        })
    }

    /// The draw of a key: a function of the law and these numbers alone.
    pub fn draw(&self, seed: u64, key: [f64; 6]) -> Symmetric {
        let mut random = stream(seed, key);
        // A Wishart matrix may leave no draw after that many attempts only if the law is not what the trial saw.
        let u = (0..ATTEMPTS).find_map(|_| self.proposal.attempt(&mut random));
        let u =
            u.unwrap_or([0, 1, 2, 3, 4, 5].map(|i| if i < 3 { 1.0 / self.ratios[i] } else { 0.0 }));
        let z = congruent(&self.factor, u);
        [0, 1, 2, 3, 4, 5].map(|i| self.lower[i] + z[i])
    }

    /// Eigenvalues of Gmax: how far the upper bound lies above the mean, axis by axis.
    pub fn ratios(&self) -> [f64; 3] {
        self.ratios
    }

    /// The multiplier of the normalised tensor G = L^-1 (Z - lower) L^-T, L L' = mean - lower: the matrix mu of the paper.
    pub fn multiplier(&self) -> Symmetric {
        let diagonal = nalgebra::Vector3::from_fn(|i, _| self.tilt[i] / self.ratios[i]);
        let mu = self.axes * Matrix3::from_diagonal(&diagonal) * self.axes.transpose();
        [
            mu[(0, 0)],
            mu[(1, 1)],
            mu[(2, 2)],
            mu[(0, 1)],
            mu[(0, 2)],
            mu[(1, 2)],
        ]
    }

    /// Eigenvalues of the multiplier, in the order of `ratios`.
    pub fn multipliers(&self) -> [f64; 3] {
        [0, 1, 2].map(|i| self.tilt[i] / self.ratios[i])
    }

    /// How draws are made.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Share of attempts that were kept in a trial.
    pub fn kept(&self) -> f64 {
        self.kept
    }
}

fn smallest_eigenvalue(of: Matrix3<f64>) -> f64 {
    if of.iter().all(|value| value.is_finite()) {
        of.symmetric_eigenvalues().min()
    } else {
        f64::NAN
    }
}

/// The random numbers of a draw.
fn stream(seed: u64, key: [f64; 6]) -> ChaCha8Rng {
    // Odd multipliers make each pair of numbers one word without losing either; the cipher does the mixing.
    let word = |i: usize| {
        let (one, two) = (key[i].to_bits(), key[i + 1].to_bits());
        one.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ two.rotate_left(32).wrapping_mul(0xd1b5_4a32_d192_ed03)
    };
    let mut bytes = [0; 32];
    for (place, word) in bytes
        .chunks_exact_mut(8)
        .zip([seed, word(0), word(2), word(4)])
    {
        place.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(bytes)
}

/// The envelope that keeps most of a trial with fixed random numbers.
fn chosen(target: &Target) -> (Method, Proposal, f64) {
    let tangents = [0.0, 0.5, 1.0].into_iter().flat_map(|centred| {
        [
            (Method::Lower, Proposal::tangent(target, false, centred)),
            (Method::Upper, Proposal::tangent(target, true, centred)),
        ]
    });
    let candidates = std::iter::once((Method::Beta, Proposal::beta(target))).chain(tangents);
    let tried = candidates.filter_map(|(method, proposal)| {
        let proposal = proposal?;
        let mut random = stream(0, [0.0; 6]);
        let kept = (0..TRIAL)
            .filter(|_| proposal.attempt(&mut random).is_some())
            .count();
        Some((method, proposal, kept as f64 / TRIAL as f64))
    });
    let best = tried.max_by(|one, two| one.2.total_cmp(&two.2));
    best.filter(|found| found.2 >= LEAST_KEPT)
        .unwrap_or_else(|| (Method::Metropolis, Proposal::walk(target), 1.0))
}
