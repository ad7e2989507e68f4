//! Where the numbers of a shape come from: whoever reads a file or an object of another language.

use crate::error::GeometryError;
use crate::pose::Vec3;

/// Named numbers of a shape.
pub trait Description {
    /// What is wrong with one of them, or with the shape they make.
    type Error: From<GeometryError>;
    /// A number.
    fn number(&self, key: &'static str) -> Result<f64, Self::Error>;
    /// As many numbers as are asked for.
    fn numbers<const N: usize>(&self, key: &'static str) -> Result<[f64; N], Self::Error>;
    /// A list of points.
    fn points(&self, key: &'static str) -> Result<Vec<Vec3>, Self::Error>;
    /// A list of triangles, by the numbers of their corners.
    fn triangles(&self, key: &'static str) -> Result<Vec<[u32; 3]>, Self::Error>;
    /// A table of numbers by rows, all of the length that comes first.
    fn table(&self, key: &'static str) -> Result<(usize, Vec<f64>), Self::Error>;
}
