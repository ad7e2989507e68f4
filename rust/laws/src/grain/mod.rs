//! Contact of two spherical grains: stiffnesses and plastic limits of Cheng, Shuku, Thoeni and Yamamoto (2018), Table 1.
//!
//! Forces and moments follow from them incrementally (their Eqs. 1 and 2, in the frame that turns with the contact):
//!
//! ```text
//! Fn = kn u_n          |Fs| <= tan(phi) Fn          |M| <= eta Fn min(r1, r2)
//! dFs = ks du_s        dM = km dtheta
//! ```
//!
//! with u_n the overlap (m), u_s the tangential displacement (m) and theta the relative rotation (rad). "Rolling and
//! twisting are unified in one moment-rotation equation": M has both, with one limit ([`MomentLimit`] has the others).
//! A law is one file and one line of [`GrainLaw`].

pub mod classical_linear;
pub mod hertz_mindlin;

use crate::LawError;

/// The laws, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrainLaw {
    /// Linear springs (CL).
    ClassicalLinear,
    /// Hertz's normal force, Mindlin's tangential stiffness without slip (HM).
    HertzMindlin,
}

impl GrainLaw {
    /// Names and laws.
    pub const TABLE: [(&'static str, GrainLaw); 2] = [
        ("classical-linear", GrainLaw::ClassicalLinear),
        ("hertz-mindlin", GrainLaw::HertzMindlin),
    ];

    /// The law of a name.
    pub fn from_name(name: &str) -> Result<Self, LawError> {
        named(&Self::TABLE, name)
    }
}

/// What the limit of moments, eta Fn times a length, holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MomentLimit {
    /// The whole moment, with the smaller radius, as Table 1 prints it.
    #[default]
    Joint,
    /// Rolling and twisting each for itself, with the smaller radius, as YADE's linear law has it.
    Separate,
    /// Rolling alone, with the mean radius, twisting without any limit, as YADE's Hertz-Mindlin law has it.
    Rolling,
}

impl MomentLimit {
    /// Names and limits.
    pub const TABLE: [(&'static str, MomentLimit); 3] = [
        ("joint", MomentLimit::Joint),
        ("separate", MomentLimit::Separate),
        ("rolling", MomentLimit::Rolling),
    ];

    /// The limit of a name.
    pub fn from_name(name: &str) -> Result<Self, LawError> {
        named(&Self::TABLE, name)
    }

    /// The length of a pair, m.
    #[inline(always)]
    pub fn length_m(self, r1_m: f64, r2_m: f64) -> f64 {
        match self {
            Self::Joint | Self::Separate => r1_m.min(r2_m),
            Self::Rolling => 0.5 * (r1_m + r2_m),
        }
    }
}

fn named<T: Copy>(table: &[(&'static str, T)], name: &str) -> Result<T, LawError> {
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

/// Damping ratio of the normal spring that gives a restitution, contact forces cut where they would pull: exact for
/// both laws at every speed of approach.
pub fn damping_ratio(restitution: f64) -> f64 {
    crate::viscous_relation::ratio_of_restitution(restitution, 2.0).0
}

/// What a pair of grains is made of: the five parameters that are calibrated, the same for both laws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// Young's modulus of the contact, Pa.
    pub young_pa: f64,
    /// Poisson's ratio of the contact; for the linear law the ratio ks / kn.
    pub poisson: f64,
    /// Rolling stiffness: a factor (linear law) or N m/rad (Hertz-Mindlin).
    pub rolling_stiffness: f64,
    /// Rolling friction: limit of the moment over normal force and smaller radius.
    pub rolling_friction: f64,
    /// tan of the angle of friction between grains.
    pub friction: f64,
}

/// Stiffnesses of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffness {
    /// Normal force over overlap, N/m.
    pub normal_n_per_m: f64,
    /// Its derivative over the overlap, N/m.
    pub normal_tangent_n_per_m: f64,
    /// Tangential, N/m.
    pub shear_n_per_m: f64,
    /// Of rolling and twisting, N m/rad.
    pub rolling_n_m: f64,
}

/// A law with its numbers put in, as the inner loop calls it.
pub trait PairLaw: Copy {
    /// What depends on the radii of a pair only, kept with the pair.
    fn factor(&self, r1_m: f64, r2_m: f64) -> f64;
    /// Stiffnesses at an overlap.
    fn stiffness(&self, factor: f64, r1_m: f64, r2_m: f64, overlap_m: f64) -> Stiffness;
    /// Elastic energy of a normal force, over force times overlap.
    const ENERGY_SHARE: f64;
    /// Whether the shear stiffness changes with the overlap.
    const STIFFENS: bool;
}

/// Equivalent radius 1 / (1/r1 + 1/r2), m.
#[inline]
pub fn equivalent_radius(r1_m: f64, r2_m: f64) -> f64 {
    r1_m * r2_m / (r1_m + r2_m)
}
