//! Normaliser, means and covariances of a matrix Beta tilted by exp(-tr(D U)), D diagonal: deterministic.
//!
//! U of the 3 x 3 matrix Beta(a, b), density det(U)^(a-2) det(I-U)^(b-2) on 0 < U < I, falls apart into independent
//! parts: with U = [[x, u'], [u, V]]
//!
//! ```text
//! x ~ Beta(a, b),  W = V - u u'/x ~ 2 x 2 matrix Beta(a - 1/2, b),  u = sqrt(x (1-x)) C v,  C C' = I - W,
//! v in the unit disc with density (1 - v'v)^(b-2), and W in turn p ~ Beta(a - 1/2, b), r ~ Beta(a - 1, b),
//! W12^2 = p (1-p) (1-r) h,  h ~ Beta(1/2, b - 1/2)
//! ```
//!
//! so that tr(D U) is linear in each of x, p, r, h, |v|^2 with the others held, and its average over the direction of v
//! a Bessel function. What is left is a product rule over five unit intervals, each with as much of the tilt in its
//! weight as belongs to it alone: errors fall exponentially with the number of nodes.

use crate::bessel::log_i0_and_ratio;
use crate::gauss::Beta;

/// Log of the expectation of exp(-tr(D U)) under the matrix Beta; mean and covariance of the diagonal of U under the
/// tilted law.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    pub log_expectation: f64,
    pub mean: [f64; 3],
    pub covariance: [[f64; 3]; 3],
}

/// The five weights of a matrix Beta(a, b).
#[derive(Debug, Clone)]
pub(crate) struct MatrixBeta {
    x: Beta,
    p: Beta,
    r: Beta,
    h: Beta,
    v: Beta,
}

impl MatrixBeta {
    pub fn new(a: f64, b: f64) -> Self {
        Self {
            x: Beta::new(a, b),
            p: Beta::new(a - 0.5, b),
            r: Beta::new(a - 1.0, b),
            h: Beta::new(0.5, b - 0.5),
            v: Beta::new(1.0, b - 1.0),
        }
    }

    /// Moments under the tilt `d`, with `count` nodes in each direction.
    ///
    /// In rising order of `d` the terms that couple the parts damp and never grow: the rules stay near what counts.
    pub fn moments(&self, [d1, d2, d3]: [f64; 3], count: usize) -> Moments {
        let (xs, ps, rs) = (
            self.x.tilted(d1, count),
            self.p.tilted(d2, count),
            self.r.tilted(d3, count),
        );
        let tilt_h = d3 * (1.0 - ps.mean) * (1.0 - rs.mean);
        let hs = self.h.tilted(tilt_h, count);
        // Half the trace of C' D2 C at the means.
        let rest = (1.0 - rs.mean) * (1.0 - hs.mean * (1.0 - ps.mean));
        let tilt_v = (1.0 - xs.mean) * 0.5 * (d2 * (1.0 - ps.mean) + d3 * rest);
        let vs = self.v.tilted(tilt_v, count);
        let shift = xs.log_mass + ps.log_mass + rs.log_mass + hs.log_mass + vs.log_mass;

        let mut sums = Sums::default();
        for (&p, &wp) in ps.nodes.iter().zip(&ps.weights) {
            for (&r, &wr) in rs.nodes.iter().zip(&rs.weights) {
                for (&h, &wh) in hs.nodes.iter().zip(&hs.weights) {
                    // Columns of C: c11^2, c21^2, c22^2; c21 of either sign counts the same.
                    let (s11, s21, s22) = (1.0 - p, p * (1.0 - r) * h, (1.0 - r) * (1.0 - h));
                    let w22 = r + (1.0 - p) * (1.0 - r) * h;
                    let cross = 2.0 * (s21 * s22).sqrt();
                    // Quadratic forms of the direction of v: trace, and coefficients of cos and sin of twice its angle.
                    let (trace2, cos2, trace3, cos3) = (s11, s11, s21 + s22, s21 - s22);
                    let half_trace = 0.5 * (d2 * trace2 + d3 * trace3);
                    let (bc, bs) = (0.5 * (d2 * cos2 + d3 * cos3), 0.5 * d3 * cross);
                    let size = bc.hypot(bs);
                    let (c, s) = if size > 0.0 {
                        (bc / size, bs / size)
                    } else {
                        (1.0, 0.0)
                    };
                    let (alpha2, beta2) = (cos2 * c, -cos2 * s);
                    let (alpha3, beta3) = (cos3 * c + cross * s, -cos3 * s + cross * c);
                    let log_h = tilt_h * h - d3 * (1.0 - p) * (1.0 - r) * h;
                    let weight_prh = wp * wr * wh;
                    for (&x, &wx) in xs.nodes.iter().zip(&xs.weights) {
                        for (&v, &wv) in vs.nodes.iter().zip(&vs.weights) {
                            let reach = (1.0 - x) * v;
                            let z = reach * size;
                            let (log_i0, ratio, over_z) = log_i0_and_ratio(z);
                            let log = log_h + tilt_v * v - reach * half_trace + z + log_i0;
                            let weight = weight_prh * wx * wv * log.exp();
                            let scale = 0.5 * reach;
                            let u2 = p + scale * (trace2 - alpha2 * ratio);
                            let u3 = w22 + scale * (trace3 - alpha3 * ratio);
                            let (along, across) = (1.0 - over_z - ratio * ratio, over_z);
                            let spread = [
                                alpha2 * alpha2 * along + beta2 * beta2 * across,
                                alpha2 * alpha3 * along + beta2 * beta3 * across,
                                alpha3 * alpha3 * along + beta3 * beta3 * across,
                            ];
                            sums.add(weight, [x, u2, u3], spread.map(|q| scale * scale * q));
                        }
                    }
                }
            }
        }
        sums.moments(shift)
    }
}

#[derive(Default)]
struct Sums {
    zero: f64,
    one: [f64; 3],
    two: [[f64; 3]; 3],
}

impl Sums {
    /// Add a node: its mean diagonal, and the spread of the second and third entry over the direction of v.
    fn add(&mut self, weight: f64, u: [f64; 3], spread: [f64; 3]) {
        self.zero += weight;
        for i in 0..3 {
            self.one[i] += weight * u[i];
            for j in i..3 {
                self.two[i][j] += weight * u[i] * u[j];
            }
        }
        self.two[1][1] += weight * spread[0];
        self.two[1][2] += weight * spread[1];
        self.two[2][2] += weight * spread[2];
    }

    fn moments(&self, shift: f64) -> Moments {
        let mean = self.one.map(|sum| sum / self.zero);
        let mut covariance = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in i..3 {
                covariance[i][j] = self.two[i][j] / self.zero - mean[i] * mean[j];
                covariance[j][i] = covariance[i][j];
            }
        }
        Moments {
            log_expectation: shift + self.zero.ln(),
            mean,
            covariance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E U = a/(a+b) I, var U11 = a b / ((a+b)^2 (a+b+1)) as of a scalar beta; cov(U11, U22) from the reference table.
    #[test]
    fn without_tilt_the_moments_are_those_of_the_matrix_beta() {
        let found = MatrixBeta::new(7.0, 7.0).moments([0.0; 3], 8);
        for i in 0..3 {
            assert!((found.mean[i] - 0.5).abs() < 1e-14);
            assert!((found.covariance[i][i] - 49.0 / (196.0 * 15.0)).abs() < 1e-14);
            // With the bound 2 I the covariance of G is four times that of U.
            assert!((4.0 * found.covariance[i][(i + 1) % 3] + 0.002_469_135_8).abs() < 1e-10);
        }
        assert!(found.log_expectation.abs() < 1e-14);
    }

    #[test]
    fn more_nodes_change_nothing_and_the_order_of_axes_does_not_matter() {
        let law = MatrixBeta::new(7.0, 5.5);
        let d = [-6.0, 11.0, 40.0];
        let (coarse, fine) = (law.moments(d, 12), law.moments(d, 16));
        let turned = law.moments([d[1], d[2], d[0]], 20);
        assert!((coarse.log_expectation - fine.log_expectation).abs() < 1e-9);
        for i in 0..3 {
            assert!((coarse.mean[i] - fine.mean[i]).abs() < 1e-9);
            assert!((fine.mean[(i + 1) % 3] - turned.mean[i]).abs() < 1e-6);
        }
    }

    /// Mean and covariance are derivatives of the log expectation.
    #[test]
    fn moments_are_derivatives() {
        let law = MatrixBeta::new(3.0, 4.0);
        let (d, step) = ([-3.0, 1.0, 5.0], 1e-4);
        let here = law.moments(d, 12);
        for i in 0..3 {
            let (mut up, mut down) = (d, d);
            up[i] += step;
            down[i] -= step;
            let (up, down) = (law.moments(up, 12), law.moments(down, 12));
            let slope = (up.log_expectation - down.log_expectation) / (2.0 * step);
            assert!((slope + here.mean[i]).abs() < 1e-8, "{i}");
            for j in 0..3 {
                let slope = (up.mean[j] - down.mean[j]) / (2.0 * step);
                assert!((slope + here.covariance[i][j]).abs() < 1e-8, "{i} {j}");
            }
        }
    }
}
