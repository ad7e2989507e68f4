//! All tests of the crate as one program: one to link, not one per file.

mod bad_input;
mod common;
mod energy;
mod fixed_step;
mod free_collision;
mod hysteresis;
mod invariance;
mod peaks;
mod pounding_reference;
mod tangent;
