//! Where the time of a step goes, for benchmarks.

use std::time::{Duration, Instant};

/// Time spent in the parts of all steps so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timing {
    /// Finding contact points.
    pub detection: Duration,
    /// Jacobians and warm start.
    pub assembly: Duration,
    /// Solving the contact problem, W included where it is needed.
    pub solve: Duration,
    /// Everything else.
    pub rest: Duration,
}

/// Reads the clock between parts, if asked to; the results never depend on it.
pub(crate) struct Stopwatch {
    last: Option<Instant>,
}

impl Stopwatch {
    pub fn start(on: bool) -> Self {
        Self {
            last: on.then(Instant::now),
        }
    }

    /// Adds the time since the last call to `part`.
    #[inline]
    pub fn lap(&mut self, part: &mut Duration) {
        if let Some(last) = &mut self.last {
            let now = Instant::now();
            *part += now - *last;
            *last = now;
        }
    }
}
