//! Least squares that grows one column at a time, with leverages, leave-one-out error and its correction.
//!
//! Psi = Q R grows by one column per step (Gram-Schmidt, repeated when a column loses much of its length, which
//! keeps Q orthogonal to rounding: Daniel, Gragg, Kaufman and Stewart, 1976). With it grow, at O(N) or O(P^2) a
//! step, the residual, the leverages h_i = sum_k Q_ik^2, the leave-one-out error (Appendix B, Eq. B.5 of Gupta et
//! al., 2023, without building N expansions)
//!
//! ```text
//! e_LOO = sum_i (r_i / (1 - h_i))^2 / sum_i (y_i - mean y)^2
//! ```
//!
//! and the correction of Chapelle, Vapnik and Bengio (2002) for small designs
//!
//! ```text
//! T = N / (N - P) (1 + tr((Psi^T Psi)^-1)),    tr((Psi^T Psi)^-1) = |R^-1|_F^2.
//! ```

use crate::basis::Basis;
use crate::vector::{TOGETHER, add_scaled, dot, project};

/// A column shorter than this share of its length after orthogonalisation depends on the others.
const DEPENDENT: f64 = 1e-10;
/// Orthogonalise again when less than this share of the length is left.
const REPEAT: f64 = 0.5;
/// A point with 1 - h below this is interpolated whatever its value: its leave-one-out residual is unknown.
const INTERPOLATED: f64 = 1e-9;

/// Leave-one-out errors relative to the variance of the output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LooError {
    /// Leave-one-out error.
    pub plain: f64,
    /// The same times the correction T.
    pub corrected: f64,
}

/// The factorisation Psi = Q R, growing.
#[derive(Clone)]
pub(crate) struct Growing {
    rows: usize,
    stride: usize,
    q: Vec<f64>,
    /// Columns of R, then of R^-1, packed: column k has k + 1 entries.
    r: Vec<f64>,
    r_inverse: Vec<f64>,
    count: usize,
    leverage: Vec<f64>,
    trace: f64,
    work: Vec<f64>,
}

impl Growing {
    /// Start with the constant term.
    pub(crate) fn new(basis: &Basis) -> Self {
        let mut growing = Self {
            rows: basis.rows(),
            stride: basis.stride(),
            q: vec![],
            r: vec![],
            r_inverse: vec![],
            count: 0,
            leverage: vec![0.0; basis.rows()],
            trace: 0.0,
            work: vec![0.0; basis.stride()],
        };
        growing.push(basis.root_weights());
        growing
    }

    /// Add a column; false, and nothing changed, when it depends on those already in.
    pub(crate) fn push(&mut self, column: &[f64]) -> bool {
        let Self {
            q,
            work,
            stride,
            count,
            ..
        } = self;
        let start = self.r.len();
        work.copy_from_slice(column);
        let whole = dot(work, work).sqrt();
        self.r.resize(start + *count, 0.0);
        let mut before = whole;
        let mut length = whole;
        // Twice is enough; the loop ends at two unless the column is dependent.
        for _ in 0..3 {
            let (blocks, rest) = self.r[start..].as_chunks_mut::<TOGETHER>();
            let (many, few) = q.split_at(blocks.len() * TOGETHER * *stride);
            for (coefficients, directions) in
                blocks.iter_mut().zip(many.chunks_exact(TOGETHER * *stride))
            {
                let parts = project(work, directions);
                coefficients
                    .iter_mut()
                    .zip(parts)
                    .for_each(|(c, part)| *c += part);
            }
            for (coefficient, direction) in rest.iter_mut().zip(few.chunks_exact(*stride)) {
                let part = dot(direction, work);
                *coefficient += part;
                add_scaled(work, -part, direction);
            }
            length = dot(work, work).sqrt();
            if length > REPEAT * before {
                break;
            }
            before = length;
        }
        if length <= DEPENDENT * whole {
            self.r.truncate(start);
            return false;
        }
        let inverse = 1.0 / length;
        let inverse_start = self.r_inverse.len();
        self.r_inverse.resize(inverse_start + *count + 1, 0.0);
        let (known, new) = self.r_inverse.split_at_mut(inverse_start);
        let mut from = 0;
        for (k, &coefficient) in self.r[start..].iter().enumerate() {
            add_scaled(
                &mut new[..=k],
                -inverse * coefficient,
                &known[from..=from + k],
            );
            from += k + 1;
        }
        new[*count] = inverse;
        self.trace += new.iter().map(|x| x * x).sum::<f64>();
        self.r.push(length);
        for (leverage, value) in self.leverage.iter_mut().zip(work.iter_mut()) {
            *value *= inverse;
            *leverage += *value * *value;
        }
        q.extend_from_slice(work);
        *count += 1;
        true
    }

    /// Number of columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Column `k` of Q.
    pub(crate) fn direction(&self, k: usize) -> &[f64] {
        &self.q[k * self.stride..][..self.stride]
    }

    /// The last column of Q.
    pub(crate) fn last_direction(&self) -> &[f64] {
        self.direction(self.count - 1)
    }

    /// The last column of R.
    pub(crate) fn last_column(&self) -> &[f64] {
        &self.r[self.r.len() - self.count..]
    }

    /// Take the part along the last direction out of a residual; its coefficient.
    pub(crate) fn reduce(&self, residual: &mut [f64]) -> f64 {
        let part = dot(self.last_direction(), residual);
        add_scaled(residual, -part, self.last_direction());
        part
    }

    /// Leave-one-out errors of a residual, `total` the centred sum of squares.
    pub(crate) fn loo(&self, residual: &[f64], total: f64) -> LooError {
        let free = self.rows - self.count;
        let mut sum = 0.0;
        let mut least = f64::INFINITY;
        for (r, h) in residual.iter().zip(&self.leverage) {
            let left = 1.0 - h;
            least = least.min(left);
            let e = r / left;
            sum += e * e;
        }
        if free == 0 || least < INTERPOLATED {
            return LooError {
                plain: f64::INFINITY,
                corrected: f64::INFINITY,
            };
        }
        let plain = sum / total;
        let correction = self.rows as f64 / free as f64 * (1.0 + self.trace);
        LooError {
            plain,
            corrected: plain * correction,
        }
    }

    /// Coefficients of the columns for a right-hand side.
    pub(crate) fn solve(&self, y: &[f64]) -> Vec<f64> {
        let mut rest = y.to_vec();
        let mut solution = vec![0.0; self.count];
        let mut from = 0;
        for k in 0..self.count {
            let part = dot(self.direction(k), &rest);
            add_scaled(&mut rest, -part, self.direction(k));
            add_scaled(&mut solution[..=k], part, &self.r_inverse[from..=from + k]);
            from += k + 1;
        }
        solution
    }

    /// The largest leverage.
    pub(crate) fn largest_leverage(&self) -> f64 {
        self.leverage.iter().copied().fold(0.0, f64::max)
    }

    /// Condition number of Psi: |R| |R^-1| in the spectral norm, by power iteration to about one percent.
    pub(crate) fn condition(&self) -> f64 {
        spectral_norm(&self.r, self.count) * spectral_norm(&self.r_inverse, self.count)
    }
}

/// Spectral norm of a packed upper triangle.
fn spectral_norm(triangle: &[f64], count: usize) -> f64 {
    let mut x: Vec<f64> = (0..count).map(|k| 1.0 + (k % 7) as f64 / 7.0).collect();
    let mut norm = 0.0;
    for _ in 0..100 {
        let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        x.iter_mut().for_each(|v| *v /= length);
        let mut image = vec![0.0; count];
        let mut from = 0;
        for (k, &factor) in x.iter().enumerate() {
            add_scaled(&mut image[..=k], factor, &triangle[from..=from + k]);
            from += k + 1;
        }
        from = 0;
        for (k, value) in x.iter_mut().enumerate() {
            *value = triangle[from..=from + k]
                .iter()
                .zip(&image)
                .map(|(t, y)| t * y)
                .sum();
            from += k + 1;
        }
        let next = image.iter().map(|v| v * v).sum::<f64>().sqrt();
        if (next - norm).abs() <= 1e-4 * next {
            return next;
        }
        norm = next;
    }
    norm
}
