//! The force `F = k d^n (1 + D d' / v)`, `v` the approach speed, and the relation of its damping to restitution.
//!
//! Dividing `m d'' = -F` by `1 + D d'/v` separates the variables, and integrating from onset to release gives, for
//! every exponent `n`, mass, stiffness and speed, `D (1 + e) = ln((1 + D) / (1 - D e))`. Formulas in the literature
//! (Hunt and Crossley 1975; Muthukumar and DesRoches 2006; Ye, Li and Zhu 2009) are approximations of this one.

use super::{Gradient, Numbers};

/// Partial derivatives of the force; `per_speed` is one over the approach speed. The second value is with respect
/// to `D`.
pub(super) fn gradient(with: &Numbers, d: f64, rate: f64, per_speed: f64) -> (Gradient, f64) {
    let (n, k, c) = (with.exponent, with.stiffness, with.coefficient);
    let push = 1.0 + c * rate * per_speed;
    let spring = d.powf(n);
    let gradient = Gradient {
        indentation: k * n * d.powf(n - 1.0) * push,
        rate: k * spring * c * per_speed,
        stiffness: spring * push,
        approach_speed: -k * spring * c * rate * per_speed * per_speed,
        ..Gradient::default()
    };
    (gradient, k * spring * rate * per_speed)
}

/// `(ln(1 + x) - x) / x^2` and its derivative, for `x > -1`: keeps its digits as `x` goes to zero.
fn log_remainder(x: f64) -> (f64, f64) {
    if x.abs() < 0.05 {
        let (mut value, mut slope, mut power) = (-0.5, 0.0, 1.0);
        for n in 1..=14 {
            let n_real = f64::from(n);
            let coefficient = if n % 2 == 1 { 1.0 } else { -1.0 } / (n_real + 2.0);
            slope += n_real * coefficient * power;
            power *= x;
            value += coefficient * power;
        }
        (value, slope)
    } else {
        let value = (x.ln_1p() - x) / (x * x);
        (value, -(1.0 / (1.0 + x) + 2.0 * value) / x)
    }
}

/// The damping `D` that delivers `restitution`, and its derivative with respect to it, for `0 < e <= 1`.
pub(super) fn damping_of_restitution(restitution: f64) -> (f64, f64) {
    let e = restitution;
    if e >= 1.0 {
        return (0.0, -1.5);
    }
    // The relation divided by D^2, which takes out its root at D = 0: rises from -(1 - e^2)/2 to +infinity at 1/e.
    let residual = |d: f64| {
        let (near, near_slope) = log_remainder(d);
        let (far, far_slope) = log_remainder(-d * e);
        (near - e * e * far, near_slope + e * e * e * far_slope)
    };
    let (mut low, mut high) = (0.0_f64, 1.0 / e);
    let mut d = (1.5 * (1.0 - e) / e).min(0.5 * high);
    for _ in 0..200 {
        let (value, slope) = residual(d);
        if value < 0.0 {
            low = d;
        } else {
            high = d;
        }
        let newton = d - value / slope;
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        if (next - d).abs() <= 1e-16 * d {
            break;
        }
        d = next;
    }
    (d, d * e / ((1.0 - d * e) / (1.0 + d) - e * e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solution_satisfies_the_relation() {
        for i in 1..1000 {
            let e = f64::from(i) / 1000.0;
            let (d, _) = damping_of_restitution(e);
            assert!(d > 0.0 && d * e <= 1.0);
            if d * e < 0.999 {
                let gap = d * (1.0 + e) - ((1.0 + d) / (1.0 - d * e)).ln();
                assert!(gap.abs() < 1e-12, "e {e}: D {d} misses by {gap}");
            }
        }
    }

    #[test]
    fn nearly_elastic_limit() {
        let (d, slope) = damping_of_restitution(1.0 - 1e-9);
        assert!((d - 1.5e-9).abs() < 1e-14 && (slope + 1.5).abs() < 1e-5);
    }
}
