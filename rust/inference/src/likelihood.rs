//! Gaussian data about the outputs of forward models, whose own error is common to all data of an output.
//!
//! A datum is y = f_j(x) + s_j + e: e independent, of variance d; s the error of the forward model, one for all data of
//! output j. With p_j = sum 1/d and m_j = sum ((y - f_j) / d) / p_j over the data of output j,
//!
//! ```text
//! log p(y | x) = -1/2 sum ((y - f_j - m_j)^2 / d + log(2 pi d)) - 1/2 sum_j log(p_j / (2 pi))
//!              + log sum_k share_k N(m; 0, scale_k S + diag(1 / p))
//! ```
//!
//! with S the covariance of s. Data of one output and one variance are put together beforehand: repetitions cost
//! nothing. Where no standard deviation is inferred the covariances are factorised once.

mod gradient;

use std::f64::consts::PI;

use crate::cholesky::{factor, invert, solve};
use crate::error::{InferenceError, Result, check_length};

/// The error of a forward model, common to all data of an output: s ~ sum_k share_k N(0, scale_k covariance).
#[derive(Debug, Clone, PartialEq)]
pub struct CommonError {
    /// outputs x outputs, row by row
    pub covariance: Vec<f64>,
    /// One a component of the mixture.
    pub scales: Vec<f64>,
    /// One a component, of sum one.
    pub shares: Vec<f64>,
}

impl CommonError {
    pub(crate) fn check(&self, outputs: usize) -> Result<()> {
        check_length("covariance", self.covariance.len(), outputs * outputs)?;
        check_length("shares", self.shares.len(), self.scales.len())?;
        let mixture = self.scales.iter().chain(&self.shares);
        for (key, value) in mixture.map(|value| ("scales and shares", *value)) {
            if !(value > 0.0 && value.is_finite()) {
                return Err(InferenceError::Value {
                    key,
                    value,
                    allowed: "above 0 and finite",
                });
            }
        }
        Ok(())
    }
}

/// Data of one output and one variance: how many, their mean, and the sum of squares about it.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) output: usize,
    pub(crate) variance: f64,
    pub(crate) unknown: Option<usize>,
    count: f64,
    mean: f64,
    scatter: f64,
}

impl Class {
    pub(crate) fn of(
        output: usize,
        variance: f64,
        unknown: Option<usize>,
        observed: &[f64],
    ) -> Self {
        let count = observed.len() as f64;
        let mean = observed.iter().sum::<f64>() / count;
        let scatter = observed.iter().map(|y| (y - mean) * (y - mean)).sum();
        Self {
            output,
            variance,
            unknown,
            count,
            mean,
            scatter,
        }
    }

    /// Variance of a datum at L points.
    fn total<const L: usize>(&self, x: &[[f64; L]]) -> [f64; L] {
        match self.unknown {
            None => [self.variance; L],
            Some(column) => std::array::from_fn(|i| self.variance + x[column][i] * x[column][i]),
        }
    }
}

/// The data of one forward model.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    classes: Vec<Class>,
    error: Option<Error>,
    /// What is the same at all points.
    constant: f64,
}

/// The common error of the outputs that have data.
#[derive(Debug, Clone)]
struct Error {
    /// Which outputs these are, and for each class the place of its output among them.
    outputs: Vec<usize>,
    places: Vec<usize>,
    covariance: Vec<f64>,
    scales: Vec<f64>,
    log_shares: Vec<f64>,
    fixed: Option<Fixed>,
}

/// Where all variances are known: the mean of the data of each output, and for each component of the mixture the inverse
/// of the lower factor of its covariance and the logarithm of its share over its determinant.
#[derive(Debug, Clone)]
struct Fixed {
    means: Vec<f64>,
    whitenings: Vec<Vec<f64>>,
    logs: Vec<f64>,
}

/// Working memory for L points.
pub(crate) struct Room<const L: usize> {
    precision: Vec<[f64; L]>,
    means: Vec<[f64; L]>,
    matrix: Vec<[f64; L]>,
    white: Vec<[f64; L]>,
    logs: Vec<[f64; L]>,
    /// For the gradient: with respect to the means and to their variances, and a column of an inverse.
    pulled: Vec<[f64; L]>,
    widened: Vec<[f64; L]>,
    column: Vec<[f64; L]>,
}

impl Data {
    pub(crate) fn new(classes: Vec<Class>, error: Option<&CommonError>, outputs: usize) -> Self {
        let log_two_pi = (2.0 * PI).ln();
        let mut data = Self {
            constant: classes
                .iter()
                .map(|class| match class.unknown {
                    None => {
                        let log = class.variance.ln() + log_two_pi;
                        -0.5 * (class.scatter / class.variance + class.count * log)
                    }
                    Some(_) => -0.5 * class.count * log_two_pi,
                })
                .sum(),
            error: error.map(|error| Error::new(&classes, error, outputs)),
            classes,
        };
        let known = data.classes.iter().all(|class| class.unknown.is_none());
        if let (Some(error), true) = (&mut data.error, known) {
            data.constant += error.fix(&data.classes);
        }
        data
    }

    pub(crate) fn room<const L: usize>(&self) -> Room<L> {
        let (count, mixed) = self
            .error
            .as_ref()
            .map_or((0, 0), |error| (error.outputs.len(), error.scales.len()));
        Room {
            precision: vec![[0.0; L]; count],
            means: vec![[0.0; L]; count],
            matrix: vec![[0.0; L]; count * count],
            white: vec![[0.0; L]; count],
            logs: vec![[0.0; L]; mixed],
            pulled: vec![[0.0; L]; count],
            widened: vec![[0.0; L]; count],
            column: vec![[0.0; L]; count],
        }
    }

    /// Log density of the data at L points: parameters `x` and outputs `values` of the forward model there.
    pub(crate) fn at<const L: usize>(
        &self,
        x: &[[f64; L]],
        values: &[[f64; L]],
        room: &mut Room<L>,
    ) -> [f64; L] {
        let mut found = [self.constant; L];
        match &self.error {
            None => self.independent(x, values, &mut found),
            Some(error) => match &error.fixed {
                Some(fixed) => error.at_fixed(fixed, values, room, &mut found),
                None => error.at_varying(&self.classes, x, values, room, &mut found),
            },
        }
        found
    }

    fn independent<const L: usize>(
        &self,
        x: &[[f64; L]],
        values: &[[f64; L]],
        found: &mut [f64; L],
    ) {
        for class in &self.classes {
            let value = &values[class.output];
            if class.unknown.is_none() {
                let precision = 0.5 * class.count / class.variance;
                for i in 0..L {
                    let residual = class.mean - value[i];
                    found[i] -= precision * residual * residual;
                }
                continue;
            }
            let total = class.total(x);
            for i in 0..L {
                let residual = class.mean - value[i];
                let square = class.scatter + class.count * residual * residual;
                found[i] -= 0.5 * (square / total[i] + class.count * total[i].ln());
            }
        }
    }
}

impl Error {
    fn new(classes: &[Class], error: &CommonError, all: usize) -> Self {
        let mut outputs: Vec<usize> = classes.iter().map(|class| class.output).collect();
        outputs.sort_unstable();
        outputs.dedup();
        let rows = outputs.iter();
        Self {
            places: classes
                .iter()
                .map(|class| outputs.partition_point(|j| *j < class.output))
                .collect(),
            covariance: rows
                .flat_map(|i| outputs.iter().map(move |j| error.covariance[i * all + j]))
                .collect(),
            scales: error.scales.clone(),
            log_shares: error.shares.iter().map(|share| share.ln()).collect(),
            fixed: None,
            outputs,
        }
    }

    /// Precision of each output's data and their mean, less `values`; what is left of the log density is returned.
    fn reduce<const L: usize>(
        &self,
        classes: &[Class],
        x: &[[f64; L]],
        values: &[[f64; L]],
        precision: &mut [[f64; L]],
        means: &mut [[f64; L]],
    ) -> [f64; L] {
        precision.fill([0.0; L]);
        means.fill([0.0; L]);
        let mut twice = [0.0; L];
        for (class, place) in classes.iter().zip(&self.places) {
            let (total, value) = (class.total(x), &values[class.output]);
            for i in 0..L {
                let weight = class.count / total[i];
                precision[*place][i] += weight;
                means[*place][i] += weight * (class.mean - value[i]);
            }
            if class.unknown.is_some() {
                for i in 0..L {
                    twice[i] += class.scatter / total[i] + class.count * total[i].ln();
                }
            }
        }
        for (mean, precision) in means.iter_mut().zip(precision.iter()) {
            for i in 0..L {
                mean[i] /= precision[i];
                twice[i] += (precision[i] / (2.0 * PI)).ln();
            }
        }
        for (class, place) in classes.iter().zip(&self.places) {
            let (total, value) = (class.total(x), &values[class.output]);
            for i in 0..L {
                let apart = class.mean - value[i] - means[*place][i];
                twice[i] += class.count * apart * apart / total[i];
            }
        }
        twice.map(|twice| -0.5 * twice)
    }

    /// Lower factor of scale S + diag(1 / precision), in place.
    fn factor<const L: usize>(&self, scale: f64, precision: &[[f64; L]], matrix: &mut [[f64; L]]) {
        let count = self.outputs.len();
        for (entry, s) in matrix.iter_mut().zip(&self.covariance) {
            *entry = [scale * s; L];
        }
        for (j, precision) in precision.iter().enumerate() {
            for i in 0..L {
                matrix[j * count + j][i] += 1.0 / precision[i];
            }
        }
        factor(matrix, count);
    }

    /// Prepare for variances that are all known; returns what this adds to the constant.
    fn fix(&mut self, classes: &[Class]) -> f64 {
        let count = self.outputs.len();
        let zero = vec![[0.0; 1]; self.outputs.last().map_or(0, |last| last + 1)];
        let (mut precision, mut means) = (vec![[0.0]; count], vec![[0.0]; count]);
        let [rest] = self.reduce(classes, &[], &zero, &mut precision, &mut means);
        let (mut whitenings, mut logs) = (Vec::new(), Vec::new());
        for (scale, log_share) in self.scales.iter().zip(&self.log_shares) {
            let mut matrix = vec![[0.0; 1]; count * count];
            self.factor(*scale, &precision, &mut matrix);
            let lower: Vec<f64> = matrix.iter().map(|entry| entry[0]).collect();
            let log: f64 = (0..count).map(|j| lower[j * count + j].ln()).sum();
            whitenings.push(invert(&lower, count));
            logs.push(log_share - log - 0.5 * count as f64 * (2.0 * PI).ln());
        }
        self.fixed = Some(Fixed {
            means: means.iter().map(|mean| mean[0]).collect(),
            whitenings,
            logs,
        });
        rest
    }

    fn at_fixed<const L: usize>(
        &self,
        fixed: &Fixed,
        values: &[[f64; L]],
        room: &mut Room<L>,
        found: &mut [f64; L],
    ) {
        for ((mean, output), observed) in room.means.iter_mut().zip(&self.outputs).zip(&fixed.means)
        {
            for i in 0..L {
                mean[i] = observed - values[*output][i];
            }
        }
        let components = fixed.whitenings.iter().zip(&fixed.logs);
        for (log, (whitening, constant)) in room.logs.iter_mut().zip(components) {
            let mut square = [0.0; L];
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
                    square[i] += white[i] * white[i];
                }
            }
            *log = square.map(|square| constant - 0.5 * square);
        }
        add_log_sum(&room.logs, found);
    }

    fn at_varying<const L: usize>(
        &self,
        classes: &[Class],
        x: &[[f64; L]],
        values: &[[f64; L]],
        room: &mut Room<L>,
        found: &mut [f64; L],
    ) {
        let count = self.outputs.len();
        let rest = self.reduce(classes, x, values, &mut room.precision, &mut room.means);
        let normal = -0.5 * count as f64 * (2.0 * PI).ln();
        for (k, log) in room.logs.iter_mut().enumerate() {
            self.factor(self.scales[k], &room.precision, &mut room.matrix);
            room.white.copy_from_slice(&room.means);
            solve(&room.matrix, &mut room.white);
            *log = [self.log_shares[k] + normal; L];
            for (j, white) in room.white.iter().enumerate() {
                let diagonal = &room.matrix[j * count + j];
                for i in 0..L {
                    log[i] -= diagonal[i].ln() + 0.5 * white[i] * white[i];
                }
            }
        }
        for i in 0..L {
            found[i] += rest[i];
        }
        add_log_sum(&room.logs, found);
    }
}

/// Add log(sum exp) over the components.
fn add_log_sum<const L: usize>(logs: &[[f64; L]], found: &mut [f64; L]) {
    if let [log] = logs {
        for i in 0..L {
            found[i] += log[i];
        }
        return;
    }
    for i in 0..L {
        let top = logs
            .iter()
            .map(|log| log[i])
            .fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|log| (log[i] - top).exp()).sum();
        found[i] += top + sum.ln();
    }
}
