//! Contact and impact laws: pure functions, one file each.

pub mod contact;
