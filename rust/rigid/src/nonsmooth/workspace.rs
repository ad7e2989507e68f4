//! Storage lent to the solvers, one for each thread; what they find does not depend on it.

use percuss_solvers::Workspace;
use std::cell::RefCell;

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Lends the storage of this thread. What the solvers share among threads may bring this thread another island while it
/// waits: that one has storage of its own.
pub(crate) fn lend<T>(work: impl FnOnce(&mut Workspace) -> T) -> T {
    WORKSPACE.with(|own| match own.try_borrow_mut() {
        Ok(mut workspace) => work(&mut workspace),
        Err(_) => work(&mut Workspace::default()),
    })
}
