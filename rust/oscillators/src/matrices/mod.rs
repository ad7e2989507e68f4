//! Matrices of the equation of motion by their form, and the linear part of a fixed step over them.

pub(crate) mod banded;
pub(crate) mod dense;
pub(crate) mod diagonal;
pub(crate) mod propagator;
pub(crate) mod tangent_band;
