//! Derivatives of the log density of data with respect to the outputs of the forward model and to inferred standard
//! deviations. With m and p as in `likelihood`, C_k = scale_k S + diag(1 / p), w_k the share of component k at m, and d the
//! variance of a class of n data with mean y and scatter q,
//!
//! ```text
//! d log p / d f_j = u_j,   u = sum_k w_k C_k^-1 m
//! d log p / d d   = 1/2 (q / d^2 - n / d + n / (d^2 p_j) + n a^2 / d^2) + u_j a n / (d^2 p_j)
//!                 + sum_k w_k / 2 ((C_k^-1 m)_j^2 - (C_k^-1)_jj) n / (d p_j)^2,   a = y - f_j - m_j
//! ```

use super::{Class, Data, Error, Fixed, Room};
use crate::cholesky::{factor_column, solve, solve_transposed};

impl Data {
    /// Log density as `at` gives it. Its derivatives with respect to the outputs replace `to_values`, those with respect
    /// to parameters are added to `to_x`.
    pub(crate) fn at_with_gradient<const L: usize>(
        &self,
        x: &[[f64; L]],
        values: &[[f64; L]],
        room: &mut Room<L>,
        to_values: &mut [[f64; L]],
        to_x: &mut [[f64; L]],
    ) -> [f64; L] {
        let found = self.at(x, values, room);
        to_values.fill([0.0; L]);
        match &self.error {
            None => self.independent_gradient(x, values, to_values, to_x),
            Some(error) => match &error.fixed {
                Some(fixed) => error.fixed_gradient(fixed, room, to_values),
                None => {
                    error.varying_gradient(&self.classes, x, values, room, to_values, to_x);
                }
            },
        }
        found
    }

    fn independent_gradient<const L: usize>(
        &self,
        x: &[[f64; L]],
        values: &[[f64; L]],
        to_values: &mut [[f64; L]],
        to_x: &mut [[f64; L]],
    ) {
        for class in &self.classes {
            let (total, value) = (class.total(x), &values[class.output]);
            let into = &mut to_values[class.output];
            for i in 0..L {
                into[i] += class.count * (class.mean - value[i]) / total[i];
            }
            if let Some(column) = class.unknown {
                for i in 0..L {
                    let residual = class.mean - value[i];
                    let square = class.scatter + class.count * residual * residual;
                    to_x[column][i] += x[column][i] * (square / total[i] - class.count) / total[i];
                }
            }
        }
    }
}

impl Error {
    /// After `at_fixed`, from what it left in `room`.
    fn fixed_gradient<const L: usize>(
        &self,
        fixed: &Fixed,
        room: &mut Room<L>,
        to_values: &mut [[f64; L]],
    ) {
        shares(&mut room.logs);
        for (share, whitening) in room.logs.iter().zip(&fixed.whitenings) {
            let mut rest = whitening.as_slice();
            for row in 1..=self.outputs.len() {
                let (weights, after) = rest.split_at(row);
                rest = after;
                let mut white = [0.0; L];
                for (weight, mean) in weights.iter().zip(&room.means) {
                    for i in 0..L {
                        white[i] += weight * mean[i];
                    }
                }
                for i in 0..L {
                    white[i] *= share[i];
                }
                for (weight, output) in weights.iter().zip(&self.outputs) {
                    for i in 0..L {
                        to_values[*output][i] += weight * white[i];
                    }
                }
            }
        }
    }

    /// After `at_varying`, from what it left in `room`.
    fn varying_gradient<const L: usize>(
        &self,
        classes: &[Class],
        x: &[[f64; L]],
        values: &[[f64; L]],
        room: &mut Room<L>,
        to_values: &mut [[f64; L]],
        to_x: &mut [[f64; L]],
    ) {
        let count = self.outputs.len();
        shares(&mut room.logs);
        room.pulled.fill([0.0; L]);
        room.widened.fill([0.0; L]);
        for (k, scale) in self.scales.iter().enumerate() {
            let share = room.logs[k];
            self.factor(*scale, &room.precision, &mut room.matrix);
            room.white.copy_from_slice(&room.means);
            solve(&room.matrix, &mut room.white);
            solve_transposed(&room.matrix, &mut room.white);
            for j in 0..count {
                let inverse = factor_column(&room.matrix, count, j, &mut room.column);
                let whole = room.white[j];
                for i in 0..L {
                    room.pulled[j][i] += share[i] * whole[i];
                    room.widened[j][i] += 0.5 * share[i] * (whole[i] * whole[i] - inverse[i]);
                }
            }
        }
        for (pulled, output) in room.pulled.iter().zip(&self.outputs) {
            for i in 0..L {
                to_values[*output][i] += pulled[i];
            }
        }
        for (class, place) in classes.iter().zip(&self.places) {
            let Some(column) = class.unknown else {
                continue;
            };
            let (total, value) = (class.total(x), &values[class.output]);
            for i in 0..L {
                let (d, p) = (total[i], room.precision[*place][i]);
                let apart = class.mean - value[i] - room.means[*place][i];
                let weight = class.count / (d * d);
                let own =
                    class.scatter / (d * d) - class.count / d + weight * (1.0 / p + apart * apart);
                let slope = 0.5 * own
                    + room.pulled[*place][i] * apart * weight / p
                    + room.widened[*place][i] * weight / (p * p);
                to_x[column][i] += 2.0 * x[column][i] * slope;
            }
        }
    }
}

/// Logarithms become shares of their sum.
fn shares<const L: usize>(logs: &mut [[f64; L]]) {
    for i in 0..L {
        let top = logs
            .iter()
            .map(|log| log[i])
            .fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|log| (log[i] - top).exp()).sum();
        for log in logs.iter_mut() {
            log[i] = (log[i] - top).exp() / sum;
        }
    }
}
