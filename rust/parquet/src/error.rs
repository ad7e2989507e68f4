//! What is refused.

/// Everything this crate refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParquetError {
    /// The bytes are not those of a Parquet file.
    #[error("not a whole Parquet file ({0})")]
    Damaged(&'static str),
    /// A Parquet file, and not of those that are read here.
    #[error("a Parquet file with {0}, which is not merged")]
    Other(&'static str),
    /// The columns are not those of the first file.
    #[error("file {0} has other columns than the first")]
    Schema(usize),
    /// More than was allowed.
    #[error("the tables take more than {0} bytes")]
    TooLarge(usize),
}

/// The disk, or whoever may not read the file.
pub const UNREADABLE: ParquetError = ParquetError::Damaged("it cannot be read");
