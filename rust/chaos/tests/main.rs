//! All tests of the crate as one program: one to link, not one per file.

mod contracts;
mod functions;
mod references;
mod textbook;
