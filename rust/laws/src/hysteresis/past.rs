//! What a spring remembers of its own past.

/// How many numbers a law may remember.
pub(super) const NUMBERS: usize = 7;
/// How many of them may flow within a branch; they are the first.
pub const FLOWING: usize = 2;

/// The past of one spring; what the numbers mean is each form's own.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Past {
    /// The branch the spring is on: -1, 0 or 1.
    pub(super) branch: i8,
    /// Sign of the flowing variable, for forms that have a kink where it is zero.
    pub(super) side: i8,
    pub(super) numbers: [f64; NUMBERS],
}

impl Past {
    /// The variables that flow within a branch.
    pub fn flowing(&self) -> [f64; FLOWING] {
        [self.numbers[0], self.numbers[1]]
    }

    /// Put them back after a step.
    pub fn set_flowing(&mut self, z: [f64; FLOWING]) {
        self.numbers[..FLOWING].copy_from_slice(&z);
    }
}
