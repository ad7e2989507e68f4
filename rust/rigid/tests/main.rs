//! All tests of the crate as one program: one to link, not one per file.

mod adams;
mod articulated_contact;
mod articulation;
mod bonds;
mod common;
mod elements;
mod fivebody;
mod friction;
mod impact;
mod islands;
mod laws;
mod look_ahead;
mod masonry;
mod mechanisms;
mod random_scenes;
mod refusals;
mod restart;
mod rolling;
mod rotation;
mod rubbing_linkages;
mod siconos;
