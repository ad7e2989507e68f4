//! The threads of a run. What they share out is cut and put together in a fixed order: no number depends on how many
//! there are.

use crate::error::RigidError;
use rayon::{ThreadPool, ThreadPoolBuilder, Yield};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

/// How long a thread of the pool looks for work before it may fall asleep.
const PATIENCE: Duration = Duration::from_micros(200);

/// Works on the threads of a pool, always from the first of them: what is shared out in halves then goes to the thread whose
/// caches it is in from the last time. The others look for work meanwhile, each until it has found none for a while: to
/// wake one takes longer than many parts of a step.
pub(crate) fn on<T: Send>(pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> T {
    let done = AtomicBool::new(false);
    let work = Mutex::new(Some(work));
    let found = pool.broadcast(|thread| {
        if thread.index() == 0 {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            let found = work.map(|work| work());
            done.store(true, Ordering::Relaxed);
            return found;
        }
        let mut since = Instant::now();
        while !done.load(Ordering::Relaxed) {
            if rayon::yield_now() == Some(Yield::Executed) {
                since = Instant::now();
            } else if since.elapsed() > PATIENCE {
                break;
            }
            std::hint::spin_loop();
        }
        None
    });
    let mut found = found.into_iter().flatten();
    found.next().expect("the first thread has done the work")
}

/// Fewest bodies, contacts or pairs of contactors that a thread takes at a time.
const CHUNK: usize = 128;

/// How many of `count` things each thread takes: one part each, so that what it reads is what it wrote in the part of
/// the step before. All of them without threads.
pub(crate) fn share(count: usize, parallel: bool) -> usize {
    let threads = if parallel {
        rayon::current_num_threads()
    } else {
        1
    };
    count.div_ceil(threads).max(CHUNK)
}

/// Things from which on they are added up piece by piece, and those of a piece: as if by several threads on any number of
/// them.
const MANY: usize = 1_000;
const PIECE: usize = 500;

/// How many of `count` things are added up one after the other.
pub(crate) fn piece(count: usize) -> usize {
    if count < MANY { MANY } else { PIECE }
}
