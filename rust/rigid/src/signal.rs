//! Numbers over time: constants, tables and formulas, with their first two derivatives.

use crate::error::RigidError;
use crate::formula::Formula;
use crate::motion::check_times;

/// A number over time.
#[derive(Debug, Clone, PartialEq)]
pub enum Signal {
    /// The same all the time.
    Constant(f64),
    /// Linear between given instants, held outside.
    Linear {
        /// Rising instants [s].
        times_s: Vec<f64>,
        /// Value at each.
        values: Vec<f64>,
    },
    /// A cubic spline through given instants, at rest at both ends and held outside.
    Spline(Spline),
    /// A formula in t.
    Formula(Formula),
}

/// Values of a clamped cubic spline with its slopes at the instants.
#[derive(Debug, Clone, PartialEq)]
pub struct Spline {
    times_s: Vec<f64>,
    values: Vec<f64>,
    slopes: Vec<f64>,
}

impl Signal {
    /// A table, linear between its instants.
    ///
    /// # Errors
    /// Instants that do not rise or do not match the values; numbers that are not finite.
    pub fn linear(what: &str, times_s: Vec<f64>, values: Vec<f64>) -> Result<Self, RigidError> {
        check(what, &times_s, &values)?;
        Ok(Self::Linear { times_s, values })
    }

    /// A table, smooth between its instants and at rest at both ends.
    ///
    /// # Errors
    /// As [`Signal::linear`].
    pub fn spline(what: &str, times_s: Vec<f64>, values: Vec<f64>) -> Result<Self, RigidError> {
        check(what, &times_s, &values)?;
        let slopes = clamped_slopes(&times_s, &values);
        Ok(Self::Spline(Spline {
            times_s,
            values,
            slopes,
        }))
    }

    /// Value, first and second derivative at time `t`.
    pub fn at(&self, t: f64) -> [f64; 3] {
        match self {
            Self::Constant(value) => [*value, 0.0, 0.0],
            Self::Linear { times_s, values } => match piece(times_s, t) {
                Piece::Before => [values[0], 0.0, 0.0],
                Piece::After => [values[values.len() - 1], 0.0, 0.0],
                Piece::Between(i) => {
                    let slope = (values[i + 1] - values[i]) / (times_s[i + 1] - times_s[i]);
                    [values[i] + slope * (t - times_s[i]), slope, 0.0]
                }
            },
            Self::Spline(spline) => spline.at(t),
            Self::Formula(formula) => formula.at(t),
        }
    }
}

impl Spline {
    fn at(&self, t: f64) -> [f64; 3] {
        let i = match piece(&self.times_s, t) {
            Piece::Before => return [self.values[0], 0.0, 0.0],
            Piece::After => return [self.values[self.values.len() - 1], 0.0, 0.0],
            Piece::Between(i) => i,
        };
        let h = self.times_s[i + 1] - self.times_s[i];
        let s = (t - self.times_s[i]) / h;
        let (y0, y1) = (self.values[i], self.values[i + 1]);
        let (m0, m1) = (h * self.slopes[i], h * self.slopes[i + 1]);
        let (quadratic, cubic) = (3.0 * (y1 - y0) - 2.0 * m0 - m1, 2.0 * (y0 - y1) + m0 + m1);
        [
            y0 + s * (m0 + s * (quadratic + s * cubic)),
            (m0 + s * (2.0 * quadratic + s * 3.0 * cubic)) / h,
            (2.0 * quadratic + s * 6.0 * cubic) / (h * h),
        ]
    }
}

enum Piece {
    Before,
    Between(usize),
    After,
}

fn piece(times_s: &[f64], t: f64) -> Piece {
    match times_s.partition_point(|&x| x <= t) {
        0 => Piece::Before,
        next if next == times_s.len() => Piece::After,
        next => Piece::Between(next - 1),
    }
}

fn check(what: &str, times_s: &[f64], values: &[f64]) -> Result<(), RigidError> {
    check_times(what, times_s, values.len())?;
    if values.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(RigidError::NotFinite { what: what.into() })
    }
}

/// Slopes that make the second derivative continuous, zero at both ends (Thomas's algorithm).
fn clamped_slopes(t: &[f64], y: &[f64]) -> Vec<f64> {
    let n = t.len();
    let mut slopes = vec![0.0; n];
    let mut upper = vec![0.0; n];
    for i in 1..n.saturating_sub(1) {
        let (before, after) = (1.0 / (t[i] - t[i - 1]), 1.0 / (t[i + 1] - t[i]));
        let right = 3.0 * ((y[i] - y[i - 1]) * before * before + (y[i + 1] - y[i]) * after * after);
        let pivot = 2.0 * (before + after) - before * upper[i - 1];
        upper[i] = after / pivot;
        slopes[i] = (right - before * slopes[i - 1]) / pivot;
    }
    for i in (1..n.saturating_sub(1)).rev() {
        slopes[i] -= upper[i] * slopes[i + 1];
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splines_reproduce_a_smooth_curve_and_its_derivatives() {
        let n = 200;
        let times: Vec<f64> = (0..=n).map(|i| i as f64 / n as f64).collect();
        // At rest at both ends, as the spline wants it.
        let values = times
            .iter()
            .map(|t| 1.0 - (std::f64::consts::TAU * t).cos());
        let spline = Signal::spline("table", times.clone(), values.collect()).unwrap();
        let w = std::f64::consts::TAU;
        for t in [0.0321, 0.2499, 0.5, 0.777] {
            let [y, y1, y2] = spline.at(t);
            assert!((y - (1.0 - (w * t).cos())).abs() < 1e-8);
            assert!((y1 - w * (w * t).sin()).abs() < 1e-5);
            assert!((y2 - w * w * (w * t).cos()).abs() < 5e-3);
        }
        assert_eq!(spline.at(-1.0), [0.0; 3]);
        assert_eq!(spline.at(2.0)[1..], [0.0; 2]);
    }

    #[test]
    fn tables_know_their_slope() {
        let table = Signal::linear("table", vec![0.0, 2.0], vec![1.0, 5.0]).unwrap();
        assert_eq!(table.at(0.5), [2.0, 2.0, 0.0]);
        assert_eq!(table.at(3.0), [5.0, 0.0, 0.0]);
        assert!(Signal::linear("table", vec![0.0, 0.0], vec![1.0, 5.0]).is_err());
    }
}
