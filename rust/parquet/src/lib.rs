//! Many small Parquet files of one schema as one.
//!
//! A commit of a ledger is a Parquet file of some columns with a row or two. A general reader takes half a millisecond for each, nearly
//! all of it to set up every column; twenty thousand such files take it ten seconds. [`merge`] puts their rows into one
//! file, which a general reader then reads at once. It copies levels and values without knowing what they mean, so
//! that lists, structs and missing values stay that reader's business.
//!
//! [`merge_files`] reads them too, by itself: what a language with one thread at a time would spend on twenty thousand
//! small files is longer than the rest. Each must match the digest it carries.
//!
//! [`size_in_memory`] says what a file would take in memory, before anybody unpacks it: a page of a few bytes can stand
//! for billions of rows.
//!
//! What is merged is what polars and other common writers make of short columns: format version 1 of pages, plain or
//! dictionary encoding, no compression or zstd. Anything else is refused, and so is whatever is not whole: files may be
//! a stranger's. The specification is that of Apache Parquet (parquet-format 2.11).

mod digest;
mod error;
mod footer;
mod levels;
mod merge;
mod page;
mod size;
mod thrift;

pub use error::ParquetError;
pub use merge::{merge, merge_files};
pub use size::size_in_memory;
