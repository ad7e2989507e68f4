//! What can be wrong with a system, a record or a run.

use percuss_laws::LawError;
use thiserror::Error;

/// Bad input or a run that cannot go on; each message names the value and what is allowed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OscillatorError {
    /// A law's numbers.
    #[error("contact {contact}: {source}")]
    Law {
        /// Index of the contact.
        contact: usize,
        /// What is wrong.
        source: LawError,
    },
    /// A damper's numbers.
    #[error("damper {index}: {source}")]
    Damper {
        /// Index of the damper.
        index: usize,
        /// What is wrong.
        source: LawError,
    },
    /// A quantity that must be positive.
    #[error("{what} {index} is {value}: it must be positive and finite")]
    NotPositive {
        /// Name of the quantity.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A quantity that must not be negative.
    #[error("{what} {index} is {value}: it must be zero or positive, and finite")]
    Negative {
        /// Name of the quantity.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A quantity that must be finite.
    #[error("{what} {index} is {value}: it must be finite")]
    NotFinite {
        /// Name of the quantity.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// No mass at all.
    #[error("a system needs at least one mass")]
    NoMass,
    /// A list whose length must be the number of masses.
    #[error("{what} has {length} values for {masses} masses")]
    Length {
        /// Name of the list.
        what: &'static str,
        /// Its length.
        length: usize,
        /// Number of masses.
        masses: usize,
    },
    /// A spring, damper or contact that names a mass there is not.
    #[error("{what} {index} names mass {node}, but the masses are 0 to {last}")]
    Node {
        /// Kind of element.
        what: &'static str,
        /// Its index.
        index: usize,
        /// The mass named.
        node: usize,
        /// Largest mass index.
        last: usize,
    },
    /// A spring, damper or contact between a node and itself.
    #[error("{what} {index} joins a node to itself: it needs two different ones")]
    SameNode {
        /// Kind of element.
        what: &'static str,
        /// Its index.
        index: usize,
    },
    /// Masses that overlap before the run begins.
    #[error(
        "contact {contact} overlaps by {overlap_m} m at the start: the gap less the initial displacements must be zero or more"
    )]
    Overlap {
        /// Index of the contact.
        contact: usize,
        /// By how much.
        overlap_m: f64,
    },
    /// A sample of a record that is not finite.
    #[error("record sample {sample}: {value} is not a finite number")]
    RecordSample {
        /// Index of the sample.
        sample: usize,
        /// Its value.
        value: f64,
    },
    /// Times of a record that do not increase.
    #[error("record sample {sample}: time {time_s} s does not come after {before_s} s")]
    RecordTime {
        /// Index of the sample.
        sample: usize,
        /// Its time.
        time_s: f64,
        /// Time of the sample before.
        before_s: f64,
    },
    /// A record with another number of samples than it says, or too few.
    #[error("record holds {found} samples where {expected} are needed")]
    RecordCount {
        /// Samples found.
        found: usize,
        /// Samples declared or needed.
        expected: usize,
    },
    /// A harmonic that ends before it starts.
    #[error("harmonic {index} ends at {end_s} s, before its start at {start_s} s")]
    HarmonicWindow {
        /// Index of the harmonic.
        index: usize,
        /// Its start.
        start_s: f64,
        /// Its end.
        end_s: f64,
    },
    /// Duration not positive and finite.
    #[error("duration {duration_s} s must be positive and finite")]
    Duration {
        /// The value given.
        duration_s: f64,
    },
    /// Output times that are not increasing within the run.
    #[error(
        "output time {index} is {time_s} s: output times must increase and lie in 0 to {duration_s} s"
    )]
    OutputTime {
        /// Index of the time.
        index: usize,
        /// Its value.
        time_s: f64,
        /// Duration of the run.
        duration_s: f64,
    },
    /// No integrator of this name.
    #[error("integrator `{name}` is unknown: use one of {known}")]
    UnknownIntegrator {
        /// The name given.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// A fixed-step integrator without a step.
    #[error("step {step_s} s of {integrator} must be positive, finite and at most the duration")]
    Step {
        /// Name of the integrator.
        integrator: &'static str,
        /// The value given.
        step_s: f64,
    },
    /// A step at which the integrator is unstable.
    #[error(
        "step {step_s} s of {integrator} is unstable from {time_s} s on: the limit for this system with its contacts closed is {limit_s} s"
    )]
    Unstable {
        /// Name of the integrator.
        integrator: &'static str,
        /// The value given.
        step_s: f64,
        /// The largest stable step.
        limit_s: f64,
        /// When it was found.
        time_s: f64,
    },
    /// A law the integrator cannot take.
    #[error("integrator {integrator} cannot take the law `{law}` of contact {contact}: {advice}")]
    LawOfIntegrator {
        /// Name of the integrator.
        integrator: &'static str,
        /// Name of the law.
        law: &'static str,
        /// Index of the contact.
        contact: usize,
        /// What to use.
        advice: &'static str,
    },
    /// A weight outside what Moreau-Jean is stable for.
    #[error("theta {theta} of moreau-jean must lie in 0.5 to 1")]
    Theta {
        /// The value given.
        theta: f64,
    },
    /// A matrix of an implicit step without an inverse.
    #[error(
        "the matrix of {integrator} at step {step_s} s cannot be factored: take a smaller step or check for negative stiffness"
    )]
    Singular {
        /// Name of the integrator.
        integrator: &'static str,
        /// The step.
        step_s: f64,
    },
    /// A state that is no longer finite.
    #[error("the motion is no longer finite at {time_s} s")]
    Diverged {
        /// When.
        time_s: f64,
    },
    /// The adaptive integrator gave up.
    #[error(
        "no progress at {time_s} s after {steps} steps: the system is too stiff for the event integrator"
    )]
    TooManySteps {
        /// When.
        time_s: f64,
        /// Steps taken.
        steps: u64,
    },
    /// An interval that gives no samples, or more than can be kept.
    #[error(
        "sampling interval {interval_s:?} s: must be positive and give at most {:e} samples over {duration_s} s",
        crate::MOST_SAMPLES
    )]
    Sampling {
        /// The interval given.
        interval_s: f64,
        /// How long the run is.
        duration_s: f64,
    },
}
