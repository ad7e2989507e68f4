//! Exact draws of a tilted matrix Beta, density det(U)^(a-2) det(I-U)^(b-2) exp(-tr(D U)), by rejection.
//!
//! Three envelopes, each with a bound that holds everywhere on 0 < U < I:
//!
//! - the matrix Beta itself, kept with exp(-tr(D U)): good where D is small;
//! - near zero a Wishart matrix. log det(I-U) is concave, so it lies below its tangent at any M:
//!   det(I-U)^(b-2) <= const exp(-(b-2) tr((I-M)^-1 U)), and what this leaves is det(U)^(a-2) exp(-tr(R U)),
//!   R = D + (b-2) (I-M)^-1. Needs b >= 2 and R > 0;
//! - near the identity the same for I - U. Needs a >= 2.
//!
//! Where none of them keeps enough, a random walk: Metropolis steps from the mean, enough of them to forget it.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, Gamma, StandardNormal};

use crate::symmetric::{Symmetric, cholesky, from_one, log_det};

/// Steps of the random walk.
const WALK: usize = 2000;

/// The target: exponents, tilt, mean and standard deviations of the diagonal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub a: f64,
    pub b: f64,
    pub tilt: [f64; 3],
    pub mean: [f64; 3],
    pub deviation: [f64; 3],
}

impl Target {
    fn log_density(&self, u: Symmetric) -> Option<f64> {
        let inside = (self.a - 2.0) * log_det(u)? + (self.b - 2.0) * log_det(from_one(u))?;
        Some(inside - (0..3).map(|i| self.tilt[i] * u[i]).sum::<f64>())
    }
}

/// Where draws come from.
#[derive(Debug, Clone)]
pub(crate) enum Proposal {
    Beta {
        first: Wishart,
        second: Wishart,
        tilt: [f64; 3],
        top: f64,
    },
    Tangent {
        wishart: Wishart,
        mirrored: bool,
        exponent: f64,
        slope: [f64; 3],
        constant: f64,
    },
    Walk {
        target: Target,
    },
}

impl Proposal {
    /// The matrix Beta.
    pub fn beta(target: &Target) -> Option<Self> {
        Some(Self::Beta {
            first: Wishart::new(target.a, [1.0; 3])?,
            second: Wishart::new(target.b, [1.0; 3])?,
            tilt: target.tilt,
            // Largest value of -tr(D U): each entry of the diagonal at its better end.
            top: target.tilt.iter().map(|d| (-d).max(0.0)).sum(),
        })
    }

    /// The Wishart matrix near zero, or mirrored near the identity; none where its bound does not hold.
    ///
    /// The tangent may touch anywhere: at the mean (`centred` = 0) it is tightest there, and further out (1) the Wishart
    /// matrix has the mean of the target, which counts more where the axes have bounds of different kinds.
    pub fn tangent(target: &Target, mirrored: bool, centred: f64) -> Option<Self> {
        let (shape, exponent, sign) = if mirrored {
            (target.b, target.a - 2.0, -1.0)
        } else {
            (target.a, target.b - 2.0, 1.0)
        };
        if exponent < 0.0 || (exponent == 0.0 && centred > 0.0) {
            return None;
        }
        let slope = [0, 1, 2].map(|i| {
            let mean = if mirrored {
                1.0 - target.mean[i]
            } else {
                target.mean[i]
            };
            let touching = 1.0 / (1.0 - mean);
            if centred == 0.0 {
                return touching;
            }
            (1.0 - centred) * touching + centred * (shape / mean - sign * target.tilt[i]) / exponent
        });
        // The tangent with this slope touches at 1 - 1/slope, within the range of an eigenvalue.
        if slope.iter().any(|&s| s < 1.0) {
            return None;
        }
        let rate = [0, 1, 2].map(|i| sign * target.tilt[i] + exponent * slope[i]);
        let constant = slope.iter().map(|s| s - 1.0 - s.ln()).sum();
        let wishart = Wishart::new(shape, rate)?;
        Some(Self::Tangent {
            wishart,
            mirrored,
            exponent,
            slope,
            constant,
        })
    }

    /// The random walk.
    pub fn walk(target: &Target) -> Self {
        Self::Walk { target: *target }
    }

    /// One attempt; none where it is turned down.
    pub fn attempt(&self, random: &mut ChaCha8Rng) -> Option<Symmetric> {
        match self {
            Self::Beta {
                first,
                second,
                tilt,
                top,
            } => {
                let (one, two) = (first.draw(random), second.draw(random));
                let u = share(one, two)?;
                let log = (0..3).map(|i| -tilt[i] * u[i]).sum::<f64>() - top;
                kept(log, random).then_some(u)
            }
            Self::Tangent {
                wishart,
                mirrored,
                exponent,
                slope,
                constant,
            } => {
                let u = wishart.draw(random);
                let rest = from_one(u);
                let below = (0..3).map(|i| slope[i] * u[i]).sum::<f64>() - constant;
                let log = exponent * (log_det(rest)? + below);
                kept(log, random).then_some(if *mirrored { rest } else { u })
            }
            Self::Walk { target } => Some(walk(target, random)),
        }
    }
}

fn kept(log_probability: f64, random: &mut ChaCha8Rng) -> bool {
    let bar: f64 = Exp1.sample(random);
    -log_probability <= bar
}

/// L^-1 A L^-T with L L' = A + B: a matrix Beta, if A and B are Wishart matrices of one scale.
fn share(a: Symmetric, b: Symmetric) -> Option<Symmetric> {
    let [l11, l22, l33, l21, l31, l32] = cholesky([0, 1, 2, 3, 4, 5].map(|i| a[i] + b[i]))?;
    let solve = |[x, y, z]: [f64; 3]| {
        let first = x / l11;
        let second = (y - l21 * first) / l22;
        [first, second, (z - l31 * first - l32 * second) / l33]
    };
    let [xx, yy, zz, xy, xz, yz] = a;
    let columns = [
        solve([xx, xy, xz]),
        solve([xy, yy, yz]),
        solve([xz, yz, zz]),
    ];
    let rows = [0, 1, 2].map(|i| solve([columns[0][i], columns[1][i], columns[2][i]]));
    Some([
        rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2],
    ])
}

fn walk(target: &Target, random: &mut ChaCha8Rng) -> Symmetric {
    let mut u = [
        target.mean[0],
        target.mean[1],
        target.mean[2],
        0.0,
        0.0,
        0.0,
    ];
    let [s, t, w] = target.deviation;
    // Off the diagonal a matrix Beta spreads by about the root of half the product.
    let spread = [
        s,
        t,
        w,
        (s * t / 2.0).sqrt(),
        (s * w / 2.0).sqrt(),
        (t * w / 2.0).sqrt(),
    ];
    let mut here = target.log_density(u).unwrap_or(f64::NEG_INFINITY);
    for _ in 0..WALK {
        let next = [0, 1, 2, 3, 4, 5].map(|i| {
            let step: f64 = StandardNormal.sample(random);
            // 2.4 / sqrt(6): the usual length in six dimensions.
            u[i] + 0.97 * spread[i] * step
        });
        let Some(there) = target.log_density(next) else {
            continue;
        };
        if kept(there - here, random) {
            (u, here) = (next, there);
        }
    }
    u
}

/// Wishart matrices of density det(S)^(shape-2) exp(-tr(R S)), R diagonal, by Bartlett's triangular factor.
#[derive(Debug, Clone)]
pub(crate) struct Wishart {
    squares: [Gamma<f64>; 3],
    scale: [f64; 3],
}

impl Wishart {
    fn new(shape: f64, rate: [f64; 3]) -> Option<Self> {
        if !rate.iter().all(|&r| r > 0.0) {
            return None;
        }
        let square = |i: f64| Gamma::new(shape - 0.5 * i, 1.0).ok();
        Some(Self {
            squares: [square(0.0)?, square(1.0)?, square(2.0)?],
            scale: rate.map(|r| 1.0 / r.sqrt()),
        })
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> Symmetric {
        let mut off = || {
            let normal: f64 = StandardNormal.sample(random);
            normal * std::f64::consts::FRAC_1_SQRT_2
        };
        let (t21, t31, t32) = (off(), off(), off());
        let [t11, t22, t33] = [0, 1, 2].map(|i| self.squares[i].sample(random).sqrt());
        let [k1, k2, k3] = self.scale;
        [
            k1 * k1 * t11 * t11,
            k2 * k2 * (t21 * t21 + t22 * t22),
            k3 * k3 * (t31 * t31 + t32 * t32 + t33 * t33),
            k1 * k2 * t11 * t21,
            k1 * k3 * t11 * t31,
            k2 * k3 * (t21 * t31 + t22 * t32),
        ]
    }
}
