//! Pairs that are or may soon be in contact: a grid of cells, rebuilt when grains have moved by half the margin.
//!
//! Pairs (i, j > i) stand sorted by i, then j, in one flat array; what contacts remember stands in another beside it.

use nalgebra::Vector3;

use crate::contact::Contact;
use crate::error::GrainError;

/// A pair, seen from its first grain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The second grain.
    pub other: u32,
    /// Which of the 27 images of the second grain.
    pub image: u8,
    /// Whether they touched in the last step.
    pub touching: bool,
}

/// All pairs, with what their contacts remember.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    /// Pairs of grain i are `starts[i]..starts[i + 1]`.
    pub starts: Vec<usize>,
    pub list: Vec<Pair>,
    pub contacts: Vec<Contact>,
    /// What a law keeps of the radii of each pair.
    pub factors: Vec<f64>,
}

/// Image 13 is the grain itself; x runs slowest.
pub(crate) fn image_shift(image: usize, cell: &Vector3<f64>) -> Vector3<f64> {
    let part = |k: usize| k as f64 - 1.0;
    Vector3::new(
        part(image / 9) * cell.x,
        part(image / 3 % 3) * cell.y,
        part(image % 3) * cell.z,
    )
}

/// Find all pairs closer than `margin` beyond touching. Positions must lie inside the cell.
pub(crate) fn find_pairs(
    cell: &Vector3<f64>,
    positions: &[Vector3<f64>],
    radii: &[f64],
    margin: f64,
    old: &Pairs,
    factor: impl Fn(f64, f64) -> f64,
) -> Result<Pairs, GrainError> {
    let largest = radii.iter().fold(0.0_f64, |a, &b| a.max(b));
    let reach = 2.0 * largest + margin;
    for &edge in cell.iter() {
        if edge.is_nan() || edge <= 2.0 * reach {
            return Err(GrainError::SmallCell {
                edge_m: edge,
                least_m: 2.0 * reach,
            });
        }
    }
    let counts = cell.map(|edge| ((edge / reach) as usize).clamp(2, 64));
    let grid = Grid::new(cell, counts, positions);
    let mut found = Pairs::default();
    found.starts.push(0);
    let mut near: Vec<(u32, u8)> = Vec::new();
    for i in 0..positions.len() {
        near.clear();
        grid.visit(i, &positions[i], cell, positions, |j, branch, image| {
            let far = radii[i] + radii[j] + margin;
            if branch.norm_squared() < far * far {
                near.push((j as u32, image));
            }
        });
        near.sort_unstable();
        let before = old.starts.get(i).map_or(0, |&a| a)..old.starts.get(i + 1).map_or(0, |&a| a);
        let mut known = before.peekable();
        for &(other, image) in &near {
            while known.next_if(|&k| old.list[k].other < other).is_some() {}
            let kept = known.next_if(|&k| old.list[k].other == other);
            let touching = kept.is_some_and(|k| old.list[k].touching);
            found.list.push(Pair {
                other,
                image,
                touching,
            });
            found
                .contacts
                .push(kept.map_or_else(Contact::default, |k| old.contacts[k]));
            found.factors.push(factor(radii[i], radii[other as usize]));
        }
        found.starts.push(found.list.len());
    }
    Ok(found)
}

/// Grains by the box they are in.
struct Grid {
    counts: Vector3<usize>,
    inverse: Vector3<f64>,
    starts: Vec<u32>,
    grains: Vec<u32>,
}

impl Grid {
    fn new(cell: &Vector3<f64>, counts: Vector3<usize>, positions: &[Vector3<f64>]) -> Self {
        let inverse = counts.zip_map(cell, |n, edge| n as f64 / edge);
        let mut grid = Self {
            counts,
            inverse,
            starts: Vec::new(),
            grains: vec![0; positions.len()],
        };
        let boxes: Vec<usize> = positions
            .iter()
            .map(|p| grid.index(grid.place(p)))
            .collect();
        let mut starts = vec![0_u32; counts.product() + 1];
        for &b in &boxes {
            starts[b + 1] += 1;
        }
        for b in 1..starts.len() {
            starts[b] += starts[b - 1];
        }
        let mut next = starts.clone();
        for (grain, &b) in boxes.iter().enumerate() {
            grid.grains[next[b] as usize] = grain as u32;
            next[b] += 1;
        }
        grid.starts = starts;
        grid
    }

    fn place(&self, p: &Vector3<f64>) -> Vector3<usize> {
        Vector3::from_fn(|k, _| ((p[k] * self.inverse[k]) as usize).min(self.counts[k] - 1))
    }

    fn index(&self, place: Vector3<usize>) -> usize {
        (place.x * self.counts.y + place.y) * self.counts.z + place.z
    }

    /// Every grain j > i in the boxes around, with the branch to its nearest image.
    fn visit(
        &self,
        i: usize,
        p: &Vector3<f64>,
        cell: &Vector3<f64>,
        positions: &[Vector3<f64>],
        mut see: impl FnMut(usize, Vector3<f64>, u8),
    ) {
        let home = self.place(p);
        // With two boxes along an edge the one before and the one after are the same.
        let along = |k: usize| -> Vec<usize> {
            let n = self.counts[k];
            let mut list = vec![(home[k] + n - 1) % n, home[k], (home[k] + 1) % n];
            list.sort_unstable();
            list.dedup();
            list
        };
        let (xs, ys, zs) = (along(0), along(1), along(2));
        for &x in &xs {
            for &y in &ys {
                for &z in &zs {
                    let b = self.index(Vector3::new(x, y, z));
                    for &j in &self.grains[self.starts[b] as usize..self.starts[b + 1] as usize] {
                        if j as usize <= i {
                            continue;
                        }
                        let apart = positions[j as usize] - p;
                        let turns = apart.zip_map(cell, |d, edge| -(d / edge).round());
                        let branch = apart + turns.component_mul(cell);
                        let image = 9.0 * (turns.x + 1.0) + 3.0 * (turns.y + 1.0) + turns.z + 1.0;
                        see(j as usize, branch, image as u8);
                    }
                }
            }
        }
    }
}
