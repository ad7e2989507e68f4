//! Sensitivity indices read off the coefficients.
//!
//! Terms are orthonormal, so the variance is the sum of the squared coefficients and each term belongs to exactly
//! one subset of parameters: Sobol indices are ratios of partial sums (Sudret, 2008), Shapley effects share each
//! term evenly among its parameters (Owen, 2014). Inputs independent, no units.

use crate::expansion::Expansion;

/// Indices of one output. Where the variance is zero there is nothing to share: all are NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct Indices {
    /// Mean of the output.
    pub mean: f64,
    /// Variance of the output.
    pub variance: f64,
    /// First-order indices, one per parameter.
    pub first: Vec<f64>,
    /// Total indices, one per parameter.
    pub total: Vec<f64>,
    /// Second-order indices, parameters x parameters, symmetric, zero on the diagonal.
    pub second: Vec<f64>,
    /// Shapley effects, one per parameter; they sum to one.
    pub shapley: Vec<f64>,
    /// For each group asked for, the share of the terms in its parameters only (closed index).
    pub group_closed: Vec<f64>,
    /// For each group asked for, the share of the terms with any of its parameters (total index).
    pub group_total: Vec<f64>,
}

/// Indices of every output; `groups` are sets of parameters as bits (bit k: parameter k).
pub fn indices(expansion: &Expansion, groups: &[u64]) -> Vec<Indices> {
    let dimension = expansion.dimension();
    let supports: Vec<u64> = expansion
        .indices()
        .chunks_exact(dimension)
        .map(|alpha| {
            alpha
                .iter()
                .enumerate()
                .fold(0, |bits, (k, &a)| bits | (u64::from(a > 0) << k))
        })
        .collect();
    (0..expansion.outputs())
        .map(|output| {
            let mut found = Indices {
                mean: 0.0,
                variance: 0.0,
                first: vec![0.0; dimension],
                total: vec![0.0; dimension],
                second: vec![0.0; dimension * dimension],
                shapley: vec![0.0; dimension],
                group_closed: vec![0.0; groups.len()],
                group_total: vec![0.0; groups.len()],
            };
            for (term, coefficient) in expansion.output(output) {
                let support = supports[term as usize];
                let part = coefficient * coefficient;
                if support == 0 {
                    found.mean += coefficient;
                    continue;
                }
                found.variance += part;
                let members: Vec<usize> =
                    (0..dimension).filter(|k| support >> k & 1 == 1).collect();
                for &k in &members {
                    found.total[k] += part;
                    found.shapley[k] += part / members.len() as f64;
                }
                match members[..] {
                    [k] => found.first[k] += part,
                    [j, k] => {
                        found.second[j * dimension + k] += part;
                        found.second[k * dimension + j] += part;
                    }
                    _ => {}
                }
                for (at, group) in groups.iter().enumerate() {
                    found.group_closed[at] += if support & !group == 0 { part } else { 0.0 };
                    found.group_total[at] += if support & group != 0 { part } else { 0.0 };
                }
            }
            let variance = found.variance;
            let lists = [
                &mut found.first,
                &mut found.total,
                &mut found.second,
                &mut found.shapley,
                &mut found.group_closed,
                &mut found.group_total,
            ];
            for list in lists {
                list.iter_mut().for_each(|share| *share /= variance);
            }
            found
        })
        .collect()
}
