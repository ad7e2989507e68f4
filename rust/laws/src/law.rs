//! The table of impact laws.

use crate::{
    Damping, LawError, hertz, hertz_damp, hertz_damp_ye, hunt_crossley, jankowski, kelvin_voigt,
    kelvin_voigt_tension, linear, mahmoud_jankowski, rigid, ye,
};

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

/// An impact law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Law {
    /// [`crate::linear`]
    Linear,
    /// [`crate::kelvin_voigt_tension`]
    KelvinVoigtTension,
    /// [`crate::kelvin_voigt`]
    KelvinVoigt,
    /// [`crate::ye`]
    Ye,
    /// [`crate::mahmoud_jankowski`]
    MahmoudJankowski,
    /// [`crate::hertz`]
    Hertz,
    /// [`crate::hertz_damp`]
    HertzDamp,
    /// [`crate::hertz_damp_ye`]
    HertzDampYe,
    /// [`crate::hunt_crossley`]
    HuntCrossley,
    /// [`crate::jankowski`]
    Jankowski,
    /// [`crate::rigid`]
    Rigid,
}

impl Law {
    /// Every law, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::Linear,
        Self::KelvinVoigtTension,
        Self::KelvinVoigt,
        Self::Ye,
        Self::MahmoudJankowski,
        Self::Hertz,
        Self::HertzDamp,
        Self::HertzDampYe,
        Self::HuntCrossley,
        Self::Jankowski,
        Self::Rigid,
    ];

    /// Name, summary and source.
    pub fn facts(self) -> &'static LawFacts {
        match self {
            Self::Linear => &linear::FACTS,
            Self::KelvinVoigtTension => &kelvin_voigt_tension::FACTS,
            Self::KelvinVoigt => &kelvin_voigt::FACTS,
            Self::Ye => &ye::FACTS,
            Self::MahmoudJankowski => &mahmoud_jankowski::FACTS,
            Self::Hertz => &hertz::FACTS,
            Self::HertzDamp => &hertz_damp::FACTS,
            Self::HertzDampYe => &hertz_damp_ye::FACTS,
            Self::HuntCrossley => &hunt_crossley::FACTS,
            Self::Jankowski => &jankowski::FACTS,
            Self::Rigid => &rigid::FACTS,
        }
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
        let of = match self {
            Self::Linear | Self::Hertz => linear::returned_share,
            Self::KelvinVoigtTension => kelvin_voigt_tension::damping_ratio,
            Self::KelvinVoigt => kelvin_voigt::damping_ratio,
            Self::Ye => ye::damping_factor,
            Self::MahmoudJankowski => mahmoud_jankowski::damping_ratio,
            Self::HertzDamp => hertz_damp::damping_factor,
            Self::HertzDampYe => hertz_damp_ye::damping_factor,
            Self::HuntCrossley => hunt_crossley::damping_factor,
            Self::Jankowski => jankowski::damping_ratio,
            Self::Rigid => rigid::restitution,
        };
        of(damping, restitution)
    }
}
