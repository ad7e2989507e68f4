//! What can be wrong with a design, a specification or a stored expansion.

/// Everything this crate refuses, each with the numbers a person needs to put it right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ChaosError {
    /// A table whose length does not fit the others.
    #[error("{what} holds {found} values, expected {expected}")]
    Shape {
        /// Which table.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that would fit.
        expected: usize,
    },
    /// NaN or infinity in the design or in the outputs.
    #[error(
        "{what} is {value} in row {row}, column {column}: failed runs must be left out of the design, not filled in"
    )]
    NotFinite {
        /// `design` or `output`.
        what: &'static str,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A point where the family of that parameter has no density.
    #[error(
        "design row {row}, parameter {parameter}: {value} is outside {support}, the support of the {family} family"
    )]
    OutsideSupport {
        /// Row, from 0.
        row: usize,
        /// Parameter, from 0.
        parameter: usize,
        /// The value found.
        value: f64,
        /// The support in words.
        support: &'static str,
        /// Name of the family.
        family: &'static str,
    },
    /// A family that does not exist or whose shape parameters are out of range.
    #[error("family {name:?} with shape {shape:?}: {allowed}")]
    Family {
        /// The name asked for.
        name: String,
        /// Its shape parameters.
        shape: Vec<f64>,
        /// What is allowed.
        allowed: &'static str,
    },
    /// An option out of range.
    #[error("{key} = {value}: {allowed}")]
    Option {
        /// Name of the option.
        key: &'static str,
        /// The value found.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Not enough distinct points for the smallest expansion.
    #[error("{points} distinct points are too few: {method} needs at least {needed}")]
    TooFewPoints {
        /// Distinct points of the design.
        points: usize,
        /// The least number that would do.
        needed: usize,
        /// Which regression asks for them.
        method: &'static str,
    },
    /// The smallest candidate set is already above the cap.
    #[error(
        "degree {degree}, q {q} in {parameters} parameters already has more than max_candidates = {cap} terms"
    )]
    TooManyCandidates {
        /// The lowest degree asked for.
        degree: usize,
        /// The q-norm.
        q: f64,
        /// Number of parameters.
        parameters: usize,
        /// The cap.
        cap: usize,
    },
    /// Resampled designs that cannot carry the selected terms.
    #[error(
        "output {output}: {terms} terms cannot be refitted on resampled designs of {points} distinct points ({attempts} draws in a row were singular)"
    )]
    SingularResample {
        /// Output, from 0.
        output: usize,
        /// Selected terms.
        terms: usize,
        /// Distinct points of the design.
        points: usize,
        /// Draws tried.
        attempts: usize,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, ChaosError>;
