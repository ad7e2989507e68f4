//! The table of impact laws.

use super::Damping;
use super::force::{Force, ImpactLaw, Scale};
pub(super) use super::{
    hertz::Hertz, hertz_damp::HertzDamp, hertz_damp_ye::HertzDampYe, hunt_crossley::HuntCrossley,
    jankowski::Jankowski, kelvin_voigt::KelvinVoigt, kelvin_voigt_tension::KelvinVoigtTension,
    linear::Linear, mahmoud_jankowski::MahmoudJankowski, rigid::Rigid, ye::Ye,
};
use crate::LawError;

/// Smallest restitution a law with a finite stiffness delivers: below it the damping grows without bound.
pub const SMALLEST_RESTITUTION: f64 = 1e-3;

/// What the documentation says of a law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LawFacts {
    /// Name in study files, commands and events.
    pub name: &'static str,
    /// The force in one line.
    pub summary: &'static str,
    /// Where the law comes from.
    pub citation: &'static str,
    /// Power of the indentation: stiffness is in N/m to this power. Zero for a law without stiffness.
    pub exponent: f64,
    /// Smallest restitution the law delivers.
    pub smallest_restitution: f64,
}

/// The enum, the list of all laws and the dispatch, from one list of types. (`$d` stands for the dollar sign of the
/// macro that this one defines.)
macro_rules! laws {
    ($d:tt $($law:ident,)+) => {
        /// An impact law.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each law has a file, and its facts")]
        pub enum Law {
            $($law,)+
        }

        impl Law {
            /// Every law, in the order of the documentation.
            pub const ALL: [Self; [$(stringify!($law)),+].len()] = [$(Self::$law),+];
        }

        /// Evaluate an expression with the type of a law.
        macro_rules! with_law {
            ($d value:expr, $d name:ident => $d body:expr) => {
                match $d value {
                    $($crate::Law::$law => {
                        type $d name = $crate::impact::table::$law;
                        $d body
                    })+
                }
            };
        }
    };
}

laws! { $
    Linear,
    KelvinVoigtTension,
    KelvinVoigt,
    Ye,
    MahmoudJankowski,
    Hertz,
    HertzDamp,
    HertzDampYe,
    HuntCrossley,
    Jankowski,
    Rigid,
}

impl Law {
    /// Name, summary and source.
    pub fn facts(self) -> &'static LawFacts {
        with_law!(self, L => &L::FACTS)
    }

    /// Name in study files, commands and events.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The law of this name.
    pub fn from_name(name: &str) -> Result<Self, LawError> {
        Self::ALL
            .into_iter()
            .find(|law| law.name() == name)
            .ok_or_else(|| LawError::UnknownLaw {
                name: name.to_owned(),
                known: Self::ALL.map(Self::name).join(", "),
            })
    }

    /// The law's dimensionless damping for a restitution, and its derivative with respect to it. What the number
    /// means is each law's own: damping ratio, share of energy given back, or factor of `d'/v`.
    pub fn damping_number(self, damping: Damping, restitution: f64) -> (f64, f64) {
        with_law!(self, L => L::damping_number(damping, restitution))
    }

    /// What turns that number into the coefficient of the force.
    pub(super) fn scale(self) -> Scale {
        with_law!(self, L => <L as ImpactLaw>::Force::SCALE)
    }
}
