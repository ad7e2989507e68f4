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
//! A law is one file and one line of `grain_laws!`; [`with_grain_law!`](crate::with_grain_law) is the only dispatch.

mod classical_linear;
mod hertz_mindlin;
mod moment_limit;

use crate::LawError;
use crate::error::named;

pub use classical_linear::ClassicalLinear;
pub use hertz_mindlin::HertzMindlin;
pub use moment_limit::MomentLimit;

/// The enum, its names and the dispatch, from one list of types. (`$d` stands for the dollar sign of the macro that
/// this one defines.)
macro_rules! grain_laws {
    ($d:tt $($law:ident,)+) => {
        /// The laws, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each law has a file that says what it is")]
        pub enum GrainLaw {
            $($law,)+
        }

        impl GrainLaw {
            /// Names and laws.
            pub const TABLE: [(&'static str, Self); [$(stringify!($law)),+].len()] =
                [$((<$law as PairLaw>::NAME, Self::$law)),+];
        }

        /// Evaluate an expression with a [`GrainLaw`](grain::GrainLaw) bound to the numbers of a grain.
        #[macro_export]
        macro_rules! with_grain_law {
            ($d law:expr, $d grain:expr, $d bound:ident => $d body:expr) => {
                match $d law {
                    $($crate::grain::GrainLaw::$law => {
                        let $d bound: $crate::grain::$law = $crate::grain::PairLaw::new($d grain);
                        $d body
                    })+
                }
            };
        }
    };
}

grain_laws! { $
    ClassicalLinear,
    HertzMindlin,
}

impl GrainLaw {
    /// The law of a name.
    pub fn from_name(name: &str) -> Result<Self, LawError> {
        named(&Self::TABLE, name)
    }
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
    /// Name in study files, commands and events.
    const NAME: &'static str;
    /// What the law's ratio, [`Grain::poisson`], must do, in words that follow "it must".
    const POISSON_MUST: &'static str;
    /// Whether the law takes this ratio.
    fn takes_poisson(poisson: f64) -> bool;
    /// The law of a material.
    fn new(grain: &Grain) -> Self;
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
