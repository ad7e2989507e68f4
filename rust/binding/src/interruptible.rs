//! Long computations: without the GIL, and answering Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Time between two looks for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);

/// Run `work` without the GIL on `threads` threads (all cores by default), looking for Ctrl-C meanwhile.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let stop = AtomicBool::new(false);
    let (outcome, signal) = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, wait) = channel::<()>();
            let (stop, pool) = (&stop, &pool);
            let worker = scope.spawn(move || {
                // Dropped at the end, even by a panic: the wait below ends with it.
                let _done = done;
                pool.install(|| work(stop))
            });
            let mut signal = None;
            while wait.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if signal.is_none() {
                    signal = Python::attach(|py| py.check_signals()).err();
                    stop.store(signal.is_some(), Ordering::Relaxed);
                }
            }
            (worker.join(), signal)
        })
    });
    if let Some(signal) = signal {
        return Err(signal);
    }
    outcome.map_err(|_| PyRuntimeError::new_err("the computation panicked: a fault in percuss"))
}
