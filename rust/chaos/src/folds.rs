//! Folds of a design: fixed by a seed, nearly equal in size.

use crate::design::Design;
use crate::stream::Stream;

/// The fold of each of `points` points: a permutation by `seed`, dealt out in turn.
pub(crate) fn assign(points: usize, folds: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points).collect();
    let mut stream = Stream::new(seed, FOLDS);
    for last in (1..points).rev() {
        order.swap(last, stream.below(last + 1));
    }
    let mut fold = vec![0; points];
    for (rank, point) in order.into_iter().enumerate() {
        fold[point] = rank % folds;
    }
    fold
}

/// The points outside a fold, and those in it.
pub(crate) fn split(design: &Design, places: &[usize], fold: usize) -> (Design, Design) {
    let outside: Vec<u32> = places
        .iter()
        .map(|&place| u32::from(place != fold))
        .collect();
    let inside: Vec<u32> = places
        .iter()
        .map(|&place| u32::from(place == fold))
        .collect();
    (design.resampled(&outside), design.resampled(&inside))
}

/// Name of this stream beside those of resampled designs.
const FOLDS: u64 = u64::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_even_and_fixed_by_the_seed() {
        let folds = assign(103, 10, 7);
        for fold in 0..10 {
            let size = folds.iter().filter(|&&f| f == fold).count();
            assert!(size == 10 || size == 11);
        }
        assert_eq!(folds, assign(103, 10, 7));
        assert_ne!(folds, assign(103, 10, 8));
    }
}
