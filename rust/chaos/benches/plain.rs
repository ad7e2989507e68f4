//! The same regression written plainly, as the measure of what sharing and screening save: every (degree, q) on its own,
//! Psi stored, one complete product per step, least squares growing by one column.

use percuss_chaos::{Candidates, Family};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a, b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    for (x, y) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += x[i] * y[i];
        }
    }
    sums.iter().sum()
}

fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}

/// Least corrected leave-one-out error over the grid, each path as long as the criterion of a tenth of the points says.
pub fn search(
    families: &[Family],
    points: &[f64],
    y: &[f64],
    degrees: &[usize],
    qs: &[f64],
) -> f64 {
    let d = families.len();
    let mut least = f64::INFINITY;
    for &degree in degrees {
        for &q in qs {
            let candidates = Candidates::new(d, &[degree], &[q], 100_000).expect("candidates");
            let tables: Vec<Vec<Vec<f64>>> = points
                .chunks_exact(d)
                .map(|x| {
                    families
                        .iter()
                        .zip(x)
                        .map(|(family, &x)| family.recurrence(degree).at(x))
                        .collect()
                })
                .collect();
            let psi: Vec<Vec<f64>> = (0..candidates.len())
                .map(|term| {
                    let alpha = candidates.multi_index(term);
                    let mut column: Vec<f64> = tables
                        .iter()
                        .map(|row| {
                            row.iter()
                                .zip(alpha)
                                .map(|(p, &k)| p[usize::from(k)])
                                .product()
                        })
                        .collect();
                    column.resize(y.len().next_multiple_of(8), 0.0);
                    column
                })
                .collect();
            least = least.min(path(&psi, y));
        }
    }
    least
}

fn path(psi: &[Vec<f64>], y: &[f64]) -> f64 {
    let (n, width) = (y.len(), psi[0].len());
    let ones = &psi[0];
    let mut fitted = y.to_vec();
    fitted.resize(width, 0.0);
    let mean = dot(&fitted, ones) / n as f64;
    add_scaled(&mut fitted, -mean, ones);
    let total = dot(&fitted, &fitted);
    let scale: Vec<f64> = psi[1..]
        .iter()
        .map(|column| 1.0 / (dot(column, column) - dot(column, ones).powi(2) / n as f64).sqrt())
        .collect();
    let mut c: Vec<f64> = psi[1..]
        .iter()
        .zip(&scale)
        .map(|(column, s)| s * dot(column, &fitted))
        .collect();
    let mut directions = vec![
        ones.iter()
            .map(|v| v / (n as f64).sqrt())
            .collect::<Vec<f64>>(),
    ];
    let mut inverse = vec![vec![1.0 / (n as f64).sqrt()]];
    let (mut leverage, mut trace) = (vec![1.0 / n as f64; n], 1.0 / n as f64);
    let (mut z, mut combination) = (vec![], vec![0.0; width]);
    let mut outside = vec![true; c.len()];
    let mut turn = (0..c.len())
        .max_by(|&i, &j| c[i].abs().total_cmp(&c[j].abs()))
        .expect("a candidate");
    let mut level = c[turn].abs();
    let (mut best, mut since) = (f64::INFINITY, 0);
    while directions.len() < n - 1 && since < n / 10 {
        outside[turn] = false;
        let mut q = psi[turn + 1].clone();
        let mut h = vec![0.0; directions.len()];
        for _ in 0..2 {
            for (h, direction) in h.iter_mut().zip(&directions) {
                let part = dot(direction, &q);
                *h += part;
                add_scaled(&mut q, -part, direction);
            }
        }
        let length = dot(&q, &q).sqrt();
        if length > 1e-9 {
            q.iter_mut().for_each(|v| *v /= length);
            let mut column = vec![0.0; directions.len() + 1];
            for (h, known) in h.iter().zip(&inverse) {
                column
                    .iter_mut()
                    .zip(known)
                    .for_each(|(x, v)| *x -= h * v / length);
            }
            column[directions.len()] = 1.0 / length;
            trace += column.iter().map(|v| v * v).sum::<f64>();
            inverse.push(column);
            let known: f64 = h[1..].iter().zip(&z).map(|(h, z)| h * z).sum();
            let entry = (c[turn].signum() / scale[turn] - known) / length;
            z.push(entry);
            add_scaled(&mut combination, entry, &q);
            let part = dot(&q, &fitted);
            add_scaled(&mut fitted, -part, &q);
            leverage.iter_mut().zip(&q).for_each(|(l, q)| *l += q * q);
            directions.push(q);
            let loo: f64 = fitted
                .iter()
                .zip(&leverage)
                .map(|(r, l)| (r / (1.0 - l)).powi(2))
                .sum::<f64>()
                / total;
            let corrected = loo * n as f64 / (n - directions.len()) as f64 * (1.0 + trace);
            since = if corrected < best { 0 } else { since + 1 };
            best = best.min(corrected);
        }
        let slope = 1.0 / z.iter().map(|z| z * z).sum::<f64>().sqrt();
        let u: Vec<f64> = combination.iter().map(|t| slope * t).collect();
        let a: Vec<f64> = psi[1..]
            .iter()
            .zip(&scale)
            .map(|(column, s)| s * dot(column, &u))
            .collect();
        let mut step = level / slope;
        let mut next = None;
        for j in (0..c.len()).filter(|&j| outside[j]) {
            for (gap, rate) in [(level - c[j], slope - a[j]), (level + c[j], slope + a[j])] {
                let g = if gap <= 0.0 { 0.0 } else { gap / rate };
                if rate > 0.0 && g < step {
                    (step, next) = (g, Some(j));
                }
            }
        }
        let Some(found) = next else { break };
        turn = found;
        add_scaled(&mut c, -step, &a);
        level -= step * slope;
    }
    best
}
