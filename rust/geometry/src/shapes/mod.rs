//! The shapes, one file each: sizes and their checks, support function, bounds, mass.
//!
//! Every shape lives in its own frame; bodies of revolution turn about local z and are centred at
//! half height. `support(d)` is a point of the shape farthest along the local direction `d`.

pub mod capsule;
pub mod cone;
pub mod cuboid;
pub mod cylinder;
pub mod half_space;
pub mod mesh;
pub mod mesh_side;
pub mod polyhedron;
pub mod ring;
pub mod sphere;
