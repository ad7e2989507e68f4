//! The shapes, one file each: sizes and their checks, and all that others ask of them (`Convex`).
//!
//! Every shape lives in its own frame; bodies of revolution turn about local z and are centred at
//! half height. `support(d)` is a point of the shape farthest along the local direction `d`.

pub mod capsule;
pub mod cone;
pub mod cuboid;
pub mod cylinder;
pub mod ellipsoid;
pub mod half_space;
pub mod height_field;
pub mod mesh;
pub mod mesh_side;
pub mod mesh_way;
pub mod polyhedron;
pub mod ring;
pub mod sphere;
