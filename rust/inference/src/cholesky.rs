//! Cholesky factors of small matrices, of L points side by side.

/// Replace the lower half of a symmetric matrix (count x count, row by row) by its factor; NaN where there is none.
pub(crate) fn factor<const L: usize>(matrix: &mut [[f64; L]], count: usize) {
    for row in 0..count {
        for column in 0..=row {
            let mut entry = matrix[row * count + column];
            for k in 0..column {
                let (left, right) = (&matrix[row * count + k], &matrix[column * count + k]);
                for i in 0..L {
                    entry[i] -= left[i] * right[i];
                }
            }
            if column < row {
                let diagonal = &matrix[column * count + column];
                for i in 0..L {
                    entry[i] /= diagonal[i];
                }
            } else {
                entry = entry.map(f64::sqrt);
            }
            matrix[row * count + column] = entry;
        }
    }
}

/// Replace a vector v by the solution of F w = v, F a lower factor.
pub(crate) fn solve<const L: usize>(factor: &[[f64; L]], vector: &mut [[f64; L]]) {
    let count = vector.len();
    for row in 0..count {
        let (before, rest) = vector.split_at_mut(row);
        for (entry, known) in factor[row * count..].iter().zip(before.iter()) {
            for i in 0..L {
                rest[0][i] -= entry[i] * known[i];
            }
        }
        let diagonal = &factor[row * count + row];
        for i in 0..L {
            rest[0][i] /= diagonal[i];
        }
    }
}

/// Replace a vector v by the solution of F^T w = v, F a lower factor.
pub(crate) fn solve_transposed<const L: usize>(factor: &[[f64; L]], vector: &mut [[f64; L]]) {
    let count = vector.len();
    for row in (0..count).rev() {
        let (before, rest) = vector.split_at_mut(row);
        let diagonal = &factor[row * count + row];
        for i in 0..L {
            rest[0][i] /= diagonal[i];
        }
        for (entry, known) in factor[row * count..].iter().zip(before) {
            for i in 0..L {
                known[i] -= entry[i] * rest[0][i];
            }
        }
    }
}

/// Put column j of F^-1, F a lower factor, into `column` from row j on; its squared length, entry j, j of (F F^T)^-1.
pub(crate) fn factor_column<const L: usize>(
    factor: &[[f64; L]],
    count: usize,
    j: usize,
    column: &mut [[f64; L]],
) -> [f64; L] {
    let mut square = [0.0; L];
    for row in j..count {
        let mut entry = [if row == j { 1.0 } else { 0.0 }; L];
        for k in j..row {
            let left = &factor[row * count + k];
            for i in 0..L {
                entry[i] -= left[i] * column[k][i];
            }
        }
        let diagonal = &factor[row * count + row];
        for i in 0..L {
            entry[i] /= diagonal[i];
            square[i] += entry[i] * entry[i];
        }
        column[row] = entry;
    }
    square
}

/// The inverse of a lower factor, its rows up to the diagonal one after the other.
pub(crate) fn invert(factor: &[f64], count: usize) -> Vec<f64> {
    let lower: Vec<[f64; 1]> = factor.iter().map(|entry| [*entry]).collect();
    let columns: Vec<Vec<[f64; 1]>> = (0..count)
        .map(|column| {
            let mut unit = vec![[0.0]; count];
            unit[column][0] = 1.0;
            solve(&lower, &mut unit);
            unit
        })
        .collect();
    (0..count)
        .flat_map(|row| columns[..=row].iter().map(move |column| column[row][0]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{factor, invert, solve};

    #[test]
    fn factor_solve_and_inverse_agree() {
        let matrix = [4.0, 2.0, 0.4, 2.0, 3.0, -0.5, 0.4, -0.5, 2.0];
        let mut lower: Vec<[f64; 2]> = matrix.iter().map(|m| [*m, 4.0 * m]).collect();
        factor(&mut lower, 3);
        let plain: Vec<f64> = lower.iter().map(|entry| entry[0]).collect();
        let inverse = invert(&plain, 3);
        let mut white = vec![[1.0, 2.0], [-2.0, -4.0], [0.5, 1.0]];
        solve(&lower, &mut white);
        let mut rest = inverse.as_slice();
        for (row, white) in white.iter().enumerate() {
            let (weights, after) = rest.split_at(row + 1);
            rest = after;
            let sum: f64 = weights
                .iter()
                .zip([1.0, -2.0, 0.5])
                .map(|(w, v)| w * v)
                .sum();
            assert!((sum - white[0]).abs() < 1e-14 && (white[1] - white[0]).abs() < 1e-14);
        }
        let square: f64 = white.iter().map(|w| w[0] * w[0]).sum();
        assert!((square - 3.5065597667638486).abs() < 1e-12);
    }
}
