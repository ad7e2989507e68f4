//! What changes from step to step, in one list: snapshots and restarts follow from it.

use crate::bonds::BondMemory;
use crate::energy::{Energy, PairWork};
use crate::free_motion::BodyState;
use crate::nonsmooth::ActiveContact;
use crate::probing::Gathered;
use crate::stored::stored;

/// Everything that a step changes and the next one starts from.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct State {
    /// Steps taken.
    pub step: u64,
    /// Which bodies are there.
    pub present: Vec<bool>,
    pub bodies: Vec<BodyState>,
    /// For how many steps each body has been slow enough to fall asleep.
    pub quiet: Vec<u64>,
    /// Which bodies sleep.
    pub asleep: Vec<bool>,
    /// Contacts of the last step.
    pub contacts: Vec<ActiveContact>,
    /// What each point of a bond remembers.
    pub bonds: Vec<BondMemory>,
    pub energy: Energy,
    pub pair_work: Vec<PairWork>,
    /// What each probe has gathered since its last row.
    pub gathered: Vec<Gathered>,
    /// Reactions of joints in the last step of the nonsmooth stepper.
    pub reactions: Vec<[f64; 6]>,
}

stored!(State {
    step,
    present,
    bodies,
    quiet,
    asleep,
    contacts,
    bonds,
    energy,
    pair_work,
    gathered,
    reactions
});
