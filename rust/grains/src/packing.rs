//! A packing: grains in a periodic cell or between walls, by their centres and radii.

use nalgebra::Vector3;

use crate::error::{GrainError, within};

/// Grains in a cell with edges along the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Packing {
    /// Edges, m.
    pub cell_m: Vector3<f64>,
    /// Centres, m.
    pub positions_m: Vec<Vector3<f64>>,
    /// Radii, m.
    pub radii_m: Vec<f64>,
    /// Whether six rigid walls hold them, the lower ones through the origin, instead of a periodic cell.
    pub walls: bool,
}

impl Packing {
    /// Check that this can be a packing.
    pub fn check(&self) -> Result<(), GrainError> {
        if self.positions_m.len() != self.radii_m.len() || self.radii_m.len() < 2 {
            return Err(GrainError::Sizes {
                positions: self.positions_m.len(),
                radii: self.radii_m.len(),
            });
        }
        for edge in self.cell_m.iter() {
            within("edge of the cell [m]", *edge, *edge > 0.0, "be positive")?;
        }
        for radius in &self.radii_m {
            within(
                "radius of a grain [m]",
                *radius,
                *radius > 0.0,
                "be positive",
            )?;
        }
        for x in self.positions_m.iter().flat_map(|p| p.iter()) {
            within("coordinate of a grain [m]", *x, true, "be finite")?;
        }
        Ok(())
    }

    /// Volume of the grains, m^3 (overlaps count twice).
    pub fn solid_m3(&self) -> f64 {
        self.radii_m
            .iter()
            .map(|r| 4.0 / 3.0 * std::f64::consts::PI * r * r * r)
            .sum()
    }

    /// Volume of voids over that of grains.
    pub fn void_ratio(&self) -> f64 {
        self.cell_m.product() / self.solid_m3() - 1.0
    }
}
