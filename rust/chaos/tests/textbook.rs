//! The fast regression against plain ones: complete products, normal equations, brute-force leave-one-out.

use std::sync::atomic::AtomicBool;

use crate::functions::{Stream, g_function, kink};
use percuss_chaos::{Candidates, Design, Expansion, Family, Method, Options, fit};

type Matrix = Vec<Vec<f64>>;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Solve a symmetric positive definite system by Gaussian elimination.
fn solve(mut a: Matrix, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
            .expect("a row");
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            for (x, y) in a[i][k..].iter_mut().zip(&row[k..]) {
                *x -= factor * y;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

fn gram(columns: &[&Vec<f64>]) -> Matrix {
    columns
        .iter()
        .map(|a| columns.iter().map(|b| dot(a, b)).collect())
        .collect()
}

/// Columns of Psi for all terms of a set, the constant first, straight from the recurrences.
fn columns(
    families: &[Family],
    candidates: &Candidates,
    set: &[u32],
    points: &[f64],
) -> Vec<Vec<f64>> {
    let d = families.len();
    std::iter::once(0)
        .chain(set.iter().copied())
        .map(|term| {
            let alpha = candidates.multi_index(term as usize);
            let value = |x: &[f64]| -> f64 {
                (0..d)
                    .map(|k| {
                        families[k].recurrence(usize::from(alpha[k])).at(x[k])
                            [usize::from(alpha[k])]
                    })
                    .product()
            };
            points.chunks_exact(d).map(value).collect()
        })
        .collect()
}

/// Least-angle regression as in Efron et al. (2004), section 2, Eqs. 2.4 to 2.13, by normal equations.
fn least_angle(psi: &[Vec<f64>], y: &[f64], steps: usize) -> Vec<usize> {
    let n = y.len() as f64;
    let centred = |v: &[f64]| -> Vec<f64> {
        let mean = v.iter().sum::<f64>() / n;
        v.iter().map(|x| x - mean).collect()
    };
    let x: Vec<Vec<f64>> = psi[1..]
        .iter()
        .map(|column| {
            let c = centred(column);
            let norm = dot(&c, &c).sqrt();
            c.iter().map(|v| v / norm).collect()
        })
        .collect();
    let mut residual = centred(y);
    let mut active: Vec<usize> = vec![];
    while active.len() < steps {
        let c: Vec<f64> = x.iter().map(|column| dot(column, &residual)).collect();
        let level = if active.is_empty() {
            c.iter().map(|v| v.abs()).fold(0.0, f64::max)
        } else {
            c[active[0]].abs()
        };
        if active.is_empty() {
            active.push(
                (0..c.len())
                    .max_by(|&i, &j| c[i].abs().total_cmp(&c[j].abs()))
                    .expect("a column"),
            );
            continue;
        }
        let signed: Vec<Vec<f64>> = active
            .iter()
            .map(|&j| x[j].iter().map(|v| v * c[j].signum()).collect())
            .collect();
        let weights = solve(
            gram(&signed.iter().collect::<Vec<_>>()),
            vec![1.0; active.len()],
        );
        let slope = 1.0 / weights.iter().sum::<f64>().sqrt();
        let mut u = vec![0.0; y.len()];
        for (column, w) in signed.iter().zip(&weights) {
            for (u, v) in u.iter_mut().zip(column) {
                *u += slope * w * v;
            }
        }
        let (mut step, mut next) = (f64::INFINITY, usize::MAX);
        for j in (0..x.len()).filter(|j| !active.contains(j)) {
            let a = dot(&x[j], &u);
            for g in [(level - c[j]) / (slope - a), (level + c[j]) / (slope + a)] {
                if g > 1e-12 && g < step {
                    (step, next) = (g, j);
                }
            }
        }
        for (r, u) in residual.iter_mut().zip(&u) {
            *r -= step * u;
        }
        active.push(next);
    }
    active.into_iter().map(|j| j + 1).collect()
}

/// Leave-one-out by N fits, and the correction from the inverse of the normal matrix.
fn brute_force(psi: &[&Vec<f64>], y: &[f64]) -> (f64, f64) {
    let (n, p) = (y.len(), psi.len());
    let mean = y.iter().sum::<f64>() / n as f64;
    let total: f64 = y.iter().map(|v| (v - mean).powi(2)).sum();
    let mut sum = 0.0;
    for out in 0..n {
        let keep = |v: &Vec<f64>| -> Vec<f64> {
            v.iter()
                .enumerate()
                .filter(|&(i, _)| i != out)
                .map(|(_, x)| *x)
                .collect()
        };
        let reduced: Vec<Vec<f64>> = psi.iter().map(|column| keep(column)).collect();
        let others = keep(&y.to_vec());
        let refs: Vec<&Vec<f64>> = reduced.iter().collect();
        let coefficients = solve(
            gram(&refs),
            refs.iter().map(|column| dot(column, &others)).collect(),
        );
        let predicted: f64 = coefficients
            .iter()
            .zip(psi)
            .map(|(c, column)| c * column[out])
            .sum();
        sum += (y[out] - predicted).powi(2);
    }
    let inverse_trace: f64 = (0..p)
        .map(|k| {
            solve(
                gram(psi),
                (0..p).map(|i| f64::from(u8::from(i == k))).collect(),
            )[k]
        })
        .sum();
    let loo = sum / total;
    (loo, loo * n as f64 / (n - p) as f64 * (1.0 + inverse_trace))
}

fn terms_of(expansion: &Expansion) -> Vec<Vec<u8>> {
    expansion
        .output(0)
        .map(|(row, _)| expansion.multi_index(row).to_vec())
        .collect()
}

#[test]
fn paths_selection_and_errors_equal_the_textbook() {
    for (function, seed) in [(g_function as fn(&[f64]) -> f64, 1), (kink, 2), (kink, 3)] {
        let families = vec![Family::Legendre; 5];
        let points = Stream(seed).points(&families, 60);
        let y: Vec<f64> = points.chunks_exact(5).map(function).collect();
        let design = Design::new(&families, &points, &y, 1).expect("a design");
        // Several sets at once walk one tree; the selected one must be as if it had walked alone.
        let options = Options {
            method: Method::LeastAngle,
            degrees: vec![2, 3, 4],
            qs: vec![0.7, 1.0],
            ..Options::default()
        };
        let found = fit(&design, &options, &AtomicBool::new(false)).expect("a fit");
        let output = &found.outputs[0];

        let candidates =
            Candidates::new(5, &[output.degree], &[output.q], 10_000).expect("candidates");
        let set = candidates.set(0);
        let psi = columns(&families, &candidates, set, &points);
        let order = least_angle(&psi, &y, output.path.len() - 1);
        for (terms, error) in output.path.iter().enumerate().take(25) {
            let chosen: Vec<&Vec<f64>> = std::iter::once(&psi[0])
                .chain(order[..terms].iter().map(|&j| &psi[j]))
                .collect();
            let (loo, corrected) = brute_force(&chosen, &y);
            assert!(
                (error.plain / loo - 1.0).abs() < 1e-8,
                "seed {seed}, {terms} terms: {} {loo}",
                error.plain
            );
            assert!(
                (error.corrected / corrected - 1.0).abs() < 1e-8,
                "seed {seed}, {terms} terms"
            );
        }
        let mut expected: Vec<Vec<u8>> = order[..found.expansion.terms().len() - 1]
            .iter()
            .map(|&j| candidates.multi_index(set[j - 1] as usize).to_vec())
            .collect();
        expected.push(vec![0; 5]);
        expected.sort();
        let mut selected = terms_of(&found.expansion);
        selected.sort();
        assert_eq!(selected, expected, "seed {seed}");
    }
}

#[test]
fn matching_pursuit_takes_the_most_correlated_term_each_time() {
    let families = vec![Family::Legendre; 5];
    let points = Stream(9).points(&families, 80);
    let y: Vec<f64> = points.chunks_exact(5).map(g_function).collect();
    let design = Design::new(&families, &points, &y, 1).expect("a design");
    let options = Options {
        method: Method::MatchingPursuit,
        degrees: vec![2, 4, 5],
        qs: vec![0.6, 1.0],
        ..Options::default()
    };
    let found = fit(&design, &options, &AtomicBool::new(false)).expect("a fit");
    let output = &found.outputs[0];
    let candidates = Candidates::new(5, &[output.degree], &[output.q], 10_000).expect("candidates");
    let psi = columns(&families, &candidates, candidates.set(0), &points);
    let mut chosen = vec![0];
    let mut residual: Vec<f64> = vec![];
    for terms in 0..found.expansion.terms().len() {
        let columns: Vec<&Vec<f64>> = chosen.iter().map(|&j: &usize| &psi[j]).collect();
        let coefficients = solve(
            gram(&columns),
            columns.iter().map(|column| dot(column, &y)).collect(),
        );
        residual = (0..y.len())
            .map(|i| {
                y[i] - coefficients
                    .iter()
                    .zip(&columns)
                    .map(|(c, column)| c * column[i])
                    .sum::<f64>()
            })
            .collect();
        let (loo, _) = brute_force(&columns, &y);
        assert!(
            (output.path[terms].plain / loo - 1.0).abs() < 1e-8,
            "{terms} terms"
        );
        let correlation = |j: usize| {
            let mean = psi[j].iter().sum::<f64>() / y.len() as f64;
            let norm = psi[j]
                .iter()
                .map(|v| (v - mean).powi(2))
                .sum::<f64>()
                .sqrt();
            (dot(&psi[j], &residual) / norm).abs()
        };
        let next = (1..psi.len())
            .filter(|j| !chosen.contains(j))
            .max_by(|&i, &j| correlation(i).total_cmp(&correlation(j)));
        chosen.push(next.expect("a candidate"));
    }
    assert!(dot(&residual, &residual) > 0.0);
}

#[test]
fn ordinary_least_squares_solves_the_normal_equations() {
    let families = vec![Family::Legendre, Family::Hermite];
    let points = Stream(4).points(&families, 50);
    let y: Vec<f64> = points
        .chunks_exact(2)
        .map(|x| (x[0] + 0.3 * x[1]).exp())
        .collect();
    let design = Design::new(&families, &points, &y, 1).expect("a design");
    let options = Options {
        method: Method::Ordinary,
        degrees: vec![1, 2, 3, 4],
        qs: vec![1.0],
        ..Options::default()
    };
    let found = fit(&design, &options, &AtomicBool::new(false)).expect("a fit");
    let candidates =
        Candidates::new(2, &[found.outputs[0].degree], &[1.0], 100).expect("candidates");
    let psi = columns(&families, &candidates, candidates.set(0), &points);
    let refs: Vec<&Vec<f64>> = psi.iter().collect();
    let expected = solve(
        gram(&refs),
        refs.iter().map(|column| dot(column, &y)).collect(),
    );
    for (found, expected) in found.expansion.coefficients().iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-9);
    }
    let (loo, corrected) = brute_force(&refs, &y);
    assert!((found.outputs[0].loo.plain / loo - 1.0).abs() < 1e-8);
    assert!((found.outputs[0].loo.corrected / corrected - 1.0).abs() < 1e-8);
}
