//! Many independent systems at once, on all cores.

use rayon::prelude::*;

use crate::fixed_step::lanes::{LANES, asked as lanes_asked};
use crate::simulate::simulate_group;
use crate::{OscillatorError, Run, Settings, System};

/// Systems a caller is asked about at a time: small enough to answer an interruption within a fraction of a second.
const BATCH: usize = 256;

/// Integrate each system with the same settings, in parallel. Each result stands at the place of its system and is the
/// same to the bit at any number of threads, because no run touches another, not even in a lane beside it. `go_on` is asked between batches;
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
        let groups = batch.par_chunks(if lanes_asked(batch, settings) {
            LANES
        } else {
            1
        });
        results.par_extend(groups.flat_map_iter(|group| simulate_group(group, settings)));
    }
    results
}
