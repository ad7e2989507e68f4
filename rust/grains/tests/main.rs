//! All tests of the crate as one program: one to link, not one per file.

mod common;
mod packings;
mod two_spheres;
mod walls;
