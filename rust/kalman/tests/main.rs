//! All tests of the crate as one program: one to link, not one per file.

mod linear;
mod refusals;
mod tangent;
