//! Work shared by threads where there is much of it, in ways that change no bit: what is computed for one index depends on no
//! other. Threads are those of the pool that the caller runs in (`rayon`); small work never leaves its thread.

use rayon::prelude::*;

/// Indices from which on a second thread is worth waking.
const MUCH: usize = 4_000;

/// Fill `into` with f(0), f(1), ..., keeping its storage.
pub(crate) fn fill<T: Send>(into: &mut Vec<T>, count: usize, f: impl Fn(usize) -> T + Send + Sync) {
    if count < MUCH {
        into.clear();
        into.extend((0..count).map(f));
    } else {
        (0..count).into_par_iter().map(f).collect_into_vec(into);
    }
}

/// Do the work of all parts, at once if there are several.
pub(crate) fn side_by_side<P: Send>(
    parts: impl ExactSizeIterator<Item = P>,
    work: impl Fn(P) + Send + Sync,
) {
    if parts.len() < 2 {
        parts.for_each(work);
    } else {
        parts.collect::<Vec<_>>().into_par_iter().for_each(work);
    }
}
