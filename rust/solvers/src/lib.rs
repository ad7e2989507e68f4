//! The frictional contact problem of one time step: its solvers and the residual that judges them all.
//!
//! Given the Delassus operator W, the free velocity q and a coefficient mu per contact, find impulses r with
//!
//! ```text
//! u = W r + q,    K* ∋ u + mu |u_T| n  ⟂  r ∈ K = { r : |r_T| <= mu r_N }
//! ```
//!
//! that is, Signorini's condition and Coulomb friction on the exact cone, in the form of De Saxce and Feng
//! (1998). See Acary, Bremond and Huber (2018) for a comparison of methods.
//!
//! Inner loops are compiled for several processors, and the one at hand is chosen when they are called (`pulp`): the same
//! operations in the same order, none of them fused, so the same bits.
mod accelerated;
mod apgd;
mod assembly;
mod auto;
mod backward;
mod batches;
mod block_lu;
mod block_matrix;
mod bodies;
mod body_form;
mod body_newton;
mod central;
mod cone;
mod couple;
mod error;
mod existence;
mod few;
mod focus;
mod four;
mod four_contacts;
mod ground;
mod interior;
mod jam;
mod newton;
mod nsgs;
mod one_contact;
mod parallel;
mod problem;
mod residual;
mod sides;
mod slabs;
mod solver;
mod swept;

pub use assembly::{
    Assembly, Contact, InverseMass, Jacobian, Joined, Span, apply_impulses, response,
};
pub use backward::BackwardError;
pub use block_matrix::{Block, BlockMatrix, Vector3};
pub use bodies::Bodies;
pub use error::Error;
pub use existence::{Existence, REACH};
pub use problem::{BlockKind, Problem};
pub use residual::{Norm, Residuals};
pub use solver::{Report, Settings, Solver, Workspace};
