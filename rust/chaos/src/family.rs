//! Univariate orthonormal polynomials by their three-term recurrence.
//!
//! Each family is orthonormal with respect to a probability measure, so that the variance of an expansion is
//! the sum of its squared coefficients (Xiu and Karniadakis, 2002). With the recurrence coefficients of the
//! measure (Gautschi, Orthogonal Polynomials, 2004, section 1.4),
//!
//! ```text
//! b[k+1] p[k+1](x) = (x - a[k]) p[k](x) - b[k] p[k-1](x),    p[0] = 1, p[-1] = 0
//! ```
//!
//! is stable in the direction of growing k. Variables are canonical (no units):
//!
//! | family | measure | canonical variable of |
//! | --- | --- | --- |
//! | Legendre | uniform on [-1, 1] | uniform priors |
//! | Hermite | standard normal | normal and lognormal priors |
//! | Laguerre(alpha) | x^alpha exp(-x) on [0, inf) | gamma priors of shape alpha + 1; alpha = 0 exponential |
//! | Jacobi(alpha, beta) | (1-x)^alpha (1+x)^beta on [-1, 1] | beta priors of shapes (beta + 1, alpha + 1) |

use crate::error::{ChaosError, Result};

/// An orthonormal family, one per parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Family {
    /// Uniform measure on [-1, 1].
    Legendre,
    /// Standard normal measure.
    Hermite,
    /// Gamma measure of shape `alpha + 1`, `alpha > -1`.
    Laguerre {
        /// Exponent of x in the density.
        alpha: f64,
    },
    /// Beta measure on [-1, 1], `alpha, beta > -1`.
    Jacobi {
        /// Exponent of (1 - x) in the density.
        alpha: f64,
        /// Exponent of (1 + x) in the density.
        beta: f64,
    },
}

impl Family {
    /// The family of this name (`legendre`, `hermite`, `laguerre`, `jacobi`) and shape parameters.
    pub fn from_name(name: &str, shape: &[f64]) -> Result<Self> {
        let refused = |allowed| {
            Err(ChaosError::Family {
                name: name.to_owned(),
                shape: shape.to_vec(),
                allowed,
            })
        };
        let valid = shape.iter().all(|&s| s.is_finite() && s > -1.0);
        match (name, shape) {
            ("legendre", []) => Ok(Self::Legendre),
            ("hermite", []) => Ok(Self::Hermite),
            ("laguerre", &[alpha]) if valid => Ok(Self::Laguerre { alpha }),
            ("jacobi", &[alpha, beta]) if valid => Ok(Self::Jacobi { alpha, beta }),
            ("legendre" | "hermite", _) => refused("takes no shape parameters"),
            ("laguerre", _) => refused("takes one finite shape parameter, alpha > -1"),
            ("jacobi", _) => refused("takes two finite shape parameters, alpha > -1 and beta > -1"),
            _ => refused("allowed are legendre, hermite, laguerre, jacobi"),
        }
    }

    /// Name, as `from_name` takes it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Legendre => "legendre",
            Self::Hermite => "hermite",
            Self::Laguerre { .. } => "laguerre",
            Self::Jacobi { .. } => "jacobi",
        }
    }

    /// Shape parameters, as `from_name` takes them.
    pub fn shape(&self) -> Vec<f64> {
        match *self {
            Self::Legendre | Self::Hermite => vec![],
            Self::Laguerre { alpha } => vec![alpha],
            Self::Jacobi { alpha, beta } => vec![alpha, beta],
        }
    }

    /// The support in words.
    pub fn support(&self) -> &'static str {
        match self {
            Self::Legendre | Self::Jacobi { .. } => "[-1, 1]",
            Self::Hermite => "the real line",
            Self::Laguerre { .. } => "[0, inf)",
        }
    }

    /// Whether the density allows `x`; 1e-9 beyond a bound is taken as rounding of a parameter transform.
    pub fn supports(&self, x: f64) -> bool {
        match self {
            Self::Legendre | Self::Jacobi { .. } => x.abs() <= 1.0 + 1e-9,
            Self::Hermite => x.is_finite(),
            Self::Laguerre { .. } => x >= -1e-9,
        }
    }

    /// Recurrence coefficients a[0..degree] and b[0..=degree] of the orthonormal polynomials (b[0] unused, 0).
    fn coefficients(&self, degree: usize) -> (Vec<f64>, Vec<f64>) {
        let a = |k: usize| {
            let n = k as f64;
            match *self {
                Self::Legendre | Self::Hermite => 0.0,
                Self::Laguerre { alpha } => 2.0 * n + alpha + 1.0,
                // At k = 0 the general form is 0/0 for alpha + beta = 0.
                Self::Jacobi { alpha, beta } if k == 0 => (beta - alpha) / (alpha + beta + 2.0),
                Self::Jacobi { alpha, beta } => {
                    let s = 2.0 * n + alpha + beta;
                    (beta - alpha) * (beta + alpha) / (s * (s + 2.0))
                }
            }
        };
        let b = |k: usize| {
            let n = k as f64;
            match *self {
                _ if k == 0 => 0.0,
                Self::Legendre => n / (4.0 * n * n - 1.0).sqrt(),
                Self::Hermite => n.sqrt(),
                Self::Laguerre { alpha } => (n * (n + alpha)).sqrt(),
                // At k = 1 a factor alpha + beta + 1 cancels; it may be zero.
                Self::Jacobi { alpha, beta } if k == 1 => {
                    let s = alpha + beta + 2.0;
                    (4.0 * (1.0 + alpha) * (1.0 + beta) / (s * s * (s + 1.0))).sqrt()
                }
                Self::Jacobi { alpha, beta } => {
                    let s = 2.0 * n + alpha + beta;
                    let top = 4.0 * n * (n + alpha) * (n + beta) * (n + alpha + beta);
                    (top / (s * s * (s + 1.0) * (s - 1.0))).sqrt()
                }
            }
        };
        ((0..degree).map(a).collect(), (0..=degree).map(b).collect())
    }

    /// The recurrence up to `degree`, ready for evaluation.
    pub fn recurrence(&self, degree: usize) -> Recurrence {
        let (a, b) = self.coefficients(degree);
        let steps = (0..degree)
            .map(|k| Step {
                shift: a[k],
                back: b[k],
                inverse: 1.0 / b[k + 1],
            })
            .collect();
        Recurrence { steps }
    }
}

/// One step of the recurrence: p[k+1] = ((x - shift) p[k] - back p[k-1]) inverse.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    shift: f64,
    back: f64,
    inverse: f64,
}

/// The three-term recurrence of one parameter up to a fixed degree.
#[derive(Debug, Clone, PartialEq)]
pub struct Recurrence {
    steps: Vec<Step>,
}

impl Recurrence {
    /// Highest degree.
    pub fn degree(&self) -> usize {
        self.steps.len()
    }

    /// Fill `values[k] = p[k](x)` for k = 0..=degree; the L points of a block go side by side.
    #[inline(always)]
    pub(crate) fn values<const L: usize>(&self, x: [f64; L], values: &mut [[f64; L]]) {
        values[0] = [1.0; L];
        let mut before = [0.0; L];
        let mut now = [1.0; L];
        for (step, value) in self.steps.iter().zip(&mut values[1..]) {
            for i in 0..L {
                let next = ((x[i] - step.shift) * now[i] - step.back * before[i]) * step.inverse;
                before[i] = now[i];
                now[i] = next;
            }
            *value = now;
        }
    }

    /// Fill `slopes[k] = dp[k]/dx` from the values already there.
    #[inline(always)]
    pub(crate) fn slopes<const L: usize>(
        &self,
        x: [f64; L],
        values: &[[f64; L]],
        slopes: &mut [[f64; L]],
    ) {
        slopes[0] = [0.0; L];
        let mut before = [0.0; L];
        let mut now = [0.0; L];
        for (k, step) in self.steps.iter().enumerate() {
            for i in 0..L {
                let next = (values[k][i] + (x[i] - step.shift) * now[i] - step.back * before[i])
                    * step.inverse;
                before[i] = now[i];
                now[i] = next;
            }
            slopes[k + 1] = now;
        }
    }

    /// The values p[0](x) .. p[degree](x).
    pub fn at(&self, x: f64) -> Vec<f64> {
        let mut values = vec![[0.0]; self.degree() + 1];
        self.values([x], &mut values);
        values.into_iter().map(|[v]| v).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes and weights of the Gauss rule of a measure: eigenvalues of its Jacobi matrix by bisection on the
    /// Sturm sequence, weights 1 / sum p[k]^2. It shares only the recurrence coefficients with the code; those
    /// are checked against closed-form moments below.
    fn gauss(family: Family, n: usize) -> Vec<(f64, f64)> {
        let (a, b) = family.coefficients(n);
        let below = |x: f64| {
            let mut count = 0;
            let mut d = 1.0;
            for k in 0..n {
                let square = b[k] * b[k];
                d = a[k] - x - if k == 0 { 0.0 } else { square / d };
                if d == 0.0 {
                    d = 1e-300;
                }
                count += usize::from(d < 0.0);
            }
            count
        };
        let recurrence = family.recurrence(n - 1);
        (0..n)
            .map(|i| {
                let (mut low, mut high) = (-1e3, 1e3);
                for _ in 0..200 {
                    let middle = 0.5 * (low + high);
                    if below(middle) > i {
                        high = middle
                    } else {
                        low = middle
                    }
                }
                let x = 0.5 * (low + high);
                (x, 1.0 / recurrence.at(x).iter().map(|p| p * p).sum::<f64>())
            })
            .collect()
    }

    const FAMILIES: [Family; 7] = [
        Family::Legendre,
        Family::Hermite,
        Family::Laguerre { alpha: 0.0 },
        Family::Laguerre { alpha: 2.5 },
        Family::Jacobi {
            alpha: 0.0,
            beta: 0.0,
        },
        Family::Jacobi {
            alpha: 1.5,
            beta: 0.5,
        },
        Family::Jacobi {
            alpha: -0.5,
            beta: -0.5,
        },
    ];

    #[test]
    fn orthonormal_to_degree_20_by_gauss_quadrature() {
        for family in FAMILIES {
            let rule = gauss(family, 24);
            let recurrence = family.recurrence(20);
            let tables: Vec<_> = rule.iter().map(|&(x, w)| (recurrence.at(x), w)).collect();
            for i in 0..=20 {
                for j in 0..=20 {
                    let product: f64 = tables.iter().map(|(p, w)| w * p[i] * p[j]).sum();
                    let expected = f64::from(u8::from(i == j));
                    // 24 nodes are exact to degree 47; what is left is rounding of large values.
                    assert!(
                        (product - expected).abs() < 1e-9,
                        "{family:?} {i} {j}: {product}"
                    );
                }
            }
        }
    }

    #[test]
    fn measures_have_their_closed_form_moments() {
        let moment = |family, power: i32| -> f64 {
            gauss(family, 12)
                .iter()
                .map(|&(x, w)| w * x.powi(power))
                .sum()
        };
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-11 * expected.abs().max(1.0))
        };
        close(moment(Family::Legendre, 4), 1.0 / 5.0);
        close(moment(Family::Legendre, 6), 1.0 / 7.0);
        close(moment(Family::Hermite, 4), 3.0);
        close(moment(Family::Hermite, 6), 15.0);
        // Gamma(3.5): E x = 3.5, E x^3 = 3.5 4.5 5.5.
        close(moment(Family::Laguerre { alpha: 2.5 }, 1), 3.5);
        close(moment(Family::Laguerre { alpha: 2.5 }, 3), 3.5 * 4.5 * 5.5);
        // t = (1+x)/2 is Beta(beta+1, alpha+1) = Beta(1.5, 2.5): E t = 3/8, E t^2 = 1.5 2.5 / (4 5).
        let jacobi = Family::Jacobi {
            alpha: 1.5,
            beta: 0.5,
        };
        close(0.5 * (1.0 + moment(jacobi, 1)), 3.0 / 8.0);
        close(
            0.25 * (1.0 + 2.0 * moment(jacobi, 1) + moment(jacobi, 2)),
            1.5 * 2.5 / 20.0,
        );
        // Chebyshev: E x^4 = 3/8.
        close(
            moment(
                Family::Jacobi {
                    alpha: -0.5,
                    beta: -0.5,
                },
                4,
            ),
            3.0 / 8.0,
        );
    }

    #[test]
    fn values_match_closed_forms() {
        let x = 0.37_f64;
        let legendre = Family::Legendre.recurrence(3).at(x);
        assert!((legendre[3] - 7f64.sqrt() * 0.5 * (5.0 * x.powi(3) - 3.0 * x)).abs() < 1e-14);
        let hermite = Family::Hermite.recurrence(3).at(x);
        assert!((hermite[3] - (x.powi(3) - 3.0 * x) / 6f64.sqrt()).abs() < 1e-14);
        let jacobi = Family::Jacobi {
            alpha: 0.0,
            beta: 0.0,
        }
        .recurrence(3)
        .at(x);
        assert!((jacobi[3] - legendre[3]).abs() < 1e-14);
    }

    #[test]
    fn slopes_match_differences() {
        for family in FAMILIES {
            let recurrence = family.recurrence(12);
            let (x, h) = (0.3, 1e-5);
            let (mut values, mut slopes) = (vec![[0.0]; 13], vec![[0.0]; 13]);
            recurrence.values([x], &mut values);
            recurrence.slopes([x], &values, &mut slopes);
            let (up, down) = (recurrence.at(x + h), recurrence.at(x - h));
            for k in 0..=12 {
                let difference = (up[k] - down[k]) / (2.0 * h);
                assert!(
                    (slopes[k][0] - difference).abs() < 1e-6 * (1.0 + difference.abs()),
                    "{family:?} {k}"
                );
            }
        }
    }

    #[test]
    fn unknown_families_are_refused_with_what_is_allowed() {
        let message = Family::from_name("chebyshev", &[]).unwrap_err().to_string();
        assert!(
            message.contains("chebyshev") && message.contains("legendre"),
            "{message}"
        );
        assert!(Family::from_name("laguerre", &[-1.0]).is_err());
        assert!(Family::from_name("jacobi", &[0.5]).is_err());
        assert_eq!(
            Family::from_name("jacobi", &[0.5, 1.0]).unwrap().shape(),
            vec![0.5, 1.0]
        );
    }
}
