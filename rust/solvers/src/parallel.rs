//! Work shared by threads where there is much of it, in ways that change no bit: what is computed for one index depends on no
//! other. Threads are those of the pool that the caller runs in (`rayon`); small work never leaves its thread.

use rayon::prelude::*;
use std::ops::Range;

/// Indices from which on a second thread is worth waking.
pub(crate) const MUCH: usize = 4_000;
/// Indices that a thread takes at once where sums are taken: the same however many threads there are.
const PIECE: usize = 512;

/// Fill `into` with f(0), f(1), ..., keeping its storage.
pub(crate) fn fill<T: Send>(into: &mut Vec<T>, count: usize, f: impl Fn(usize) -> T + Send + Sync) {
    fill_if(count >= MUCH, into, count, f);
}

/// The same where whoever calls knows whether it is much work.
pub(crate) fn fill_if<T: Send>(
    much: bool,
    into: &mut Vec<T>,
    count: usize,
    f: impl Fn(usize) -> T + Send + Sync,
) {
    if !much {
        into.clear();
        into.extend((0..count).map(f));
    } else {
        (0..count).into_par_iter().map(f).collect_into_vec(into);
    }
}

/// What `f` makes of pieces of the indices below `count`, in their order; of all of them at once where they are few.
pub(crate) fn pieces<T: Send>(count: usize, f: impl Fn(Range<usize>) -> T + Send + Sync) -> Vec<T> {
    if count < MUCH {
        return vec![f(0..count)];
    }
    let piece = |k: usize| f(k * PIECE..count.min((k + 1) * PIECE));
    (0..count.div_ceil(PIECE))
        .into_par_iter()
        .map(piece)
        .collect()
}

/// The first fault that `check` finds at the indices below `count`.
pub(crate) fn first_fault<E: Send>(
    count: usize,
    check: impl Fn(usize) -> Result<(), E> + Send + Sync,
) -> Result<(), E> {
    if count < MUCH {
        return (0..count).try_for_each(check);
    }
    let fault = (0..count)
        .into_par_iter()
        .find_map_first(|k| check(k).err());
    fault.map_or(Ok(()), Err)
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
