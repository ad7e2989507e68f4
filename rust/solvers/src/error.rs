//! What can be wrong with a contact problem or with the way it is asked to be solved.

use thiserror::Error;

/// Bad input; a problem that is merely hard is no error but a [`crate::Report`] that did not converge.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// An array does not have one entry per contact.
    #[error("{name} has {found} entries; the problem has {expected} contacts")]
    Length {
        /// The array.
        name: &'static str,
        /// Entries given.
        found: usize,
        /// Contacts of the problem.
        expected: usize,
    },
    /// A number is NaN or infinite.
    #[error("{name} of contact {contact} is {value}; every number must be finite")]
    NotFinite {
        /// The quantity.
        name: &'static str,
        /// The contact.
        contact: usize,
        /// Its value.
        value: f64,
    },
    /// A friction coefficient is negative.
    #[error("friction coefficient of contact {contact} is {value}; it must be at least 0")]
    NegativeFriction {
        /// The contact.
        contact: usize,
        /// Its value.
        value: f64,
    },
    /// A contact whose bodies cannot be moved by its own impulse.
    #[error(
        "W of contact {contact} with itself has {name} {value:e}; it must be positive (both bodies fixed?)"
    )]
    Immovable {
        /// The contact.
        contact: usize,
        /// The quantity, trace or normal entry.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A couple that belongs to no contact.
    #[error("block {contact} is a couple; it must follow the contact it belongs to")]
    CoupleAlone {
        /// The block.
        contact: usize,
    },
    /// A block or contact names something that does not exist.
    #[error("{name} {index} of contact {contact} does not exist; there are {count}")]
    Index {
        /// What is indexed.
        name: &'static str,
        /// The contact.
        contact: usize,
        /// The index given.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// The compressed arrays of a matrix do not fit together.
    #[error("{0}")]
    Layout(String),
    /// The tolerance is not a positive number.
    #[error("tolerance is {0}; it must be positive and finite")]
    Tolerance(f64),
    /// No solver or norm of that name.
    #[error("{what} {name:?} is unknown; the {what}s are {known}")]
    Unknown {
        /// Of what there is none.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names of the table.
        known: String,
    },
}

/// The entry of a table that has that name.
pub(crate) fn named<T: Copy>(
    what: &'static str,
    table: &[(&'static str, T)],
    name: &str,
) -> Result<T, Error> {
    match table.iter().find(|(known, _)| *known == name) {
        Some(&(_, entry)) => Ok(entry),
        None => Err(Error::Unknown {
            what,
            name: name.into(),
            known: table
                .iter()
                .map(|&(known, _)| known)
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}
