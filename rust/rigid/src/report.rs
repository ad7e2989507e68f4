//! How a step went.

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepReport {
    /// Its number, from 0.
    pub step: u64,
    /// Time at its end [s].
    pub time_s: f64,
    /// Active contacts.
    pub contacts: usize,
    /// Islands: contact problems that have nothing to do with each other.
    pub islands: usize,
    /// Sweeps of the solver, in the island that took most.
    pub iterations: usize,
    /// Newton steps of the solver, each with a factorisation, in the island that took most.
    pub factorisations: usize,
    /// Energy residual of the contact problem of the worst island.
    pub residual: f64,
    /// The same by the measure of Siconos, for comparison: it depends on the units.
    pub residual_siconos: f64,
    /// Whether the residual of every island is within the tolerance, and friction in joints agrees with the reactions
    /// it grows with.
    pub met: bool,
    /// Work of the contacts in this step [J]; negative: they took energy.
    pub contact_work_j: f64,
    /// Whether the contacts of any island gave energy, beyond what the solver's tolerance explains.
    pub gained: bool,
    /// Deepest overlap at the middle of the step [m].
    pub overlap_m: f64,
    /// Largest overlap at the middle of the step, as a share of half the width of the thinner shape,
    /// measured along the normal.
    pub overlap_share: f64,
}
