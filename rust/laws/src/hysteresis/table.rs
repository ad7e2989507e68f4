//! The table of spring laws and the numbers they take.

use super::form::Hysteresis;
use super::{
    bilinear::Bilinear, bouc_wen::BoucWen, friction::Friction, gap::Gap, hook::Hook,
    lead_rubber::LeadRubber, linear::LinearSpring, menegotto_pinto::MenegottoPinto,
    pendulum::Pendulum,
};
use crate::LawError;

/// What the documentation says of a law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpringFacts {
    /// Name in study files, commands and events.
    pub name: &'static str,
    /// The force in one line.
    pub summary: &'static str,
    /// Where the law comes from.
    pub citation: &'static str,
    /// What it takes beside the stiffness, in order.
    pub numbers: &'static [NumberFacts],
}

/// One number a law takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberFacts {
    /// Name in study files.
    pub name: &'static str,
    /// SI unit.
    pub unit: &'static str,
    /// Value where none is said; None: it must be said.
    pub default: Option<f64>,
    /// Smallest value.
    pub low: f64,
    /// Whether the smallest value itself is refused.
    pub low_open: bool,
    /// Largest value.
    pub high: f64,
    /// Whether the largest value itself is refused.
    pub high_open: bool,
    /// What it is.
    pub doc: &'static str,
}

impl NumberFacts {
    fn admits(&self, value: f64) -> bool {
        let above = value > self.low || (!self.low_open && value == self.low);
        let below = value < self.high || (!self.high_open && value == self.high);
        value.is_finite() && above && below
    }

    fn allowed(&self) -> String {
        let left = if self.low_open { '(' } else { '[' };
        let right = if self.high_open { ')' } else { ']' };
        format!("in {left}{}, {}{right}", self.low, self.high)
    }
}

/// A number above zero.
const POSITIVE: NumberFacts = NumberFacts {
    name: "",
    unit: "1",
    default: None,
    low: 0.0,
    low_open: true,
    high: f64::INFINITY,
    high_open: true,
    doc: "",
};

pub(super) const YIELD_FORCE: NumberFacts = NumberFacts {
    name: "yield_force",
    unit: "N",
    doc: "force at which the spring yields",
    ..POSITIVE
};

pub(super) const HARDENING: NumberFacts = NumberFacts {
    name: "hardening",
    default: Some(0.0),
    low_open: false,
    high: 1.0,
    doc: "stiffness after yielding over that before",
    ..POSITIVE
};

pub(super) const FRICTION: NumberFacts = NumberFacts {
    name: "friction",
    doc: "coefficient of friction",
    ..POSITIVE
};

pub(super) const WEIGHT: NumberFacts = NumberFacts {
    name: "weight",
    unit: "N",
    doc: "load that presses the sliding surfaces together",
    ..POSITIVE
};

pub(super) const SLACK: NumberFacts = NumberFacts {
    name: "slack",
    unit: "m",
    default: Some(0.0),
    low_open: false,
    doc: "change of distance before the spring acts",
    ..POSITIVE
};

/// What a law must say.
pub(super) trait HystereticLaw {
    /// Facts for the documentation.
    const FACTS: SpringFacts;

    /// Put the numbers in, which are checked already.
    fn bind(stiffness: f64, numbers: &[f64]) -> Hysteresis;
}

macro_rules! spring_laws {
    ($($law:ident,)+) => {
        /// A law of springs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each law has a file, and its facts")]
        pub enum SpringLaw {
            $($law,)+
        }

        impl SpringLaw {
            /// Every law, in the order of the documentation.
            pub const ALL: [Self; [$(stringify!($law)),+].len()] = [$(Self::$law),+];

            /// What the documentation says of it.
            pub fn facts(self) -> SpringFacts {
                match self {
                    $(Self::$law => $law::FACTS,)+
                }
            }

            fn bind(self, stiffness: f64, numbers: &[f64]) -> Hysteresis {
                match self {
                    $(Self::$law => $law::bind(stiffness, numbers),)+
                }
            }
        }
    };
}

spring_laws! {
    LinearSpring,
    Bilinear,
    BoucWen,
    MenegottoPinto,
    Gap,
    Hook,
    Friction,
    Pendulum,
    LeadRubber,
}

impl SpringLaw {
    /// The law of this name.
    pub fn from_name(name: &str) -> Result<Self, LawError> {
        let mut laws = Self::ALL.into_iter();
        laws.find(|law| law.facts().name == name)
            .ok_or_else(|| LawError::UnknownSpringLaw {
                name: name.to_owned(),
                known: Self::ALL.map(|law| law.facts().name).join(", "),
            })
    }

    /// The law with its numbers, in the order of its facts.
    pub fn with(self, stiffness: f64, numbers: &[f64]) -> Result<Hysteresis, LawError> {
        let facts = self.facts();
        if !(stiffness > 0.0 && stiffness.is_finite()) {
            return Err(LawError::SpringNumber {
                law: facts.name,
                number: "stiffness",
                value: stiffness,
                allowed: "positive and finite".to_owned(),
            });
        }
        if numbers.len() != facts.numbers.len() {
            return Err(LawError::SpringNumbers {
                law: facts.name,
                taken: facts.numbers.len(),
                found: numbers.len(),
            });
        }
        for (number, &value) in facts.numbers.iter().zip(numbers) {
            if !number.admits(value) {
                return Err(LawError::SpringNumber {
                    law: facts.name,
                    number: number.name,
                    value,
                    allowed: number.allowed(),
                });
            }
        }
        Ok(self.bind(stiffness, numbers))
    }
}
