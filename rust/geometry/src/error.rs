//! What can be wrong with a shape, a contactor or a table of groups.

use thiserror::Error;

/// Every refusal of this crate; the message names the key, the value and what is allowed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GeometryError {
    /// A size that must be a positive number is not.
    #[error("{shape}: {key} = {value}, must be a finite number > 0")]
    Size {
        /// The shape's name.
        shape: &'static str,
        /// The size's name with its unit.
        key: &'static str,
        /// The value given.
        value: f64,
    },
    /// A coordinate, an angle or a quaternion is NaN or infinite.
    #[error("{what}: {value} is not finite")]
    NotFinite {
        /// Where the value stands.
        what: String,
        /// The value given.
        value: f64,
    },
    /// A ring whose hole is not inside its rim.
    #[error("ring: inner_radius_m = {inner_m}, must be less than outer_radius_m = {outer_m}")]
    RingHole {
        /// Radius of the hole.
        inner_m: f64,
        /// Outer radius.
        outer_m: f64,
    },
    /// The vertices span no volume.
    #[error(
        "polyhedron: {vertices} vertices span no volume (at least 4 not in one plane are needed)"
    )]
    Flat {
        /// Number of vertices given.
        vertices: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error("mesh: triangle {triangle} names vertex {vertex}, the mesh has {vertices}")]
    TriangleVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: usize,
        /// Number of vertices of the mesh.
        vertices: usize,
    },
    /// A triangle without area.
    #[error("mesh: triangle {triangle} has no area")]
    TriangleArea {
        /// Index of the triangle.
        triangle: usize,
    },
    /// A ground with nothing in it.
    #[error("{shape}: {key} = {count}, at least {least} needed")]
    TooFew {
        /// The shape's name.
        shape: &'static str,
        /// What is counted.
        key: &'static str,
        /// The count given.
        count: usize,
        /// The least count allowed.
        least: usize,
    },
    /// More than can be told apart by a feature number.
    #[error("{shape}: {key} = {count}, at most {most} are allowed")]
    TooMany {
        /// The shape's name.
        shape: &'static str,
        /// What is counted.
        key: &'static str,
        /// The count given.
        count: usize,
        /// The greatest count allowed.
        most: usize,
    },
    /// A table of heights whose length does not fit its grid.
    #[error("height field: {heights} heights for {columns} x {rows} points")]
    HeightCount {
        /// Number of heights given.
        heights: usize,
        /// Points along x.
        columns: usize,
        /// Points along y.
        rows: usize,
    },
    /// Two triangles of a surface that face opposite sides.
    #[error(
        "mesh: triangles {other} and {triangle} face opposite sides of the surface, corners must be anticlockwise seen \
         from outside for all of them"
    )]
    TriangleTurned {
        /// The later triangle.
        triangle: usize,
        /// Its neighbour.
        other: usize,
    },
    /// A shape that bounds no finite solid was asked for its mass.
    #[error(
        "{shape} has no finite mass: give the body's mass and inertia, or use it on a fixed body"
    )]
    NoMass {
        /// The shape's name.
        shape: &'static str,
    },
    /// A collision group beyond the table.
    #[error("collision group {group}, must be at most {limit}")]
    Group {
        /// The group given.
        group: u16,
        /// The largest group allowed.
        limit: u16,
    },
    /// A contactor on a body that does not exist.
    #[error("contactor {contactor} sits on body {body}, there are {bodies} bodies")]
    Body {
        /// Index of the contactor.
        contactor: usize,
        /// The body it names.
        body: u32,
        /// Number of bodies.
        bodies: usize,
    },
    /// A body that does not exist.
    #[error("body {body}, there are {bodies} bodies")]
    NoBody {
        /// The body named.
        body: u32,
        /// Number of bodies.
        bodies: usize,
    },
    /// Too few or too many poses.
    #[error("{poses} poses given for {bodies} bodies")]
    Poses {
        /// Number of poses given.
        poses: usize,
        /// Number of bodies.
        bodies: usize,
    },
    /// The detection margin is not a length.
    #[error("margin_m = {value}, must be a finite number >= 0")]
    Margin {
        /// The value given.
        value: f64,
    },
}

/// Passes a positive finite size on, refuses anything else.
pub(crate) fn positive(
    shape: &'static str,
    key: &'static str,
    value: f64,
) -> Result<f64, GeometryError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(GeometryError::Size { shape, key, value })
    }
}

/// Refuses a slice that holds NaN or an infinite number.
pub(crate) fn finite(what: &str, values: &[f64]) -> Result<(), GeometryError> {
    match values.iter().find(|v| !v.is_finite()) {
        None => Ok(()),
        Some(&value) => Err(GeometryError::NotFinite {
            what: what.to_string(),
            value,
        }),
    }
}
