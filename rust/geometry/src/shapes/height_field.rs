//! Height field: fixed ground given by its height over a grid.

use crate::convex::Kind;
use crate::description::Description;
use crate::error::{GeometryError, positive};
use crate::pose::Vec3;
use crate::shapes::mesh::Mesh;

/// A height field, as the surface of triangles it becomes: two in each cell.
#[derive(Debug, Clone, PartialEq)]
pub struct HeightField(pub Mesh);

impl HeightField {
    /// A surface z(x, y) over a grid of `columns` x `rows` points spaced by `spacing_m`, the first at
    /// the origin; `heights_m[j * columns + i]` is the height of point i along x, j along y.
    pub fn new(
        columns: usize,
        rows: usize,
        spacing_m: [f64; 2],
        heights_m: &[f64],
    ) -> Result<Self, GeometryError> {
        for (key, count) in [("columns", columns), ("rows", rows)] {
            if count < 2 {
                return Err(GeometryError::TooFew {
                    shape: "height field",
                    key,
                    count,
                    least: 2,
                });
            }
        }
        positive("height field", "spacing_m along x", spacing_m[0])?;
        positive("height field", "spacing_m along y", spacing_m[1])?;
        if heights_m.len() != columns * rows {
            return Err(GeometryError::HeightCount {
                heights: heights_m.len(),
                columns,
                rows,
            });
        }
        let place = |k: usize| {
            let (i, j) = (k % columns, k / columns);
            Vec3::new(
                i as f64 * spacing_m[0],
                j as f64 * spacing_m[1],
                heights_m[k],
            )
        };
        let vertices: Vec<Vec3> = (0..columns * rows).map(place).collect();
        let mut triangles = Vec::with_capacity(2 * (columns - 1) * (rows - 1));
        for j in 0..rows - 1 {
            for i in 0..columns - 1 {
                let a = (j * columns + i) as u32;
                let (b, c, d) = (a + 1, a + columns as u32, a + columns as u32 + 1);
                triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        Mesh::new(vertices, &triangles).map(Self)
    }
}

impl Kind for HeightField {
    const NAME: &'static str = "height-field";

    fn read<D: Description>(from: &D) -> Result<Self, D::Error> {
        let (columns, heights) = from.table("heights_m")?;
        let rows = heights.len().checked_div(columns).unwrap_or(0);
        let spacing = from.numbers("spacing_m")?;
        Ok(Self::new(columns, rows, spacing, &heights)?)
    }
}
