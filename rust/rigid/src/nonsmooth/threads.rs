//! The threads of a run. What they share out is cut and put together in a fixed order: no number depends on how many
//! there are.

use crate::error::RigidError;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Pools by number of threads, made once for all worlds.
static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// The pool of so many threads; none for one. Zero: one for each core.
///
/// # Errors
/// Threads that the machine does not give.
pub(crate) fn pool(threads: usize) -> Result<Option<Arc<ThreadPool>>, RigidError> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads };
    if threads == 1 {
        return Ok(None);
    }
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads) {
        return Ok(Some(pool.clone()));
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = Arc::new(built.map_err(|fault| RigidError::Threads {
        threads,
        fault: fault.to_string(),
    })?);
    pools.insert(threads, pool.clone());
    Ok(Some(pool))
}

/// Bodies, or pairs of contactors, that a thread takes at a time: fewer are not worth waking it.
pub(crate) const CHUNK: usize = 128;
