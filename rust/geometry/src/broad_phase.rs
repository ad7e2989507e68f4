//! Which pairs of contactors are near enough to be asked for contact points.
//!
//! A list of candidates is made with boxes grown by a skin, and kept until some box has left its
//! grown one: most steps only test the candidates' boxes again. The pairs handed out depend on the
//! boxes of the step alone, not on when the list was made, so that a restarted run gives the same.
//!
//! The list is made on a grid: each box is entered in every cell it touches, a pair is reported in
//! the first cell that holds both (the cell of the higher of their low corners). Boxes that would
//! touch too many cells (a half-space, a large slab) are tested against all others. Cost: linear in
//! the number of contactors for bounded density. Buffers are kept: no allocation in steady state.

use crate::aabb::Aabb;
use rayon::prelude::*;

/// Cells a box may touch before it is tested against all others instead.
const LARGE: i64 = 64;
/// Skin, relative to the mean size of the boxes.
const SKIN: f64 = 0.1;

/// Boxes that a thread takes at a time.
const PIECE: usize = 256;

/// Whether the boxes of a pair overlap.
#[inline]
pub(crate) fn overlap(boxes: &[Aabb], &(i, j): &(u32, u32)) -> bool {
    boxes[i as usize].overlaps(&boxes[j as usize])
}

/// The search for pairs, with its memory.
#[derive(Debug, Clone, Default)]
pub struct BroadPhase {
    grown: Vec<Aabb>,
    candidates: Vec<(u32, u32)>,
    entries: Vec<(u64, u32)>,
    large: Vec<u32>,
    rebuilds: u64,
}

impl BroadPhase {
    /// Writes to `pairs` all pairs (i, j), i < j, in rising order, whose boxes overlap and which
    /// `may_meet`. The boxes must already be grown by the detection margin. `may_meet` must not
    /// change between calls without a call of [`BroadPhase::forget`].
    pub fn pairs(
        &mut self,
        boxes: &[Aabb],
        may_meet: impl Fn(u32, u32) -> bool,
        pairs: &mut Vec<(u32, u32)>,
    ) {
        let candidates = self.candidates(boxes, may_meet, false).iter();
        pairs.clear();
        pairs.extend(candidates.filter(|pair| overlap(boxes, pair)).copied());
    }

    /// The same pairs and others, whose boxes do not [`overlap`].
    pub(crate) fn candidates(
        &mut self,
        boxes: &[Aabb],
        may_meet: impl Fn(u32, u32) -> bool,
        parallel: bool,
    ) -> &[(u32, u32)] {
        let inside = |(grown, b): (&Aabb, &Aabb)| grown.contains(b);
        let valid = self.grown.len() == boxes.len()
            && if parallel {
                let all = self.grown.par_iter().zip(boxes).with_min_len(PIECE);
                all.all(inside)
            } else {
                self.grown.iter().zip(boxes).all(inside)
            };
        if !valid {
            self.rebuild(boxes, may_meet);
        }
        &self.candidates
    }

    /// Drops the kept candidates: needed after contactors or visibility have changed.
    pub fn forget(&mut self) {
        self.grown.clear();
    }

    /// How often the list of candidates has been made.
    pub fn rebuilds(&self) -> u64 {
        self.rebuilds
    }

    fn rebuild(&mut self, boxes: &[Aabb], may_meet: impl Fn(u32, u32) -> bool) {
        self.rebuilds += 1;
        let mut sum = 0.0;
        let mut finite = 0.0;
        for b in boxes {
            let extent = (b.max - b.min).max();
            if extent.is_finite() {
                sum += extent;
                finite += 1.0;
            }
        }
        let mean = if finite > 0.0 && sum > 0.0 {
            sum / finite
        } else {
            1.0
        };
        self.grown.clear();
        self.grown
            .extend(boxes.iter().map(|b| b.grown(SKIN * mean)));
        let cell = 1.5 * mean;

        self.entries.clear();
        self.large.clear();
        for (i, b) in self.grown.iter().enumerate() {
            match cells(b, cell) {
                None => self.large.push(i as u32),
                Some((low, high)) => {
                    for x in low[0]..=high[0] {
                        for y in low[1]..=high[1] {
                            for z in low[2]..=high[2] {
                                self.entries.push((key([x, y, z]), i as u32));
                            }
                        }
                    }
                }
            }
        }
        self.entries.sort_unstable();

        self.candidates.clear();
        let mut start = 0;
        while start < self.entries.len() {
            let here = self.entries[start].0;
            let length = self.entries[start..]
                .iter()
                .take_while(|e| e.0 == here)
                .count();
            let bin = &self.entries[start..start + length];
            for (k, &(_, i)) in bin.iter().enumerate() {
                let a = &self.grown[i as usize];
                for &(_, j) in &bin[k + 1..] {
                    let b = &self.grown[j as usize];
                    if !a.overlaps(b) || !may_meet(i, j) {
                        continue;
                    }
                    let first = a.min.sup(&b.min);
                    if key(std::array::from_fn(|d| index(first[d], cell))) == here {
                        self.candidates.push((i.min(j), i.max(j)));
                    }
                }
            }
            start += length;
        }
        for (k, &i) in self.large.iter().enumerate() {
            for j in 0..boxes.len() as u32 {
                // Two large ones meet once.
                let counted = self.large[..=k].binary_search(&j).is_ok();
                if !counted
                    && self.grown[i as usize].overlaps(&self.grown[j as usize])
                    && may_meet(i, j)
                {
                    self.candidates.push((i.min(j), i.max(j)));
                }
            }
        }
        self.candidates.sort_unstable();
    }
}

#[inline]
fn index(x: f64, cell: f64) -> i64 {
    // Far away everything falls into the outermost cells, which costs time and nothing else.
    (x / cell).floor().clamp(-1_048_575.0, 1_048_575.0) as i64
}

/// Lowest and highest cell of a box; none if there are too many between.
fn cells(b: &Aabb, cell: f64) -> Option<([i64; 3], [i64; 3])> {
    let finite = b.min.iter().chain(b.max.iter()).all(|x| x.is_finite());
    let low: [i64; 3] = std::array::from_fn(|d| index(b.min[d], cell));
    let high: [i64; 3] = std::array::from_fn(|d| index(b.max[d], cell));
    let count = (0..3).try_fold(1_i64, |n, d| n.checked_mul(high[d] - low[d] + 1))?;
    (finite && count <= LARGE).then_some((low, high))
}

/// A cell's number: 21 bits for each direction, no two cells alike.
#[inline]
fn key(c: [i64; 3]) -> u64 {
    c.iter().fold(0, |k, &x| k << 21 | (x + 1_048_576) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::Vec3;
    use proptest::prelude::*;

    fn all_pairs(boxes: &[Aabb]) -> Vec<(u32, u32)> {
        let n = boxes.len() as u32;
        let every = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        every
            .filter(|&(i, j)| (i + j) % 3 != 0 && boxes[i as usize].overlaps(&boxes[j as usize]))
            .collect()
    }

    proptest! {
        #[test]
        fn finds_what_testing_all_pairs_finds(
            spec in prop::collection::vec((prop::array::uniform3(-5.0..5.0f64), 0.01..3.0f64), 0..60),
            drift in prop::array::uniform3(-0.3..0.3f64),
        ) {
            let mut boxes: Vec<Aabb> =
                spec.iter().map(|(c, h)| Aabb::around(&Vec3::from(*c), &Vec3::repeat(h.powi(3) / 9.0))).collect();
            boxes.push(Aabb::everything());
            let mut broad = BroadPhase::default();
            let mut pairs = Vec::new();
            for _ in 0..5 {
                broad.pairs(&boxes, |i, j| (i + j) % 3 != 0, &mut pairs);
                prop_assert_eq!(&pairs, &all_pairs(&boxes));
                for (k, b) in boxes.iter_mut().enumerate() {
                    let d = Vec3::from(drift) * (k % 4) as f64;
                    *b = Aabb { min: b.min + d, max: b.max + d };
                }
            }
        }
    }

    #[test]
    fn small_motions_keep_the_candidates() {
        let mut boxes: Vec<Aabb> = (0..100)
            .map(|i| Aabb::around(&Vec3::new(f64::from(i), 0.0, 0.0), &Vec3::repeat(0.5)))
            .collect();
        let mut broad = BroadPhase::default();
        let mut pairs = Vec::new();
        for _ in 0..50 {
            broad.pairs(&boxes, |_, _| true, &mut pairs);
            assert_eq!(pairs.len(), 99);
            for b in &mut boxes {
                *b = Aabb {
                    min: b.min.add_scalar(1e-3),
                    max: b.max.add_scalar(1e-3),
                };
            }
        }
        assert_eq!(broad.rebuilds(), 1);
    }
}
