//! Where an island is solved: storage of a thread, lent to one island after the other; what is found does not depend on it.

use percuss_solvers::{Contact, InverseMass, Joined, Workspace};
use std::cell::RefCell;

/// The problem of the island at hand, bodies numbered within it, and the storage of its solver. Kept by threads and not by
/// islands: that of the last island is in the caches when the next one comes.
#[derive(Default)]
pub(crate) struct Desk {
    /// Its bodies, by their indices in the scene.
    pub bodies: Vec<u32>,
    pub masses: Vec<InverseMass>,
    pub contacts: Vec<Contact>,
    pub joined: Joined,
    pub workspace: Workspace,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Lends the storage of this thread. What the solvers share among threads may bring this thread another island while it
/// waits: that one has storage of its own.
pub(crate) fn lend<T>(work: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with(|own| match own.try_borrow_mut() {
        Ok(mut desk) => work(&mut desk),
        Err(_) => work(&mut Desk::default()),
    })
}
