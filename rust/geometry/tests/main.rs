//! All tests of the crate as one program: one to link, not one per file.

mod common;
mod ellipsoid;
mod flat_contacts;
mod gaps;
mod ground_meshes;
mod invariance;
mod masses;
mod pin_in_hole;
