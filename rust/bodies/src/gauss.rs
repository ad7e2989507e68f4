//! Gauss rules on [0, 1] for the tilted beta weight t^(p-1) (1-t)^(q-1) exp(-k t).
//!
//! The weight is discretised by a Gauss-Jacobi rule of many nodes, and the rule of few nodes comes from the recurrence
//! coefficients of that discrete measure (Stieltjes' procedure; Gautschi, 2004, section 2.2.3). A steep tilt leaves
//! nothing far from one end: there the discretisation covers the part that counts.

/// Nodes of the discretisation.
const FINE: usize = 96;

/// A rule: nodes, weights that sum up to one, and the logarithm of what they were divided by.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub nodes: Vec<f64>,
    pub weights: Vec<f64>,
    /// log of the integral of the weight, less that of the same weight without tilt.
    pub log_mass: f64,
    pub mean: f64,
}

/// One beta weight, ready to be tilted.
#[derive(Debug, Clone)]
pub(crate) struct Beta {
    p: f64,
    q: f64,
    whole: Jacobi,
    low: Jacobi,
    high: Jacobi,
}

impl Beta {
    pub fn new(p: f64, q: f64) -> Self {
        let (whole, low, high) = (Jacobi::new(p, q), Jacobi::new(p, 1.0), Jacobi::new(1.0, q));
        Self {
            p,
            q,
            whole,
            low,
            high,
        }
    }

    /// The rule of `count` nodes under the tilt exp(-`tilt` t).
    pub fn tilted(&self, tilt: f64, count: usize) -> Rule {
        // Beyond this reach from the end the tilted weight is below exp(-40) of its largest value.
        let shape = if tilt > 0.0 { self.p } else { self.q };
        let reach = (shape.max(1.0) + 45.0 + 10.0 * shape.sqrt()) / tilt.abs().max(1e-300);
        let (nodes, logs): (Vec<f64>, Vec<f64>) = if reach >= 1.0 {
            let parts = self.whole.nodes.iter().zip(&self.whole.weights);
            parts.map(|(&t, &w)| (t, w.ln() - tilt * t)).unzip()
        } else if tilt > 0.0 {
            let parts = self.low.nodes.iter().zip(&self.low.weights);
            let constant = self.p * reach.ln() + self.low.log_mass - self.whole.log_mass;
            parts
                .map(|(&s, &w)| {
                    let t = reach * s;
                    (
                        t,
                        w.ln() + constant + (self.q - 1.0) * (-t).ln_1p() - tilt * t,
                    )
                })
                .unzip()
        } else {
            let parts = self.high.nodes.iter().zip(&self.high.weights);
            let constant = self.q * reach.ln() + self.high.log_mass - self.whole.log_mass;
            parts
                .map(|(&s, &w)| {
                    let from_one = reach * (1.0 - s);
                    let t = 1.0 - from_one;
                    (
                        t,
                        w.ln() + constant + (self.p - 1.0) * (-from_one).ln_1p() - tilt * t,
                    )
                })
                .unzip()
        };
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let mass: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|w| w / mass).collect();
        let mean = nodes.iter().zip(&weights).map(|(t, w)| t * w).sum();
        let (diagonal, off) = recurrence(&nodes, &weights, count);
        let (nodes, weights) = golub_welsch(diagonal, off);
        Rule {
            nodes,
            weights,
            log_mass: top + mass.ln(),
            mean,
        }
    }
}

/// Gauss-Jacobi on [0, 1] for t^(p-1) (1-t)^(q-1), weights that sum up to one.
#[derive(Debug, Clone)]
struct Jacobi {
    nodes: Vec<f64>,
    weights: Vec<f64>,
    /// log B(p, q)
    log_mass: f64,
}

impl Jacobi {
    fn new(p: f64, q: f64) -> Self {
        // On [-1, 1] with the exponents alpha at 1 and beta at -1 (Gautschi, 2004, table 1.1), moved to [0, 1].
        let (alpha, beta) = (q - 1.0, p - 1.0);
        let sum = alpha + beta;
        let mut diagonal = Vec::with_capacity(FINE);
        let mut off = Vec::with_capacity(FINE);
        for k in 0..FINE {
            let n = k as f64;
            let centre = if k == 0 {
                (beta - alpha) / (sum + 2.0)
            } else {
                (beta * beta - alpha * alpha) / ((2.0 * n + sum) * (2.0 * n + sum + 2.0))
            };
            diagonal.push(0.5 + 0.5 * centre);
            if k > 0 {
                // (n + sum) / (2 n + sum - 1) is one for n = 1, whatever the sum.
                let ratio = if k == 1 {
                    1.0
                } else {
                    (n + sum) / (2.0 * n + sum - 1.0)
                };
                let square = 4.0 * n * (n + alpha) * (n + beta) * ratio
                    / ((2.0 * n + sum).powi(2) * (2.0 * n + sum + 1.0));
                off.push(0.5 * square.sqrt());
            }
        }
        let (nodes, weights) = golub_welsch(diagonal, off);
        Self {
            nodes,
            weights,
            log_mass: log_gamma(p) + log_gamma(q) - log_gamma(p + q),
        }
    }
}

/// log of the gamma function for x > 0: Stirling's series, after going up to where it is exact to 1e-15.
fn log_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 15.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let s = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

/// Recurrence coefficients of the polynomials orthogonal in a discrete measure of mass one.
fn recurrence(nodes: &[f64], weights: &[f64], count: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut diagonal, mut off) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut before = vec![0.0; nodes.len()];
    let mut now: Vec<f64> = vec![1.0; nodes.len()];
    let mut last = 0.0;
    for k in 0..count {
        let centre: f64 = (0..nodes.len())
            .map(|i| weights[i] * nodes[i] * now[i] * now[i])
            .sum();
        diagonal.push(centre);
        if k + 1 == count {
            break;
        }
        // Orthonormal: the norm of the next polynomial is the coefficient that goes with it.
        let next: Vec<f64> = (0..nodes.len())
            .map(|i| (nodes[i] - centre) * now[i] - last * before[i])
            .collect();
        last = next
            .iter()
            .zip(weights)
            .map(|(y, w)| w * y * y)
            .sum::<f64>()
            .sqrt();
        off.push(last);
        before = std::mem::replace(&mut now, next.iter().map(|y| y / last).collect());
    }
    (diagonal, off)
}

/// Nodes and weights (of mass one) from recurrence coefficients: eigenvalues of the tridiagonal matrix and squares of
/// the first components of its eigenvectors, by implicit QL steps (Golub and Welsch, 1969).
fn golub_welsch(mut d: Vec<f64>, mut e: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let n = d.len();
    e.push(0.0);
    let mut z = vec![0.0; n];
    z[0] = 1.0;
    for l in 0..n {
        // Each eigenvalue takes two or three steps; the bound only ends what never should happen.
        for _ in 0..60 {
            let m = (l..n - 1)
                .find(|&m| e[m].abs() <= f64::EPSILON * (d[m].abs() + d[m + 1].abs()))
                .unwrap_or(n - 1);
            if m == l {
                break;
            }
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let r = g.hypot(1.0);
            g = d[m] - d[l] + e[l] / (g + r.copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            for i in (l..m).rev() {
                let f = s * e[i];
                let b = c * e[i];
                let r = f.hypot(g);
                e[i + 1] = r;
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                let first = z[i + 1];
                z[i + 1] = s * z[i] + c * first;
                z[i] = c * z[i] - s * first;
            }
            d[l] -= p;
            e[l] = g;
            e[m] = 0.0;
        }
    }
    (d, z.iter().map(|first| first * first).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_give_the_moments_of_the_beta() {
        for (p, q) in [(7.0, 7.0), (0.5, 5.5), (1.0, 6.0), (1.2, 0.7)] {
            let rule = Beta::new(p, q).tilted(0.0, 8);
            let mut moment = 1.0;
            for k in 0..15 {
                let found: f64 = rule
                    .nodes
                    .iter()
                    .zip(&rule.weights)
                    .map(|(t, w)| w * t.powi(k))
                    .sum();
                assert!((found - moment).abs() < 1e-13, "{p} {q} {k}");
                moment *= (p + f64::from(k)) / (p + q + f64::from(k));
            }
            assert!(rule.log_mass.abs() < 1e-13);
        }
    }

    #[test]
    fn steep_tilts_agree_with_gentle_ones_and_with_the_gamma() {
        // p = q = 1: integral of exp(-k t), and its mean.
        for k in [-700.0, -60.0, -3.0, 3.0, 50.0, 300.0, 5000.0_f64] {
            let rule = Beta::new(1.0, 1.0).tilted(k, 6);
            let mass = -(-k).exp_m1() / k;
            let expected = if k < -300.0 {
                -k - (-k).ln()
            } else {
                mass.ln()
            };
            assert!(
                (rule.log_mass - expected).abs() < 1e-12 * expected.abs().max(1.0),
                "{k}"
            );
            assert!(
                (rule.mean - (1.0 / k - 1.0 / k.exp_m1())).abs() < 1e-13,
                "{k}"
            );
        }
        // Far from the other end the weight is a gamma of shape p - and (1-t)^6 its seventh moment away.
        let rule = Beta::new(7.0, 1.0).tilted(2000.0, 10);
        let third: f64 = rule
            .nodes
            .iter()
            .zip(&rule.weights)
            .map(|(t, w)| w * t.powi(3))
            .sum();
        assert!((third * 2000f64.powi(3) / (7.0 * 8.0 * 9.0) - 1.0).abs() < 1e-12);
    }
}
