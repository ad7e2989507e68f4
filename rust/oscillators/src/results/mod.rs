//! What a run leaves behind: histories and peaks, impacts, energy account, and the instants it is looked at.

pub(crate) mod energy;
pub(crate) mod impacts;
pub(crate) mod run;
pub(crate) mod sampling;
