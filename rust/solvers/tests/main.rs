//! All tests of the crate as one program: one to link, not one per file.

mod backward;
mod body_form;
mod couples;
mod existence;
mod joined;
mod one_contact;
mod problems;
mod properties;
mod robustness;
