//! What a filter needs to know of the thing it follows.

use crate::KalmanError;

/// A state of which the first `moving` entries move and the others (parameters) stay, so that the tangent of a step is
/// `[slope; 0 I]`. Matrices are row by row.
pub trait Dynamics {
    /// Number of entries of the state.
    fn states(&self) -> usize;

    /// How many of them move.
    fn moving(&self) -> usize;

    /// Number of measured channels.
    fn channels(&self) -> usize;

    /// Samples there is an input for.
    fn samples(&self) -> usize {
        usize::MAX
    }

    /// Take the state from sample `sample - 1` to `sample`; write the moving rows of the tangent, (moving, states).
    fn advance(
        &mut self,
        sample: usize,
        state: &mut [f64],
        slope: &mut [f64],
    ) -> Result<(), KalmanError>;

    /// Write what the channels would read at a sample, and the derivatives, (channels, states).
    fn observe(
        &mut self,
        sample: usize,
        state: &[f64],
        reading: &mut [f64],
        slope: &mut [f64],
    ) -> Result<(), KalmanError>;
}
