//! Many independent systems at once, on all cores.

use rayon::prelude::*;

use crate::{OscillatorError, Run, Settings, System, simulate};

/// Systems a caller is asked about at a time: small enough to answer an interruption within a fraction of a second.
const BATCH: usize = 256;

/// Integrate each system with the same settings, in parallel. Each result stands at the place of its system and is the
/// same to the bit at any number of threads, because no run touches another. `go_on` is asked between batches;
/// when it says no, the results so far are returned.
pub fn simulate_many(
    systems: &[System],
    settings: &Settings,
    mut go_on: impl FnMut() -> bool,
) -> Vec<Result<Run, OscillatorError>> {
    let mut results = Vec::with_capacity(systems.len());
    for batch in systems.chunks(BATCH) {
        if !go_on() {
            break;
        }
        results.par_extend(batch.par_iter().map(|system| simulate(system, settings)));
    }
    results
}
