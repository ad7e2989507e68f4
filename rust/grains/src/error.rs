//! What can be wrong with grains, a packing or a test.

use thiserror::Error;

/// Bad input or a run that cannot go on; each message names the value and what is allowed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GrainError {
    /// A number outside its range.
    #[error("{what} is {value}: it must {allowed}")]
    Range {
        /// Name of the quantity, with its unit.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Arrays that do not fit together.
    #[error(
        "a packing of {positions} positions and {radii} radii: there must be as many of both, and at least 2"
    )]
    Sizes {
        /// How many positions.
        positions: usize,
        /// How many radii.
        radii: usize,
    },
    /// The cell is too small for its largest grain.
    #[error(
        "edge {edge_m} m of the cell: it must exceed {least_m} m, twice the reach of the largest grain, so that no \
         grain touches another twice"
    )]
    SmallCell {
        /// The edge.
        edge_m: f64,
        /// What it must exceed.
        least_m: f64,
    },
    /// Numbers left the range of floating point.
    #[error("step {step}: positions are not finite any more")]
    Diverged {
        /// When.
        step: u64,
    },
    /// The target void ratio was not reached.
    #[error(
        "void ratio {reached:.4} after {cycles} cycles of lowering friction: {target} was not reached within {tolerance}"
    )]
    NotCompacted {
        /// What was asked for.
        target: f64,
        /// Within what.
        tolerance: f64,
        /// What was reached.
        reached: f64,
        /// After how many cycles.
        cycles: usize,
    },
    /// A packing that does not come to rest.
    #[error(
        "the packing is not at rest after {steps} steps: unbalanced force {unbalanced:.3e} of a limit of {limit}"
    )]
    NotAtRest {
        /// Its unbalanced force.
        unbalanced: f64,
        /// The limit.
        limit: f64,
        /// How many steps.
        steps: u64,
    },
    /// Whoever watches said so.
    #[error("stopped on request")]
    Stopped,
    /// No place for a grain in the cloud.
    #[error("no place for grain {grain} in a cloud of void ratio {void_ratio}: give a looser one")]
    Crowded {
        /// Which.
        grain: usize,
        /// Of the cloud.
        void_ratio: f64,
    },
    /// The isotropic stress was not reached.
    #[error(
        "isotropic compression to {goal_pa} Pa: not at rest after {steps} steps, stress {stress_pa} Pa"
    )]
    NotCompressed {
        /// The goal.
        goal_pa: f64,
        /// The mean stress.
        stress_pa: f64,
        /// How many steps.
        steps: u64,
    },
}

/// Refuse a number that is not finite or outside.
pub(crate) fn within(
    what: &'static str,
    value: f64,
    fits: bool,
    allowed: &'static str,
) -> Result<(), GrainError> {
    if value.is_finite() && fits {
        return Ok(());
    }
    Err(GrainError::Range {
        what,
        value,
        allowed,
    })
}
