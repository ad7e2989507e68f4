//! Errors along an axis that forget themselves exponentially, with independent errors on top, in time linear in the data.
//!
//! D = std^2 exp(-|t_i - t_j| / length) + diag(variance) is the covariance of an Ornstein-Uhlenbeck process seen through
//! noise at rising places t. A Kalman filter of one state gives its innovations v_i of variance S_i, independent of each
//! other, so that v_i / sqrt(S_i) is white and log det D = sum log S_i; a backward pass gives D^-1 y and the diagonal of
//! D^-1 (de Jong, 1988, "A cross-validation filter for time series models", Biometrika 75, Eqs. 2-4). Exact on any clock.

use crate::error::{InferenceError, Result, check_length};

/// One covariance over `places` (rising, any unit; `length` is in the same): `variance` is that of each entry besides.
#[derive(Debug, Clone, Copy)]
pub struct Process<'a> {
    /// Where the entries are, in rising order.
    pub places: &'a [f64],
    /// Standard deviation of the process.
    pub std: f64,
    /// Distance over which its correlation falls to 1/e.
    pub length: f64,
    /// Variance of the independent error of each entry.
    pub variance: &'a [f64],
}

/// What the filter needs at an entry: factor from the entry before, gain, variance of the innovation.
struct Step {
    factor: f64,
    gain: f64,
    innovation: f64,
}

/// The inverse of a covariance, as far as it is asked for.
pub struct Solved {
    /// D^-1 y of each vector, one after the other.
    pub vectors: Vec<f64>,
    /// Diagonal of D^-1.
    pub diagonal: Vec<f64>,
}

impl Process<'_> {
    fn steps(&self) -> Result<Vec<Step>> {
        check_length("variances", self.variance.len(), self.places.len())?;
        let own = self.std * self.std;
        let mut steps = Vec::with_capacity(self.places.len());
        let mut filtered = own;
        for (i, (&place, &variance)) in self.places.iter().zip(self.variance).enumerate() {
            let apart = if i == 0 {
                f64::INFINITY
            } else {
                place - self.places[i - 1]
            };
            if apart < 0.0 || apart.is_nan() {
                return Err(InferenceError::Value {
                    key: "place",
                    value: place,
                    allowed: "not before the one before it",
                });
            }
            let ratio = apart / self.length;
            let factor = (-ratio).exp();
            // 1 - factor^2, without loss where entries are close.
            let predicted = factor * factor * filtered - own * (-2.0 * ratio).exp_m1();
            let innovation = predicted + variance;
            let gain = predicted / innovation;
            filtered = variance * gain;
            steps.push(Step {
                factor,
                gain,
                innovation,
            });
        }
        Ok(steps)
    }

    fn vectors<'v>(&self, vectors: &'v [f64]) -> Result<std::slice::ChunksExact<'v, f64>> {
        let size = self.places.len();
        if size == 0 || !vectors.len().is_multiple_of(size) {
            return Err(InferenceError::Shape {
                what: "entries of vectors",
                found: vectors.len(),
                expected: size,
            });
        }
        Ok(vectors.chunks_exact(size))
    }

    /// Vectors (one after the other) with white entries where the given ones have the covariance D, into `white`; log det D.
    /// Entries are not numbers where D is not positive definite.
    pub fn whiten(&self, vectors: &[f64], white: &mut Vec<f64>) -> Result<f64> {
        let steps = self.steps()?;
        let scales: Vec<f64> = steps
            .iter()
            .map(|step| 1.0 / step.innovation.sqrt())
            .collect();
        for vector in self.vectors(vectors)? {
            let mut state = 0.0;
            white.extend(
                steps
                    .iter()
                    .zip(&scales)
                    .zip(vector)
                    .map(|((step, scale), value)| {
                        let before = step.factor * state;
                        let surprise = value - before;
                        state = before + step.gain * surprise;
                        surprise * scale
                    }),
            );
        }
        Ok(steps.iter().map(|step| step.innovation.ln()).sum())
    }

    /// D^-1 of vectors, and its diagonal.
    pub fn solve(&self, vectors: &[f64]) -> Result<Solved> {
        let steps = self.steps()?;
        let last = steps.len() - 1;
        // Of each entry the factor to the next one: of the last there is none.
        let next = |i: usize| if i == last { 0.0 } else { steps[i + 1].factor };
        let mut diagonal = vec![0.0; steps.len()];
        let mut known = 0.0;
        for i in (0..=last).rev() {
            let forward = next(i) * steps[i].gain;
            let kept = next(i) * (1.0 - steps[i].gain);
            diagonal[i] = 1.0 / steps[i].innovation + forward * forward * known;
            known = 1.0 / steps[i].innovation + kept * kept * known;
        }
        let mut solved = Vec::with_capacity(vectors.len());
        let mut surprises = vec![0.0; steps.len()];
        for vector in self.vectors(vectors)? {
            let mut state = 0.0;
            for ((step, value), surprise) in steps.iter().zip(vector).zip(&mut surprises) {
                let before = step.factor * state;
                *surprise = value - before;
                state = before + step.gain * *surprise;
            }
            let start = solved.len();
            solved.resize(start + steps.len(), 0.0);
            let mut pull = 0.0;
            for i in (0..=last).rev() {
                let scaled = surprises[i] / steps[i].innovation;
                solved[start + i] = scaled - next(i) * steps[i].gain * pull;
                pull = scaled + next(i) * (1.0 - steps[i].gain) * pull;
            }
        }
        Ok(Solved {
            vectors: solved,
            diagonal,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solving_gives_back_what_the_covariance_made() {
        let places = [0.0, 0.1, 0.1, 0.7, 3.0];
        let variance = [0.3, 0.2, 0.4, 1e-3, 0.0];
        let process = Process {
            places: &places,
            std: 1.3,
            length: 0.5,
            variance: &variance,
        };
        let x = [1.0, -2.0, 0.5, 3.0, -1.0];
        let covariance = |i: usize, j: usize| {
            1.69 * (-(places[i] - places[j]).abs() / 0.5).exp()
                + if i == j { variance[i] } else { 0.0 }
        };
        let y: Vec<f64> = (0..5)
            .map(|i| (0..5).map(|j| covariance(i, j) * x[j]).sum())
            .collect();
        let solved = process.solve(&y).unwrap();
        for (found, wanted) in solved.vectors.iter().zip(x) {
            assert!((found - wanted).abs() < 1e-12);
        }
        let mut white = vec![];
        process.whiten(&y, &mut white).unwrap();
        let square: f64 = white.iter().map(|w| w * w).sum();
        let product: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
        assert!((square - product).abs() < 1e-11);
    }

    #[test]
    fn a_clock_that_goes_back_is_refused() {
        let process = Process {
            places: &[1.0, 0.5],
            std: 1.0,
            length: 1.0,
            variance: &[0.0, 0.0],
        };
        assert!(process.solve(&[0.0, 0.0]).is_err());
    }
}
