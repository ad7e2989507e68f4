//! What can be wrong with an impact law's numbers.

use thiserror::Error;

/// Bad input to an impact law; each message names the value and what is allowed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LawError {
    /// No law of this name.
    #[error("impact law `{name}` is unknown: use one of {known}")]
    UnknownLaw {
        /// The name given.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// No damping of this name.
    #[error(
        "damping `{name}` is unknown: use exact (delivers the restitution) or nominal (as printed)"
    )]
    UnknownDamping {
        /// The name given.
        name: String,
    },
    /// Restitution outside what the law can deliver.
    #[error(
        "restitution {restitution} cannot be delivered by the law `{law}`: it must lie in {smallest} to 1"
    )]
    Restitution {
        /// Name of the law.
        law: &'static str,
        /// The value given.
        restitution: f64,
        /// Smallest value the law delivers.
        smallest: f64,
    },
    /// Contact stiffness not positive and finite.
    #[error("contact stiffness {stiffness} of the law `{law}` must be positive and finite")]
    Stiffness {
        /// Name of the law.
        law: &'static str,
        /// The value given, N/m or N/m^1.5.
        stiffness: f64,
    },
    /// Reduced mass not positive and finite.
    #[error("reduced mass {reduced_mass_kg} kg of a contact must be positive and finite")]
    ReducedMass {
        /// The value given.
        reduced_mass_kg: f64,
    },
    /// No law of springs of this name.
    #[error("spring law `{name}` is unknown: use one of {known}")]
    UnknownSpringLaw {
        /// The name given.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// A number of a spring law that it cannot take.
    #[error("{number} {value} of the spring law `{law}` must be {allowed}")]
    SpringNumber {
        /// Name of the law.
        law: &'static str,
        /// Name of the number.
        number: &'static str,
        /// The value given.
        value: f64,
        /// What is allowed.
        allowed: String,
    },
    /// Too many or too few numbers for a spring law.
    #[error("the spring law `{law}` takes {taken} numbers beside its stiffness, not {found}")]
    SpringNumbers {
        /// Name of the law.
        law: &'static str,
        /// How many it takes.
        taken: usize,
        /// How many were given.
        found: usize,
    },
}

/// Find a name in a table, or say which there are.
pub(crate) fn named<T: Copy>(table: &[(&'static str, T)], name: &str) -> Result<T, LawError> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, found)| found)
        .ok_or_else(|| LawError::UnknownLaw {
            name: name.to_owned(),
            known: table
                .iter()
                .map(|(known, _)| *known)
                .collect::<Vec<_>>()
                .join(", "),
        })
}
