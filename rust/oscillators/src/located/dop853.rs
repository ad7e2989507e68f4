//! One step of the eighth-order method of Dormand and Prince.

use crate::located::dop853_coefficients::{
    ERROR_FIFTH, ERROR_THIRD, NODES, STAGE_WEIGHTS, STAGES, WEIGHTS,
};

/// Work space for steps of a system of fixed size.
#[derive(Debug, Clone)]
pub(crate) struct Dop853 {
    size: usize,
    slopes: Vec<f64>,
    stage: Vec<f64>,
}

impl Dop853 {
    pub fn new(size: usize) -> Self {
        Self {
            size,
            slopes: vec![0.0; STAGES * size],
            stage: vec![0.0; size],
        }
    }

    /// Advance `y` from `t` by `h` into `out`.
    pub fn step(
        &mut self,
        rhs: &mut impl FnMut(f64, &[f64], &mut [f64]),
        t: f64,
        y: &[f64],
        h: f64,
        out: &mut [f64],
    ) {
        let n = self.size;
        for s in 0..STAGES {
            let (done, rest) = self.slopes.split_at_mut(s * n);
            self.stage.copy_from_slice(y);
            for (slope, &weight) in done.chunks_exact(n).zip(&STAGE_WEIGHTS[s]) {
                if weight != 0.0 {
                    for (x, k) in self.stage.iter_mut().zip(slope) {
                        *x += h * weight * k;
                    }
                }
            }
            rhs(t + NODES[s] * h, &self.stage, &mut rest[..n]);
        }
        out.copy_from_slice(y);
        for (slope, &weight) in self.slopes.chunks_exact(n).zip(&WEIGHTS) {
            for (x, k) in out.iter_mut().zip(slope) {
                *x += h * weight * k;
            }
        }
    }

    /// Error of the last step in the first `scales.len()` components, in units of their scales: accept below 1.
    pub fn error(&self, h: f64, scales: &[f64]) -> f64 {
        let (mut fifth, mut third) = (0.0, 0.0);
        for (i, scale) in scales.iter().enumerate() {
            let sum = |weights: &[f64; STAGES]| -> f64 {
                (0..STAGES)
                    .map(|s| weights[s] * self.slopes[s * self.size + i])
                    .sum::<f64>()
                    / scale
            };
            fifth += sum(&ERROR_FIFTH).powi(2);
            third += sum(&ERROR_THIRD).powi(2);
        }
        if fifth == 0.0 && third == 0.0 {
            return 0.0;
        }
        h.abs() * fifth / ((fifth + 0.01 * third) * scales.len() as f64).sqrt()
    }
}

/// Factor for the next step from the error of the last one.
pub(crate) fn step_factor(error: f64) -> f64 {
    (0.9 * error.powf(-1.0 / 8.0)).clamp(0.2, 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_eight() {
        let error = |steps: u32| {
            let mut method = Dop853::new(2);
            let (mut y, mut next) = ([1.0, 0.0], [0.0; 2]);
            let h = 2.0 / f64::from(steps);
            for i in 0..steps {
                method.step(
                    &mut |_, y: &[f64], dy: &mut [f64]| {
                        dy[0] = y[1];
                        dy[1] = -y[0];
                    },
                    f64::from(i) * h,
                    &y,
                    h,
                    &mut next,
                );
                y = next;
            }
            (y[0] - 2.0_f64.cos()).hypot(y[1] + 2.0_f64.sin())
        };
        let order = (error(2) / error(4)).log2();
        assert!(order > 7.5, "observed order {order}");
    }
}
