//! A loose cloud of grains: sizes from a curve of mass passing, places at random without overlap.

use nalgebra::Vector3;

use crate::error::{GrainError, within};
use crate::packing::Packing;

/// Grain sizes: share of the mass that is finer than each diameter. The diameters have any unit: a packing is scaled.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeCurve {
    /// Diameters, ascending.
    pub diameters: Vec<f64>,
    /// Share of the mass that is finer, ascending to 1.
    pub finer: Vec<f64>,
}

/// Toyoura sand.
pub const TOYOURA: ([f64; 7], [f64; 7]) = (
    [5.75, 6.85, 8.16, 9.69, 11.50, 13.69, 16.26],
    [0.013, 0.021, 0.058, 0.174, 0.811, 0.927, 1.0],
);

/// SplitMix64 (Steele, Lea and Flood, 2014): a stream that is the same everywhere.
pub(crate) struct Stream(u64);

impl Stream {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl SizeCurve {
    /// Check that this can be a curve.
    pub fn check(&self) -> Result<(), GrainError> {
        let rising =
            |list: &[f64]| list.windows(2).all(|w| w[0] < w[1]) && list.iter().all(|x| *x > 0.0);
        let fits = self.diameters.len() == self.finer.len() && self.finer.len() >= 2;
        let last = *self.finer.last().unwrap_or(&0.0);
        within(
            "last share of the grain size curve",
            last,
            fits && last == 1.0 && rising(&self.diameters) && rising(&self.finer),
            "be 1, with as many diameters as shares, two at least, both positive and ascending",
        )
    }

    /// Diameters of n grains, largest first. Between two points of the curve mass goes with the diameter, so that the
    /// number of grains goes with d^-3; what is finer than the first diameter has no lower end and is left out.
    fn draw(&self, n: usize, stream: &mut Stream) -> Vec<f64> {
        let square = |d: f64| 1.0 / (d * d);
        let spans: Vec<_> = self
            .diameters
            .windows(2)
            .map(|d| (square(d[0]), square(d[1])))
            .collect();
        let numbers: Vec<f64> = (1..self.diameters.len())
            .map(|k| {
                let (low, high) = spans[k - 1];
                (self.finer[k] - self.finer[k - 1]) / (self.diameters[k] - self.diameters[k - 1])
                    * (low - high)
            })
            .collect();
        let total: f64 = numbers.iter().sum();
        let mut found: Vec<f64> = (0..n)
            .map(|_| {
                let mut left = stream.uniform() * total;
                let mut k = 0;
                while k + 1 < numbers.len() && left >= numbers[k] {
                    left -= numbers[k];
                    k += 1;
                }
                let (low, high) = spans[k];
                (low - (low - high) * stream.uniform()).powf(-0.5)
            })
            .collect();
        found.sort_by(|a, b| b.total_cmp(a));
        found
    }
}

/// Places tried for one grain before the cloud is called too dense.
const TRIES: usize = 100_000;

/// A cloud of `n` grains of this void ratio in a cell of this aspect, whose grains would fill `solid_m3`, periodic or
/// between walls.
pub fn cloud(
    curve: &SizeCurve,
    n: usize,
    aspect: [f64; 3],
    solid_m3: f64,
    void_ratio: f64,
    seed: u64,
    walls: bool,
) -> Result<Packing, GrainError> {
    curve.check()?;
    within(
        "number of grains",
        n as f64,
        (2..=1_000_000).contains(&n),
        "lie between 2 and a million",
    )?;
    within(
        "volume of the grains [m^3]",
        solid_m3,
        solid_m3 > 0.0,
        "be positive",
    )?;
    within(
        "void ratio of the cloud",
        void_ratio,
        void_ratio > 1.5,
        "exceed 1.5",
    )?;
    for part in aspect {
        within("aspect of the cell", part, part > 0.0, "be positive")?;
    }
    let mut stream = Stream::new(seed);
    let sizes = curve.draw(n, &mut stream);
    let drawn: f64 = sizes
        .iter()
        .map(|d| std::f64::consts::PI / 6.0 * d.powi(3))
        .sum();
    let scale = (solid_m3 / drawn).cbrt();
    let radii: Vec<f64> = sizes.iter().map(|d| 0.5 * scale * d).collect();
    let aspect = Vector3::from(aspect);
    let cell = aspect * (solid_m3 * (1.0 + void_ratio) / aspect.product()).cbrt();
    let mut positions: Vec<Vector3<f64>> = Vec::with_capacity(n);
    for i in 0..n {
        let free = |p: &Vector3<f64>| {
            positions.iter().zip(&radii).all(|(q, r)| {
                let mut apart = q - p;
                if !walls {
                    apart = apart.zip_map(&cell, |d, edge| d - edge * (d / edge).round());
                }
                let least = r + radii[i];
                apart.norm_squared() > least * least
            })
        };
        let held = if walls { radii[i] } else { 0.0 };
        let place = (0..TRIES)
            .map(|_| cell.map(|edge| held + (edge - 2.0 * held) * stream.uniform()))
            .find(free)
            .ok_or(GrainError::Crowded {
                grain: i,
                void_ratio,
            })?;
        positions.push(place);
    }
    Ok(Packing {
        cell_m: cell,
        positions_m: positions,
        radii_m: radii,
        walls,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of many grains the share of mass that is finer than each diameter is that of the curve, less its first share.
    #[test]
    fn grains_follow_the_curve() {
        let curve = SizeCurve {
            diameters: TOYOURA.0.to_vec(),
            finer: TOYOURA.1.to_vec(),
        };
        let sizes = curve.draw(200_000, &mut Stream::new(1));
        let mass = |most: f64| {
            sizes
                .iter()
                .filter(|d| **d <= most)
                .map(|d| d.powi(3))
                .sum::<f64>()
        };
        let whole = mass(f64::INFINITY);
        for (diameter, finer) in TOYOURA.0.iter().zip(TOYOURA.1) {
            let wanted = (finer - TOYOURA.1[0]) / (1.0 - TOYOURA.1[0]);
            assert!(
                (mass(*diameter) / whole - wanted).abs() < 0.005,
                "{diameter}"
            );
        }
        // In the middle of a class half of its mass.
        let (low, high) = (TOYOURA.0[3], TOYOURA.0[4]);
        let half = mass(0.5 * (low + high)) - mass(low);
        assert!((half / (mass(high) - mass(low)) - 0.5).abs() < 0.01);
    }
}
