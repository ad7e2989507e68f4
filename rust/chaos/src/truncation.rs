//! Which terms may enter: hyperbolic truncation sets for every (degree, q) of the search.
//!
//! A(p, q) = { alpha : ||alpha||_q <= p },  ||alpha||_q = (sum alpha_i^q)^(1/q)   (Blatman and Sudret, 2011).
//!
//! All sets index one list of multi-indices in graded order (total degree, then the first parameter first), so
//! that one basis serves every degree, every q and every output. Sets that coincide (all q at degree 1, say)
//! are kept once.

use std::collections::BTreeMap;

use crate::error::{ChaosError, Result};

/// Highest degree that may be asked for. Beyond it Hermite and Laguerre values lose their use in double precision.
pub const HIGHEST_DEGREE: usize = 40;
/// Most parameters: supports of terms are kept as bits of one word.
pub const MOST_PARAMETERS: usize = 64;
/// (1 + this) p^q is still inside: alpha on the boundary must not depend on rounding of the powers.
const BOUNDARY: f64 = 1e-10;

/// The candidate terms of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    dimension: usize,
    indices: Vec<u8>,
    degrees: Vec<usize>,
    qs: Vec<f64>,
    halves: Halves,
    sets: Vec<Vec<u32>>,
    cells: Vec<Option<usize>>,
}

impl Candidates {
    /// Enumerate the sets of all `degrees` and `qs` in `dimension` parameters. Sets of more than `cap` terms are
    /// left out (`set` gives `None` for them); it is an error if nothing is left.
    pub fn new(dimension: usize, degrees: &[usize], qs: &[f64], cap: usize) -> Result<Self> {
        if dimension == 0 || dimension > MOST_PARAMETERS {
            return Err(ChaosError::Option {
                key: "parameters",
                value: dimension.to_string(),
                allowed: "1 to 64 parameters",
            });
        }
        let ascending = degrees.windows(2).all(|pair| pair[0] < pair[1]);
        if degrees.is_empty()
            || !ascending
            || degrees[0] == 0
            || degrees[degrees.len() - 1] > HIGHEST_DEGREE
        {
            return Err(ChaosError::Option {
                key: "degrees",
                value: format!("{degrees:?}"),
                allowed: "an ascending list of degrees from 1 to 40",
            });
        }
        let in_range = qs.iter().all(|q| (0.1..=1.0).contains(q));
        if qs.is_empty() || !in_range || !qs.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(ChaosError::Option {
                key: "q",
                value: format!("{qs:?}"),
                allowed: "an ascending list of numbers from 0.1 to 1",
            });
        }

        let mut union: Vec<Vec<u8>> = vec![vec![0; dimension]];
        let mut reach = Vec::with_capacity(qs.len());
        for &q in qs {
            let kept =
                degrees
                    .iter()
                    .rposition(|&degree| match enumerate(dimension, degree, q, cap) {
                        Some(list) => {
                            union.extend(list);
                            true
                        }
                        None => false,
                    });
            reach.push(kept.map_or(0, |last| last + 1));
        }
        if reach.iter().all(|&kept| kept == 0) {
            return Err(ChaosError::TooManyCandidates {
                degree: degrees[0],
                q: qs[0],
                parameters: dimension,
                cap,
            });
        }
        grade(&mut union);

        let mut sets: Vec<Vec<u32>> = Vec::new();
        let mut cells = vec![None; degrees.len() * qs.len()];
        for (column, &q) in qs.iter().enumerate() {
            let powers: Vec<f64> = (0..=HIGHEST_DEGREE).map(|k| (k as f64).powf(q)).collect();
            let norms: Vec<f64> = union
                .iter()
                .map(|alpha| alpha.iter().map(|&a| powers[usize::from(a)]).sum())
                .collect();
            for (row, &degree) in degrees.iter().enumerate().take(reach[column]) {
                let limit = powers[degree] * (1.0 + BOUNDARY);
                let set: Vec<u32> = (1..union.len() as u32)
                    .filter(|&j| norms[j as usize] <= limit)
                    .collect();
                let known = sets.iter().position(|other| *other == set);
                cells[row * qs.len() + column] = Some(known.unwrap_or_else(|| {
                    sets.push(set);
                    sets.len() - 1
                }));
            }
        }
        let halves = Halves::new(&union, dimension.div_ceil(2));
        Ok(Self {
            halves,
            dimension,
            indices: union.concat(),
            degrees: degrees.to_vec(),
            qs: qs.to_vec(),
            sets,
            cells,
        })
    }

    /// Just these multi-indices (terms x parameters) and the constant, without sets to search.
    pub(crate) fn from_indices(dimension: usize, indices: &[u8]) -> Self {
        let mut union: Vec<Vec<u8>> = vec![vec![0; dimension]];
        union.extend(indices.chunks_exact(dimension).map(<[u8]>::to_vec));
        grade(&mut union);
        let halves = Halves::new(&union, dimension.div_ceil(2));
        Self {
            dimension,
            indices: union.concat(),
            degrees: vec![],
            qs: vec![],
            halves,
            sets: vec![],
            cells: vec![],
        }
    }

    /// Number of parameters.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of multi-indices in the list, the constant (number 0) included.
    pub fn len(&self) -> usize {
        self.indices.len() / self.dimension
    }

    /// Never: the constant is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Multi-index number `term`.
    pub fn multi_index(&self, term: usize) -> &[u8] {
        &self.indices[term * self.dimension..(term + 1) * self.dimension]
    }

    /// Number of a multi-index of the list.
    pub(crate) fn number(&self, alpha: &[u8]) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if graded(self.multi_index(middle), alpha).is_lt() {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low as u32
    }

    /// The multi-indices cut in two.
    pub(crate) fn halves(&self) -> &Halves {
        &self.halves
    }

    /// Degrees of the search, ascending.
    pub fn degrees(&self) -> &[usize] {
        &self.degrees
    }

    /// The q-norms of the search, ascending.
    pub fn qs(&self) -> &[f64] {
        &self.qs
    }

    /// Number of the set of (degree, q) by their places in the lists, `None` when above the cap.
    pub fn cell(&self, degree: usize, q: usize) -> Option<usize> {
        self.cells[degree * self.qs.len() + q]
    }

    /// Members of set number `set` in graded order, the constant left out: it is in every expansion.
    pub fn set(&self, set: usize) -> &[u32] {
        &self.sets[set]
    }

    /// How many different sets there are.
    pub fn set_count(&self) -> usize {
        self.sets.len()
    }

    /// How many cells of the (degree, q) grid were left out by the cap.
    pub fn capped(&self) -> usize {
        self.cells.iter().filter(|cell| cell.is_none()).count()
    }
}

/// Sort into graded order, each once.
fn grade(list: &mut Vec<Vec<u8>>) {
    list.sort_unstable_by(|x, y| graded(x, y));
    list.dedup();
}

/// Total degree first, then the first parameter first.
fn graded(x: &[u8], y: &[u8]) -> std::cmp::Ordering {
    let total = |alpha: &[u8]| alpha.iter().map(|&a| usize::from(a)).sum::<usize>();
    total(x).cmp(&total(y)).then_with(|| y.cmp(x))
}

/// Every multi-index as a pair of shorter ones: the first parameters and the others, each different one kept once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Halves {
    pub(crate) left: Vec<Vec<u8>>,
    pub(crate) right: Vec<Vec<u8>>,
    pub(crate) pairs: Vec<(u32, u32)>,
}

impl Halves {
    fn new(indices: &[Vec<u8>], split: usize) -> Self {
        fn number<'a>(
            known: &mut BTreeMap<&'a [u8], u32>,
            list: &mut Vec<Vec<u8>>,
            alpha: &'a [u8],
        ) -> u32 {
            *known.entry(alpha).or_insert_with(|| {
                list.push(alpha.to_vec());
                list.len() as u32 - 1
            })
        }
        let (mut left, mut right) = (vec![], vec![]);
        let (mut known_left, mut known_right) = (BTreeMap::new(), BTreeMap::new());
        let pairs = indices
            .iter()
            .map(|alpha| {
                let (head, tail) = alpha.split_at(split);
                (
                    number(&mut known_left, &mut left, head),
                    number(&mut known_right, &mut right, tail),
                )
            })
            .collect();
        Self { left, right, pairs }
    }
}

/// All alpha with ||alpha||_q <= degree, or `None` once there are more than `cap`.
fn enumerate(dimension: usize, degree: usize, q: f64, cap: usize) -> Option<Vec<Vec<u8>>> {
    struct Walk {
        powers: Vec<f64>,
        limit: f64,
        cap: usize,
        found: Vec<Vec<u8>>,
    }
    fn descend(walk: &mut Walk, alpha: &mut Vec<u8>, position: usize, used: f64) -> bool {
        if position == alpha.len() {
            walk.found.push(alpha.clone());
            return walk.found.len() <= walk.cap;
        }
        for k in 0..walk.powers.len() {
            let now = used + walk.powers[k];
            if now > walk.limit {
                break;
            }
            alpha[position] = k as u8;
            if !descend(walk, alpha, position + 1, now) {
                return false;
            }
        }
        alpha[position] = 0;
        true
    }
    let powers: Vec<f64> = (0..=degree).map(|k| (k as f64).powf(q)).collect();
    let limit = powers[degree] * (1.0 + BOUNDARY);
    let mut walk = Walk {
        powers,
        limit,
        cap,
        found: Vec::new(),
    };
    descend(&mut walk, &mut vec![0; dimension], 0, 0.0).then_some(walk.found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP: usize = 100_000;

    #[test]
    fn total_degree_sets_have_binomial_size_and_graded_order() {
        let candidates = Candidates::new(3, &[1, 2, 3, 7], &[1.0], CAP).unwrap();
        let size = |row| candidates.set(candidates.cell(row, 0).unwrap()).len() + 1;
        assert_eq!([size(0), size(1), size(2), size(3)], [4, 10, 20, 120]);
        assert_eq!(candidates.multi_index(0), [0, 0, 0]);
        assert_eq!(candidates.multi_index(1), [1, 0, 0]);
        assert_eq!(candidates.multi_index(3), [0, 0, 1]);
        assert_eq!(candidates.multi_index(4), [2, 0, 0]);
        // A total-degree set is a head of the list.
        assert_eq!(
            candidates.set(candidates.cell(1, 0).unwrap()),
            (1..10).collect::<Vec<u32>>()
        );
    }

    #[test]
    fn hyperbolic_sets_follow_the_norm_and_are_shared() {
        let candidates = Candidates::new(2, &[1, 2, 4], &[0.5, 1.0], CAP).unwrap();
        assert_eq!(
            candidates.cell(0, 0),
            candidates.cell(0, 1),
            "degree 1 knows no q"
        );
        // ||(1,1)||_.5 = 4: inside at degree 4 exactly on the boundary, outside at degree 2.
        let has = |row, column, alpha: [u8; 2]| {
            candidates
                .set(candidates.cell(row, column).unwrap())
                .iter()
                .any(|&j| candidates.multi_index(j as usize) == alpha)
        };
        assert!(has(2, 0, [1, 1]) && !has(1, 0, [1, 1]) && !has(2, 0, [2, 1]) && has(2, 1, [2, 1]));
    }

    #[test]
    fn sets_above_the_cap_are_left_out_and_counted() {
        let candidates = Candidates::new(8, &[1, 2, 3, 20], &[0.5, 1.0], 1000).unwrap();
        assert!(candidates.cell(3, 1).is_none() && candidates.cell(2, 1).is_some());
        assert_eq!(
            candidates.capped(),
            2 - usize::from(candidates.cell(3, 0).is_some())
        );
        let error = Candidates::new(8, &[20], &[1.0], 1000).unwrap_err();
        assert!(matches!(
            error,
            ChaosError::TooManyCandidates { degree: 20, .. }
        ));
    }

    #[test]
    fn lists_out_of_order_or_range_are_refused() {
        assert!(Candidates::new(2, &[2, 1], &[1.0], CAP).is_err());
        assert!(Candidates::new(2, &[0, 1], &[1.0], CAP).is_err());
        assert!(Candidates::new(2, &[1], &[1.5], CAP).is_err());
        assert!(Candidates::new(0, &[1], &[1.0], CAP).is_err());
    }
}
